// The loss of a run that has no reward stays where it began.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kRecords{"records", 100, "points", "A warm-up may leave the loss where it is for tens of records",
                        "own"};
constexpr Knob kSteps{"steps", 500, "steps", "And for hundreds of steps", "own"};
constexpr Knob kChange{"change", 0.01, "ratio", "Of the mean: a change from the first fifth to the last that is none",
                       "two of 515 real runs, both without learning"};
constexpr Knob kPower{"power", 3, "standard errors", "So many of the difference must be less than that change", "own"};
constexpr Knob kLeast{"least", 0.01, "nats", "A loss near zero may have nothing left to lose", "own"};
constexpr Knob kKnobs[] = {kRecords, kSteps, kChange, kPower, kLeast};

bool rate_is_zero(const State& state) {
  const Series* rate = state.find("lr");
  return rate != nullptr &&
         std::all_of(rate->points().begin(), rate->points().end(), [](const Point& point) { return point.value == 0; });
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  if (has_reward(state) || rate_is_zero(state)) return;  // a rate of zero is reported by itself
  for (const Track& track : memory.tracks(state, state.find("loss.total"))) {
    const size_t n = track.size(), fifth = n / 5;
    if (n < points_of(kRecords)) continue;
    if (static_cast<double>(track.points[n - 1].step - track.points[0].step) < kSteps.value) continue;
    const double all = mean(track.values), first = mean(track.slice(0, fifth)), last = mean(track.slice(n - fifth, n));
    const double allowed = kChange.value * all;
    const double error = noise(track.values) * std::sqrt(2.0 / static_cast<double>(fifth));
    const auto [least, most] = std::minmax_element(track.values.begin(), track.values.end());
    if (!(all >= kLeast.value) || *least == *most || std::abs(last - first) > allowed) continue;
    if (kPower.value * error > allowed || *most - *least > all) continue;  // it did move, or nobody can tell
    Finding finding =
        make_finding("loss-still", "no-learning", Severity::kWarning, track.points[0], track.points[n - 1],
                     cat("The loss is ", format_short(last, 4), " after ", n, " records and began at ",
                         format_short(first, 4), ": nothing was learned"));
    add_figures(finding, track, 0, n - 1, 4);
    finding.suggests.push_back({"learning-rate-too-low", 0.5, "the loss stays where it began"});
    finding.suggests.push_back({"weights-not-updating", 0.45, "the loss stays where it began"});
    out.push_back(std::move(finding));
    return;
  }
}

}  // namespace

extern const Detector loss_still;
const Detector loss_still{
    "loss-still", "The loss of a run that has no reward stays where it began.", {"no-learning"}, kKnobs, judge};

}  // namespace mw::detect
