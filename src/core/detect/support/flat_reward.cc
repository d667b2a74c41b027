#include "core/detect/support/flat_reward.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "core/detect/support/pair_ranking.h"
#include "core/detect/support/settled.h"
#include "core/detect/support/spread.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

enum class Learning { kNone, kUnclear, kClear };

/// What the first `n` points show by themselves.
struct Stretch {
  size_t n = 0;
  double before = 0, after = 0;  ///< means of the first and the last third
  double sigma = 0, highest = 0;
  double least = 0, most = 0;  ///< single values
  double trend = 0;
};

Stretch stretch_of(std::span<const double> points) {
  const size_t n = points.size(), third = n / 3;
  const auto [least, most] = std::minmax_element(points.begin(), points.end());
  return {n,
          mean(points.subspan(0, third)),
          mean(points.subspan(n - third)),
          noise(points),
          highest_mean(points, std::max<size_t>(third / 2, 1)),
          *least,
          *most,
          0};
}

/// At growing lengths: each is looked at once.
struct Stretches {
  std::vector<Stretch> all;
  double next = kPoints.value;

  void step(const Track& track, size_t i) {
    const size_t n = static_cast<size_t>(next);
    if (i + 1 != n) return;
    next *= kGrowth.value;
    const auto points = track.slice(0, n);
    all.push_back(stretch_of(points));
    all.back().trend = trend_score(points);
  }
};

double range_of(const RewardScale& scale) { return scale.ceiling - scale.floor; }

RewardScale scale_of(const State& state, const Track& track, const Stretch& stretch) {
  return reward_scale(state, track, stretch.n - 1, stretch.least, stretch.most);
}

Learning learning(const State& state, const Track& track, const Stretch& stretch) {
  const RewardScale scale = scale_of(state, track, stretch);
  const double range = range_of(scale);
  if (!(range > 0)) return Learning::kUnclear;
  if (solved(state, scale, stretch.after, kSolved.value)) return Learning::kClear;
  const size_t third = stretch.n / 3;  // before and after are means of a third each
  const double error = stretch.sigma * std::sqrt(2.0 / static_cast<double>(third)) / range;
  const double gain = (stretch.after - stretch.before) / range;
  if (error > kPower.value) return Learning::kUnclear;  // so noisy that learning would not show either
  if (gain < -2 * std::max(kGain.value, error)) return Learning::kUnclear;  // a fall is for reward-collapse to report
  if (gain > std::max(kLearned.value, 2 * error)) return Learning::kClear;
  const double height = (stretch.before - scale.floor) / range;
  const bool speaks = gain >= kTiny.value || height >= kTiny.value;  // not of a reward that lies on its floor
  const bool rose = speaks && gain > kRelative.value * height && gain > kSure.value * error;
  if (rose && stretch.trend > kTrend.value) return Learning::kClear;
  if (gain >= std::max(kGain.value, error)) return Learning::kUnclear;
  const double peak = (stretch.highest - stretch.before) / range;
  if (peak > std::max(kLearned.value, 4 * error)) return Learning::kUnclear;  // it learned, and lost it again
  return gain < kTiny.value || stretch.trend < kTrend.value ? Learning::kNone : Learning::kUnclear;
}

/// Slowly, but for sure: by more than nothing of the reward's range, which one outlier widens, or of its own height,
/// and out of the noise.
bool rises(const State& state, const Track& track, const Stretch& stretch) {
  const RewardScale scale = scale_of(state, track, stretch);
  const double range = range_of(scale);
  const double least = std::min(kTiny.value * range, kGain.value * (stretch.before - scale.floor));
  const double gain = stretch.after - stretch.before;
  const size_t third = stretch.n / 3;  // before and after are means of a third each
  const double error = stretch.sigma * std::sqrt(2.0 / static_cast<double>(third));
  return range > 0 && gain >= least && gain > kSure.value * error && stretch.trend > kTrend.value;
}

