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
constexpr Knob kNovel{"novel", 0.5, "quantile",
                      "Of the recent records, which each must exceed: one that climbs through noise exceeds the "
                      "highest of them seldom, and never so often in a row",
                      "own"};
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
constexpr Knob kValue{"value", 10, "1", "And a value loss larger than this", "own"};
constexpr Knob kEarly{"early", 3, "points",
                      "A value loss or the KL of an update: so few are a level where as many in a row lie "
                      "`early_factor` times above their largest",
                      "own"};
constexpr Knob kEarlyFactor{"early_factor", 300, "x", "Times the largest of those first ones", "own"};
constexpr Knob kEarlyKl{"early_kl", 5, "nats", "KL of an update: and larger than this", "as kl"};
constexpr Knob kReward{"reward", 3, "x",
                       "Rewards that grew by more than this explain a value loss up to `of_reward` times their square",
                       "a value loss is the square of an error in them"};
constexpr Knob kOfReward{"of_reward", 10, "x", "Times the square of the largest mean reward, and of 1 at least", "own"};
constexpr Knob kKnobs[] = {kHistory, kWidth, kPersist, kNovel, kFactor,      kGradient, kLoss,   kKlFactor,
                           kKl,      kWorse, kValue,   kEarly, kEarlyFactor, kEarlyKl,  kReward, kOfReward};

struct Watched {
  std::string_view signal, kind, name, cause;
  double factor, delta;
};
constexpr Watched kNorm{"grad_norm",       "gradient-spike", "The gradient norm",
                        "grad-norm-spike", kFactor.value,    kGradient.value};
constexpr Watched kPolicyLoss{"", "loss-spike", "The loss", "loss-spike", kFactor.value, kLoss.value};
constexpr Watched kUpdate{"kl.step",      "kl-runaway",    "KL between the policy and the one that answered",
                          "kl-explosion", kKlFactor.value, kKl.value};
constexpr Watched kValueLoss{"loss.value",           "loss-spike",  "The value loss",
                             "value-loss-explosion", kFactor.value, kValue.value};
constexpr Watched kValueNorm{"grad_norm.value", "gradient-spike", "The critic's gradient norm",
                             "grad-norm-spike", kFactor.value,    kGradient.value};

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

/// Of a track that has its beginning: what is no more than `factor` times that is no rise yet.
RiseRule rule_of(const Track& track, const Watched& watched, double times) {
  const double delta = std::max(times * watched.delta, watched.factor * beginning(track));
  RiseRule rule{points_of(kHistory), points_of(kWidth), times * watched.factor, delta, points_of(kPersist)};
  rule.novel = kNovel.value;
  return rule;
}

/// As it was found, and where it had gone so much further that no run comes back.
struct Explosion {
  Rise found;
  std::optional<Rise> lost;
  const Rise& rise() const { return lost ? *lost : found; }
};

std::optional<Explosion> explosion_of(KeptTrack& track, const Watched& watched) {
  if (track.size() < points_of(kHistory)) return std::nullopt;
  const std::vector<Rise> all = track.rises("slow-explosion", rule_of(track, watched, 1), Shape::kSize);
  if (all.empty()) return std::nullopt;
  const std::vector<Rise> worse =
      track.rises("slow-explosion, beyond", rule_of(track, watched, kWorse.value), Shape::kSize);
  const bool lost = !worse.empty() && !all.front().ended;
  return Explosion{all.front(), lost ? std::optional(worse.front()) : std::nullopt};
}

/// The first records are the level, and soon after them it is a thousandfold.
std::optional<Explosion> early_explosion(const Track& track, double least) {
  const auto rise =
      early_rise(track, {points_of(kEarly), kEarlyFactor.value, least, points_of(kHistory), Shape::kSize});
  return rise ? std::optional(Explosion{*rise, std::nullopt}) : std::nullopt;
}

