// A gradient norm, a loss or the KL of an update that grows by a little at each step until it is far beyond anything
// that the run began with: the level of the last records runs along with it, so that no record stands out of them.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/numbers.h"
#include "base/text.h"
#include "core/detect/tools/further.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kHistory{"history", 20, "points", "Warm-up: the level that a run begins with",
                        "field guide 4.1 (10-20)"};
constexpr Knob kWidth{"width", 10, "points", "Baseline window", "own"};
constexpr Knob kPersist{"persist", 5, "points", "Single spikes heal", "own"};
constexpr Knob kFactor{"factor", 100, "x", "Times its lowest level, and times the level that it began with",
                       "own; beyond what gradients and policy losses of healthy runs drift"};
constexpr Knob kGradient{"gradient", 100, "1", "And a gradient norm larger than this",
                         "the largest of a healthy run seen is 92"};
constexpr Knob kLoss{"loss", 10, "1", "And a loss of a policy gradient larger than this: theirs swing around zero",
                     "own"};
constexpr Knob kKlFactor{"kl_factor", 10, "x", "KL of an update: times its lowest level", "own"};
constexpr Knob kKl{"kl", 1, "nats", "And at least this much above it: an update that goes so far is no small step",
                   "PPO implementations stop an epoch at 0.01 to 0.05"};
constexpr Knob kWorse{"worse", 100, "x", "So many times further than that no run comes back", "own"};
constexpr Knob kKnobs[] = {kHistory, kWidth, kPersist, kFactor, kGradient, kLoss, kKlFactor, kKl, kWorse};

struct Watched {
  std::string_view signal, kind, name, cause;
  double factor, delta;
};
constexpr Watched kNorm{"grad_norm",       "gradient-spike", "The gradient norm",
                        "grad-norm-spike", kFactor.value,    kGradient.value};
constexpr Watched kPolicyLoss{"", "loss-spike", "The loss", "loss-spike", kFactor.value, kLoss.value};
constexpr Watched kUpdate{"kl.step",      "kl-runaway",    "KL between the policy and the one that answered",
                          "kl-explosion", kKlFactor.value, kKl.value};

/// Where it left its level for the last time: the level is the median of all records before it crossed the limit.
size_t onset_of(const Track& track, const Rise& rise) {
  constexpr double kLeft = 1.5;  // times the level
  constexpr size_t kFew = 5;     // points of a median that noise does not move
  std::vector<double> before;
  for (size_t i = 0; i < rise.first; ++i) before.push_back(std::abs(track.values[i]));
  const double level = median(before);
  size_t onset = rise.first;
  for (; onset > kFew; --onset) {
    std::vector<double> last(before.begin() + static_cast<ptrdiff_t>(onset - kFew),
                             before.begin() + static_cast<ptrdiff_t>(onset));
    if (median(std::move(last)) <= kLeft * level) break;
  }
  while (onset > 0 && before[onset - 1] > kLeft * level) --onset;
  return onset;
}

/// The upper range that the run began with.
double beginning(const Track& track) {
  std::vector<double> sizes;
  for (size_t i = 0; i < std::min(track.size(), points_of(kHistory)); ++i) sizes.push_back(std::abs(track.values[i]));
  return quantile(std::move(sizes), 0.9);
}

RiseRule rule_of(const Watched& watched, double times) {
  return {points_of(kHistory), points_of(kWidth), times * watched.factor, times * watched.delta, points_of(kPersist)};
}

bool is_explosion(const Track& track, const Watched& watched, const Rise& rise) {
  return rise.peak > watched.factor * beginning(track) && rise.peak > watched.delta;
}

void judge_track(KeptTrack& track, const Watched& watched, std::vector<Finding>& out) {
  const std::vector<Rise> all = track.rises("slow-explosion", rule_of(watched, 1), Shape::kSize);
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Rise& rise) { return is_explosion(track, watched, rise); });
  if (found == all.end()) return;
  const std::vector<Rise> worse = track.rises("slow-explosion, beyond", rule_of(watched, kWorse.value), Shape::kSize);
  const bool lost = !worse.empty() && !found->ended && is_explosion(track, watched, worse.front());
  const Rise& rise = lost ? worse.front() : *found;
  const size_t onset = onset_of(track, *found);
  const Point& at = track.points[onset];
  Finding finding = make_finding(
      "slow-explosion", watched.kind, lost ? Severity::kCritical : Severity::kWarning, at, track.points[rise.detected],
      cat(watched.name, " grew from about ", format_short(found->base, 3), " to ", format_short(rise.peak, 3),
          " since step ", at.step, and_further(track, change_of(rise))));
  add_figures(finding, track, onset > 0 ? onset - 1 : 0, rise.detected);
  finding.suggests.push_back({std::string(watched.cause), 0.6, "it grows without end"});
  finding.suggests.push_back({"learning-rate-too-high", 0.5, "it grows by a little at each step"});
  if (found->ended) resolve(finding, track.points[*found->ended]);
  out.push_back(std::move(finding));
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  const Series* policy = state.find("loss.policy");
  const Series* loss = policy != nullptr ? policy : state.find("loss.total");
  for (KeptTrack& track : memory.tracks(state, state.find(kNorm.signal))) judge_track(track, kNorm, out);
  for (KeptTrack& track : memory.tracks(state, loss)) judge_track(track, kPolicyLoss, out);
  for (KeptTrack& track : memory.tracks(state, state.find(kUpdate.signal))) judge_track(track, kUpdate, out);
}

}  // namespace

extern const Detector slow_explosion;
const Detector slow_explosion{"slow-explosion",
                              "A gradient norm, a loss or the KL of an update that grows by a little at each step, to "
                              "far beyond what it was.",
                              {"gradient-spike", "loss-spike", "kl-runaway"},
                              kKnobs,
                              judge};

}  // namespace mw::detect
