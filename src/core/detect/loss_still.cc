// The loss of a run that has no reward stays where it began, or is suddenly nothing, or that of a run on pairs is a
// guess's to its end, as is one near ln(vocabulary); or every evaluation gives the same figures.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/numbers.h"
#include "base/text.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/evaluation_name.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kRecords{"records", 100, "points", "A warm-up may leave the loss where it is for tens of records",
                        "own"};
constexpr Knob kSteps{"steps", 500, "steps", "And for hundreds of steps", "own"};
constexpr Knob kLate{"late", 500, "steps",
                     "A run that begins after so many goes on with what it learned before: its loss falls slowly",
                     "own"};
constexpr Knob kChange{"change", 0.01, "ratio", "Of the mean: a change from the first fifth to the last that is none",
                       "two of 515 real runs, both without learning"};
constexpr Knob kPower{"power", 3, "standard errors", "So many of the difference must be less than that change", "own"};
constexpr Knob kLeast{"least", 0.01, "nats", "A loss near zero may have nothing left to lose", "own"};
constexpr Knob kPairRecords{"pair_records", 5, "points",
                            "Of pairs few records are enough, where they are the whole run", "own"};
constexpr Knob kPairSteps{"pair_steps", 100, "steps", "Training on pairs moves the margin within this",
                          "no-learning, pair_steps"};
constexpr Knob kPairLoss{"pair_loss", 0.01, "nats", "So near to the loss of a guess, ln 2, lies every record",
                         "ln 2 = 0.693 is the logistic loss of a guess (Rafailov 2023, equation 7)"};
constexpr Knob kPairMargin{"pair_margin", 0.02, "nats", "And no margin is wider: it moves the loss by half of that",
                           "derivative of the logistic loss at 0"};
constexpr Knob kSame{"same", 5, "evaluations", "With every figure equal to the last digit", "own"};
constexpr Knob kSameFigures{"same_figures", 2, "figures", "So many are printed to that many digits", "own"};
constexpr Knob kSameDigits{"same_digits", 6, "digits",
                           "Of a figure that is no count of right answers: those of a small set are often the same",
                           "own"};
constexpr Knob kPlan{"plan", 0.8, "ratio", "Of the plan, where the run is not known to be complete", "own"};
constexpr Knob kZero{"zero", 10, "points", "In a row with a loss of exactly zero", "no-learning, zero_gradient"};
constexpr Knob kZeroBefore{"zero_before", 5, "points", "Of the loss right before", "own"};
constexpr Knob kZeroLeast{"zero_least", 0.1, "nats", "Of which the median was at least this", "own"};
constexpr Knob kGuessLeast{"guess_least", 7, "nats",
                           "A loss above this in each fifth of the records is hardly better than guessing",
                           "e^7 = 1,100 tokens are equally likely; models that were trained before begin below 5"};
constexpr Knob kGuessMost{"guess_most", 13, "nats", "Likewise below this: more is a sum", "no-learning, chance"};
constexpr Knob kGuessSteps{"guess_steps", 100, "steps", "Likewise for so long: training from nothing falls within it",
                           "own"};
constexpr Knob kGuessFall{"guess_fall", 0.03, "ratio", "Likewise from the first third to the last: no fall", "own"};
constexpr Knob kGuessRight{"guess_right", 0.1, "ratio", "Of the tokens: whoever guesses has fewer right", "own"};
constexpr Knob kKnobs[] = {kLate,  kGuessLeast,  kGuessMost,   kGuessSteps, kGuessFall, kGuessRight,
                           kZero,  kZeroBefore,  kZeroLeast,   kRecords,    kSteps,     kChange,
                           kPower, kLeast,       kPairRecords, kPairSteps,  kPairLoss,  kPairMargin,
                           kSame,  kSameFigures, kSameDigits,  kPlan};

bool rate_is_zero(const State& state) {
  const Series* rate = state.find("lr");
  return rate != nullptr &&
         std::all_of(rate->points().begin(), rate->points().end(), [](const Point& point) { return point.value == 0; });
}

/// When it was known that all of its steps are done, or most of them; nullopt: they are not.
std::optional<Moment> nearly_done(const State& state, const Point& last) {
  if (last.attempt >= state.attempts.size()) return std::nullopt;
  const AttemptState& attempt = state.attempts[last.attempt];
  const int64_t total = attempt.total_steps > 0 ? attempt.total_steps : state.total_steps;
  if (total > 1) {
    const bool most = static_cast<double>(last.step) >= kPlan.value * static_cast<double>(total);
    return most ? std::optional(moment_of(last)) : std::nullopt;
  }
  const bool complete = attempt.ended && attempt.ended->how == event::Ended::How::kComplete;
  return complete ? std::optional(attempt.ended_at) : std::nullopt;
}

