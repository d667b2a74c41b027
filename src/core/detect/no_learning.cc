// The run has gone on long enough to learn and has not: the learning rate is zero, the gradient is zero although the
// rewards differ, a supervised loss stays above chance, pairs are ranked as by chance, the reward is flat from the
// start, or hardly any answer is right whatever the reward does.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "core/detect/support/pair_ranking.h"
#include "core/detect/support/reward_count.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kDecimals{"decimals", 5, "digits",
                         "A source none of whose figures has more of them would print a learning rate as zero",
                         "learning rates of RL lie at 1e-7 to 1e-5"};
constexpr Knob kFractions{"fractions", 10, "values", "That are no whole numbers, to know how many digits are printed",
                          "own"};
constexpr Knob kRepeats{"repeats", 0.15, "ratio",
                        "Of neighbours that were equal before: a loss in coarse steps repeats itself by chance",
                        "a loss in bfloat16 has three digits"};
constexpr Knob kZeroGradient{"zero_gradient", 10, "points", "Zero gradient and zero loss although rewards differ",
                             "failure catalogue, weights-not-updating (5 steps; the first three may be zero)"};
constexpr Knob kChance{"chance", 13, "nats",
                       "Above ln(vocabulary) of any model in use (ln 262144 = 12.5) a loss is worse than guessing",
                       "definition of cross entropy"};
constexpr Knob kFrozen{"frozen", 10, "points", "The same supervised loss to the last digit",
                       "failure catalogue, metric-flatline-frozen (5 steps)"};
constexpr Knob kSteps{"steps", 200, "steps", "A reward that learns shows it within this",
                      "field guide 4.3 rule 5: 76 % of the gain in the first 200 steps"};
constexpr Knob kPoints{"points", 30, "points", "And so many records", "own"};
constexpr Knob kGain{"gain", 0.05, "ratio", "Of the reward's range, between first and last third", "own"};
constexpr Knob kPower{"power", 0.25, "ratio",
                      "Of the reward's range: standard error of the gain above which nothing can be said", "own"};
constexpr Knob kSolved{"solved", 0.9, "ratio", "Of the reward's range: nothing left to learn", "own"};
constexpr Knob kHigh{"high", 0.7, "ratio",
                     "Of the reward's range: so much is reached that a flat reward is information", "own"};
constexpr Knob kTiny{"tiny", 0.025, "ratio", "Of the reward's range: a gain that is none, however steady", "own"};
constexpr Knob kRelative{"relative", 0.1, "ratio",
                         "Of its first third's height above the floor: a reward that keeps low figures rose by this",
                         "own"};
constexpr Knob kSure{"sure", 4, "sigma", "And that rise is so many standard errors", "own"};
constexpr Knob kLearned{"learned", 0.1, "ratio", "Of the reward's range: a later gain that takes the verdict back",
                        "own"};
constexpr Knob kSame{"same", 12, "points",
                     "A share of right answers that moved, and then is the same to the last digit for so long",
                     "own; the share of a policy that learns is never the same twice in a row for long"};
constexpr Knob kHardly{"hardly", 0.05, "ratio", "Share of right answers that is next to none", "own"};
constexpr Knob kGrowth{"growth", 1.3, "x", "The judgement is made anew each time the run is longer by this", "own"};
constexpr Knob kKnobs[] = {kRecords, kDecimals, kFractions, kRepeats,    kZeroGradient, kChance, kFrozen, kSteps,
                           kPoints,  kTrend,    kGain,      kPower,      kSolved,       kHigh,   kTiny,   kRelative,
                           kSure,    kLearned,  kPairSteps, kPairChance, kPairLoss,     kSame,   kHardly, kGrowth};

/// Improvement of the objective so far, as a Mann-Kendall score: positive when it gets better.
double improvement(const State& state, JudgeMemory& memory) {
  for (const Track& reward : memory.tracks(state, reward_series(state))) return trend_score(reward.values);
  for (const Track& loss : memory.tracks(state, state.find("loss.total"))) return -trend_score(loss.values);
  return 0;
}

