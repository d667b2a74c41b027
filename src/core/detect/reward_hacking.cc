// A proxy reward rises while the true one, logged beside it and not optimised, stays flat.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"

namespace mw::detect {
namespace {

constexpr Knob kHistory{"history", 20, "points", "Two thirds must be comparable", "own"};
constexpr Knob kTrend{"trend", 4, "sigma", "Mann-Kendall score of the proxy's rise", "Mann 1945"};
constexpr Knob kGain{"gain", 0.2, "of its range", "Rise of the proxy between first and last third",
                     "failure catalogue, reward-hacking (20 %)"};
constexpr Knob kTrueFall{"true_trend", -3, "sigma", "Mann-Kendall score of the true measure's fall", "Mann 1945"};
constexpr Knob kOpen{"open", 0.1, "1", "Gain of a proxy between 0 and 1 that a true measure beside it should share",
                     "own"};
constexpr Knob kShare{"share", 0.1, "ratio", "Part of that gain that the true measure has at least when it is real",
                      "own"};
constexpr Knob kFull{"full", 0.8, "1", "Reward between 0 and 1 that is nearly full", "own"};
constexpr Knob kEmpty{"empty", 0.2, "1", "True measure that is nearly nothing", "own"};
constexpr Knob kHollow{"hollow", 10, "points", "Both, for so long", "own"};
constexpr Knob kGrowth{"growth", 1.3, "x", "The judgement is made anew each time the run is longer by this", "own"};
constexpr Knob kKnobs[] = {kHistory, kTrend, kGain, kTrueFall, kOpen, kShare, kFull, kEmpty, kHollow, kGrowth};

/// Solved share, accuracy or a component that is named for correctness.
bool is_true_measure(const Series& series) {
  if (series.signal == "reward.pass_rate") return true;
  if (series.signal.rfind("reward.component.", 0) != 0) return false;
  const std::string name = to_lower(series.raw);
  for (const std::string_view word : {"minus", "gap", "std", "min", "max", "count"}) {
    if (contains(name, word)) return false;  // not a level
  }
  for (const std::string_view word : {"correct", "accuracy", "solve", "pass", "true", "gold", "ground"}) {
    if (contains(name, word)) return true;
  }
  return false;
}

/// Points of `track` up to `step`.
size_t points_until(const Track& track, int64_t step) {
  size_t n = 0;
  while (n < track.size() && track.points[n].step <= step) ++n;
  return n;
}

/// The proxy rises and the true measure falls, or stays while the gap opens wide (which may also be one of
/// several parts of the reward that is simply not learned yet, so it is told as information).
enum class Parting { kNone, kStands, kFalls };  ///< what the true measure does

Parting parted(const Track& reward, size_t n, const Track& truth, size_t m) {
  if (m < points_of(kHistory)) return Parting::kNone;
  const auto proxy = reward.slice(0, n), real = truth.slice(0, m);
  if (trend_score(proxy) < kTrend.value) return Parting::kNone;
  const double gain = mean(proxy.subspan(n - n / 3)) - mean(proxy.subspan(0, n / 3));
  const double learned = mean(real.subspan(m - m / 3)) - mean(real.subspan(0, m / 3));
  const auto [least, most] = std::minmax_element(proxy.begin(), proxy.end());
  if (gain < kGain.value * (*most - *least)) return Parting::kNone;
  if (trend_score(real) < kTrueFall.value) return Parting::kFalls;
  const double apart = mean(proxy.subspan(n - n / 3)) - mean(real.subspan(m - m / 3));
  const bool open = gain > kOpen.value && learned < kShare.value * gain && apart > kOpen.value;
  return open ? Parting::kStands : Parting::kNone;
}

/// Nearly full reward with nearly no correctness beside it, from the first step on.
bool judge_hollow(const Track& reward, const Track& truth, std::vector<Finding>& out) {
  size_t streak = 0;
  for (size_t i = 0; i < reward.size(); ++i) {
    const auto real = value_at(truth.series, reward.points[i]);
    const bool hollow =
        real && reward.values[i] >= kFull.value && reward.values[i] <= 1 && *real >= 0 && *real <= kEmpty.value;
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

bool judge_pair(const Track& reward, const Track& truth, std::vector<Finding>& out) {
  for (double next = kHistory.value; static_cast<size_t>(next) <= reward.size(); next *= kGrowth.value) {
    const size_t n = static_cast<size_t>(next);
    const Point& now = reward.points[n - 1];
    const size_t m = points_until(truth, now.step);
    const Parting parting = parted(reward, n, truth, m);
    if (parting == Parting::kNone) continue;
    const size_t from = change_point(truth.slice(0, m));
    Finding finding =
        make_finding("reward-hacking", "reward-hacking",
                     parting == Parting::kFalls ? Severity::kWarning : Severity::kInfo, truth.points[from], now,
                     cat("Reward rose from ", reward.values[0], " to ", now.value, " while ", truth.series->raw,
                         " fell from ", truth.values[0], " to ", truth.values[m - 1]));
    add_figures(finding, reward, 0, n - 1, 3);
    add_figures(finding, truth, 0, m - 1, 3);
    finding.suggests.push_back({"reward-hacking", 0.6, cat(truth.series->raw, " falls while the reward rises")});
    out.push_back(std::move(finding));
    return true;
  }
  return false;
}

/// The run itself logs the gap between its proxy and the truth ("g_minus_f"), and it opens.
bool judge_gap(const Series& series, std::vector<Finding>& out) {
  const std::string name = to_lower(series.raw);
  if (series.signal.rfind("reward.component.", 0) != 0 || !(contains(name, "minus") || contains(name, "gap")))
    return false;
  for (const Track& track : tracks_of(&series)) {
    for (double next = kHistory.value; static_cast<size_t>(next) <= track.size(); next *= kGrowth.value) {
      const auto gap = track.slice(0, static_cast<size_t>(next));
      const size_t third = gap.size() / 3;
      const double before = std::abs(mean(gap.subspan(0, third))),
                   after = std::abs(mean(gap.subspan(gap.size() - third)));
      if (std::abs(trend_score(gap)) < kTrend.value || after < kOpen.value || after < (1 + kGain.value) * before)
        continue;
      const size_t onset = change_point(gap);
      Finding finding = make_finding(
          "reward-hacking", "reward-hacking", Severity::kInfo, track.points[onset], track.points[gap.size() - 1],
          cat(series.raw, " went from ", before, " to ", after, " in size: the proxy leaves the truth behind"));
      add_figures(finding, track, 0, gap.size() - 1, 4);
      finding.suggests.push_back({"reward-hacking", 0.5, "the logged gap between proxy and truth opens"});
      out.push_back(std::move(finding));
      return true;
    }
  }
  return false;
}

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  for (const Track& reward : tracks_of(state.find("reward.mean"))) {
    for (const Series& series : state.series) {
      if (judge_gap(series, out)) return;
      if (!is_true_measure(series)) continue;
      for (const Track& truth : tracks_of(&series)) {
        if (judge_pair(reward, truth, out) || judge_hollow(reward, truth, out)) return;
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
