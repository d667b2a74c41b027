// The reward fell to a small part of its own level and stayed: at once (critical) or by degrees (warning).
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "core/detect/support/fall_shape.h"
#include "core/detect/support/low_points.h"
#include "core/detect/support/objective_changed.h"
#include "core/detect/support/other_weights.h"
#include "core/detect/support/reward_swings.h"
#include "core/detect/support/settled.h"
#include "core/detect/tools/further.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/detect/tools/window_means.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kHistory{"history", 4, "points", "A level needs a few points before anything can fall from it",
                        "shortest collapse seen in a real run came after 4 records"};
constexpr Knob kWidth{"width", 10, "points", "Rolling window of the reward's level; rides out single bad batches",
                      "field guide 4.3 rule 20 (10 steps)"};
constexpr Knob kLow{"low_share", 0.4, "ratio",
                    "A point counts as low under this share of the best level above the floor",
                    "field guide 4.3 rule 20 (0.3 critical, 0.7 warning), between the two"};
constexpr Knob kBack{"recovered_share", 0.6, "ratio", "Level that a recovery must reach, for as many points",
                     "hysteresis"};
constexpr Knob kPersist{"persist", 3, "points", "A collapse stays; single bad steps lie inside the noise",
                        "field guide 4.1, hysteresis; failure catalogue, confusable pairs"};
constexpr Knob kEvidence{
    "evidence", 15, "sigma",
    "Sum over the low points of (level - value)/noise, as in a CUSUM, so that noisy rewards need more points",
    "Page 1954"};
constexpr Knob kSure{"sure", 25, "sigma", "Evidence that needs no third point", "own"};
constexpr Knob kSurePersist{"sure_persist", 2, "points", "Points for that", "own"};
constexpr Knob kSomeEvidence{"some_evidence", 8, "sigma", "Enough when points that low were rare before", "own"};
constexpr Knob kChance{"chance", 1e-4, "probability", "Of such a streak by the share of low points before it",
                       "geometric run length, p^k"};
constexpr Knob kLuck{"luck", 0.1, "probability",
                     "The same by the points of the noise's window, where the evidence is there: rewards of single "
                     "answers are low or high, and have no noise by which that would show",
                     "own"};
constexpr Knob kOften{"often", 0.1, "ratio",
                      "Of those points as low: one of two outcomes, and the streak must be longer than `chance` allows",
                      "rewards of single episodes, won or lost"};
constexpr Knob kGradualShare{"gradual_share", 0.25, "ratio", "Loss of level that counts when it comes by degrees",
                             "failure catalogue, reward-drop-gradual (20 %)"};
constexpr Knob kGradualSigma{"gradual_sigma", 5, "standard errors",
                             "The drop must stand out of the noise of two window means, one of them the best of many",
                             "selection of the best window inflates the difference by about 2"};
constexpr Knob kClearShare{"clear_share", 0.35, "ratio", "Loss of level that shows within half a window", "own"};
constexpr Knob kClearSigma{"clear_sigma", 6, "standard errors", "The same, out of the noise", "own"};
constexpr Knob kNotableShare{"notable_share", 0.2, "ratio", "Loss of level that is worth a line, as information",
                             "failure catalogue, reward-drop-gradual (20 %)"};
constexpr Knob kNotableSigma{"notable_sigma", 4, "standard errors", "The same, out of the noise", "own"};
constexpr Knob kGlimpseShare{"glimpse_share", 0.3, "ratio",
                             "Loss of level that is worth a line when it shows within half a window", "own"};
constexpr Knob kGlimpseSigma{"glimpse_sigma", 3.5, "standard errors", "The same, out of the noise", "own"};
constexpr Knob kRanks{
    "ranks", 2, "sigma",
    "Mann-Whitney, of the best window and the last: rewards that are mostly low and now and then high "
    "have their best window by luck, and no spread by which that would show",
    "normal approximation; without a tie-correction it errs towards silence"};
constexpr Knob kUsual{"usual", 0.5, "ratio", "Of the points of the noise's window that were as low: no fall", "own"};
constexpr Knob kSpread{"spread", 5, "standard errors",
                       "By the spread within the two windows themselves, where most records before were as low: the "
                       "noise from record to record says little of the few that were not",
                       "Welch 1947; gradual_sigma"};
constexpr Knob kAlike{"alike", 0.1, "ratio", "Of the reward's range: what differs by less is alike in those ranks",
                      "own"};