std::string flat_text(const Track& track, const Stretch& stretch) {
  constexpr double kLess = 0.25;  // of its size, which noise explains; nobody would call it flat
  const bool less = stretch.before - stretch.after > kLess * std::abs(stretch.before);
  return cat(less ? "Reward does not rise over " : "Reward is flat over ",
             track.points[stretch.n - 1].step - track.points[0].step, " steps: ", stretch.before,
             " in the first third, ", stretch.after, " in the last");
}

/// The same at the run's end, or what became of it: figures of a beginning are no news of a run that went on.
void say_of_whole(const State& state, const Track& track, Finding& finding) {
  Stretch whole = stretch_of(track.values);
  whole.trend = trend_score(track.values);
  const double range = range_of(scale_of(state, track, whole));
  const bool slow = rises(state, track, whole);
  if (range > 0 && !slow && std::abs(whole.after - whole.before) < kGain.value * range) {
    finding.summary = flat_text(track, whole);
  } else {
    finding.summary += cat("; over all ", track.points.back().step - track.points[0].step, " steps ", whole.before,
                           " in the first third, ", whole.after, " in the last");
  }
  if (!slow && learning(state, track, whole) != Learning::kClear) return;
  resolve(finding, track.points.back());
  finding.severity = Severity::kInfo;
}

/// What it learned before its first record is not known: only the end of its log is there, or the log of a resumed
/// attempt.
bool begins_late(const Track& track) {
  const int64_t first = track.points[0].step, apart = track.points[1].step - first;
  return static_cast<double>(first) > std::max(kLateStart.value, kLateRecords.value * static_cast<double>(apart));
}

/// Every record up to there has a gradient of exactly zero, and equal rewards do not explain it.
bool has_no_gradient(const State& state, const Point& now) {
  const Series* const gradient = state.find("grad_norm");
  if (gradient == nullptr || gradient->count() < points_of(kRecords) || gradient->min() != 0 || gradient->max() != 0)
    return false;
  return rewards_differ(state, now.attempt, std::numeric_limits<int64_t>::min(), now.step).value_or(true);
}

Finding finding_of(const State& state, const Track& track, const Stretch& stretch) {
  const size_t n = stretch.n;
  // A level is not wrong at the first step: learning is due once half of what is judged is over.
  const Point& onset = track.points[n / 2];
  const Point& now = track.points[n - 1];
  Finding finding =
      make_finding("no-learning", "no-learning", Severity::kWarning, onset, now, flat_text(track, stretch));
  if (begins_late(track)) finding.severity = Severity::kInfo;
  add_figures(finding, track, 0, n - 1);
  const auto kl = level_between(state.find("kl.ref"), now.attempt, onset.step, now.step);
  const bool no_gradient = has_no_gradient(state, now);
  if (no_gradient) {
    finding.suggests.push_back({"weights-not-updating", 0.75, "the gradient is exactly zero in every record"});
    add_figure(finding, "grad_norm", now.step, 0);
  }
  finding.suggests.push_back({"reward-plateau", 0.6, "no trend in the reward"});
  if (!no_gradient && kl && std::abs(*kl) < 1e-3) {
    finding.suggests.push_back(
        {"weights-not-updating", 0.5, cat("KL to the reference is ", *kl, ": the policy hardly moves")});
    add_figure(finding, "kl.ref", now.step, *kl);
  }
  return finding;
}

void judge_reward(const State& state, KeptTrack& track, std::vector<Finding>& out) {
  const std::vector<Stretch>& all = track.follow("no-learning", Stretches{}).all;
  for (size_t k = 0; k < all.size(); ++k) {
    const size_t n = all[k].n;
    if (static_cast<double>(track.points[n - 1].step - track.points[0].step) < kSteps.value - 1) continue;
    if (learning(state, track, all[k]) != Learning::kNone) continue;
    Finding finding = finding_of(state, track, all[k]);
    if (solved(state, scale_of(state, track, all[k]), all[k].after, kHigh.value)) finding.severity = Severity::kInfo;
    for (++k; k < all.size() && !finding.resolved; ++k) {
      if (learning(state, track, all[k]) != Learning::kClear) continue;
      resolve(finding, track.points[all[k].n - 1]);
      finding.severity = Severity::kInfo;
    }
    if (!finding.resolved && n < track.size()) say_of_whole(state, track, finding);
    out.push_back(std::move(finding));
  }
}

