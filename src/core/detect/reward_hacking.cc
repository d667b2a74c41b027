// A proxy reward rises while the true one, logged beside it and not optimised, stays flat.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <utility>

#include "base/text.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/detect/tools/true_measure.h"
#include "core/detect/tools/window_means.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kHistory{"history", 20, "points", "Two thirds must be comparable", "own"};
constexpr Knob kTrend{"trend", 4, "sigma", "Mann-Kendall score of the proxy's rise", "Mann 1945"};
constexpr Knob kGain{"gain", 0.2, "of its range", "Rise of the proxy between first and last third",
                     "failure catalogue, reward-hacking (20 %)"};
constexpr Knob kWindow{"window", 8, "points",
                       "Least width of the windows whose means are compared; an eighth of a long run", "own"};
constexpr Knob kFall{"fall", 0.2, "ratio", "Loss of the true measure's best level while the reward rises",
                     "failure catalogue, reward-hacking (10 %), above batch noise"};
constexpr Knob kDeepFall{"deep_fall", 0.4, "ratio", "The same while the reward stands", "own"};
constexpr Knob kSigma{"sigma", 5, "standard errors",
                      "The loss must stand out of the noise, the best window being one of many",
                      "selection of the best window inflates the difference by about 2"};
constexpr Knob kSwing{
    "swing", 1.25, "x",
    "Times the largest loss that was made good before, of windows as wide: a swing shown before is no "
    "news",
    "as of reward-collapse"};
constexpr Knob kRise{"rise", 0.03, "ratio", "Of its range: what the reward must gain meanwhile to rise", "own"};
constexpr Knob kOpen{"open", 0.1, "1", "Gain of a proxy between 0 and 1 that a true measure beside it should share",
                     "own"};
constexpr Knob kShare{"share", 0.1, "ratio", "Part of that gain that the true measure has at least when it is real",
                      "own"};
constexpr Knob kFull{"full", 0.8, "1", "Reward between 0 and 1 that is nearly full", "own"};
constexpr Knob kEmpty{"empty", 0.2, "1", "True measure that is nearly nothing", "own"};
constexpr Knob kHollow{"hollow", 10, "points", "Both, for so long", "own"};
constexpr Knob kWide{"wide", 0.3, "1", "Gain of a reward between 0 and 1 that is no noise and no small part of it",
                     "own"};
constexpr Knob kNothing{"nothing", 0.02, "1", "True measure up to which next to nothing is right", "own"};
constexpr Knob kGrowth{"growth", 1.3, "x", "The judgement is made anew each time the run is longer by this", "own"};
constexpr Knob kSudden{"sudden", 0.6, "ratio", "Part of its rise that a reward makes from one record to the next",
                       "own"};
constexpr Knob kSingle{"single", 40, "points", "The same where each record is of one answer, right or wrong", "own"};
constexpr Knob kKnobs[] = {kSudden, kSingle, kHistory, kTrend, kGain,  kWindow, kFall, kDeepFall, kSigma, kSwing,
                           kRise,   kOpen,   kShare,   kFull,  kEmpty, kHollow, kWide, kNothing,  kGrowth};

/// One right answer of several is enough (pass@k): that falls when answers become alike, too, however right they are.
bool is_of_several(const Series& series) {
  const std::string name = to_lower(series.raw);
  for (const std::string_view word : {"pass_at_", "pass@"}) {
    const size_t at = name.find(word);
    if (at == std::string::npos) continue;
    const std::string_view k = std::string_view(name).substr(at + word.size());
    return !(k.substr(0, 1) == "1" && (k.size() == 1 || k[1] < '0' || k[1] > '9'));
  }
  return false;
}

/// What the first `n` points of the proxy show by themselves.
struct Rising {
  size_t n = 0;
  bool rises = false;
  double gain = 0, level = 0;
};

/// At growing lengths: each is looked at once.
struct RisingWalk {
  std::vector<Rising> all;
  double next = kHistory.value;

