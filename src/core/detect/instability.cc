// The reward swings between high and low for long stretches, so that neither level can be trusted.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/text.h"
#include "core/detect/tools/back.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kWidth{"width", 5, "points",
                      "Swings are looked for in medians of so many points, which noise does not move", "own"};
constexpr Knob kHigh{"high", 0.7, "ratio", "Share of the reward's own range that counts as high", "own"};
constexpr Knob kLow{"low", 0.25, "ratio", "Share that counts as low", "own"};
constexpr Knob kPhase{"phase", 8, "points", "A high or a low lasts; noise does not stay on one side for so long",
                      "own"};
constexpr Knob kSwings{"swings", 3, "falls", "Falls from high to low", "own"};
constexpr Knob kSigma{"sigma", 4, "sigma", "The range of the medians must stand out of the noise", "own"};
constexpr Knob kNoiseWindow{"noise_window", 50, "points", "Points from which the noise is estimated",
                            "field guide 4.1 (50-100)"};
constexpr Knob kCalm{"calm", 3, "swings", "Of their usual length, without another fall, and the reward is steady again",
                     "own"};
constexpr Knob kKnobs[] = {kWidth, kHigh, kLow, kPhase, kSwings, kSigma, kNoiseWindow, kCalm};

/// Of a single answer to a step, right or wrong: that says nothing of a level.
bool is_yes_or_no(std::span<const double> values) {
  const double least = *std::min_element(values.begin(), values.end());
  const double most = *std::max_element(values.begin(), values.end());
  return std::all_of(values.begin(), values.end(), [=](double value) { return value == least || value == most; });
}

/// Swings that were many enough to be reported, as they were then.
struct Swung {
  double least = 0, most = 0;
  size_t fallen = 0, first = 0, detected = 0;
  std::optional<size_t> back;  ///< where it had been high for long enough
};

/// Falls of the reward from high to low.
struct Swings {
  SortedWindow recent{points_of(kWidth)};
  double least = INFINITY, most = -INFINITY;
  size_t fallen = 0, first = 0, last = 0;
  bool high = true;
  std::vector<Swung> found;

  /// What was reported is over: other swings are counted anew, from here.
  void calm_down(size_t i) {
    if (found.empty() || found.back().back || !high) return;
    const double usual = static_cast<double>(last - first) / static_cast<double>(fallen - 1);
    if (static_cast<double>(i - last) < kCalm.value * usual) return;
    found.back().back = i;
    fallen = 0;
  }

  void step(const Track& track, size_t i) {
    recent.push(track.values[i]);
    calm_down(i);
    if (i < points_of(kWidth)) return;
    const double median = recent.median();
    least = std::min(least, median);
    most = std::max(most, median);
    const double range = most - least;
    if (range < 0.3 * std::abs(most)) return;
    const auto phase = track.slice(i + 1 - std::min(i + 1, points_of(kPhase)), i + 1);
    const auto [lowest, highest] = std::minmax_element(phase.begin(), phase.end());
    const bool rose = *lowest > least + kHigh.value * range;
    const bool fell = (high || rose) && *highest <= least + kLow.value * range;
    if (!fell && (high || !rose)) return;  // mostly: nothing changes, and the noise need not be known
    const size_t from = i + 1 > points_of(kNoiseWindow) ? i + 1 - points_of(kNoiseWindow) : 0;
    const double sigma =
        noise(track.slice(from, i + 1)) * 1.2533 / std::sqrt(kWidth.value);  // standard error of a median
    if (range < 2 * kSigma.value * sigma || is_yes_or_no(track.slice(from, i + 1))) return;
    high = !fell;
    if (!fell) return;
    last = i;
    if (++fallen == 1) first = i;
    if (fallen != points_of(kSwings)) return;
    if (found.size() == kStretchesReported) found.pop_back();
    found.push_back({least, most, fallen, first, i, std::nullopt});
  }
};

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  for (KeptTrack& track : memory.tracks(state, reward_series(state))) {
    const Swings& swings = track.follow("instability", Swings{});
    for (const Swung& swung : swings.found) {
      Finding finding = make_finding(
          "instability", "instability", Severity::kWarning, track.points[swung.first], track.points[swung.detected],
          cat("Reward fell ", swung.fallen, " times from about ", swung.most, " to about ", swung.least));
      add_figures(finding, track, swung.first, swung.detected, 8);
      finding.suggests.push_back({"reward-intermittent-after-outage", 0.2, "the reward comes and goes"});
      if (swung.back) resolve(finding, track.points[*swung.back]);
      out.push_back(std::move(finding));
    }
  }
}

}  // namespace

extern const Detector instability;
const Detector instability{
    "instability", "The reward swings between high and low for long stretches.", {"instability"}, kKnobs, judge};

}  // namespace mw::detect
