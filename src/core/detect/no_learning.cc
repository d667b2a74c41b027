// The run has gone on long enough to learn and has not: the learning rate is zero, the gradient is zero although the
// rewards differ, a supervised loss stays above chance, pairs are ranked as by chance, the reward is flat from the
// start, or hardly any answer is right whatever the reward does.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "core/detect/support/flat_reward.h"
#include "core/detect/support/pair_ranking.h"
#include "core/detect/support/reward_count.h"
#include "core/detect/tools/back.h"
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
constexpr Knob kUnsure{
    "unsure", 50, "points",
    "Records with a loss of exactly 0, and never another, where neither gradient nor reward says more: a "
    "policy gradient's is 0 while beta times KL is below the last digit",
    "0.04 times a KL of 1e-5 is 0.000000; at usual rates it is passed within tens of steps"};
constexpr Knob kSureAtEnd{"sure_at_end", 20, "points", "Likewise, where the run has done what it was to do", "own"};
constexpr Knob kZeroGradient{"zero_gradient", 10, "points", "Zero gradient and zero loss although rewards differ",
                             "failure catalogue, weights-not-updating (5 steps; the first three may be zero)"};
constexpr Knob kChance{"chance", 13, "nats",
                       "Above ln(vocabulary) of any model in use (ln 262144 = 12.5) a loss is worse than guessing",
                       "definition of cross entropy"};
constexpr Knob kFrozen{"frozen", 10, "points", "The same supervised loss to the last digit",
                       "failure catalogue, metric-flatline-frozen (5 steps)"};
constexpr Knob kSame{"same", 12, "points",
                     "A share of right answers that moved, and then is the same to the last digit for so long",
                     "own; the share of a policy that learns is never the same twice in a row for long"};
constexpr Knob kUnscheduled{"unscheduled", 10, "points",
                            "At a learning rate of exactly zero, after it was more: a schedule ends with one or two",
                            "own; linear and cosine schedules reach zero with their last step"};
constexpr Knob kUnscheduledShare{"unscheduled_share", 0.05, "ratio", "And of all records up to there", "own"};
constexpr Knob kHardly{"hardly", 0.05, "ratio", "Share of right answers that is next to none", "own"};
constexpr Knob kKnobs[] = {kRecords,   kDecimals,   kFractions, kRepeats,     kZeroGradient, kChance,
                           kFrozen,    kSteps,      kPoints,    kTrend,       kGain,         kPower,
                           kSolved,    kHigh,       kTiny,      kRelative,    kSure,         kLearned,
                           kPairSteps, kPairChance, kPairLoss,  kSame,        kHardly,       kNoRise,
                           kOfPlan,    kOnFloor,    kLateStart, kLateRecords, kUnscheduled,  kUnscheduledShare,
                           kGrowth,    kUnsure,     kSureAtEnd};

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

/// Adds one of several stretches in which nothing moved: the first ones, of which `said` were added, and the newest.
/// `moves`: where the figures had moved again for long enough.
void add_stretch(const Track& track, Finding&& finding, std::optional<size_t> moves, size_t& said,
                 std::vector<Finding>& out) {
  if (moves) {
    resolve(finding, track.points[*moves]);
    finding.severity = Severity::kWarning;
  }
  if (said == kStretchesReported) out.pop_back();
  out.push_back(std::move(finding));
  said = std::min(said + 1, kStretchesReported);
}

/// The schedule came to its end and the run goes on: the updates since then do nothing.
bool judge_rate_gone(const State& state, JudgeMemory& memory, std::vector<Finding>& out) {
  size_t said = 0;
  for (const Track& track : memory.tracks(state, state.find("lr"))) {
    size_t streak = 0;
    for (size_t i = 0; i < track.size(); ++i) {
      streak = track.values[i] == 0 ? streak + 1 : 0;
      const double least = std::max(kUnscheduled.value, kUnscheduledShare.value * static_cast<double>(i + 1));
      if (static_cast<double>(streak) < least || streak > i) continue;
      if (rounds(state, track.series->source)) return said > 0;
      const Point& onset = track.points[i + 1 - streak];
      const auto back = back_at(track, i, points_of(kRecords), [](double value) { return value != 0; });
      const size_t end = back ? *back + 1 - points_of(kRecords) : track.size();
      Finding finding = make_finding("no-learning", "no-learning", Severity::kWarning, onset, track.points[i],
                                     cat("The learning rate is zero since step ", onset.step, ", in ",
                                         end + streak - i - 1, " records: these updates change no weight"));
      add_figures(finding, track, i - streak, i, 3);
      finding.suggests.push_back({"weights-not-updating", 0.65, "the learning rate is zero"});
      add_stretch(track, std::move(finding), back, said, out);
      if (!back) return true;
      i = *back;
      streak = 0;
    }
  }
  return said > 0;
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
    const auto better = back_at(track, now, points_of(kRecords), [](double value) { return value < kChance.value; });
    if (better) {
      resolve(finding, track.points[*better]);
      finding.severity = Severity::kWarning;
    }
    add_figures(finding, track, 0, track.size() - 1, 4);
    finding.suggests.push_back({"weights-not-updating", 0.6, "the loss does not move"});
    finding.suggests.push_back({"reward-plateau", 0.2, "nothing improves"});
    out.push_back(std::move(finding));
    return true;
  }
  return false;
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

