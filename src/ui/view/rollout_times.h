// How long single rollouts take, and for which of them a step waits.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "core/state.h"
#include "ui/view/overview.h"

namespace mw {

/// Of many rollouts that run at a time. Each figure is the mean over the steps that have it, unless it says else; NaN
/// where the run does not say.
struct RolloutTimes {
  static constexpr double kUnsaid = std::numeric_limits<double>::quiet_NaN();

  struct Row {
    double mean = kUnsaid;            ///< seconds, mean over a step's rollouts
    double p90 = kUnsaid;             ///< seconds that nine of ten of a step's rollouts stay within
    double slowest = kUnsaid;         ///< seconds of a step's slowest rollout
    double slowest_of_all = kUnsaid;  ///< the largest over all steps
    bool known() const { return !std::isnan(mean) || !std::isnan(slowest); }
  };
  Row whole;       ///< from prompt to reward
  Row generation;  ///< in the engine
  Row tools;       ///< in tools or the environment
  Row score;       ///< in the judge or reward function

  size_t steps = 0;                 ///< of which both the mean and the slowest rollout are known
  double step = kUnsaid;            ///< seconds that these steps take
  double waited = kUnsaid;          ///< seconds per step between the mean rollout's end and the slowest one's
  double slowest_length = kUnsaid;  ///< tokens of the slowest rollout's response
  double usual_length = kUnsaid;    ///< tokens of a response in the same steps
  size_t split = 0;                 ///< steps of which it is known where the slowest rollout spent its time
  size_t held_by_tools = 0;         ///< of them: more than half of it in tools
  size_t held_by_score = 0;         ///< of them: more than half of it in the judge
  bool beside = false;              ///< rollouts run beside training: no step waits for them as long
  Row ranks;                        ///< generation: `mean` is the fastest rank, `slowest` the slowest

  bool empty() const { return !whole.known() && !generation.known() && !tools.known() && !ranks.known(); }
};

RolloutTimes rollout_times(const State& state, const Cycle& cycle);

/// What there is to learn from them, a sentence each; none where nothing is out of the ordinary. `step_seconds` is what
/// a step takes where the run does not say it step by step, 0 when not known.
std::vector<std::string> rollout_findings(const RolloutTimes& times, double step_seconds);

}  // namespace mw
