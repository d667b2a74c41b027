#include "ui/view/rollout_times.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "base/time.h"

namespace mw {
namespace {

constexpr double kHalf = 0.5;         // of the slowest rollout's time: that is what holds it
constexpr double kMuchWaited = 0.15;  // of a step
constexpr double kMuchLonger = 1.5;   // slowest against mean
constexpr double kMuchMore = 2;       // tokens, likewise
constexpr double kOftenHeld = 0.1;    // of the steps
constexpr size_t kFewSteps = 3;       // fewer say nothing of what is usual

/// Mean and largest of what came, by running sums.
struct Sum {
  double sum = 0, most = RolloutTimes::kUnsaid;
  size_t count = 0;
  void add(double value) {
    if (!std::isfinite(value)) return;
    sum += value;
    most = count++ == 0 ? value : std::max(most, value);
  }
  double mean() const { return count == 0 ? RolloutTimes::kUnsaid : sum / static_cast<double>(count); }
};

/// The points of a signal within the cycle; a point that stands for others counts as one, as they were like it.
template <typename Take>
void each_point(const State& state, const Cycle& cycle, std::string_view signal, const Take& take) {
  const Series* series = state.find(signal);
  if (series == nullptr) return;
  for (const Point& point : series->points()) {
    if (cycle.has(point) && std::isfinite(point.value) && point.value >= 0) take(point);
  }
}

Sum sum_of(const State& state, const Cycle& cycle, std::string_view signal) {
  Sum sum;
  each_point(state, cycle, signal, [&sum](const Point& point) { sum.add(point.value); });
  return sum;
}

RolloutTimes::Row row_of(const State& state, const Cycle& cycle, std::string_view mean, std::string_view p90,
                         std::string_view slowest) {
  const Sum longest = sum_of(state, cycle, slowest);
  return {sum_of(state, cycle, mean).mean(), sum_of(state, cycle, p90).mean(), longest.mean(), longest.most};
}

/// What is known of one step.
struct Step {
  double mean = RolloutTimes::kUnsaid, mean_parts = RolloutTimes::kUnsaid;
  double slowest = RolloutTimes::kUnsaid, slowest_parts = RolloutTimes::kUnsaid;
  double tools = RolloutTimes::kUnsaid, score = RolloutTimes::kUnsaid;  // of the slowest rollout
  double whole_step = RolloutTimes::kUnsaid;
  double slowest_length = RolloutTimes::kUnsaid, length = RolloutTimes::kUnsaid;