  void step(const Track& track, size_t i) {
    const size_t n = static_cast<size_t>(next);
    if (i + 1 != n) return;
    next *= kGrowth.value;
    const auto proxy = track.slice(0, n);
    const double level = mean(proxy.subspan(n - n / 3)), gain = level - mean(proxy.subspan(0, n / 3));
    const auto [least, most] = std::minmax_element(proxy.begin(), proxy.end());
    const bool rises = !(trend_score(proxy) < kTrend.value) && !(gain < kGain.value * (*most - *least));
    all.push_back({n, rises, gain, level});
  }
};

/// The true measure stays while the proxy rises and the gap opens wide. That may also be one of several parts of the
/// reward that is simply not learned yet, so it is information only.
bool stands_apart(const Rising& proxy, const Track& truth, size_t m) {
  if (m < points_of(kHistory) || !proxy.rises || !(proxy.gain > kOpen.value)) return false;
  const auto real = truth.slice(0, m);
  const double level = mean(real.subspan(m - m / 3)), learned = level - mean(real.subspan(0, m / 3));
  return learned < kShare.value * proxy.gain && proxy.level - level > kOpen.value;
}

/// The reward, between 0 and 1, gained much and next to nothing is right by the true measure: what is rewarded is
/// something else.
bool pays_for_nothing(const Rising& proxy, const Track& reward, const Track& truth, size_t m) {
  const auto paid = reward.slice(0, proxy.n);
  const auto real = truth.slice(0, m);
  const double level = mean(real.subspan(m - m / 3));
  return proxy.gain >= kWide.value && *std::max_element(paid.begin(), paid.end()) <= 1 && level >= 0 &&
         level <= kNothing.value;
}

/// The true measure's loss of level at its point `end`: best window so far against the last one.
struct Loss {
  size_t onset = 0;
  size_t best_end = 0, width = 0;  ///< of the windows: [best_end - width, best_end), and the last `width` points
  double best = 0, now = 0;
  double share() const { return best > 0 ? (best - now) / best : 0; }
};

/// The largest loss of level that was made good by the last window that is as good as the best one.
double usual_swing(const Track& truth, double best, double error, size_t end, size_t width) {
  const std::vector<double> means = window_means(truth, end + 1, width);
  size_t last = end - width;
  while (last > 0 && means[last] < best - error) --last;
  return largest_swing(means, last, width);
}

std::optional<Loss> loss_at(const Track& truth, size_t end) {
  const auto all = truth.slice(0, end + 1);
  const bool single = std::all_of(all.begin(), all.end(), [](double value) { return value == 0 || value == 1; });
  const size_t width = std::max(points_of(single ? kSingle : kWindow), (end + 1) / 8);
  if (end + 1 < 2 * width) return std::nullopt;
  double best = -INFINITY;
  size_t best_end = 0;
  for (size_t j = width; j + width <= end + 1; ++j) {
    const double level = mean(truth.slice(j - width, j));
    if (level > best) {
      best = level;
      best_end = j;
    }
  }
  const auto last = truth.slice(end + 1 - width, end + 1);
  const Loss loss{best_end - width + change_point(truth.slice(best_end - width, end + 1)), best_end, width, best,
                  std::max(mean(last), median({last.begin(), last.end()}))};
  const double error = noise(truth.slice(0, end + 1)) * std::sqrt(2.0 / static_cast<double>(width));
  if (loss.share() < kFall.value || best - loss.now < kSigma.value * error) return std::nullopt;
  if (best - loss.now < kSwing.value * usual_swing(truth, best, error, end, width)) return std::nullopt;
  return loss;
}

/// The losses of level, looked for at every twentieth of the way.
struct LossWalk {
  std::vector<std::pair<size_t, Loss>> found;  ///< by the point at which it shows
  size_t next = points_of(kHistory) - 1;

  void step(const Track& truth, size_t i) {
    if (i != next) return;
    next += 1 + i / 20;
    if (const auto loss = loss_at(truth, i)) found.emplace_back(i, *loss);
  }
};

