// Runs with everything that may happen to their figures, for tests and simulation of judging.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/prng.h"
#include "base/text.h"
#include "core/advance.h"
#include "core/incident_json.h"

namespace mw {

/// Incidents, a line each, with all that is written of them.
inline std::string written(const std::vector<Incident>& all, const State& state) {
  std::string text;
  for (const Incident& incident : all) text += incident_json(incident, state) + "\n";
  return text;
}

/// One run, judged with what was judged before, and by a walk over all of it.
class Twice {
 public:
  void say(const Event& event) { fold(state, event); }
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

struct RoughSignal {
  const char* signal;
  double level, noise;
};
inline constexpr std::array kRoughSignals = {RoughSignal{"reward.mean", 0.5, 0.1},
                                             RoughSignal{"reward.pass_rate", 0.5, 0.1},
                                             RoughSignal{"reward.max", 1, 0.2},
                                             RoughSignal{"grad_norm", 0.5, 0.3},
                                             RoughSignal{"loss.policy", 0.02, 0.05},
                                             RoughSignal{"entropy", 0.7, 0.1},
                                             RoughSignal{"kl.ref", 0.05, 0.02},
                                             RoughSignal{"response.length", 700, 100},
                                             RoughSignal{"mismatch.ratio", 1, 0.1},
                                             RoughSignal{"format.pass_rate", 0.9, 0.1},
                                             RoughSignal{"throughput.tokens", 900, 100},
                                             RoughSignal{"env.error_rate", 0.02, 0.02},
                                             RoughSignal{"reward.zero_std_groups", 0.4, 0.3}};

/// A run with everything that may happen to its figures: signals that jump, collapse and come back, steps that are
/// logged twice, late, by two sources or not at all, values that are no numbers, restarts and resumes.
class RoughRun {
 public:
  explicit RoughRun(uint64_t seed) : prng_(seed), factor_(kRoughSignals.size(), 1) {
    two_ = prng_.chance(0.5);
    many_ = prng_.chance(0.1);
  }

  Event next() {
    now_ = now_ + Duration::seconds(20);
    if (prng_.chance(0.03)) return {now_, {}, event::Ticked{}};
    if (prng_.chance(0.02))
      factor_[prng_.below(kRoughSignals.size())] = prng_.chance(0.4) ? 1 : std::pow(4, 4 * prng_.unit() - 2);
    if (prng_.chance(0.01)) factor_[0] = prng_.chance(0.5) ? 0 : 1;
    if (prng_.chance(0.004)) {
      step_ = prng_.chance(0.5) ? 0 : step_ - static_cast<int64_t>(prng_.below(30));
      return {now_, where(0), event::AttemptBegan{"again"}};
    }
    if (!prng_.chance(0.15)) ++step_;  // else the step is logged once more
    event::Measured measured;
    measured.step = prng_.chance(0.05) ? step_ - static_cast<int64_t>(prng_.below(4)) : step_;
    if (prng_.chance(0.01)) measured.step = kNoStep;
    for (size_t i = 0; i < kRoughSignals.size(); ++i) {
      if (prng_.chance(0.05)) continue;
      double value = factor_[i] * (kRoughSignals[i].level + kRoughSignals[i].noise * (2 * prng_.unit() - 1));
      if (prng_.chance(0.003)) value = std::numeric_limits<double>::quiet_NaN();
      measured.readings.push_back({kRoughSignals[i].signal, kRoughSignals[i].signal, value});
    }
    for (size_t i = 0; many_ && i < State::kSeriesLimit - 50; ++i) {
      measured.readings.push_back({"", cat("other/", i), 1});
    }
    many_ = false;
    return {now_, where(two_ && prng_.chance(0.5) ? 1 : 0), std::move(measured)};
  }

 private:
  Where where(uint32_t source) { return {source, ++line_[source]}; }

  Prng prng_;
  std::vector<double> factor_;
  bool two_ = false;
  bool many_ = false;  ///< there are so many other series that each is thinned early
  int64_t step_ = 0;
  std::array<uint64_t, 2> line_{};
  Time now_{1'760'000'000'000'000'000};
};

}  // namespace mw