/// Not of a run that was cut off on its way.
bool planned_so_short(const State& state, const Point& last) {
  if (last.attempt >= state.attempts.size()) return true;
  const AttemptState& attempt = state.attempts[last.attempt];
  if (attempt.ended && attempt.ended->how != event::Ended::How::kComplete &&
      attempt.ended->how != event::Ended::How::kExit) {
    return false;
  }
  const int64_t plan = attempt.total_steps;
  return plan <= 0 || static_cast<double>(last.step) >= kOfPlan.value * static_cast<double>(plan);
}

/// Was the learning rate on its way up until the run's last record?
bool warms_up(const State& state, JudgeMemory& memory, const Point& last) {
  constexpr double kRisen = 1.2;  // times the rate in the middle
  for (const Track& rate : memory.tracks(state, state.find("lr"))) {
    if (rate.points.empty() || rate.points[0].attempt != last.attempt) continue;
    const double now = rate.values.back();
    return now >= *std::max_element(rate.values.begin(), rate.values.end()) &&
           now > kRisen * rate.values[rate.size() / 2];
  }
  return false;
}

/// Of a run that is over all of it counts, however short it was.
void judge_short(const State& state, JudgeMemory& memory, const Track& track, std::vector<Finding>& out) {
  if (track.size() < points_of(kPoints) || !is_over(state, track.points.back().attempt)) return;
  Stretch whole = stretch_of(track.values);
  whole.trend = trend_score(track.values);
  // Normalised by construction, or hardly ever rewarded: zero-reward says so.
  const auto lowest = std::count(track.values.begin(), track.values.end(), whole.least);
  if (static_cast<double>(lowest) > kOnFloor.value * static_cast<double>(track.size())) return;
  if (whole.trend > kNoRise.value || learning(state, track, whole) != Learning::kNone) return;
  Finding finding = finding_of(state, track, whole);
  const bool reached = solved(state, scale_of(state, track, whole), whole.after, kHigh.value);
  const auto steps = static_cast<double>(track.points.back().step - track.points[0].step);
  const bool long_enough = steps >= kSteps.value - 1 && !warms_up(state, memory, track.points.back());
  const bool due = long_enough || planned_so_short(state, track.points.back());
  if (reached || !due) finding.severity = Severity::kInfo;
  out.push_back(std::move(finding));
}

}  // namespace

double highest_mean(std::span<const double> values, size_t width, double enough) {
  double highest = -INFINITY;
  for (size_t end = width; end <= values.size() && highest <= enough; end += std::max<size_t>(1, width / 4)) {
    highest = std::max(highest, mean(values.subspan(end - width, width)));
  }
  return highest;
}

bool judge_flat(const State& state, JudgeMemory& memory, std::vector<Finding>& out) {
  const size_t before = out.size();
  auto& tracks = memory.tracks(state, reward_series(state));
  for (KeptTrack& track : tracks) {
    if (out.size() == before) judge_reward(state, track, out);
  }
  if (out.size() == before && !tracks.empty()) judge_short(state, memory, tracks.back(), out);
  for (size_t i = before; i < out.size(); ++i) {
    const Moment& seen = out[i].detected;
    if (!out[i].resolved && has_no_gradient(state, {seen.step, 0, seen.at, seen.where, seen.attempt}))
      out[i].summary += "; the gradient is exactly zero in every record";
  }
  return out.size() > before;
}

}  // namespace mw::detect
