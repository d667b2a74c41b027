// The loss jumps far above its own level. Losses of policy gradients swing around zero, so their size is compared;
// supervised losses are compared with their level.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "core/detect/tools/back.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kHistory{"history", 20, "points", "Warm-up", "field guide 4.1 (10-20 steps)"};
constexpr Knob kWindow{"window", 50, "points", "Baseline window", "field guide 4.1"};
constexpr Knob kPolicy{"policy_factor", 50, "x", "Policy losses: times the upper tenth of their size",
                       "failure catalogue, loss-spike (20 x median), above the spread of small batches"};
constexpr Knob kLeast{"policy_least", 0.05, "1",
                      "Policy losses: on-policy they are nearly zero, and a multiple of nothing is nothing", "own"};
constexpr Knob kSigma{"sigma", 8, "sigma", "Supervised losses: robust z-score", "field guide 4.1 (warn 5, critical 8)"};
constexpr Knob kLevel{"level_factor", 2, "x", "Supervised losses: and this much above their level", "own"};
constexpr Knob kPersist{"persist", 5, "points", "A spike that heals is information, a level that stays is a warning",
                        "pre-training practice: skip and go on"};
constexpr Knob kRise{"rise_factor", 1.3, "x",
                     "Supervised losses: the median of the last records above their level is a rise", "own"};
constexpr Knob kRiseWidth{"rise_width", 5, "points", "That median is of so many", "own"};
constexpr Knob kRiseRow{"rise_row", 3, "points", "And above in so many in a row: the loss swings while it runs away",
                        "own"};
constexpr Knob kSupervised{"supervised_level", 0.1, "nats",
                           "A loss that is always positive and larger than this has a level", "own"};
constexpr Knob kBlown{"blown", 3, "x",
                      "Supervised losses, before there is a level: times the largest before, for `persist` points",
                      "own"};
constexpr Knob kBlownBy{"blown_by", 2, "nats", "And by so much: a loss near zero has no factor", "own"};
constexpr Knob kBack{"back", 10, "points", "In a row at or below its limit again end a level that stays", "hysteresis"};
constexpr Knob kAbsurd{"absurd", 1e6, "x", "Times the largest before it, and 1: no level is needed to judge it",
                       "gradient-spike, absurd"};
constexpr Knob kAbsurdEarly{"absurd_early", 2, "points", "So many before it at least", "gradient-spike, early"};
constexpr Knob kSame{"same", 3, "points",
                     "Rewards since such a loss, and all of them the same: the policy went with it", "own"};
constexpr Knob kKnobs[] = {kHistory, kWindow,     kPolicy, kLeast,  kSigma,       kLevel, kPersist, kRise,   kRiseWidth,
                           kRiseRow, kSupervised, kBack,   kAbsurd, kAbsurdEarly, kSame,  kBlown,   kBlownBy};

struct Base {
  double level = 0, limit = INFINITY;
  double spread = 0;  ///< above the level, so much is noise; of a supervised loss
};

Base supervised_base(const std::vector<double>& window) {
  Base base;
  base.level = median(window);
  base.spread = kSigma.value * std::max(noise(window), 0.01 * std::abs(base.level));
  base.limit = std::max(base.level + base.spread, base.level * kLevel.value);
  return base;
}

Base policy_base(const SortedWindow& sizes) {
  Base base;
  base.level = sizes.quantile(0.9);
  if (base.level > 0) base.limit = std::max(kPolicy.value * base.level, kLeast.value);
  return base;
}

/// Points far above the level, up to the first streak of them that lasts.
struct SpikeWalk {
  bool supervised = false;
  std::vector<double> window;              ///< of a supervised loss
  SortedWindow sizes{points_of(kWindow)};  ///< of another one
  size_t streak = 0;
  struct Spike {
    size_t index = 0, streak = 0;
    double level = 0, limit = 0;
  };
  std::vector<Spike> spikes;
  bool lasting = false;  ///< the last one is
  size_t risen = 0;      ///< records in a row at which the median of the last ones was above the level

  void step(const Track& track, size_t i) {
    if (lasting) return;
    const double size = supervised ? track.values[i] : std::abs(track.values[i]);
    const bool warm = i >= points_of(kHistory);
    const Base base = !warm ? Base{} : supervised ? supervised_base(window) : policy_base(sizes);
    if (supervised && rises(track, i, base)) return;
    if (!warm || size <= base.limit) {
      streak = 0;
      keep(size);
      return;
    }
    ++streak;
    lasting = streak == points_of(kPersist);
    if (streak != 1 && !lasting) return;
    if (lasting) spikes.pop_back();  // the information about its first point
    spikes.push_back({i, streak, base.level, base.limit});
  }

  /// A loss that swings while it runs away is seldom above the limit of a spike for long; its median is above its
  /// level.
  bool rises(const Track& track, size_t i, const Base& base) {
    const size_t width = points_of(kRiseWidth);
    if (i < points_of(kHistory) + width) return false;
    std::vector<double> last(track.values.begin() + static_cast<ptrdiff_t>(i + 1 - width),
                             track.values.begin() + static_cast<ptrdiff_t>(i + 1));
    const double high = std::max(base.level + base.spread, base.level * kRise.value);
    const bool above = median(last) > high;
    risen = above ? risen + 1 : 0;
    if (risen < points_of(kRiseRow)) return false;
    lasting = true;
    spikes.push_back({i, width, base.level, high});
    return true;
  }

  void keep(double size) {
    if (!supervised) return sizes.push(size);
    window.push_back(size);
    if (window.size() > points_of(kWindow)) window.erase(window.begin());
  }
};

