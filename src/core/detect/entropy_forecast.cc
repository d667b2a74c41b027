// The entropy will be spent soon, by its own course, and the reward does not rise for it.
#include "core/entropy_forecast.h"

#include <optional>
#include <vector>

#include "base/text.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kNear{"near", 50, "steps", "Until the floor: time to do something",
                     "field guide 4.3 rule 5 (projected to about 0 within 50 steps while the reward is flat)"};
constexpr Knob kPersist{"persist", 5, "points", "The forecast stays", "own"};
constexpr Knob kGain{"gain", 0.05, "ratio",
                     "Of the reward's range, in the newer half of the records: a smaller gain is none",
                     "own; a falling entropy buys reward: arXiv 2505.22617"};
constexpr Knob kSolved{"solved", 0.9, "ratio",
                       "Share of the reward's range above which there is nothing left to explore", "own"};
constexpr Knob kKnobs[] = {kNear, kPersist, kGain, kSolved};

/// Where forecasts in a row saw the floor near; one in every kPersist points.
struct Walk {
  static constexpr size_t kLimit = 32;
  struct Sight {
    EntropyForecast forecast;
    size_t at = 0;
  };
  size_t streak = 0;
  std::vector<Sight> sights;
  EntropyLogs logs;

  void step(const Track& track, size_t i) {
    if (sights.size() >= kLimit) return;
    const std::optional<EntropyForecast> next = forecast_entropy(track, i, logs);
    streak = next && static_cast<double>(next->in_steps()) <= kNear.value ? streak + 1 : 0;
    if (streak > 0 && streak % points_of(kPersist) == 0) sights.push_back({*next, i});
  }
};

/// Known to stand, and not for want of anything to learn.
bool reward_stands(const State& state, JudgeMemory& memory, const Point& since, const Point& now) {
  const Series* series = reward_series(state);
  const std::optional<Outcome> outcome = outcome_of(series, since, now);
  if (!outcome || outcome->rose(kGain.value)) return false;
  for (const Track& reward : memory.tracks(state, series)) {
    for (size_t i = reward.size(); i-- > 0;) {
      if (reward.points[i].attempt != now.attempt || reward.points[i].step > now.step) continue;
      return !solved(state, reward_scale(state, reward, i), outcome->after, kSolved.value);
    }
  }
  return false;
}

void add_finding(const Track& track, const EntropyForecast& next, size_t at, std::vector<Finding>& out) {
  const size_t first = at + 1 - points_of(kPersist);
  Finding finding =
      make_finding("entropy-forecast", "entropy-collapse", Severity::kInfo, track.points[first], track.points[at],
                   cat("If nothing changes, entropy is at a tenth of its first level at about step ", next.step,
                       ", and the reward stands"));
  add_figure(finding, track, 0);
  add_figures(finding, track, first, at);
  finding.suggests.push_back({"entropy-collapse", 0.4, cat("its course since step ", next.first_step)});
  out.push_back(std::move(finding));
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  for (KeptTrack& track : memory.tracks(state, state.find("entropy"))) {
    for (const Walk::Sight& sight : track.follow("entropy-forecast", Walk{}).sights) {
      if (!reward_stands(state, memory, track.points[sight.at / 2], track.points[sight.at])) continue;
      add_finding(track, sight.forecast, sight.at, out);
      break;
    }
  }
}

}  // namespace

extern const Detector entropy_forecast;
const Detector entropy_forecast{"entropy-forecast",
                                "Entropy will soon be spent by its own course, and the reward does not rise for it.",
                                {"entropy-collapse"},
                                kKnobs,
                                judge};

}  // namespace mw::detect