/// Whether a source prints all that it prints with so few decimals that a learning rate shows as zero.
bool rounds(const State& state, uint32_t source) {
  size_t fractions = 0;
  for (const Series& series : state.series) {
    if (series.source != source) continue;
    const auto& points = series.points();
    for (size_t i = 0; i < points.size() && i < points_of(kRecords); ++i) {
      const double value = points[i].value;
      if (!std::isfinite(value) || std::abs(value) > 1e6) continue;
      const double scaled = value * std::pow(10.0, kDecimals.value);
      if (std::abs(scaled - std::round(scaled)) > 1e-4) return false;
      fractions += value != std::round(value);
    }
  }
  return fractions >= points_of(kFractions);
}

bool judge_rate(const State& state, JudgeMemory& memory, std::vector<Finding>& out) {
  for (const Track& track : memory.tracks(state, state.find("lr"))) {
    if (track.size() < points_of(kRecords)) continue;
    if (std::any_of(track.values.begin(), track.values.end(), [](double value) { return value != 0; })) continue;
    if (improvement(state, memory) > kTrend.value || rounds(state, track.series->source)) continue;  // too few digits
    const size_t now = points_of(kRecords) - 1;
    Finding finding =
        make_finding("no-learning", "no-learning", Severity::kCritical, track.points[0], track.points[now],
                     cat("The learning rate is zero in all ", track.size(), " records and nothing improves"));
    add_figures(finding, track, 0, now, 3);
    finding.suggests.push_back({"weights-not-updating", 0.65, "the learning rate is zero"});
    finding.suggests.push_back({"deepspeed-overflow-skip", 0.3, "a scheduler that is never stepped reports zero"});
    out.push_back(std::move(finding));
    return true;
  }
  return false;
}

bool judge_chance(const State& state, JudgeMemory& memory, std::vector<Finding>& out) {
  if (has_reward(state)) return false;
  for (const Track& track : memory.tracks(state, state.find("loss.total"))) {
    if (track.size() < points_of(kRecords)) continue;
    const size_t now = points_of(kRecords) - 1;
    const auto head = track.slice(0, now + 1);
    if (*std::min_element(head.begin(), head.end()) < kChance.value || track.values[now] < 0.95 * track.values[0])
      continue;
    if (track.values[now] > 100 * kChance.value) continue;  // a summed loss, not a mean over tokens
    Finding finding = make_finding(
        "no-learning", "no-learning", Severity::kCritical, track.points[0], track.points[now],
        cat("Loss stays at ", track.values[now], ", worse than guessing among all tokens (at most 12.5 nats)"));
    add_figures(finding, track, 0, track.size() - 1, 4);
    finding.suggests.push_back({"weights-not-updating", 0.6, "the loss does not move"});
    finding.suggests.push_back({"reward-plateau", 0.2, "nothing improves"});
    out.push_back(std::move(finding));
    return true;
  }
  return false;
}

/// Highest mean of `width` values in a row; the first above `enough` where there is one.
double highest_mean(std::span<const double> values, size_t width, double enough = INFINITY) {
  double highest = -INFINITY;
  for (size_t end = width; end <= values.size() && highest <= enough; end += std::max<size_t>(1, width / 4)) {
    highest = std::max(highest, mean(values.subspan(end - width, width)));
  }
  return highest;
}

/// The last values of a series between the two points; none where it is nullptr.
std::vector<double> values_between(const Series* series, const Point& from, const Point& to) {
  if (series == nullptr) return {};
  return last_values(*series, to.attempt, from.step, to.step, 2 * points_of(kSame));
}

bool differ(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [&values](double value) { return value != values.front(); });
}

/// Whether the values of a series differ between the two points.
bool moves_between(const Series* series, const Point& from, const Point& to) {
  return differ(values_between(series, from, to));
}

