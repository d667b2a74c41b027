// Trainer and inference engine disagree on the log-probabilities of the same tokens.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/numbers.h"
#include "base/text.h"
#include "core/detect/support/host.h"
#include "core/detect/tools/back.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kHistory{"history", 4, "points", "A level needs a few points", "own"};
constexpr Knob kWidth{"width", 10, "points", "Baseline window", "own"};
constexpr Knob kFactor{"factor", 4, "x", "Times the lowest level so far",
                       "failure catalogue, train-inference-mismatch (3 x)"};
constexpr Knob kPersist{"persist", 3, "points", "Spikes come with single long samples", "field guide 4.3 rule 16"};
constexpr Knob kLogp{"logp_diff", 0.05, "nats", "Mean absolute difference that bf16 alone does not reach",
                     "verl, TRL and slime log 0.005-0.02 in healthy runs"};
constexpr Knob kKl{"kl", 0.05, "nats", "KL of engine and trainer",
                   "field guide 4.3 rule 16 (1e-3 healthy, 1e-2 critical for some, 0.1 for others)"};
constexpr Knob kProb{"prob_diff", 0.05, "ratio", "Mean absolute difference of probabilities",
                     "verl logs 0.005-0.02 in healthy runs"};
constexpr Knob kRatio{"ratio", 0.2, "nats", "Size of the logarithm of the mean ratio (1 = they agree)",
                      "field guide 4.3 rules 10 and 16 (|mean-1| > 0.2 critical)"};
constexpr Knob kCorrelation{"correlation", 0.02, "1", "By so much the correlation of probabilities is short of 1",
                            "verl: .999 and above in healthy runs, single steps at .988"};
constexpr Knob kMoved{"moved", 0.7, "nats", "Size of the logarithm of the mean importance ratio: twice or half",
                      "own; it is 1 where the policy is near to the one that sampled"};
constexpr Knob kStanding{"standing", 4, "x", "Times the limits above that is a mismatch from the first step on", "own"};
constexpr Knob kSpike{"spike", 20, "x", "Times the usual, above the limits of a standing mismatch: a spike", "own"};
constexpr Knob kSpikes{"spikes", 3, "points", "A single one comes with one long sample", "field guide 4.3 rule 16"};
constexpr Knob kFree{"free", 2, "x",
                     "The records from the first to the last of such spikes: so long without one, and `free_least` at "
                     "least, they are over",
                     "own"};
constexpr Knob kFreeLeast{"free_least", 20, "points", "See `free`", "own"};
constexpr Knob kSame{"same_answer", 5, "steps", "An engine whose answer does not move meanwhile has old weights",
                     "own"};
constexpr Knob kKnobs[] = {kHistory, kWidth,       kFactor, kPersist,  kLogp,  kKl,     kProb, kRatio,
                           kSame,    kCorrelation, kMoved,  kStanding, kSpike, kSpikes, kFree, kFreeLeast};

constexpr size_t kUsual = 50;  // records that show what is usual

struct Watched {
  std::string_view signal;
  double limit;
};
constexpr std::array kWatched = {
    Watched{"mismatch.logp_diff", kLogp.value},          Watched{"mismatch.kl", kKl.value},
    Watched{"mismatch.prob_diff", kProb.value},          Watched{"mismatch.ratio", kRatio.value},
    Watched{"mismatch.correlation", kCorrelation.value}, Watched{"ratio.mean", kMoved.value}};

/// The policy has left the one that sampled; nothing says that engine and trainer disagree. That much is worth knowing.
Finding moved(const Track& track, const Rise& rise) {
  const Point& onset = track.points[rise.onset];
  const Point& now = track.points[rise.detected];
  return make_finding("policy-mismatch", "policy-mismatch", Severity::kInfo, onset, now,
                      cat("The mean importance ratio is ", format_short(track.values[rise.detected], 3), " since step ",
                          onset.step, ", and 1 is usual: the policy is far from the one that sampled the answers"));
}

/// "mismatch.kl is 0.3 against a level of 0.004 since step 10". Spikes, `again`, are single records.
std::string words_of(const Track& track, const Rise& rise, bool again) {
  const std::string& signal = track.series->signal;
  const bool ratio = signal == "mismatch.ratio", correlation = signal == "mismatch.correlation";
  const bool past = again || rise.ended;
  const std::string_view offset = ratio ? " off by a factor of exp " : correlation ? " short of 1 by " : " ";
  const std::string against = rise.base > 0 ? cat(" against a level of ", rise.base) : std::string();
  const int64_t begun = track.points[rise.onset].step;
  const std::string when = again
                               ? cat(" in single records from step ", begun, " to step ", track.points[rise.first].step)
                               : cat(past ? " from step " : " since step ", begun, past ? " on" : "");
  return cat(signal, past ? " was" : " is", offset, rise.peak, against, when);
}