/// Training on pairs that ends with the loss and the margin of a guess, in every record.
bool judge_pairs(const State& state, JudgeMemory& memory, std::vector<Finding>& out) {
  const auto& margins = memory.tracks(state, state.find("margin"));
  for (const Track& track : memory.tracks(state, state.find("loss.total"))) {
    const size_t n = track.size();
    if (n < points_of(kPairRecords) || margins.empty() || margins.front().size() < points_of(kPairRecords)) continue;
    if (static_cast<double>(track.points[n - 1].step - track.points[0].step) < kPairSteps.value) continue;
    const auto done = nearly_done(state, track.points[n - 1]);
    if (!done) continue;
    const auto guess = [](double value) { return std::abs(value - std::log(2.0)) <= kPairLoss.value; };
    const auto narrow = [](double value) { return std::abs(value) <= kPairMargin.value; };
    const std::vector<double>& margin = margins.front().values;
    if (!std::all_of(track.values.begin(), track.values.end(), guess)) continue;
    if (!std::all_of(margin.begin(), margin.end(), narrow)) continue;
    const double widest = *std::max_element(margin.begin(), margin.end());
    Finding finding =
        make_finding("loss-still", "no-learning", Severity::kWarning, track.points[0], track.points[n - 1],
                     cat("The loss is ", format_short(track.values[n - 1], 4),
                         " at the end of the plan and the margin was never above ", format_short(widest, 2),
                         ": a guess between two has 0.693 and 0"));
    finding.detected = *done;
    add_figures(finding, track, 0, n - 1, 4);
    finding.suggests.push_back({"learning-rate-too-low", 0.5, "the margin stays where it began"});
    finding.suggests.push_back({"weights-not-updating", 0.45, "the loss is that of a guess"});
    out.push_back(std::move(finding));
    return true;
  }
  return false;
}

/// Has the figure so many digits that two models hardly ever share it? The share of right answers of a small set has,
/// too, and is often the same.
bool is_fine(double value) {
  constexpr int kSmallSet = 1000;
  if (!std::isfinite(value) || value == 0) return false;
  const double scale = std::pow(10.0, kSameDigits.value - 1 - std::floor(std::log10(std::abs(value))));
  if (std::abs(value * scale - std::round(value * scale)) < 1e-6) return false;
  for (int of = 1; of <= kSmallSet; ++of) {
    if (std::abs(value * of - std::round(value * of)) < 1e-9 * of) return false;
  }
  return true;
}

/// Evaluation after evaluation gives the same figures to the last digit: what is evaluated does not change.
bool judge_evaluations(const State& state, std::vector<Finding>& out) {
  const Series* first = nullptr;
  size_t same = 0;
  const size_t row = points_of(kSame);
  for (const Series& series : state.eval) {
    const auto& points = series.points();
    if (points.size() < row) continue;
    if (evaluation_sense(series.raw.empty() ? series.signal : series.raw) == EvaluationSense::kNoResult) continue;
    const bool equal = std::all_of(points.end() - static_cast<ptrdiff_t>(row), points.end(), [&](const Point& point) {
      return point.value == points.back().value && point.attempt == points.back().attempt;
    });
    if (!equal || points.back().step <= points[points.size() - row].step) return false;
    if (!is_fine(points.back().value)) continue;
    ++same;
    if (first == nullptr) first = &series;
  }
  if (first == nullptr || same < points_of(kSameFigures)) return false;
  const auto& points = first->points();
  size_t from = points.size() - row;
  while (from > 0 && points[from - 1].value == points.back().value && points[from - 1].attempt == points.back().attempt)
    --from;
  const Point &onset = points[from], &now = points.back();
  Finding finding = make_finding("loss-still", "no-learning", Severity::kWarning, onset, now,
                                 cat("All of the last evaluations give the same ", same, " figures to the last digit (",
                                     first->raw.empty() ? first->signal : first->raw, " ", format_short(now.value, 4),
                                     "): what they evaluate does not change"));
  finding.suggests.push_back({"weights-not-updating", 0.6, "evaluations that are equal to the last digit"});
  finding.suggests.push_back({"metric-flatline-frozen", 0.5, "evaluations that are equal to the last digit"});
  out.push_back(std::move(finding));
  return true;
}

/// Records in a row with a loss of exactly zero, and a gradient of exactly zero where there is one.
struct ZeroWalk {
  const Series* gradient = nullptr;
  size_t streak = 0;
  std::optional<size_t> first, detected, ended;

  void step(const Track& track, size_t i) {
    const bool zero = track.values[i] == 0 && value_at(gradient, track.points[i]).value_or(0) == 0;
    if (detected) {
      if (!zero && !ended) ended = i;
      return;
    }
    streak = zero ? streak + 1 : 0;
    if (streak < points_of(kZero)) return;
    first = i + 1 - streak;
    detected = i;
  }
};