/// A share of right answers that moved and then repeats itself to the last digit to the end, while what is trained on
/// moves: all answers are alike, or it is not measured any more.
bool judge_same(const State& state, JudgeMemory& memory, std::vector<Finding>& out) {
  for (const Track& track : memory.tracks(state, state.find("reward.pass_rate"))) {
    const size_t n = track.size();
    if (n < points_of(kSame) + 2) continue;
    const double last = track.values[n - 1];
    size_t first = n - 1, changes = 0;
    while (first > 0 && track.values[first - 1] == last) --first;
    if (n - first < points_of(kSame) || last <= 0 || last >= 1) continue;
    for (size_t i = 1; i <= first; ++i) changes += track.values[i] != track.values[i - 1];
    const bool measured_each_time = changes >= 2 && 2 * changes >= first;
    if (!measured_each_time) continue;
    const bool other = state.find("reward.pass_rate") != reward_series(state);
    const bool moves = (other && moves_between(reward_series(state), track.points[first], track.points[n - 1])) ||
                       moves_between(state.find("loss.total"), track.points[first], track.points[n - 1]);
    if (!moves) continue;
    const double best = *std::max_element(track.values.begin(), track.values.end());
    Finding finding =
        make_finding("no-learning", "no-learning", Severity::kWarning, track.points[first],
                     track.points[first + points_of(kSame) - 1],
                     cat(track.series->raw, " is exactly ", format_short(last, 4), " in ", n - first,
                         " records in a row", best > last ? cat(", after ", format_short(best, 4)) : "",
                         ", while the loss moves: all answers are alike, or it is not measured any more"));
    add_figures(finding, track, first > 2 ? first - 2 : 0, n - 1, 4);
    finding.suggests.push_back({"metric-flatline-frozen", 0.5, "the same share of right answers to the last digit"});
    finding.suggests.push_back({"reward-plateau", 0.4, "nothing improves"});
    out.push_back(std::move(finding));
    return true;
  }
  return false;
}

/// The entropy of what is sampled anew in each step is never the same twice, but of a policy that does not change.
bool judge_still(const State& state, JudgeMemory& memory, std::vector<Finding>& out) {
  constexpr double kDecimals3 = 1e3;  // with three decimals it may be equal by chance
  for (const Track& track : memory.tracks(state, state.find("entropy"))) {
    const size_t n = track.size();
    if (n < points_of(kPoints)) continue;
    const double value = track.values[0];
    const bool fine = value > 0 && std::abs(value * kDecimals3 - std::round(value * kDecimals3)) > 1e-6;
    if (!fine || std::any_of(track.values.begin(), track.values.end(), [=](double one) { return one != value; })) {
      continue;
    }
    Finding finding = make_finding(
        "no-learning", "no-learning", Severity::kWarning, track.points[0], track.points[points_of(kPoints) - 1],
        cat("Entropy is exactly ", value, " in all ", n, " records: the policy does not change"));
    add_figures(finding, track, 0, n - 1, 3);
    finding.suggests.push_back({"weights-not-updating", 0.6, "the same entropy to the last digit"});
    finding.suggests.push_back({"learning-rate-too-low", 0.4, "nothing moves"});
    out.push_back(std::move(finding));
    return true;
  }
  return false;
}