constexpr Knob kStays{"stays", 20, "points",
                      "While the run goes on, a harder data set or a phase may still end and the fall be made good",
                      "own"};
constexpr Knob kGradualHistory{"gradual_history", 15, "points", "A window and a half", "field guide 4.1, warm-up"};
constexpr Knob kPointSigma{"point_sigma", 1.25, "sigma",
                           "The drop in units of the spread of single records: what is smaller is not seen by eye",
                           "Cohen 1988: 0.8 is a large effect"};
constexpr Knob kSwing{"swing", 1.25, "x",
                      "Times the largest loss of level that was made good before: a swing shown before is no news",
                      "FBDetect (SOSP 2024), went-away filter"};
constexpr Knob kWindows{"windows", 8, "windows",
                        "A long run is compared in eighths: the best of many short windows is luck",
                        "minimum window 10 points"};
constexpr Knob kYoung{"young", 2.5, "windows",
                      "A run shorter than this may be judged by two half windows: there is little luck to pick from",
                      "own"};
constexpr Knob kCaution{
    "caution", 1, "standard errors",
    "By so much a window's median must lie above a level to show it: the best of many is luck in part",
    "expected maximum of few normal values"};
constexpr Knob kHeight{
    "height", 5, "sigma",
    "Height of the level above the lowest value before it, where rewards go below zero: less is noise", "own"};
constexpr Knob kFloorRow{"floor_row", 5, "points", "So many in a row exactly on the floor are zero-reward's to report",
                         "zero-reward, sudden"};
constexpr Knob kNoiseWindow{"noise_window", 50, "points", "Points from which the noise is estimated",
                            "field guide 4.1 (50-100)"};
constexpr Knob kKnobs[] = {
    kUsual,        kSpread,     kLuck,         kAlike,        kRanks,      kStays,       kHistory,
    kWidth,        kLow,        kBack,         kPersist,      kEvidence,   kSure,        kSurePersist,
    kSomeEvidence, kChance,     kGradualShare, kGradualSigma, kClearShare, kClearSigma,  kGradualHistory,
    kPointSigma,   kSwing,      kYoung,        kCaution,      kWindows,    kNoiseWindow, kNotableShare,
    kNotableSigma, kHeight,     kGlimpseShare, kGlimpseSigma, kBrief,      kBriefShare,  kFloorRow,
    kHolds,        kSaidBefore, kSaidAfter,    kSaidSeldom,   kOften,      kSwings,      kSwingTimes};

constexpr double kMedianError = 1.2533;  // standard error of a median of normal values, in those of the mean

struct Levels {
  std::vector<double> best;   ///< highest level that rolling medians have shown before each index
  std::vector<double> floor;  ///< lowest value up to each index, 0 at most
  SortedWindow recent{points_of(kWidth)};
};

void add_level(Levels& levels, const Track& track, size_t i) {
  double best = i == 0 ? -INFINITY : levels.best.back();
  const double floor = i == 0 ? 0 : levels.floor.back();
  if (i >= points_of(kHistory)) {
    const double median = levels.recent.median();
    if (median > best) {
      const double n = static_cast<double>(std::min(i, points_of(kWidth)));
      const size_t from = i > points_of(kNoiseWindow) ? i - points_of(kNoiseWindow) : 0;
      const double error = kMedianError * noise(track.slice(from, i)) / std::sqrt(n);
      best = std::max(best, median - kCaution.value * error);
    }
  }
  levels.recent.push(track.values[i]);
  levels.best.push_back(best);
  levels.floor.push_back(std::min(floor, track.values[i]));
}

double noise_before(const Track& track, size_t end, double range) {
  const size_t from = end > points_of(kNoiseWindow) ? end - points_of(kNoiseWindow) : 0;
  return std::max(noise(track.slice(from, end)), 0.05 * range);
}

