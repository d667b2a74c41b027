// Held-out results fall while training goes on. When the training reward rises at the same time, it is being gamed.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "base/text.h"
#include "core/detect/support/pair_ranking.h"
#include "core/detect/tools/back.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/evaluation_name.h"

namespace mw::detect {
namespace {

constexpr Knob kHistory{"history", 4, "evaluations", "Best and last pair must not overlap",
                        "field guide 4.3 rule 19 (at least two evaluations)"};
constexpr Knob kDrop{"drop", 0.15, "ratio", "Of the best pair of evaluations",
                     "failure catalogue, reward-hacking (10 %), above the noise of small evaluation sets"};
constexpr Knob kSigma{"sigma", 3, "sigma", "The drop must stand out of the evaluations' own noise", "own"};
constexpr Knob kPlunge{"plunge", 0.35, "ratio", "Of the three evaluations before: so deep a fall of one is enough",
                       "own"};
constexpr Knob kPlungeSigma{"plunge_sigma", 5, "sigma", "And it must stand out of their noise so far", "own"};
constexpr Knob kTasks{"tasks", 1000, "tasks",
                      "Evaluation sets are seldom larger: the least noise of a share of solved tasks follows from it",
                      "binomial; field guide 4.1"};
constexpr Knob kLossRise{"loss_rise", 0.1, "ratio", "Evaluation loss above its minimum", "early stopping practice"};
constexpr Knob kOverfit{"overfit", 1.3, "ratio", "Evaluation loss to its least, in each evaluation after it", "own"};
constexpr Knob kMemorised{"memorised", 0.5, "ratio", "Training loss to that at the best evaluation, meanwhile", "own"};
constexpr Knob kPatience{"patience", 5, "evaluations", "Of a loss in a row, each above the one before",
                         "early stopping practice"};
constexpr Knob kSteadyRise{"steady_rise", 0.05, "ratio", "That they rise above its least by", "own"};
constexpr Knob kGain{"reward_gain", 0.1, "ratio", "Rise of the training reward that makes it reward hacking",
                     "failure catalogue, reward-hacking (20 %)"};
constexpr Knob kFlatHistory{"flat_history", 5, "evaluations", "Before a held-out result is called flat", "own"};
constexpr Knob kFlat{"flat", 0.02, "1", "Gain of a share of solved tasks that is none", "own"};
constexpr Knob kFlatReward{"flat_reward", 0.3, "ratio",
                           "Rise of the training reward, of its range, that it should share",
                           "field guide 4.3 rule 19"};
constexpr Knob kStill{"still", 0.1, "ratio",
                      "Of the way that it went: an evaluation within this of the best is as good", "own"};
constexpr Knob kWarmStart{"warm_start", 10, "evaluations",
                          "Of which none comes near the one before training: the model was better untrained", "own"};
constexpr Knob kGuess{"guess", 2, "evaluations", "On pairs, each above the loss of a guess", "own"};
constexpr Knob kGuessLoss{"guess_loss", 0.02, "nats",
                          "So far above, while the training loss is five times as far below",
                          "ln 2 = 0.693 is the logistic loss of a guess (Rafailov 2023, equation 7)"};
constexpr Knob kUnlearns{"unlearns", 3, "evaluations",
                         "On pairs, each above the loss of a guess, while the training loss rises above it", "own"};
constexpr Knob kBack{"recovered_share", 0.6, "ratio", "Of the drop that two evaluations in a row must have made good",
                     "hysteresis; reward-collapse"};
constexpr Knob kKnobs[] = {kBack,    kUnlearns,   kStill,   kWarmStart, kGuess,       kGuessLoss, kFlatHistory,
                           kFlat,    kFlatReward, kHistory, kDrop,      kSigma,       kTasks,     kLossRise,
                           kOverfit, kMemorised,  kGain,    kPlunge,    kPlungeSigma, kPatience,  kSteadyRise};

constexpr double kSolvedShare = 0.9;  // nothing left to gain
constexpr double kFewTasks = 20;      // the smallest set that shares of solved tasks are asked about

/// A benchmark by its own name is in shares of solved tasks.
EvaluationSense sense_of(const Series& series) {
  const EvaluationSense sense = evaluation_sense(series.raw.empty() ? series.signal : series.raw);
  if (sense != EvaluationSense::kUnsaid) return sense;
  const std::vector<Point>& points = series.points();
  const bool share = std::all_of(points.begin(), points.end(), [](const Point& point) {
    return !std::isfinite(point.value) || (point.value >= 0 && point.value <= 1);
  });
  return share && !points.empty() ? EvaluationSense::kHigher : EvaluationSense::kNoResult;
}

/// The fewest tasks of which all shares are multiples, within the four digits that many trainers print; kTasks when
/// there are none so few. Fewer than kFewTasks are not asked about: of a few values so coarse a grain is chance.
double tasks_of(std::span<const double> shares) {
  for (double tasks = kFewTasks; tasks < kTasks.value; ++tasks) {
    const double off = std::max(0.02, tasks * 6e-5);
    const bool all = std::all_of(shares.begin(), shares.end(), [&](double share) {
      return std::abs(share * tasks - std::round(share * tasks)) <= off;
    });
    if (all) return tasks;
  }
  return kTasks.value;
}

/// Standard deviation of one evaluation: from successive differences (of few, the median alone says too little), and
/// for a share of solved tasks at least what the size of the set allows.
double deviation_of(std::span<const double> values) {
  double sum = 0;
  for (size_t i = 1; i < values.size(); ++i) sum += std::abs(values[i] - values[i - 1]);
  const double sigma = std::max(noise(values), 0.5 * 0.886 * sum / static_cast<double>(values.size() - 1));
  if (std::any_of(values.begin(), values.end(), [](double share) { return share < 0 || share > 1; })) return sigma;
  const double p = median(std::vector<double>(values.begin(), values.end()));
  return std::max(sigma, std::sqrt(p * (1 - p) / tasks_of(values)));
}

struct Drop {
  size_t best = 0, detected = 0;
  double level = 0, now = 0;
  std::optional<size_t> back;  ///< the evaluation that shows that it was made good
};

/// Whether the last `width` evaluations up to index `i` lie clearly behind the best as many in a row before them.
bool dropped(const Track& track, bool higher, size_t i, size_t width, Drop& found) {
  if (i + 1 < std::max(2 * width, points_of(kHistory))) return false;
  const double sign = higher ? 1 : -1;
  double best = -INFINITY;
  size_t at = 0;
  for (size_t end = width; end + width <= i + 1; ++end) {
    const double level = sign * mean(track.slice(end - width, end));
    if (level <= best) continue;
    best = level;
    at = end - 1;
  }
  const double now = sign * mean(track.slice(i + 1 - width, i + 1));
  const double picked = std::sqrt(std::log(static_cast<double>(i)));  // the best of many is luck in part
  const double error = deviation_of(track.slice(0, i + 1)) * std::sqrt(2 / static_cast<double>(width));
  // What is 0 at its best and below it else is a penalty, of which nothing says how large it may be: 1 is usual.
  const auto all = track.slice(0, i + 1);
  const bool penalty = higher && *std::max_element(all.begin(), all.end()) == 0;
  const double whole = penalty ? std::max(1.0, -now) : std::abs(best);
  const double least = (higher ? kDrop.value : kLossRise.value) * whole;
  if (!(best - now > std::max(least, (kSigma.value + picked) * error))) return false;
  found = {at, i, sign * best, sign * now, std::nullopt};
  return true;
}

/// The newest evaluation lies so far below those before it that nobody waits for another one.
bool plunged(const Track& track, bool higher, Drop& found) {
  const size_t last = track.size() - 1;
  if (!higher || track.size() <= points_of(kHistory)) return false;
  const auto before = track.slice(0, last);
  const double level = median({before.end() - 3, before.end()}), now = track.values[last];
  const double error = deviation_of(before) * std::sqrt(1 + 1.0 / 3);
  if (!(level - now > std::max(kPlunge.value * std::abs(level), kPlungeSigma.value * error))) return false;
  found = {last - 1, last, level, now, std::nullopt};
  return true;
}

/// A loss on held-out data that stands far above its least from then on, while the training loss falls to less than
/// half: what was learned by heart shows in two evaluations.
bool overfits(const State& state, const Track& track, Drop& found) {
  const Series* const loss = state.find("loss.total");
  if (loss == nullptr || !contains_folded(track.series->raw, "loss") || track.size() < 3) return false;
  const auto least = std::min_element(track.values.begin(), track.values.end());
  const auto best = static_cast<size_t>(least - track.values.begin());
  if (!(*least > 0) || best + 2 >= track.size()) return false;
  if (std::any_of(least + 1, track.values.end(), [&](double v) { return v < kOverfit.value * *least; })) return false;
  const auto training_at = [&](int64_t step) {
    double value = NAN;
    for (const Point& point : loss->points()) {
      if (point.attempt == track.points[best].attempt && point.step <= step) value = point.value;
    }
    return value;
  };
  const size_t last = track.size() - 1;
  if (!(training_at(track.points[last].step) < kMemorised.value * training_at(track.points[best].step))) return false;
  found = {best, last, *least, track.values[last], std::nullopt};
  return true;
}

/// A loss on held-out data that only rises from its least on, whatever its noise: chance has 1 in 720 for it.
bool only_rises(const Track& track, Drop& found) {
  const size_t last = track.size() - 1;
  if (!contains_folded(track.series->raw, "loss") || track.size() <= points_of(kPatience)) return false;
  const auto least = std::min_element(track.values.begin(), track.values.end());
  const auto best = static_cast<size_t>(least - track.values.begin());
  if (!(*least > 0) || last - best < points_of(kPatience)) return false;
  if (std::adjacent_find(least, track.values.end(), std::greater_equal<>()) != track.values.end()) return false;
  if (!(track.values[last] > (1 + kSteadyRise.value) * *least)) return false;
  found = {best, last, *least, track.values[last], std::nullopt};
  return true;
}

/// Where it left its best: behind the last evaluation that was as good, but for the noise.
size_t leaves_best(const Track& track, bool higher, const Drop& drop) {
  const double sign = higher ? 1 : -1;
  const auto before = track.slice(0, drop.best + 1);
  const double best = sign * (higher ? *std::max_element(before.begin(), before.end())
                                     : *std::min_element(before.begin(), before.end()));
  const double allowed = kStill.value * std::abs(best - sign * drop.now);
  for (size_t i = drop.detected; i > 0; --i) {
    if (sign * track.values[i - 1] >= best - allowed) return i;
  }
  return std::min(drop.best + 1, drop.detected);
}

/// A deep drop shows in two evaluations, a lesser one in three.
bool dropped(const Track& track, bool higher, size_t i, Drop& found) {
  return dropped(track, higher, i, 2, found) || dropped(track, higher, i, 3, found);
}

/// The first evaluation behind the drop at which the last two have made most of it good, and that by itself is none.
std::optional<size_t> made_good(const Track& track, bool higher, const Drop& drop) {
  const double sign = higher ? 1 : -1;
  const double good = sign * (drop.now + kBack.value * (drop.level - drop.now));
  size_t row = 0;
  for (size_t i = drop.detected + 1; i < track.size(); ++i) {
    row = sign * track.values[i] >= good ? row + 1 : 0;
    Drop still;
    if (row >= 2 && !dropped(track, higher, i, still)) return i;
  }
  return std::nullopt;
}

/// The first ones and the last; a plunge of the newest evaluation among them.
std::vector<Drop> find_drops(const Track& track, bool higher) {
  std::vector<Drop> all;
  Drop found;
  for (size_t i = 1; i < track.size(); ++i) {
    if (!dropped(track, higher, i, found)) continue;
    found.back = made_good(track, higher, found);
    if (all.size() == kStretchesReported) all.pop_back();
    all.push_back(found);
    if (!found.back) return all;
    i = *found.back;
  }
  if (plunged(track, higher, found)) all.push_back(found);
  return all;
}

/// No evaluation after the one before training came near it again: what was trained is worse than what it began as.
bool worse_than_begun(const Track& track, bool higher, Drop& found) {
  const size_t n = track.size();
  if (!higher || n < points_of(kWarmStart) + 1 || track.points[0].step != 0 || track.points[0].attempt != 0)
    return false;
  const auto after = track.slice(1, n);
  const double first = track.values[0], best = *std::max_element(after.begin(), after.end());
  const double error = deviation_of(after);
  if (!(first - best > std::max(kDrop.value * std::abs(first), (kSigma.value + 1) * error))) return false;
  found = {0, points_of(kWarmStart), first, median(std::vector<double>(after.begin(), after.end())), std::nullopt};
  return true;
}

/// The loss on pairs is not all that is trained on.
bool has_other_part(const State& state) {
  return std::any_of(state.series.begin(), state.series.end(), [](const Series& series) {
    return contains_folded(series.raw, "nll") || contains_folded(series.raw, "odds");
  });
}

/// Training on pairs by their logistic loss, which falls, while that of held-out pairs is above a guess's each time.
bool worse_than_guess(const State& state, const Track& track, Drop& found) {
  const double guess = std::log(2.0);
  if (track.size() < points_of(kGuess) || !contains_folded(track.series->raw, "loss")) return false;
  const double least = *std::min_element(track.values.begin(), track.values.end());
  if (!(least > guess + kGuessLoss.value) || least > 2 * guess) return false;
  const Series* const loss = state.find("loss.total");
  if (loss == nullptr || loss->empty()) return false;
  const auto trained = last_values(*loss, track.points.back().attempt, 0, track.points.back().step, 5);
  if (trained.empty() || !(mean(trained) < guess - 5 * kGuessLoss.value)) return false;
  if (has_other_part(state) || !trains_on_pairs(state)) return false;
  found = {0, track.size() - 1, guess, track.values.back(), std::nullopt};
  return true;
}

/// Training on pairs whose logistic loss rises above a guess's, and so does that of the held-out pairs: what training
/// makes is worse than what it began as.
bool unlearns(const State& state, const Track& track, Drop& found) {
  const double guess = std::log(2.0);
  if (track.size() < points_of(kUnlearns) || !contains_folded(track.series->raw, "loss")) return false;
  const auto [least, most] = std::minmax_element(track.values.begin(), track.values.end());
  const bool above = *least > guess && *most < 2 * guess && median(track.values) > guess + kGuessLoss.value;
  const Series* const loss = state.find("loss.total");
  if (!above || loss == nullptr || loss->empty() || has_other_part(state) || !trains_on_pairs(state)) return false;
  const Point& last = track.points.back();
  const std::vector<double> trained = last_values(*loss, last.attempt, 0, last.step, loss->points().size());
  if (trained.size() < points_of(kUnlearns)) return false;
  const auto late = std::span(trained).subspan(trained.size() / 2);
  const double level = std::min(mean(late), median({late.begin(), late.end()}));
  if (!(level > guess + kGuessLoss.value && level > trained.front() + kGuessLoss.value)) return false;
  found = {0, track.size() - 1, guess, track.values.back(), std::nullopt};
  return true;
}

/// In which way a model is worse than before training.
enum class Worse : uint8_t { kThanBegun, kOnOtherPairs, kUnlearnt };

/// Some held-out result rises: what stands beside it is another task, or is solved as far as it can be.
bool any_rises(const State& state) {
  return std::any_of(state.eval.begin(), state.eval.end(), [](const Series& series) {
    if (sense_of(series) != EvaluationSense::kHigher) return false;
    const std::vector<Track> tracks = tracks_of(&series);
    return std::any_of(tracks.begin(), tracks.end(), [](const Track& track) {
      const size_t n = track.size();
      if (n < points_of(kFlatHistory)) return false;
      return mean(track.slice(n - 2, n)) - mean(track.slice(0, 2)) > kFlat.value;
    });
  });
}

/// The training reward rises far and the held-out result does not move: information only, as it may be another task.
bool judge_flat(const State& state, const Track& track, std::vector<Finding>& out) {
  for (size_t i = points_of(kFlatHistory) - 1; i < track.size(); ++i) {
    const auto all = track.slice(0, i + 1);
    if (*std::max_element(all.begin(), all.end()) > 1 || *std::min_element(all.begin(), all.end()) < 0) return false;
    const double gain = mean(all.subspan(i - 1)) - mean(all.subspan(0, 2));
    const auto reward = outcome_of(state, track.points[1], track.points[i]);
    if (gain > kFlat.value || mean(all) > kSolvedShare || !reward || !reward->rose(kFlatReward.value)) continue;
    if (any_rises(state)) return true;
    Finding finding =
        make_finding("eval-regression", "reward-hacking", Severity::kInfo, track.points[1], track.points[i],
                     cat(track.series->raw, " stays at ", mean(all.subspan(i - 1)),
                         " while the training reward rose from ", reward->before, " to ", reward->after));
    add_figures(finding, track, 0, i);
    finding.suggests.push_back({"train-eval-divergence", 0.5, "training and held-out results part"});
    finding.suggests.push_back({"reward-hacking", 0.4, "the reward rises and the held-out result does not"});
    out.push_back(std::move(finding));
    return true;
  }
  return false;
}

Finding finding_of(const State& state, const Track& track, bool higher, const Drop& drop) {
  const std::string& name = track.series->raw;
  const Point& onset = track.points[leaves_best(track, higher, drop)];
  const Point& now = track.points[drop.detected];
  const auto reward = outcome_of(state, onset, now);
  const bool gamed = higher && reward && reward->rose(kGain.value);
  Finding finding =
      make_finding("eval-regression", gamed ? "reward-hacking" : "eval-regression", Severity::kWarning, onset, now,
                   cat(name, higher ? " fell from " : " rose from ", drop.level, " to ", drop.now,
                       gamed ? " while the training reward rose" : ""));
  add_figures(finding, track, drop.best, drop.detected);
  if (gamed) {
    finding.suggests.push_back(
        {"reward-hacking", 0.6, cat("training reward rose from ", reward->before, " to ", reward->after)});
    finding.suggests.push_back({"train-eval-divergence", 0.5, "training and held-out results part"});
  } else {
    finding.suggests.push_back({"train-eval-divergence", 0.5, "held-out results fall while training goes on"});
  }
  if (drop.back) resolve(finding, track.points[*drop.back]);
  return finding;
}

std::string untrained_words(const Track& track, const Drop& drop, Worse worse) {
  const std::string& name = track.series->raw;
  if (worse == Worse::kThanBegun) {
    return cat(name, " was ", format_short(drop.level, 3), " before training and about ", format_short(drop.now, 3),
               " in all evaluations since: the trained model is worse than the one that it began as");
  }
  return cat(name, " is ", format_short(drop.now, 3), ", above 0.693, that of a guess, in all ", track.size(),
             " evaluations, while the training loss ",
             worse == Worse::kOnOtherPairs ? "is far below: on other pairs it is worse than untrained"
                                           : "rose above it, too: training makes it worse than untrained");
}

/// What is worse than before any training.
bool judge_untrained(const State& state, const Track& track, bool higher, std::vector<Finding>& out) {
  Drop drop;
  std::optional<Worse> worse;
  if (worse_than_begun(track, higher, drop)) worse = Worse::kThanBegun;
  if (!worse && !higher && worse_than_guess(state, track, drop)) worse = Worse::kOnOtherPairs;
  if (!worse && !higher && unlearns(state, track, drop)) worse = Worse::kUnlearnt;
  if (!worse) return false;
  const Point& onset = track.points[*worse == Worse::kThanBegun ? 1 : 0];
  Finding finding = make_finding("eval-regression", "eval-regression", Severity::kWarning, onset,
                                 track.points[drop.detected], untrained_words(track, drop, *worse));
  add_figures(finding, track, 0, drop.detected);
  if (*worse == Worse::kUnlearnt) {
    finding.suggests.push_back({"learning-rate-too-high", 0.5, "the training loss itself rises above that of a guess"});
  }
  finding.suggests.push_back({"train-eval-divergence", 0.5, "held-out results are worse than before training"});
  out.push_back(std::move(finding));
  return true;
}

/// A share of right answers that was there before the first loss is a held-out one, whatever its name.
bool before_training(const State& state, const Series& right) {
  const Series* loss = state.find("loss.total") != nullptr ? state.find("loss.total") : state.find("loss.policy");
  return loss != nullptr && !loss->empty() && !right.empty() && right.points()[0].step == 0 &&
         loss->points()[0].step > 0 && right.points()[0].attempt == loss->points()[0].attempt;
}

/// Adds the drops of one evaluation: those that were made good only where no other evaluation showed such (one is
/// enough), and the one that was not. `over`: when the last of the others was made good.
void add_drops(const State& state, const Track& track, bool higher, const std::vector<Drop>& drops,
               std::optional<Moment>& over, std::vector<Finding>& out) {
  const std::optional<Moment> others = over;
  for (const Drop& drop : drops) {
    if (drop.back && others) continue;
    out.push_back(finding_of(state, track, higher, drop));
    Finding& finding = out.back();
    if (drop.back) over = finding.resolved_at;
    if (others && std::pair(finding.detected.attempt, finding.detected.step) < std::pair(others->attempt, others->step))
      finding.detected = *others;  // before that the other one was enough
  }
}

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  bool flat = false;           // said, or no question
  std::optional<Moment> over;  // a drop that was made good
  for (const Series& series : state.eval) {
    const EvaluationSense sense = sense_of(series);
    if (sense == EvaluationSense::kNoResult) continue;
    const bool higher = sense == EvaluationSense::kHigher;
    for (const Track& track : tracks_of(&series)) {
      std::vector<Drop> drops = find_drops(track, higher);
      const bool open = !drops.empty() && !drops.back().back;
      Drop loss;
      if (!open && !higher && (overfits(state, track, loss) || only_rises(track, loss))) drops.push_back(loss);
      add_drops(state, track, higher, drops, over, out);
      if (!drops.empty() && !drops.back().back) return;  // one evaluation is enough
      if (!drops.empty()) continue;
      if (judge_untrained(state, track, higher, out)) return;
      if (higher && !flat) flat = judge_flat(state, track, out);
    }
  }
  const Series* const right = state.find("reward.pass_rate");
  if (right == nullptr || !before_training(state, *right)) return;
  for (const Track& track : tracks_of(right)) {
    if (judge_untrained(state, track, true, out)) return;
  }
}

}  // namespace

extern const Detector eval_regression;
const Detector eval_regression{"eval-regression",
                               "Held-out results fall while training goes on.",
                               {"eval-regression", "reward-hacking"},
                               kKnobs,
                               judge};

}  // namespace mw::detect