void add_finding(const State& state, const Track& track, const Rise& rise, std::vector<Finding>& out,
                 bool again = false) {
  const Point& onset = track.points[rise.onset];
  const Point& now = track.points[rise.detected];
  const bool own = track.series->signal == "ratio.mean";
  Finding finding = own ? moved(track, rise)
                        : make_finding("policy-mismatch", "policy-mismatch", Severity::kWarning, onset, now,
                                       words_of(track, rise, again));
  add_figures(finding, track, rise.onset > 0 ? rise.onset - 1 : 0, rise.detected);
  finding.suggests.push_back({"train-inference-mismatch", own ? 0.3 : 0.6,
                              own ? "an engine with other weights looks like this, and so do many updates on one batch"
                                  : "engine and trainer differ on the same tokens"});
  if (const auto entropy = shift_of(state, "entropy", onset, now, 5); entropy && entropy->relative() > 1) {
    finding.suggests.push_back({"entropy-explosion", 0.4, cat("entropy rose to ", entropy->after)});
  }
  for (const Series* same : host_series(state, "engine.same_answer")) {
    if (host_value(state, "engine.same_answer", same->raw, now.at).value_or(0) < kSame.value) continue;
    finding.suggests.push_back({"weights-stale-after-reload", 0.7, cat(same->raw, " answers as it did steps ago")});
  }
  if (rise.ended) resolve(finding, track.points[*rise.ended]);
  out.push_back(std::move(finding));
}

/// Where there is no level to compare with, or none that was left for long: the limits are higher.
struct HighWalk {
  HighWalk(Shape shape, double limit) : shape_(shape), limit_(limit) {}

  std::optional<Rise> standing;  ///< from the first step on
  /// Far above the usual time and again, if only for a record each: every such update learns from what the policy would
  /// not have said. `first` is the last of them.
  std::optional<Rise> spikes;

  void step(const Track& track, size_t i) {
    const double value = shaped(track.values[i], shape_);
    const bool high = value > kStanding.value * limit_;
    streak_ = high ? streak_ + 1 : 0;
    if (!standing && streak_ >= 2 * points_of(kPersist)) standing = rise_of(i + 1 - streak_, i, 0, value);
    if (!spikes) return look_for_spike(i, value, high);
    if (high && value > kSpike.value * spikes->base) {
      spikes->first = i;
      spikes->ended.reset();
    }
    const double lasted = static_cast<double>(spikes->first - spikes->onset);
    const size_t free = std::max(points_of(kFreeLeast), static_cast<size_t>(kFree.value * lasted));
    if (!spikes->ended && i - spikes->first >= free) spikes->ended = i;
  }

 private:
  void look_for_spike(size_t i, double value, bool high) {
    // Few values are that high: for the others no median is sought.
    const double level = high && usual_.size() >= points_of(kHistory) ? median_of_last(usual_, kUsual) : INFINITY;
    if (!(value > kSpike.value * level)) {
      usual_.push_back(value);
      if (usual_.size() >= 2 * kUsual) usual_.erase(usual_.begin(), usual_.end() - static_cast<ptrdiff_t>(kUsual));
      return;
    }
    if (++times_ == 1) first_ = i;
    if (times_ < points_of(kSpikes)) return;
    spikes = rise_of(first_, i, level, value);
    spikes->first = i;
  }
  static Rise rise_of(size_t onset, size_t detected, double base, double peak) {
    Rise rise;
    rise.onset = rise.first = onset;
    rise.detected = detected;
    rise.base = base;
    rise.peak = peak;
    return rise;
  }

  Shape shape_;
  double limit_;
  size_t streak_ = 0, times_ = 0, first_ = 0;
  std::vector<double> usual_;
};

/// With its end, where it is no longer as high.
Rise standing_now(const Track& track, Rise standing, Shape shape, double high) {
  constexpr double kPart = 0.5;  // of what is high
  standing.ended = back_at(track, standing.detected, points_of(kWidth),
                           [=](double value) { return shaped(value, shape) < kPart * high; });
  return standing;
}

/// Larger is worse in sizes, for a ratio in the size of its logarithm, for a correlation in what is left to 1.
Shape shape_of(const Watched& watched) {
  if (watched.signal == "mismatch.correlation") return Shape::kShortOfOne;
  return watched.signal == "mismatch.ratio" || watched.signal == "ratio.mean" ? Shape::kLogSize : Shape::kSize;
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  for (const Watched& watched : kWatched) {
    const RiseRule rule{points_of(kHistory), points_of(kWidth), kFactor.value, watched.limit, points_of(kPersist)};
    const size_t before = out.size();
    const Shape shape = shape_of(watched);
    for (KeptTrack& track : memory.tracks(state, state.find(watched.signal))) {
      const std::vector<Rise> all = track.rises("policy-mismatch", rule, shape);
      for (const Rise& rise : all) add_finding(state, track, rise, out);
      if (!all.empty()) continue;
      const HighWalk& high = track.follow("policy-mismatch, high", HighWalk(shape, watched.limit));
      if (high.standing) {
        add_finding(state, track, standing_now(track, *high.standing, shape, kStanding.value * watched.limit), out);
      } else if (high.spikes) {
        add_finding(state, track, *high.spikes, out, true);
      }
    }
    if (out.size() > before) return;  // the others say the same
  }
}

}  // namespace

extern const Detector policy_mismatch;
const Detector policy_mismatch{"policy-mismatch",
                               "Trainer and inference engine disagree on log-probabilities.",
                               {"policy-mismatch"},
                               kKnobs,
                               judge};

}  // namespace mw::detect