/// Causes by the shape of the fall, of which `clear` says whether it can be seen, and by what moved with it.
void suggest(const State& state, Finding& finding, const Point& onset, const Point& now, bool sudden, bool clear) {
  constexpr std::string_view kFell = "the reward fell and stayed low";
  if (sudden) {
    finding.suggests.push_back({"performance-collapse-single-step", 0.6, "the fall took no more than two records"});
    finding.suggests.push_back({"reward-drop-gradual", 0.2, std::string(kFell)});
  } else {
    finding.suggests.push_back(
        {"reward-drop-gradual", 0.6, std::string(clear ? "the fall took several records" : kFell)});
    finding.suggests.push_back({"performance-collapse-single-step", 0.3, std::string(kFell)});
  }
  if (const auto entropy = shift_of(state, "entropy", onset, now, 5); entropy && entropy->relative() > 1) {
    finding.suggests.push_back(
        {"entropy-explosion", 0.5, cat("entropy went from ", entropy->before, " to ", entropy->after)});
  }
  if (const auto cut = shift_of(state, "response.truncated", onset, now, 5); cut && cut->after - cut->before > 0.2) {
    finding.suggests.push_back(
        {"length-explosion-truncation", 0.45, cat("truncated share went from ", cut->before, " to ", cut->after)});
  }
  if (const auto gap = shift_of(state, "mismatch.logp_diff", onset, now, 5); gap && gap->relative() > 2) {
    finding.suggests.push_back(
        {"train-inference-mismatch", 0.4,
         cat("log-probability difference of engine and trainer went from ", gap->before, " to ", gap->after)});
  }
  if (const auto kl = shift_of(state, "kl.ref", onset, now, 5); kl && kl->relative() > 4 && kl->after > 0.1) {
    finding.suggests.push_back(
        {"kl-explosion", 0.4, cat("KL to the reference went from ", kl->before, " to ", kl->after)});
  }
}

/// What the reward can lose: down to the lowest value before the fall (0 at most). Where rewards are negative
/// throughout no floor is known, and the lowest value says only how noisy they are; then it is at least the level's own
/// size.
double range_of(const Levels& levels, double best, size_t before) {
  const double floor = before > 0 ? levels.floor[before - 1] : 0;
  return std::max(best - floor, std::abs(best));
}

/// First point of the fall: walks back from `first` while the values were already clearly under the level.
size_t began(const Track& track, size_t first, double best, double range) {
  const double left = best - 0.2 * range;
  size_t onset = first;
  while (onset > 0 && first - onset < points_of(kWidth) && track.values[onset - 1] < left) --onset;
  return onset;
}

/// Exactly on the floor throughout: zero-reward reports that.
bool all_at(const Track& track, size_t from, size_t to, double floor) {
  const auto values = track.slice(from, to + 1);
  return std::all_of(values.begin(), values.end(), [floor](double value) { return value == floor; });
}

/// Did most points before lie that low? Then it is where the reward usually is, and the level above it was luck.
bool is_usual(std::span<const double> before, double low) { return lows_in(before, low) > kUsual.value; }

/// Far enough below the level for so many points, unless the last ones before were as low time and again; or less far,
/// when the points before were hardly ever that low.
bool beyond_chance(const Track& track, size_t first, size_t streak, double low, double best, double evidence) {
  const size_t lately = first > points_of(kNoiseWindow) ? first - points_of(kNoiseWindow) : 0;
  const double windows = std::max(1.0, static_cast<double>(first) / kNoiseWindow.value);  // each had its chance
  if (is_usual(track.slice(lately, first), low)) return false;
  const bool often = is_one_of_two(track.slice(lately, first), low, best, kOften.value);
  const double luck = often ? kChance.value : kLuck.value;
  if (evidence >= kEvidence.value) return chance_of(track.slice(lately, first), streak, low) < luck / windows;
  return evidence >= kSomeEvidence.value && chance_of(track.slice(0, first), streak, low) < kChance.value;
}

/// Most records from..to lie exactly on the floor, many of them in a row: zero-reward reports that, and single records
/// above the floor do not make another fall of it.
bool left_to_zero_reward(const Track& track, size_t from, size_t to, double floor) {
  size_t on_floor = 0, in_a_row = 0, longest = 0;
  for (size_t i = from; i <= to; ++i) {
    in_a_row = track.values[i] == floor ? in_a_row + 1 : 0;
    on_floor += in_a_row > 0 ? 1 : 0;
    longest = std::max(longest, in_a_row);
  }
  return on_floor == to + 1 - from || (2 * on_floor > to + 1 - from && longest >= points_of(kFloorRow));
}

struct Collapse {
  size_t first = 0, detected = 0;
  double best = 0, range = 0;
  size_t onset = 0;
  std::optional<size_t> back;  ///< last of the points that made it good
};