  double usual() const { return std::isnan(mean) ? mean_parts : mean; }
  double longest() const { return std::isnan(slowest) ? slowest_parts : slowest; }
};
using Steps = std::map<std::pair<uint16_t, int64_t>, Step>;

void add_to(double& sum, double value) { sum = std::isnan(sum) ? value : sum + value; }

Steps steps_of(const State& state, const Cycle& cycle) {
  Steps steps;
  const auto collect = [&](std::string_view signal, const auto& into) {
    each_point(state, cycle, signal, [&](const Point& point) {
      if (point.step != kNoStep) into(steps[{point.attempt, point.step}], point.value);
    });
  };
  const auto mean_part = [](Step& step, double value) { add_to(step.mean_parts, value); };
  collect("rollout.time", [](Step& step, double value) { step.mean = value; });
  collect("rollout.generation", mean_part);
  collect("rollout.tools", mean_part);
  collect("rollout.score", mean_part);
  collect("rollout.time_max", [](Step& step, double value) { step.slowest = value; });
  collect("slowest.generation", [](Step& step, double value) { add_to(step.slowest_parts, value); });
  collect("slowest.tools", [](Step& step, double value) { add_to(step.slowest_parts, step.tools = value); });
  collect("slowest.score", [](Step& step, double value) { add_to(step.slowest_parts, step.score = value); });
  collect("time.step", [](Step& step, double value) { step.whole_step = value; });
  collect("slowest.length", [](Step& step, double value) { step.slowest_length = value; });
  collect("response.length", [](Step& step, double value) { step.length = value; });
  return steps;
}

/// The steps' own figures: which rollout a step waited for, and where that one spent its time.
void join_steps(RolloutTimes& times, const Steps& steps) {
  Sum mean, longest, waited, whole_step, slowest_length, length;
  for (const auto& [key, step] : steps) {
    mean.add(step.usual());
    longest.add(step.longest());
    if (!std::isnan(step.slowest_length) && !std::isnan(step.length)) {
      slowest_length.add(step.slowest_length);
      length.add(step.length);
    }
    if (const double most = step.longest(); !std::isnan(step.tools) || !std::isnan(step.score)) {
      ++times.split;
      if (step.tools > kHalf * most) ++times.held_by_tools;
      if (step.score > kHalf * most) ++times.held_by_score;
    }
    if (std::isnan(step.usual()) || std::isnan(step.longest())) continue;
    waited.add(std::max(0.0, step.longest() - step.usual()));
    whole_step.add(step.whole_step);
  }
  times.whole.mean = mean.mean();
  times.whole.slowest = longest.mean();
  times.whole.slowest_of_all = longest.most;
  times.waited = waited.mean();
  times.step = whole_step.mean();
  times.steps = waited.count;
  times.slowest_length = slowest_length.mean();
  times.usual_length = length.mean();
}

std::string seconds(double s) { return format_duration(Duration::seconds(s)); }

}  // namespace

RolloutTimes rollout_times(const State& state, const Cycle& cycle) {
  RolloutTimes times;
  times.generation = row_of(state, cycle, "rollout.generation", "", "");
  times.tools = row_of(state, cycle, "rollout.tools", "", "rollout.tools_max");
  times.score = row_of(state, cycle, "rollout.score", "", "");
  times.ranks = row_of(state, cycle, "rank.rollout_min", "", "rank.rollout_max");
  times.whole.p90 = sum_of(state, cycle, "rollout.time_p90").mean();
  join_steps(times, steps_of(state, cycle));
  for (const TimeShare& part : time_split(state, cycle)) times.beside |= part.phase == "rollout" && part.beside;
  return times;
}

std::vector<std::string> rollout_findings(const RolloutTimes& times, double step_seconds) {
  std::vector<std::string> out;
  if (!std::isnan(times.step)) step_seconds = times.step;
  const auto often = [&times](size_t held) {
    return times.split >= kFewSteps && static_cast<double>(held) >= kOftenHeld * static_cast<double>(times.split);
  };
  const bool waits = times.steps >= kFewSteps && times.whole.slowest > kMuchLonger * times.whole.mean &&
                     step_seconds > 0 && times.waited > kMuchWaited * step_seconds;
  if (waits) {
    std::string text = cat("The slowest rollout of a step takes ", seconds(times.whole.slowest), ", the mean one ",
                           seconds(times.whole.mean), ": ");
    text += times.beside ? "training goes on beside it."
                         : cat("for up to ", seconds(times.waited), " of a step (",
                               format_short(100 * times.waited / step_seconds, 2), " %) few rollouts run.");
    out.push_back(std::move(text));
  }
  if (times.steps >= kFewSteps && times.tools.mean > kHalf * times.whole.mean) {
    out.push_back(cat("A mean rollout spends ", seconds(times.tools.mean), " of ", seconds(times.whole.mean), " (",
                      format_short(100 * times.tools.mean / times.whole.mean, 2),
                      " %) in tools or the environment: it is bound by their latency. Faster tools shorten it; fewer "
                      "rollouts at a time do not."));
  }
  const auto held = [&](size_t steps, std::string_view where) {
    if (waits && often(steps)) {
      out.push_back(cat("In ", steps, " of ", times.split,
                        " steps the slowest rollout spends more than half of its time in ", where, "."));
    }
  };
  held(times.held_by_tools, "tools");
  held(times.held_by_score, "the judge or reward function");
  if (waits && times.slowest_length > kMuchMore * times.usual_length) {
    out.push_back(cat("The slowest rollout's response has ", std::llround(times.slowest_length),
                      " tokens, the mean one ", std::llround(times.usual_length), "."));
  }
  if (times.ranks.slowest > kMuchLonger * times.ranks.mean && times.ranks.slowest > kMuchWaited * step_seconds) {
    out.push_back(cat("Generation takes ", seconds(times.ranks.slowest), " on the slowest rank, ",
                      seconds(times.ranks.mean), " on the fastest."));
  }
  return out;
}

}  // namespace mw