/// Printed in steps so coarse that neighbours were often equal, between the two indices.
bool coarse(const Track& track, size_t begin, size_t end) {
  size_t equal = 0;
  for (size_t i = begin + 1; i < end; ++i) equal += track.values[i] == track.values[i - 1];
  return end > begin + points_of(kRecords) &&
         static_cast<double>(equal) > kRepeats.value * static_cast<double>(end - begin - 1);
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

/// Zero from the first record on, as a policy gradient's loss is while the reward is not printed: it moves later, or
/// there may be more to come. Labels that are all masked give zeros, too, and a gradient of zero.
bool begins_with_zeros(const Track& track) {
  const auto moves = std::find_if(track.values.begin(), track.values.end(), [](double value) { return value != 0; });
  return moves != track.values.begin() && moves != track.values.end();
}

/// The attempt has done what it was to do: what was never seen does not come any more.
bool has_done_all(const State& state, const Point& now) {
  if (now.attempt >= state.attempts.size()) return false;
  const AttemptState& attempt = state.attempts[now.attempt];
  if (attempt.ended && attempt.ended->how == event::Ended::How::kComplete) return true;
  const int64_t plan = attempt.total_steps;
  return plan > 0 && static_cast<double>(now.step) >= kOfPlan.value * static_cast<double>(plan);
}

/// A supervised loss that repeats itself to the last digit.
bool judge_frozen(const State& state, JudgeMemory& memory, std::vector<Finding>& out) {
  constexpr double kNothing = 1e-3;  // nats: of what has been learned by heart
  if (has_reward(state)) return false;
  std::optional<bool> reward;  // seldom asked for
  size_t said = 0;
  for (const Track& track : memory.tracks(state, state.find("loss.total"))) {
    size_t streak = 0, moved = 0;  // moved: behind the last such stretch
    Decimals decimals;
    const bool zeros_first = begins_with_zeros(track);
    for (size_t i = 0; i < track.size(); ++i) {
      decimals.note(track.values[i]);
      streak = i > 0 && track.values[i] == track.values[i - 1] ? streak + 1 : 1;
      const size_t first = i + 1 - streak;
      const bool fine = all_digits(track.values[i]);
      const size_t enough = points_of(fine ? kRecords : kFrozen);
      if (streak < enough || (std::abs(track.values[i]) < kNothing && (first > 0 || zeros_first)))
        continue;  // it may be learned
      const Point &onset = track.points[first], &now = track.points[i];
      if (!reward) reward = moves_as_reward(state);
      if (*reward) return false;
      if (decimals.only_hundredths() || (!fine && gradient_lives(state, onset, now))) continue;
      const auto policy = level_between(state.find("loss.policy"), now.attempt, onset.step, now.step);
      if (coarse(track, moved, first) || (now.value == 0 && policy.value_or(0) != 0)) continue;  // a part that is off
      const bool unsure = now.value == 0 && state.find("grad_norm") == nullptr;
      const bool always = std::abs(state.find("loss.total")->max()) < kNothing;  // an earlier attempt's, too
      const bool early = unsure && always && streak < points_of(kUnsure);
      if (early && !(has_done_all(state, now) && streak >= points_of(kSureAtEnd))) continue;
      Finding finding = make_finding("no-learning", "no-learning", unsure ? Severity::kWarning : Severity::kCritical,
                                     onset, now, cat("Loss is exactly ", track.values[i], " for ", streak, " records"));
      if (early && state.attempts[now.attempt].ended) finding.detected = state.attempts[now.attempt].ended_at;
      add_figures(finding, track, first, i, 3);
      finding.suggests.push_back({"metric-flatline-frozen", 0.6, "the same loss to the last digit"});
      finding.suggests.push_back({"weights-not-updating", 0.5, "weights that do not move give the same loss"});
      const auto moves = back_at(track, i, points_of(kRecords), [&](double value) { return value != now.value; });
      add_stretch(track, std::move(finding), moves, said, out);
      if (!moves) return true;
      moved = i = *moves;
      streak = 1;
    }
  }
  return said > 0;
}

bool judge_gradient(const State& state, JudgeMemory& memory, std::vector<Finding>& out) {
  const Series* loss = state.find("loss.total") != nullptr ? state.find("loss.total") : state.find("loss.policy");
  size_t said = 0;
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
      const auto moves = back_at(track, i, points_of(kRecords), [](double value) { return value != 0; });
      add_stretch(track, std::move(finding), moves, said, out);
      if (!moves) return true;
      i = *moves;
      streak = 0;
    }
  }
  return said > 0;
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  if (judge_rate(state, memory, out) || judge_rate_gone(state, memory, out) || judge_chance(state, memory, out) ||
      judge_frozen(state, memory, out) || judge_gradient(state, memory, out) || judge_pairs(state, memory, out) ||
      judge_guess(state, memory, out) || judge_still(state, memory, out)) {
    return;
  }
  if (follows_teacher(state)) return;  // the reward is not what it learns from
  if (!judge_flat(state, memory, out) && !judge_same(state, memory, out)) judge_hardly(state, memory, out);
}

}  // namespace

extern const Detector no_learning;
const Detector no_learning{
    "no-learning", "The run has gone on long enough to learn and has not.", {"no-learning"}, kKnobs, judge};

}  // namespace mw::detect