/// Where rewards go below zero, nothing says how low they may fall: then the level must stand out of its own noise.
bool stands_out(const Levels& levels, double range, double sigma, size_t before) {
  return before == 0 || levels.floor[before - 1] == 0 || range >= kHeight.value * sigma;
}

/// One collapse after the other. A streak that lies exactly on the floor is for zero-reward to report.
struct SharpWalk {
  std::vector<Collapse> found;
  size_t streak = 0, high = 0;
  double evidence = 0, sigma = 0;

  void step(const Track& track, const Levels& levels, size_t i) {
    if (i < points_of(kHistory)) return;
    if (found.empty() || found.back().back) return seek(track, levels, i);
    Collapse& open = found.back();
    high = track.values[i] > open.best - (1 - kBack.value) * open.range ? high + 1 : 0;
    if (high < points_of(kPersist)) return;
    open.back = i;
    streak = 0;
    evidence = 0;
  }

  void seek(const Track& track, const Levels& levels, size_t i) {
    const size_t first = i - streak;
    const double best = levels.best[first];
    const double range = range_of(levels, best, first);
    const double low = best - (1 - kLow.value) * range;
    if (!(range > 0) || track.values[i] > low) {
      streak = 0;
      evidence = 0;
      return;
    }
    if (streak == 0) sigma = noise_before(track, i, range);
    if (streak == 0 && !stands_out(levels, range, sigma, first)) return;
    ++streak;
    evidence += (best - track.values[i]) / sigma;
    const bool enough = streak >= points_of(kPersist) || (streak >= points_of(kSurePersist) && evidence >= kSure.value);
    if (!enough || !beyond_chance(track, first, streak, low, best, evidence) ||
        left_to_zero_reward(track, first, i, levels.floor[i]))
      return;
    found.push_back({first, i, best, range, began(track, first, best, range), std::nullopt});
    high = 0;
  }
};

void judge_sharp(const State& state, const Track& track, const SharpWalk& walk, std::vector<Finding>& out) {
  for (const Collapse& hit : walk.found) {
    const size_t onset = hit.onset;
    const bool sudden = hit.first - onset <= 1;
    const double low = median_of_last(track.slice(0, hit.detected + 1), hit.detected + 1 - hit.first);
    const Change change{hit.best, low, hit.detected, hit.back};  // by whole windows: a few low records more are noise
    Finding finding = make_finding(
        "reward-collapse", "reward-collapse", Severity::kCritical, track.points[onset], track.points[hit.detected],
        cat("Reward fell from a level of ", hit.best, " to ", low, " and stayed low since step ",
            track.points[onset].step, and_further(track, change, points_of(kWidth))));
    add_figure(finding, track, onset > 0 ? onset - 1 : 0);
    add_figures(finding, track, onset, hit.detected);
    suggest(state, finding, track.points[onset], track.points[hit.detected], sudden, true);
    suggest_other_weights(track, track.points[onset], finding);
    if (hit.back) {
      finding.severity = brief(onset, *hit.back + 1) ? Severity::kInfo : Severity::kWarning;
      resolve(finding, track.points[*hit.back]);
    } else if ((brief(onset, track.size()) || static_cast<double>(track.size() - onset) <= kStays.value) &&
               !is_over(state, track.points.back().attempt)) {
      finding.severity = Severity::kWarning;  // it may still be made good
    }
    out.push_back(std::move(finding));
  }
}

/// A drop by degrees: the last window's mean against the best before it. Windows grow with the run: the best is luck.
struct Decline {
  size_t onset = 0, width = 0;
  double best = 0, now = 0;
  size_t detected = 0;
  std::optional<size_t> back;  ///< where most of the loss had been made good for half a window
};

/// The best windows before a last one that ends at `i`: all that one judgement compares with, found in one walk over
/// the records.
struct BestMeans {
  size_t width;
  double whole_before_whole = 0, whole_before_half = 0, half_before_half = 0;

  BestMeans(const Track& track, size_t i) : width(std::max(points_of(kWidth), (i + 1) / points_of(kWindows))) {
    BestMean whole{width}, half{width / 2};
    for (size_t j = 0; j + width / 2 <= i; ++j) {
      if (j + width == i + 1) whole_before_whole = whole.value();
      whole.see(track, j);
      half.see(track, j);
    }
    whole_before_half = whole.value();
    half_before_half = half.value();
  }
};