/// Mean of the reward between the steps of two points of the true measure.
std::optional<double> mean_between(const Track& reward, const Point& from, const Point& to) {
  double sum = 0, count = 0;
  for (size_t i = 0; i < reward.size(); ++i) {
    if (reward.points[i].step < from.step || reward.points[i].step > to.step) continue;
    sum += reward.values[i];
    ++count;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

/// Means of the reward over the steps of the two windows of the true measure.
struct PaidInMean {
  double before = 0, after = 0;
  /// The median of a reward that lies mostly on its floor stays there: its mean shows what it loses. Below zero the
  /// floor is `lowest`, the least that it ever was, so that a level near to it that sinks with the true measure is seen
  /// to sink.
  bool fell(double lowest) const {
    const double floor = before > 0 ? 0 : std::min(0.0, lowest);
    return before > floor && after - floor < (1 - kFall.value) * (before - floor);
  }
};

std::optional<PaidInMean> paid_in_mean(const Track& reward, const Track& truth, size_t end, const Loss& loss) {
  const auto before = mean_between(reward, truth.points[loss.best_end - loss.width], truth.points[loss.best_end - 1]);
  const auto after = mean_between(reward, truth.points[end + 1 - loss.width], truth.points[end]);
  if (!before || !after) return std::nullopt;
  return PaidInMean{*before, *after};
}

/// The reward rose while the true measure lost so much, or stood while that fell far. A rise of a few records is none
/// that the means over the two windows do not have, too.
bool paid_for_less(const Track& reward, const Track& truth, size_t end, const Loss& loss, const Outcome& paid) {
  const auto means = paid_in_mean(reward, truth, end, loss);
  if (means && means->fell(*std::min_element(reward.values.begin(), reward.values.end()))) return false;
  if (paid.rose(kRise.value) && (!means || means->after > means->before)) return true;
  return loss.share() > kDeepFall.value && !paid.fell(kRise.value);
}

/// The true measure falls from its best level while the reward rises, or far while the reward stands.
bool judge_fall(const Track& reward, KeptTrack& truth, std::vector<Finding>& out) {
  for (const auto& [end, loss] : truth.follow("reward-hacking, truth", LossWalk{}).found) {
    const Point& onset = truth.points[loss.onset];
    const auto paid = outcome_of(reward.series, onset, truth.points[end]);
    if (!paid || !paid_for_less(reward, truth, end, loss, *paid)) continue;
    const Severity severity = is_of_several(*truth.series) ? Severity::kInfo : Severity::kWarning;
    Finding finding = make_finding("reward-hacking", "reward-hacking", severity, onset, truth.points[end],
                                   cat(truth.series->raw, " fell from ", loss.best, " to ", loss.now,
                                       " while the reward went from ", paid->before, " to ", paid->after));
    add_figure(finding, reward.series->signal, onset.step, paid->before);
    add_figure(finding, reward.series->signal, truth.points[end].step, paid->after);
    add_figures(finding, truth, loss.onset, end, 4);
    finding.suggests.push_back({"reward-hacking", 0.6, cat(truth.series->raw, " falls while the reward does not")});
    const size_t last = truth.size() - 1;
    if (last >= end + loss.width && 2 * mean(truth.slice(last + 1 - loss.width, last + 1)) >= loss.best + loss.now) {
      finding.severity = Severity::kInfo;  // half of it was made good
      resolve(finding, truth.points[last]);
    }
    out.push_back(std::move(finding));
    return true;
  }
  return false;
}

/// Nearly full reward with nearly no correctness beside it, from the first step on.
bool judge_hollow(const Track& reward, const Track& truth, std::vector<Finding>& out) {
  size_t streak = 0;
  ValueCursor cursor(truth.series);
  for (size_t i = 0; i < reward.size(); ++i) {
    const bool full = reward.values[i] >= kFull.value && reward.values[i] <= 1;
    const auto real = full ? cursor.at(reward.points[i]) : std::nullopt;
    const bool hollow = real && *real >= 0 && *real <= kEmpty.value;
    streak = hollow ? streak + 1 : 0;
    if (streak < points_of(kHollow)) continue;
    const size_t first = i + 1 - streak;
    Finding finding =
        make_finding("reward-hacking", "reward-hacking", Severity::kInfo, reward.points[first], reward.points[i],
                     cat("Reward is ", reward.values[i], " while ", truth.series->raw, " is ", *real));
    add_figures(finding, reward, first, i, 3);
    add_figure(finding, truth.series->signal, reward.points[i].step, *real);
    finding.suggests.push_back(
        {"reward-hacking", 0.6, cat("the reward is nearly full and ", truth.series->raw, " nearly zero")});
    out.push_back(std::move(finding));
    return true;
  }
  return false;
}

/// The first length at which the true measure stands apart; better the first at which next to nothing is right.
struct Apart {
  size_t n = 0, m = 0;  ///< points of the reward and of the true measure
  bool for_nothing = false;
};

Apart apart_at(KeptTrack& reward, const Track& truth) {
  Apart found;
  for (const Rising& rising : reward.follow("reward-hacking, proxy", RisingWalk{}).all) {
    const size_t m = points_until(truth, reward.points[rising.n - 1].step);
    if (!stands_apart(rising, truth, m)) continue;
    const bool for_nothing = pays_for_nothing(rising, reward, truth, m);
    if (found.n == 0 || for_nothing) found = {rising.n, m, for_nothing};
    if (for_nothing) break;
  }
  return found;
}

/// The reward went up for good within one record: what scores it is another one since, for a policy learns over
/// several.
struct Jump {
  size_t at = 0;  ///< its first point
  double before = 0, after = 0;
};
std::optional<Jump> jump_in(const Track& reward, size_t n) {
  const size_t width = points_of(kWindow), at = change_point(reward.slice(0, n));
  if (at < width || at + width > n) return std::nullopt;
  const auto before = reward.slice(at - width, at), after = reward.slice(at, at + width), all = reward.slice(0, n);
  const Jump jump{at, median({before.begin(), before.end()}), median({after.begin(), after.end()})};
  const double rise = jump.after - jump.before;
  const double gain = mean(all.subspan(n - n / 3)) - mean(all.subspan(0, n / 3));
  const bool clear = rise >= kSigma.value * std::max(noise(before), noise(after));
  const bool at_once = reward.values[at] - reward.values[at - 1] >= kSudden.value * rise;
  return clear && at_once && rise >= kSudden.value * gain ? std::optional(jump) : std::nullopt;
}

/// A reward that jumped with nothing behind it is what another judge, or another version of it, gives.
void add_jump(const Track& reward, const Track& truth, const Jump& jump, Finding& finding) {
  const int64_t step = reward.points[jump.at].step;
  const auto before = level_between(truth.series, reward.points[0].attempt, reward.points[0].step, step - 1);
  const auto after = level_between(truth.series, reward.points[jump.at].attempt, step, finding.detected.step);
  finding.summary = cat("Reward jumped from ", jump.before, " to ", jump.after, " within one record, at step ", step);
  if (before && after) finding.summary += cat(", while ", truth.series->raw, " went from ", *before, " to ", *after);
  finding.suggests.push_back({"judge-score-drift", 0.9, "it took one record: a policy learns over several"});
}

bool judge_pair(KeptTrack& reward, const Track& truth, std::vector<Finding>& out) {
  const auto [n, m, for_nothing] = apart_at(reward, truth);
  if (n == 0) return false;
  const Point& now = reward.points[n - 1];
  const Point& onset = reward.points[change_point(reward.slice(0, n))];  // the true measure has no change to show
  Finding finding =
      make_finding("reward-hacking", "reward-hacking", for_nothing ? Severity::kWarning : Severity::kInfo, onset, now,
                   cat("Reward rose from ", reward.values[0], " to ", now.value, " while ", truth.series->raw,
                       " went from ", truth.values[0], " to ", truth.values[m - 1]));
  add_figures(finding, reward, 0, n - 1, 3);
  add_figures(finding, truth, 0, m - 1, 3);
  const auto jump = jump_in(reward, n);
  if (jump) add_jump(reward, truth, *jump, finding);
  finding.suggests.push_back(
      {"reward-hacking", jump ? 0.2 : 0.6, cat(truth.series->raw, " stands while the reward rises")});
  out.push_back(std::move(finding));
  return true;
}

struct GapWalk {
  std::optional<size_t> n;  ///< points by which it has opened
  double next = kHistory.value, before = 0, after = 0;

  void step(const Track& track, size_t i) {
    if (n || i + 1 != static_cast<size_t>(next)) return;
    next *= kGrowth.value;
    const auto gap = track.slice(0, i + 1);
    const size_t third = gap.size() / 3;
    before = std::abs(mean(gap.subspan(0, third)));
    after = std::abs(mean(gap.subspan(gap.size() - third)));
    const bool opens = after >= kOpen.value && after >= (1 + kGain.value) * before;
    if (opens && std::abs(trend_score(gap)) >= kTrend.value) n = i + 1;
  }
};

/// The run itself logs the gap between its proxy and the truth ("g_minus_f"), and it opens.
bool judge_gap(const State& state, const Series& series, JudgeMemory& memory, std::vector<Finding>& out) {
  const std::string name = to_lower(series.raw);
  if (series.signal.rfind("reward.component.", 0) != 0 || !(contains(name, "minus") || contains(name, "gap")))
    return false;
  for (KeptTrack& track : memory.tracks(state, &series)) {
    const GapWalk& walk = track.follow("reward-hacking, gap", GapWalk{});
    if (!walk.n) continue;
    const size_t onset = change_point(track.slice(0, *walk.n));
    Finding finding = make_finding(
        "reward-hacking", "reward-hacking", Severity::kInfo, track.points[onset], track.points[*walk.n - 1],
        cat(series.raw, " went from ", walk.before, " to ", walk.after, " in size: the proxy leaves the truth behind"));
    add_figures(finding, track, 0, *walk.n - 1, 4);
    finding.suggests.push_back({"reward-hacking", 0.5, "the logged gap between proxy and truth opens"});
    out.push_back(std::move(finding));
    return true;
  }
  return false;
}

/// A reward that the run names as a proxy, or as the one measured by what it must not be optimised for.
bool is_named(const Series& series, std::initializer_list<std::string_view> words) {
  std::string name = to_lower(series.raw.empty() ? series.signal : series.raw);
  for (const std::string_view part : {"std", "min", "max", "count", "loss", "gap", "minus", "kl", "lr", "weight"}) {
    if (contains(name, part)) return false;
  }
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !(c >= 'a' && c <= 'z'); }, ' ');
  const std::string padded = cat(" ", name, " ");
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return contains(padded, cat(" ", word, " ")); });
}

