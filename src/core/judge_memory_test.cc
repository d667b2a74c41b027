// A judgement that goes on from the one before finds what one over the whole run finds, whatever came between them.
#include "core/judge_memory.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/prng.h"
#include "base/text.h"
#include "core/advance.h"
#include "core/incident_json.h"
#include "core/random_event.h"

namespace mw {
namespace {

std::string written(const std::vector<Incident>& all, const State& state) {
  std::string text;
  for (const Incident& incident : all) text += incident_json(incident, state) + "\n";
  return text;
}

/// One run, judged in both ways.
class Twice {
 public:
  void say(Event event) { fold(state, event); }
  /// "" where both find the same.
  std::string difference() {
    const std::string goes_on = written(judge(state, knowledge, memory_), state);
    State unasked = state;
    unasked.merged.clear();  // what find() has put together goes on, too
    const std::string anew = written(judge(unasked, knowledge), unasked);
    incidents += anew.empty() ? 0 : 1;
    return goes_on == anew ? "" : cat("goes on:\n", goes_on, "anew:\n", anew);
  }

  State state;
  Knowledge knowledge;
  size_t incidents = 0;

 private:
  JudgeMemory memory_;
};

struct Shown {
  const char* signal;
  double level, noise;
};
constexpr std::array kShown = {Shown{"reward.mean", 0.5, 0.1},
                               Shown{"reward.pass_rate", 0.5, 0.1},
                               Shown{"reward.max", 1, 0.2},
                               Shown{"grad_norm", 0.5, 0.3},
                               Shown{"loss.policy", 0.02, 0.05},
                               Shown{"entropy", 0.7, 0.1},
                               Shown{"kl.ref", 0.05, 0.02},
                               Shown{"response.length", 700, 100},
                               Shown{"mismatch.ratio", 1, 0.1},
                               Shown{"format.pass_rate", 0.9, 0.1},
                               Shown{"throughput.tokens", 900, 100},
                               Shown{"env.error_rate", 0.02, 0.02},
                               Shown{"reward.zero_std_groups", 0.4, 0.3}};

/// A run with everything that may happen to its figures: signals that jump, collapse and come back, steps that are told
/// twice, late, by two sources or not at all, values that are no numbers, restarts and resumes.
class Rough {
 public:
  explicit Rough(uint64_t seed) : prng_(seed), factor_(kShown.size(), 1) { two_ = prng_.chance(0.5); }

  Event next() {
    now_ = now_ + Duration::seconds(20);
    if (prng_.chance(0.03)) return {now_, {}, event::Ticked{}};
    if (prng_.chance(0.02))
      factor_[prng_.below(kShown.size())] = prng_.chance(0.4) ? 1 : std::pow(4, 4 * prng_.unit() - 2);
    if (prng_.chance(0.01)) factor_[0] = prng_.chance(0.5) ? 0 : 1;
    if (prng_.chance(0.004)) {
      step_ = prng_.chance(0.5) ? 0 : step_ - static_cast<int64_t>(prng_.below(30));
      return {now_, where(0), event::AttemptBegan{"again"}};
    }
    if (!prng_.chance(0.15)) ++step_;  // else the step is told once more
    event::Measured measured;
    measured.step = prng_.chance(0.05) ? step_ - static_cast<int64_t>(prng_.below(4)) : step_;
    if (prng_.chance(0.01)) measured.step = kNoStep;
    for (size_t i = 0; i < kShown.size(); ++i) {
      if (prng_.chance(0.05)) continue;
      double value = factor_[i] * (kShown[i].level + kShown[i].noise * (2 * prng_.unit() - 1));
      if (prng_.chance(0.003)) value = std::numeric_limits<double>::quiet_NaN();
      measured.readings.push_back({kShown[i].signal, kShown[i].signal, value});
    }
    return {now_, where(two_ && prng_.chance(0.5) ? 1 : 0), std::move(measured)};
  }

 private:
  Where where(uint32_t source) { return {source, ++line_[source]}; }

  Prng prng_;
  std::vector<double> factor_;
  bool two_ = false;
  int64_t step_ = 0;
  std::array<uint64_t, 2> line_{};
  Time now_{1'760'000'000'000'000'000};
};

}  // namespace

TEST_CASE("rough runs are judged alike with and without what was judged before") {
  size_t incidents = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Twice run;
    Rough rough(seed);
    Prng prng(seed);
    std::string wrong;
    for (size_t i = 0; i < 700 && wrong.empty(); ++i) {
      run.say(rough.next());
      if (prng.chance(0.15)) wrong = run.difference();
    }
    INFO("seed ", seed);
    REQUIRE(wrong == "");
    incidents += run.incidents;
  }
  CHECK(incidents > 100);
}

TEST_CASE("a series that is thinned is judged alike") {
  Twice run;
  Prng prng(7);
  constexpr int64_t kSteps = 3 * static_cast<int64_t>(Series::kPointLimit) / 2;
  for (int64_t step = 1; step <= kSteps; ++step) {
    event::Measured measured;
    measured.step = step;
    const double reward = step % 5000 > 4500 ? 0.1 : 0.6;
    measured.readings.push_back({"reward.mean", "reward", reward + 0.1 * prng.unit()});
    measured.readings.push_back({"grad_norm", "grad", (prng.chance(0.002) ? 30 : 1) * (0.5 + 0.1 * prng.unit())});
    run.say({{}, {0, static_cast<uint64_t>(step)}, std::move(measured)});
    if (step % 1300 == 0) REQUIRE(run.difference() == "");
  }
  CHECK(run.state.find("reward.mean")->rewritten() > 0);
  CHECK(run.incidents > 0);
}

TEST_CASE("whatever events come are judged alike") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Twice run;
    RandomEvent random(seed);
    for (size_t i = 0; i < 300; ++i) {
      Event event = random.next();
      event.where.source %= 4;
      run.say(std::move(event));
      if (i % 10 == 9) REQUIRE(run.difference() == "");
    }
  }
}

TEST_CASE("what is decided does not depend on what is remembered") {
  for (uint64_t seed = 100; seed < 110; ++seed) {
    State with, without;
    Knowledge knowledge;
    JudgeMemory memory;
    std::vector<Event> decided, anew;
    Rough rough(seed);
    for (size_t i = 0; i < 300; ++i) {
      const Event event = rough.next();
      if (i % 50 == 49) memory = JudgeMemory();  // it may be dropped at any moment
      advance(with, event, knowledge, memory, Judge::kAlways, decided);
      advance(without, event, knowledge, Judge::kAlways, anew);
    }
    REQUIRE(written(with.incidents, with) == written(without.incidents, without));
    CHECK(decided.size() == anew.size());
    CHECK(with.verdict == without.verdict);
  }
}

}  // namespace mw
