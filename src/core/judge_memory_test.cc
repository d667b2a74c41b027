// A judgement that goes on from the one before finds what one over the whole run finds, whatever came between them.
#include "core/judge_memory.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/prng.h"
#include "core/advance.h"
#include "core/random_event.h"
#include "core/rough_run.h"

namespace mw {
TEST_CASE("rough runs are judged alike with and without what was judged before") {
  size_t incidents = 0;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    Twice run;
    RoughRun rough(seed);
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
  CHECK(incidents > 20);
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
  State with, without;
  Knowledge knowledge;
  JudgeMemory memory;
  std::vector<Event> decided, anew;
  RoughRun rough(100);
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

TEST_CASE("a trainer of many steps a second does not fill the journal with sentences") {
  State state;
  Knowledge knowledge;
  JudgeMemory memory;
  std::vector<Event> decided;
  const Time start = Time::from_seconds(1.76e9);
  const auto steps = [&](int64_t first, int64_t last, Duration between) {
    decided.clear();
    for (int64_t step = first; step <= last; ++step) {
      event::Measured measured;
      measured.step = step;
      measured.readings.push_back({"reward.mean", "reward", 0.3 + 0.0001 * static_cast<double>(step % 7)});
      measured.readings.push_back({"loss", "loss", 0.1 + 0.01 * static_cast<double>(step % 5)});
      Event event{{}, {0, static_cast<uint64_t>(step)}, std::move(measured), start + Duration{between.ns * step}};
      advance(state, event, knowledge, memory, Judge::kAlways, decided);
    }
    return std::count_if(decided.begin(), decided.end(),
                         [](const Event& event) { return std::holds_alternative<event::IncidentChanged>(event.body); });
  };
  steps(1, 600, Duration::millis(10));
  REQUIRE_FALSE(state.incidents.empty());
  CHECK(steps(601, 1100, Duration::millis(10)) <= static_cast<ptrdiff_t>(2 * state.incidents.size()));
  CHECK(written(state.incidents, state) != written(judge(state, knowledge), state));
  CHECK(steps(1101, 1120, Duration::seconds(20)) >= 10);
  CHECK(written(state.incidents, state) == written(judge(state, knowledge), state));
  steps(1121, 1130, Duration::millis(10));

  decided.clear();
  const Event closed{{}, {}, event::Closed{}, start + Duration::seconds(22'401)};
  advance(state, closed, knowledge, memory, Judge::kAlways, decided);
  CHECK(written(state.incidents, state) == written(judge(state, knowledge), state));
}

}  // namespace mw