/// `width` of the best window, of mean `best`, `last` of the one that ends at `i`; `share` and `sigmas` that the drop
/// must reach.
std::optional<Decline> decline_at(const Track& track, const Levels& levels, size_t i, size_t width, double best,
                                  size_t last, double share, double sigmas) {
  if (i + 1 < width + last) return std::nullopt;
  const double range = range_of(levels, best, i + 1 - last);
  // the median rides out single bad records, the mean a lucky middle; both halves of the window must be low
  const auto window = track.slice(i + 1 - last, i + 1);
  const auto half = window.subspan(last - last / 2);
  const double level = mean(window);
  if (best - level < share * range) return std::nullopt;  // mostly: the rest sorts the window, or goes over all records
  const double now = std::max(level, median({window.begin(), window.end()}));
  if (best - now < share * range) return std::nullopt;
  const std::vector<double> means = window_means(track, i + 1 - last, width);
  const auto best_at = std::max_element(means.begin(), means.end());
  const size_t best_end = static_cast<size_t>(best_at - means.begin()) + 1;
  const double lately = std::max(mean(half), median({half.begin(), half.end()}));
  const double sigma = noise_before(track, i + 1, range);
  const double error = sigma * std::sqrt(1 / static_cast<double>(width) + 1 / static_cast<double>(last));
  const double least = std::max(
      {share * range, sigmas * error, kPointSigma.value * sigma, kSwing.value * largest_swing(means, best_end, width)});
  if (!stands_out(levels, range, sigma, i + 1 - last)) return std::nullopt;
  if (!(range > 0) || best - now < least || best - lately < least) return std::nullopt;
  if (all_at(track, i + 1 - points_of(kPersist), i, levels.floor[i])) return std::nullopt;
  const size_t lately_from = i + 1 - std::min(i + 1, std::max(last, 2 * points_of(kFloorRow)));
  if (left_to_zero_reward(track, lately_from, i, levels.floor[i])) return std::nullopt;
  const size_t from = best_end > width ? best_end - width : 0;
  const bool small = best - now < kSpread.value * error_of_means(track.slice(from, best_end), window);
  if (small && is_usual(track.slice(0, i + 1 - last), now + kAlike.value * range)) return std::nullopt;
  if (ranks_above(track.slice(from, best_end), window, kAlike.value * range) < kRanks.value) return std::nullopt;
  return Decline{from + change_point(track.slice(from, i + 1)), last, best, now, i, std::nullopt};
}

/// A clear drop shows within half a window, against a whole one or (of a young run) half of one; a slight one in whole.
std::optional<Decline> decline_at(const Track& track, const Levels& levels, size_t i, const BestMeans& best) {
  const size_t width = best.width, half = width / 2;
  const auto slight =
      decline_at(track, levels, i, width, best.whole_before_whole, width, kGradualShare.value, kGradualSigma.value);
  if (slight) return slight;
  const auto clear =
      decline_at(track, levels, i, width, best.whole_before_half, half, kClearShare.value, kClearSigma.value);
  if (clear || static_cast<double>(i + 1) > kYoung.value * static_cast<double>(width)) return clear;
  return decline_at(track, levels, i, half, best.half_before_half, half, kClearShare.value, kClearSigma.value);
}

/// The value above which most of the loss is made good.
double made_good(const Decline& decline) { return decline.now + kBack.value * (decline.best - decline.now); }

void tell_decline(const State& state, const Track& track, const Decline& decline, Severity severity,
                  std::vector<Finding>& out) {
  const Point& onset = track.points[decline.onset];
  const Point& now = track.points[decline.detected];
  const FallShape shape = fall_shape(track, decline.onset, decline.detected, points_of(kWidth));
  const size_t records = std::min(decline.width, decline.detected + 1 - decline.onset);
  const double low =
      shape.at_once ? shape.after : mean(track.slice(decline.detected + 1 - records, decline.detected + 1));
  const std::string further = and_further(track, {decline.best, low, decline.detected, decline.back}, decline.width);
  Finding finding = make_finding(
      "reward-collapse", "reward-collapse", severity, onset, now,
      shape.at_once ? cat("Reward fell from a level of ", shape.before, " to ", low, " within two records, at step ",
                          onset.step, further)
                    : cat("Reward declined from a level of ", decline.best, " to ", low, " (means of ", decline.width,
                          records == decline.width ? std::string() : cat(" and ", records), " records)", further));
  add_figures(finding, track, decline.onset, decline.detected);
  suggest(state, finding, onset, now, shape.at_once, shape.clear);
  suggest_other_weights(track, onset, finding);
  if (decline.back) {
    resolve(finding, track.points[*decline.back]);
    finding.severity = Severity::kInfo;
  }
  out.push_back(std::move(finding));
}