/// Hardly any answer is right, from the first step to the last, whatever else the reward pays for.
void judge_hardly(const State& state, JudgeMemory& memory, std::vector<Finding>& out) {
  for (const Track& track : memory.tracks(state, state.find("reward.pass_rate"))) {
    const size_t n = track.size(), width = std::max<size_t>(n / 6, 1);
    if (n < points_of(kPoints)) continue;
    if (static_cast<double>(track.points[n - 1].step - track.points[0].step) < kSteps.value - 1) continue;
    if (highest_mean(track.values, width, kHardly.value) > kHardly.value || trend_score(track.values) > kTrend.value)
      continue;
    const double before = mean(track.slice(0, n / 3)), after = mean(track.slice(n - n / 3, n));
    Finding finding =
        make_finding("no-learning", "no-learning", Severity::kWarning, track.points[0], track.points[n - 1],
                     cat("Hardly any answer is right: ", format_short(100 * before, 2), " % in the first third of ",
                         track.points[n - 1].step - track.points[0].step, " steps, ", format_short(100 * after, 2),
                         " % in the last"));
    add_figures(finding, track, 0, n - 1, 4);
    if (const Series* format = state.find("format.pass_rate"); format != nullptr && format->count() > 0) {
      add_figure(finding, "format.pass_rate", track.points[n - 1].step, format->last());
    }
    finding.suggests.push_back({"reward-plateau", 0.6, "no trend in the share of right answers"});
    finding.suggests.push_back({"reward-hacking", 0.3, "what else the reward pays for is learned instead"});
    out.push_back(std::move(finding));
    return;
  }
}

/// Printed in steps so coarse that neighbours were often equal before index `end`.
bool coarse(const Track& track, size_t end) {
  size_t equal = 0;
  for (size_t i = 1; i < end; ++i) equal += track.values[i] == track.values[i - 1];
  return end > points_of(kRecords) && static_cast<double>(equal) > kRepeats.value * static_cast<double>(end - 1);
}

/// Written with more significant digits than any log rounds to: such a figure does not come twice by chance.
bool all_digits(double value) {
  constexpr double kRounded = 1e8;  // nine digits
  if (value == 0 || !std::isfinite(value)) return false;
  const double scaled = std::abs(value) * std::pow(10, -std::floor(std::log10(std::abs(value)))) * kRounded;
  return std::abs(scaled - std::round(scaled)) > 1e-4;
}

/// The policy gradient's loss is zero by its nature; a reward under a name of its own may move all the same.
bool moves_as_reward(const State& state) {
  return std::any_of(state.series.begin(), state.series.end(), [](const Series& series) {
    if (series.count() < points_of(kRecords) || !named_like_reward(series.raw) || counts_rewards(series.raw))
      return false;
    const double first = series.points().front().value;
    return std::any_of(series.points().begin(), series.points().end(),
                       [first](const Point& point) { return std::isfinite(point.value) && point.value != first; });
  });
}

/// Hundredths are too coarse to say that a loss stands still.
class Decimals {
 public:
  void note(double value) {
    fine_ = fine_ || std::abs(value * kHundred - std::round(value * kHundred)) > 1e-6;
    some_ = some_ || value != 0;
  }
  bool only_hundredths() const { return some_ && !fine_; }

 private:
  static constexpr double kHundred = 100;
  bool fine_ = false, some_ = false;
};

/// A gradient that is there, and not the same in each record, moves the weights.
bool gradient_lives(const State& state, const Point& from, const Point& to) {
  const std::vector<double> values = values_between(state.find("grad_norm"), from, to);
  return differ(values) &&
         std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value) && value > 0; });
}

/// A supervised loss that repeats itself to the last digit.
bool judge_frozen(const State& state, JudgeMemory& memory, std::vector<Finding>& out) {
  constexpr double kNothing = 1e-3;  // nats: of what has been learned by heart
  if (has_reward(state)) return false;
  std::optional<bool> reward;  // seldom asked for
  for (const Track& track : memory.tracks(state, state.find("loss.total"))) {
    size_t streak = 0;
    Decimals decimals;
    for (size_t i = 0; i < track.size(); ++i) {
      decimals.note(track.values[i]);
      streak = i > 0 && track.values[i] == track.values[i - 1] ? streak + 1 : 1;
      const size_t first = i + 1 - streak;
      const bool fine = all_digits(track.values[i]);
      const size_t enough = points_of(fine ? kRecords : kFrozen);
      if (streak < enough || (std::abs(track.values[i]) < kNothing && first > 0)) continue;  // it may be learned
      const Point &onset = track.points[first], &now = track.points[i];
      if (!reward) reward = moves_as_reward(state);
      if (*reward) return false;
      if (decimals.only_hundredths() || (!fine && gradient_lives(state, onset, now))) continue;
      const auto policy = level_between(state.find("loss.policy"), now.attempt, onset.step, now.step);
      if (coarse(track, first) || (now.value == 0 && policy.value_or(0) != 0)) continue;  // a part that is off
      Finding finding = make_finding("no-learning", "no-learning", Severity::kCritical, onset, now,
                                     cat("Loss is exactly ", track.values[i], " for ", streak, " records"));
      add_figures(finding, track, first, i, 3);
      finding.suggests.push_back({"metric-flatline-frozen", 0.6, "the same loss to the last digit"});
      finding.suggests.push_back({"weights-not-updating", 0.5, "weights that do not move give the same loss"});
      out.push_back(std::move(finding));
      return true;
    }
  }
  return false;
}

