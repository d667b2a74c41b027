// Saves take much longer than they did.
#include <algorithm>
#include <vector>

#include "base/text.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"

namespace mw::detect {
namespace {

constexpr Knob kHistory{"history", 4, "saves", "A level needs a few saves", "own"};
constexpr Knob kWidth{"width", 20, "saves", "Baseline window", "own"};
constexpr Knob kFactor{"factor", 3, "x", "Times the median of the saves before", "failure catalogue, ckpt-save-slow"};
constexpr Knob kDelta{"delta", 30, "s", "And at least this much more", "own"};
constexpr Knob kPersist{"persist", 3, "saves", "One slow save is another job's load on the file server", "own"};
constexpr Knob kRelief{"relief", 1.5, "x", "The level before, below which a save is as it was", "own"};
constexpr Knob kKnobs[] = {kHistory, kWidth, kFactor, kDelta, kPersist, kRelief};

/// How long each save took, in order.
std::vector<Point> saves_of(const State& state) {
  std::vector<Point> saves;
  const auto take = [&](const std::vector<Point>& points) {
    std::copy_if(points.begin(), points.end(), std::back_inserter(saves), [](const Point& p) { return p.value > 0; });
  };
  if (const Series* series = state.find("time.save"); series != nullptr) {
    take(series->points());
  } else if (const auto phase = state.phases.find("save"); phase != state.phases.end()) {
    take(phase->second.ends);
  }
  return saves;
}

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  const std::vector<Point> saves = saves_of(state);
  std::vector<double> before;
  size_t slow = 0;
  for (size_t i = 0; i < saves.size(); ++i) {
    const double level = before.size() < points_of(kHistory) ? 0 : median_of_last(before, points_of(kWidth));
    const bool is_slow = level > 0 && saves[i].value > std::max(kFactor.value * level, level + kDelta.value);
    if (!is_slow) {
      for (size_t j = i - slow; j <= i; ++j) before.push_back(saves[j].value);
      slow = 0;
      continue;
    }
    if (++slow < points_of(kPersist)) continue;
    const Point& onset = saves[i + 1 - slow];
    Finding finding = make_finding("save-slow", "throughput-drop", Severity::kWarning, onset, saves[i],
                                   cat("A save takes ", format_duration(Duration::seconds(saves[i].value)),
                                       " instead of ", format_duration(Duration::seconds(level)), " since step ",
                                       onset.step, "; steps wait for it, and it may run into a time limit"));
    for (size_t j = i + 1 - slow; j <= i; ++j) add_figure(finding, "time.save", saves[j].step, saves[j].value);
    finding.suggests.push_back(
        {"ckpt-save-slow", 0.7, cat(format_short(saves[i].value / level, 2), " times its own level")});
    const auto ended = std::find_if(saves.begin() + static_cast<ptrdiff_t>(i) + 1, saves.end(),
                                    [&](const Point& p) { return p.value < kRelief.value * level; });
    if (ended != saves.end()) resolve(finding, *ended);
    out.push_back(std::move(finding));
    return;  // the first says it; later ones are measured against a level that it spoils
  }
}

}  // namespace

extern const Detector save_slow;
const Detector save_slow{"save-slow", "Saves take much longer than they did.", {"throughput-drop"}, kKnobs, judge};

}  // namespace mw::detect