constexpr size_t kDeclinesReported = 3;  // of one stretch; one that goes on so is instability

/// Looks for declines at every hundredth of the way, up to the first sharp collapse.
struct GradualWalk {
  std::vector<Decline> found;
  std::optional<Decline> notable;  ///< a slight one, reported where there is no other
  size_t next = points_of(kGradualHistory) - 1;
  size_t high = 0, notable_high = 0;

  void step(const Track& track, const Levels& levels, size_t i, bool collapsed) {
    recover(track, notable, notable_high, i);
    if (!found.empty() && !found.back().back) {
      std::optional<Decline> open = found.back();
      recover(track, open, high, i);
      found.back() = *open;
      if (open->back) next = i + std::max<size_t>(1, i / 100);
      return;
    }
    if (collapsed || i != next || found.size() >= kDeclinesReported) return;
    const BestMeans best(track, i);
    if (const auto decline = decline_at(track, levels, i, best)) {
      found.push_back(*decline);
      high = 0;
      return;
    }
    next = i + std::max<size_t>(1, i / 100);
    if (!notable) notable = slight_at(track, levels, i, best);
  }

  static void recover(const Track& track, std::optional<Decline>& decline, size_t& high, size_t i) {
    if (!decline || decline->back) return;
    high = track.values[i] > made_good(*decline) ? high + 1 : 0;
    if (high >= points_of(kWidth) / 2) decline->back = i;
  }

  static std::optional<Decline> slight_at(const Track& track, const Levels& levels, size_t i, const BestMeans& best) {
    const size_t width = best.width, half = width / 2;
    const auto slight =
        decline_at(track, levels, i, width, best.whole_before_whole, width, kNotableShare.value, kNotableSigma.value);
    if (slight) return slight;
    return decline_at(track, levels, i, half, best.half_before_half, half, kGlimpseShare.value, kGlimpseSigma.value);
  }
};

struct RewardWalk {
  Levels levels;
  SharpWalk sharp;
  GradualWalk gradual;

  void step(const Track& track, size_t i) {
    add_level(levels, track, i);
    sharp.step(track, levels, i);
    gradual.step(track, levels, i, !sharp.found.empty());
  }
};

void judge_gradual(const State& state, const Track& track, const GradualWalk& walk, std::vector<Finding>& out) {
  for (const Decline& decline : walk.found) tell_decline(state, track, decline, Severity::kWarning, out);
  if (walk.notable && out.empty()) tell_decline(state, track, *walk.notable, Severity::kInfo, out);
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  for (KeptTrack& track : memory.tracks(state, reward_series(state))) {
    const RewardWalk& walk = track.follow("reward-collapse", RewardWalk{});
    std::vector<Finding> sharp, gradual;
    const size_t before = out.size();
    judge_sharp(state, track, walk.sharp, sharp);
    soften_swings(track, sharp);
    judge_gradual(state, track, walk.gradual, gradual);
    for (Finding& finding : sharp) {
      // a decline that goes on to the bottom, for good or for a while, is one chain, reported where it began
      const bool part = !gradual.empty() && gradual.back().severity == Severity::kWarning && !gradual.back().resolved &&
                        finding.onset.step >= gradual.back().onset.step;
      if (!part) {
        out.push_back(std::move(finding));
      } else if (!finding.resolved) {
        gradual.back().severity = finding.severity;
      }
    }
    for (Finding& finding : gradual) {
      // what fell at once is not reported again because its mean went down with it
      const bool reported =
          std::any_of(out.begin() + static_cast<std::ptrdiff_t>(before), out.end(),
                      [&](const Finding& fall) { return !fall.resolved && fall.onset.step <= finding.onset.step; });
      if (!reported) out.push_back(std::move(finding));
    }
    for (size_t i = before; i < out.size(); ++i) soften_by_objective(state, track, out[i]);
  }
}

}  // namespace

extern const Detector reward_collapse;
const Detector reward_collapse{
    "reward-collapse",
    "The reward falls to a small part of its own level and stays there, at once or by degrees.",
    {"reward-collapse"},
    kKnobs,
    judge};

}  // namespace mw::detect