/// A supervised loss of exactly zero right after one of some size: no token counts any more. What has been learned by
/// heart comes near to zero first.
bool judge_zero(const State& state, JudgeMemory& memory, std::vector<Finding>& out) {
  if (state.find("loss.policy") != nullptr) return false;
  for (const Track& track : memory.tracks(state, state.find("loss.total"))) {
    if (std::find(track.values.begin(), track.values.end(), 0.0) == track.values.end()) continue;  // mostly
    ZeroWalk walk;
    walk.gradient = state.find("grad_norm");
    for (size_t i = 0; i < track.size(); ++i) walk.step(track, i);
    if (!walk.detected || *walk.first < points_of(kZeroBefore)) continue;
    const double before = median_of_last(track.slice(0, *walk.first), points_of(kZeroBefore));
    if (!(before >= kZeroLeast.value)) continue;
    const Point &onset = track.points[*walk.first], &now = track.points[*walk.detected];
    Finding finding = make_finding(
        "loss-still", "no-learning", Severity::kCritical, onset, now,
        cat("The loss is exactly 0 since step ", onset.step, ", after ", format_short(before, 3),
            walk.gradient != nullptr ? ", and the gradient is, too" : "", ": nothing is learned from what is left"));
    add_figures(finding, track, *walk.first - 1, *walk.detected, 3);
    finding.suggests.push_back({"weights-not-updating", 0.6, "a loss and a gradient of exactly zero"});
    finding.suggests.push_back({"metric-flatline-frozen", 0.4, "the same loss to the last digit"});
    if (walk.ended) resolve(finding, track.points[*walk.ended]);
    out.push_back(std::move(finding));
    return true;
  }
  return false;
}

/// Whether another figure shows that the loss is no mean over tokens: a sum over batches is as high, and says nothing.
bool is_sum(const State& state, double level) {
  const Series* right = state.find("accuracy.token");
  if (right != nullptr && right->max() > kGuessRight.value) return true;
  return std::any_of(state.eval.begin(), state.eval.end(), [level](const Series& series) {
    return series.raw.ends_with("loss") && series.count() > 0 &&
           series.last() < kGuessLeast.value / kGuessMost.value * level;
  });
}

/// The loss of a run without a reward is that of a guess among all tokens from its first record to its last.
bool judge_guessing(const State& state, JudgeMemory& memory, std::vector<Finding>& out) {
  constexpr size_t kFifths = 5;
  for (const Track& track : memory.tracks(state, state.find("loss.total"))) {
    const size_t n = track.size();
    if (n < points_of(kRecords) || track.values[0] < kGuessLeast.value / 2) continue;
    if (static_cast<double>(track.points[n - 1].step - track.points[0].step) < kGuessSteps.value) continue;
    bool high = true;
    for (size_t i = 0; i < kFifths; ++i) {
      const double level = mean(track.slice(i * n / kFifths, (i + 1) * n / kFifths));
      high = high && level >= kGuessLeast.value && level <= kGuessMost.value;
    }
    if (!high) continue;
    const double first = mean(track.slice(0, n / 3)), last = mean(track.slice(n - n / 3, n));
    if (last < (1 - kGuessFall.value) * first || trend_score(track.values) < -kPower.value || is_sum(state, last))
      continue;
    Finding finding = make_finding(
        "loss-still", "no-learning", Severity::kWarning, track.points[0], track.points[n - 1],
        cat("The loss began at ", format_short(first, 3), " and is ", format_short(last, 3), " after ", n,
            " records: hardly better than guessing among all tokens (10 to 12.5 nats), and it does not fall"));
    add_figures(finding, track, 0, n - 1, 4);
    finding.suggests.push_back({"weights-not-updating", 0.4, "the loss is that of a guess and does not fall"});
    finding.suggests.push_back({"learning-rate-too-low", 0.35, "the loss stays where it began"});
    out.push_back(std::move(finding));
    return true;
  }
  return false;
}

/// Do its records go on from steps that are not among them?
bool begins_late(const Track& track) {
  const int64_t first = track.points[0].step, interval = track.points[1].step - first;
  return static_cast<double>(first - interval) > kLate.value;
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  if (judge_evaluations(state, out)) return;
  if (!has_reward(state) && judge_zero(state, memory, out)) return;
  if (has_reward(state) || rate_is_zero(state)) return;  // a rate of zero is reported by itself
  if (judge_pairs(state, memory, out) || judge_guessing(state, memory, out)) return;
  for (const Track& track : memory.tracks(state, state.find("loss.total"))) {
    const size_t n = track.size(), fifth = n / 5;
    if (n < points_of(kRecords) || begins_late(track)) continue;
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
const Detector loss_still{"loss-still",
                          "The loss of a run that has no reward stays where it began, that of a run on pairs is a "
                          "guess's to its end, as is one near ln(vocabulary), or every "
                          "evaluation gives the same figures.",
                          {"no-learning"},
                          kKnobs,
                          judge};

}  // namespace mw::detect