/// The point by which all rewards since `from`, enough of them, are the same; nullopt: they are not, or too few.
std::optional<Point> same_since(const State& state, JudgeMemory& memory, const Point& from) {
  for (const Track& reward : memory.tracks(state, reward_series(state))) {
    std::optional<Point> shown;
    size_t count = 0;
    double first = 0;
    for (const Point& point : reward.points) {
      if (point.attempt != from.attempt || point.step < from.step) continue;
      if (count++ == 0) first = point.value;
      if (point.value != first) return std::nullopt;
      if (count == points_of(kSame)) shown = point;
    }
    if (shown) return shown;
  }
  return std::nullopt;
}

/// A loss beyond all bounds. The index of it; the track's size: there is none.
size_t judge_absurd(const State& state, JudgeMemory& memory, const Track& track, std::vector<Finding>& out) {
  double most = 1;
  size_t i = 0;
  for (; i < track.size(); ++i) {
    const double size = std::abs(track.values[i]);
    if (i >= points_of(kAbsurdEarly) && size >= kAbsurd.value * most) break;
    most = std::max(most, size);
  }
  if (i == track.size()) return i;
  const Point& at = track.points[i];
  const std::optional<Point> same = same_since(state, memory, at);
  Finding finding =
      make_finding("loss-spike", "loss-spike", same ? Severity::kCritical : Severity::kWarning, at, same ? *same : at,
                   cat("Loss ", track.values[i], " at step ", at.step, ": the run has diverged",
                       same ? cat(", and every reward since is ", same->value) : std::string()));
  add_figures(finding, track, i - 1, i);
  finding.suggests.push_back({"learning-rate-too-high", 0.7, "one update took the loss beyond all bounds"});
  finding.suggests.push_back({"loss-spike", 0.4, "loss far above its own level"});
  const double bound = kAbsurd.value * most;
  const auto back = back_at(track, i, points_of(kPersist), [=](double value) { return std::abs(value) < bound; });
  if (back && !same) {
    finding.summary = cat("Loss ", track.values[i], " at step ", at.step, ", beyond all bounds");
    resolve(finding, track.points[*back]);
  }
  out.push_back(std::move(finding));
  return i;
}

void judge_track(KeptTrack& track, bool supervised, size_t absurd, std::vector<Finding>& out) {
  SpikeWalk fresh;
  fresh.supervised = supervised;
  const SpikeWalk& walk = track.follow(supervised ? "loss-spike, supervised" : "loss-spike", fresh);
  for (const SpikeWalk::Spike& spike : walk.spikes) {
    const size_t i = spike.index;
    if (i == absurd) continue;
    const bool lasting = walk.lasting && &spike == &walk.spikes.back();
    Finding finding = make_finding(
        "loss-spike", "loss-spike", lasting ? Severity::kWarning : Severity::kInfo, track.points[i + 1 - spike.streak],
        track.points[i],
        cat("Loss ", track.values[i], " at step ", track.points[i].step, " against a level of ", spike.level));
    add_figures(finding, track, i - spike.streak, i);
    finding.suggests.push_back({"loss-spike", 0.6, "loss far above its own level"});
    const auto back = back_at(track, i, points_of(kBack),
                              [&](double value) { return (supervised ? value : std::abs(value)) <= spike.limit; });
    if (lasting && back) resolve(finding, track.points[*back]);
    out.push_back(std::move(finding));
  }
}

/// The first updates threw the weights away, as with a rate that is far too high: the loss leaps above all that it was
/// before and stays.
void judge_blown(const Track& track, std::vector<Finding>& out) {
  double most = 0;
  for (size_t i = 0; i < std::min(track.size(), points_of(kHistory)); ++i) {
    const size_t last = i + points_of(kPersist) - 1;
    if (last >= track.size()) return;
    const double limit = std::max(kBlown.value * most, most + kBlownBy.value);
    const auto next = track.slice(i, last + 1);
    if (i > 0 && *std::min_element(next.begin(), next.end()) > limit) {
      Finding finding =
          make_finding("loss-spike", "loss-spike", Severity::kWarning, track.points[i], track.points[last],
                       cat("Loss rose from ", most, " to ", track.values[i], " at step ", track.points[i].step,
                           " and stays at ", track.values[last]));
      add_figures(finding, track, i - 1, last);
      finding.suggests.push_back({"loss-spike", 0.6, "loss far above its own beginning"});
      finding.suggests.push_back({"learning-rate-too-high", 0.5, "within the first updates"});
      return out.push_back(std::move(finding));
    }
    most = std::max(most, track.values[i]);
  }
}

/// Cross entropy and its kin: positive throughout, and of some size.
bool is_level(const Track& track) {
  return std::all_of(track.values.begin(), track.values.end(), [](double value) { return value > 0; }) &&
         median(track.values) > kSupervised.value;
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  const bool supervised = !has_reward(state) && state.find("loss.policy") == nullptr;
  const Series* loss = state.find(supervised || state.find("loss.policy") == nullptr ? "loss.total" : "loss.policy");
  for (KeptTrack& track : memory.tracks(state, loss)) {
    const bool level = supervised && is_level(track);
    const size_t absurd = judge_absurd(state, memory, track, out);
    judge_track(track, level, absurd, out);
    if (level && absurd == track.size()) judge_blown(track, out);
  }
}

}  // namespace

extern const Detector loss_spike;
const Detector loss_spike{"loss-spike", "The loss jumps far above its own level.", {"loss-spike"}, kKnobs, judge};

}  // namespace mw::detect