bool judge_gradient(const State& state, JudgeMemory& memory, std::vector<Finding>& out) {
  const Series* loss = state.find("loss.total") != nullptr ? state.find("loss.total") : state.find("loss.policy");
  for (const Track& track : memory.tracks(state, state.find("grad_norm"))) {
    size_t streak = 0;
    for (size_t i = 0; i < track.size(); ++i) {
      streak = track.values[i] == 0 && value_at(loss, track.points[i]).value_or(0) == 0 ? streak + 1 : 0;
      if (streak < points_of(kZeroGradient)) continue;
      const Point& onset = track.points[i + 1 - streak];
      const auto spread = level_between(state.find("reward.std"), onset.attempt, onset.step, track.points[i].step);
      if (!spread || *spread <= 0) continue;  // equal rewards: zero-advantage or zero-reward report it
      Finding finding =
          make_finding("no-learning", "no-learning", Severity::kCritical, onset, track.points[i],
                       cat("Gradient and loss are exactly zero for ", streak, " records although the rewards differ"));
      add_figures(finding, track, i + 1 - streak, i, 3);
      finding.suggests.push_back({"weights-not-updating", 0.65, "zero gradient with differing rewards"});
      out.push_back(std::move(finding));
      return true;
    }
  }
  return false;
}

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
  return cat("Reward is flat over ", track.points[stretch.n - 1].step - track.points[0].step,
             " steps: ", stretch.before, " in the first third, ", stretch.after, " in the last");
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

Finding finding_of(const State& state, const Track& track, const Stretch& stretch) {
  const size_t n = stretch.n;
  const Point& onset = track.points[0];
  const Point& now = track.points[n - 1];
  Finding finding =
      make_finding("no-learning", "no-learning", Severity::kWarning, onset, now, flat_text(track, stretch));
  add_figures(finding, track, 0, n - 1);
  const auto kl = level_between(state.find("kl.ref"), now.attempt, (onset.step + now.step) / 2, now.step);
  finding.suggests.push_back({"reward-plateau", 0.6, "no trend in the reward"});
  if (kl && std::abs(*kl) < 1e-3) {
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

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  if (judge_rate(state, memory, out) || judge_chance(state, memory, out) || judge_frozen(state, memory, out) ||
      judge_gradient(state, memory, out) || judge_pairs(state, memory, out) || judge_guess(state, memory, out) ||
      judge_still(state, memory, out)) {
    return;
  }
  if (follows_teacher(state)) return;  // the reward is not what it learns from
  const size_t before = out.size();
  for (KeptTrack& track : memory.tracks(state, reward_series(state))) {
    if (out.size() == before) judge_reward(state, track, out);
  }
  if (out.size() == before && !judge_same(state, memory, out)) judge_hardly(state, memory, out);
}

}  // namespace

extern const Detector no_learning;
const Detector no_learning{
    "no-learning", "The run has gone on long enough to learn and has not.", {"no-learning"}, kKnobs, judge};

}  // namespace mw::detect