/// Over-optimisation as it is studied: the reward model's score beside the true one, under whatever other names.
bool judge_proxy(const State& state, JudgeMemory& memory, std::vector<Finding>& out) {
  for (const Series& paid : state.series) {
    const bool may =
        contains_folded(paid.raw.empty() ? paid.signal : paid.raw, "proxy");  // most names: no copy is made
    if (!may || !is_named(paid, {"proxy"})) continue;
    for (const Series& real : state.series) {
      if (&real == &paid || !is_named(real, {"gold", "true", "oracle", "heldout", "held out"})) continue;
      for (KeptTrack& proxy : memory.tracks(state, &paid)) {
        for (KeptTrack& truth : memory.tracks(state, &real)) {
          if (judge_fall(proxy, truth, out)) return true;
        }
      }
    }
  }
  return false;
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  if (judge_proxy(state, memory, out)) return;
  for (KeptTrack& reward : memory.tracks(state, state.find("reward.mean"))) {
    for (const Series& series : state.series) {
      if (judge_gap(state, series, memory, out)) return;
      if (!is_true_measure(series)) continue;
      for (KeptTrack& truth : memory.tracks(state, &series)) {
        if (judge_fall(reward, truth, out) || judge_pair(reward, truth, out) || judge_hollow(reward, truth, out))
          return;
      }
    }
  }
}

}  // namespace

extern const Detector reward_hacking;
const Detector reward_hacking{"reward-hacking",
                              "The reward rises while the measure of correctness beside it falls.",
                              {"reward-hacking"},
                              kKnobs,
                              judge};

}  // namespace mw::detect