Finding finding_of(const Track& track, const Watched& watched, const Explosion& explosion) {
  const Rise& rise = explosion.rise();
  const size_t onset = onset_of(track, explosion.found);
  const Point& at = track.points[onset];
  Finding finding =
      make_finding("slow-explosion", watched.kind, explosion.lost ? Severity::kCritical : Severity::kWarning, at,
                   track.points[rise.detected],
                   cat(watched.name, " grew from about ", format_short(explosion.found.base, 3), " to ",
                       format_short(rise.peak, 3), " since step ", at.step, and_further(track, change_of(rise))));
  add_figures(finding, track, onset > 0 ? onset - 1 : 0, rise.detected);
  finding.suggests.push_back({std::string(watched.cause), 0.6, "it grows without end"});
  finding.suggests.push_back({"learning-rate-too-high", 0.5, "it grows by a little at each step"});
  if (explosion.found.ended) resolve(finding, track.points[*explosion.found.ended]);
  return finding;
}

void judge_track(KeptTrack& track, const Watched& watched, std::vector<Finding>& out) {
  const std::optional<Explosion> explosion = explosion_of(track, watched);
  if (explosion) out.push_back(finding_of(track, watched, *explosion));
}

/// The largest mean reward, either way of zero, up to a step of an attempt; 0: none is known.
double largest_reward(const Series* reward, const Point& until) {
  double most = 0;
  if (reward == nullptr) return most;
  for (const Point& point : reward->points()) {
    const bool before = point.attempt < until.attempt || (point.attempt == until.attempt && point.step <= until.step);
    if (before && std::isfinite(point.value)) most = std::max(most, std::abs(point.value));
  }
  return most;
}

/// A critic that meets rewards of another size errs by the square of what they grew by.
bool rewards_explain(const State& state, const Point& onset, const Point& now, double peak) {
  const Series* reward = reward_series(state);
  const double before = largest_reward(reward, onset), after = largest_reward(reward, now);
  return after > kReward.value * before && peak <= kOfReward.value * std::max(1.0, after * after);
}

/// Of the critic: it teaches the policy noise, and is warned of however far it goes.
void judge_critic(const State& state, JudgeMemory& memory, const Watched& watched, std::vector<Finding>& out) {
  const Series* series = state.find(watched.signal);
  if (series == nullptr || !(series->max() > watched.delta)) return;
  for (KeptTrack& track : memory.tracks(state, series)) {
    std::optional<Explosion> explosion = explosion_of(track, watched);
    if (explosion) explosion->lost.reset();
    if (!explosion) explosion = early_explosion(track, watched.delta);
    if (!explosion) continue;
    Finding finding = finding_of(track, watched, *explosion);
    const Rise& rise = explosion->found;
    if (rewards_explain(state, track.points[rise.onset], track.points[rise.detected], rise.peak)) {
      finding.severity = Severity::kInfo;
      finding.summary += "; the rewards grew as well";
    }
    out.push_back(std::move(finding));
  }
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  const Series* policy = state.find("loss.policy");
  const Series* loss = policy != nullptr ? policy : state.find("loss.total");
  for (KeptTrack& track : memory.tracks(state, state.find(kNorm.signal))) judge_track(track, kNorm, out);
  for (KeptTrack& track : memory.tracks(state, loss)) judge_track(track, kPolicyLoss, out);
  for (KeptTrack& track : memory.tracks(state, state.find(kUpdate.signal))) {
    std::optional<Explosion> explosion = explosion_of(track, kUpdate);
    if (!explosion && track.series->max() > kEarlyKl.value) explosion = early_explosion(track, kEarlyKl.value);
    if (explosion) out.push_back(finding_of(track, kUpdate, *explosion));
  }
  judge_critic(state, memory, kValueLoss, out);
  judge_critic(state, memory, kValueNorm, out);
}

}  // namespace

extern const Detector slow_explosion;
const Detector slow_explosion{"slow-explosion",
                              "A gradient norm, a loss or the KL of an update that grows by a little at each step, to "
                              "far beyond what it was; a value loss or its gradient, also at once.",
                              {"gradient-spike", "loss-spike", "kl-runaway"},
                              kKnobs,
                              judge};

}  // namespace mw::detect
