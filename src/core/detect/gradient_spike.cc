// Gradient norms far above the run's own level. A lone spike that heals is told as information; one that is enormous,
// or comes again and again, is a warning.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"

namespace mw::detect {
namespace {

constexpr Knob kHistory{"history", 20, "points", "Warm-up: the first gradients are large in healthy runs",
                        "field guide 4.1 (10-20 steps)"};
constexpr Knob kShort{"short_history", 8, "points",
                      "Runs that log every few steps have few records; large first gradients raise the baseline",
                      "own"};
constexpr Knob kWith{"corroborated", 10, "x",
                     "A lone spike of this size is a warning when loss or KL jump as far in the same record",
                     "failure catalogue, grad-norm-spike"};
constexpr Knob kWindow{"window", 50, "points", "Baseline window", "field guide 4.3 rule 11"};
constexpr Knob kNotable{"notable", 6, "x", "Times the upper tenth of the window: worth a line",
                        "field guide 4.3 rule 11 (10 x median), above the spread of small batches"};
constexpr Knob kGrave{"grave", 50, "x", "Times the upper tenth of the window: worth a warning even when it heals",
                      "isolated spikes of 10-40 x heal by themselves in real runs"};
constexpr Knob kAgain{"again", 3, "spikes", "So many spikes of `large` within the window are no accident",
                      "field guide 4.3 rule 11 (3 in 10 steps)"};
constexpr Knob kLarge{"large", 10, "x", "Size of spikes that are counted", "field guide 4.3 rule 11"};
constexpr Knob kLevel{"tail", 0.9, "quantile",
                      "The window's upper tenth, so that zero gradients of uniform groups do not lower the baseline",
                      "own"};
constexpr Knob kRise{"rise", 4, "x", "Times its level, for good: an unstable run rather than a bad batch",
                     "field guide 4.3 rule 11 (monotone x5)"};
constexpr Knob kPersist{"persist", 3, "points", "It stays", "own"};
constexpr Knob kHarm{"reward_loss", 0.15, "ratio", "Fall of the reward that makes a risen level a warning", "own"};
constexpr Knob kNews{"news", 3, "x", "Later spikes are warned of again when they are so many times larger", "own"};
constexpr Knob kFaded{"faded", 0.05, "of its highest level",
                      "When the task is learnt gradients all but vanish, and what is left jumps by any factor", "own"};
constexpr Knob kKnobs[] = {kHistory, kWindow,  kNotable, kGrave, kAgain, kLarge, kLevel,
                           kRise,    kPersist, kHarm,    kNews,  kShort, kWith,  kFaded};

struct Spike {
  size_t index;
  double ratio, base;
};

std::vector<Spike> spikes_of(const Track& track) {
  std::vector<Spike> out;
  std::vector<double> window;
  double highest = 0;  // level after the warm-up
  for (size_t i = 0; i < track.size(); ++i) {
    if (i >= points_of(kShort)) {
      const double level = quantile(window, kLevel.value);
      if (i >= points_of(kHistory)) highest = std::max(highest, level);
      const double base = level > 0 ? std::max(level, kFaded.value * highest) : 0;
      // where most groups are uniform most gradients are zero: then the largest before is what there is to compare with
      const double most =
          base > 0 ? 0 : std::max(*std::max_element(window.begin(), window.end()), kFaded.value * highest);
      if (i >= points_of(kHistory) && most > 0 && track.values[i] > kGrave.value * most) {
        out.push_back({i, track.values[i] / most, most});
        continue;
      }
      const bool warm = i >= points_of(kHistory) || quantile(window, 0.5) > 0;  // not one gradient among zeros
      if (warm && base > 0 && track.values[i] > kNotable.value * base) {
        out.push_back({i, track.values[i] / base, base});
        continue;  // a spike does not raise its own baseline
      }
    }
    window.push_back(std::abs(track.values[i]));
    if (window.size() > points_of(kWindow)) window.erase(window.begin());
  }
  return out;
}

const Spike& worst_of(const std::vector<Spike>& spikes, size_t from, size_t to) {
  return *std::max_element(spikes.begin() + static_cast<std::ptrdiff_t>(from),
                           spikes.begin() + static_cast<std::ptrdiff_t>(to) + 1,
                           [](const Spike& a, const Spike& b) { return a.ratio < b.ratio; });
}

void tell(const State& state, const Track& track, const std::vector<Spike>& spikes, size_t from, size_t to,
          Severity severity, std::vector<Finding>& out) {
  const Spike& worst = worst_of(spikes, from, to);
  const Point& onset = track.points[spikes[from].index];
  Finding finding =
      make_finding("gradient-spike", "gradient-spike", severity, onset, track.points[spikes[to].index],
                   cat("Gradient norm ", track.values[worst.index], " at step ", track.points[worst.index].step, ", ",
                       format_short(worst.ratio, 3), " times its usual upper range of ", worst.base));
  for (size_t k = from; k <= to && k < from + 5; ++k) add_figure(finding, track, spikes[k].index);
  finding.suggests.push_back({"grad-norm-spike", 0.6, cat(to - from + 1, " gradient spike(s)")});
  const Point& now = track.points[spikes[to].index];
  if (const auto kl = value_at(state.find("kl.ref"), now); kl && *kl > 1) {
    finding.suggests.push_back({"kl-explosion", 0.3, cat("KL to the reference is ", *kl, " at the same step")});
    add_figure(finding, "kl.ref", now.step, *kl);
  }
  if (spikes[to].index + 1 < track.size()) resolve(finding, track.points[spikes[to].index + 1]);
  out.push_back(std::move(finding));
}

/// Whether a loss or a KL of the same record lies as far above its own upper range.
bool jumps_too(const State& state, const Point& at) {
  for (const std::string_view name : {"kl.ref", "kl.step", "loss.total", "loss.policy", "loss.value"}) {
    const Series* series = state.find(name);
    if (series == nullptr) continue;
    std::vector<double> before;
    double now = 0;
    for (const Point& point : series->points()) {
      if (!std::isfinite(point.value) || point.attempt != at.attempt) continue;
      if (point.step < at.step) before.push_back(std::abs(point.value));
      if (point.step == at.step) now = std::abs(point.value);
    }
    if (before.size() > points_of(kWindow))
      before.erase(before.begin(), before.end() - static_cast<std::ptrdiff_t>(points_of(kWindow)));
    if (before.size() < points_of(kShort)) continue;
    const double base = quantile(before, kLevel.value);
    if (base > 0 && now > kWith.value * base) return true;
  }
  return false;
}

/// Spikes that are notable but not grave, and follow each other within one window, from `k` on.
size_t last_of_group(const std::vector<Spike>& spikes, size_t k) {
  size_t last = k;
  while (last + 1 < spikes.size() && spikes[last + 1].ratio < kGrave.value &&
         spikes[last + 1].index - spikes[k].index < points_of(kWindow)) {
    ++last;
  }
  return last;
}

/// The last few values.
std::vector<double> last_of(const std::vector<double>& values) {
  return {values.end() - static_cast<std::ptrdiff_t>(std::min(values.size(), points_of(kHistory))), values.end()};
}

/// A level that rose and stays up. Zeros are the gradients of uniform groups, not a level.
void judge_level(const State& state, const Track& track, std::vector<Finding>& out) {
  Track alive;
  alive.series = track.series;
  double highest = 0;
  for (const Point& point : track.points) {
    if (point.value <= kFaded.value * highest) continue;  // there is no level in what is left when the task is learnt
    if (alive.points.size() >= points_of(kHistory)) highest = std::max(highest, median(last_of(alive.values)));
    alive.points.push_back(point);
    alive.values.push_back(point.value);
  }
  const RiseRule rule{points_of(kHistory) / 2, points_of(kHistory) / 2, kRise.value, 0, points_of(kPersist), 0, false};
  for (const Rise& rise : rises(alive, rule)) {
    const Point& onset = alive.points[rise.onset];
    const auto harmed = harmed_at(state, alive, rise, kHarm.value);
    const Point& now = alive.points[harmed.value_or(rise.detected)];
    const bool worse = harmed.has_value();
    Finding finding =
        make_finding("gradient-spike", "gradient-spike", worse ? Severity::kWarning : Severity::kInfo, onset, now,
                     cat("Gradient norms rose from about ", rise.base, " to ", rise.peak, " since step ", onset.step,
                         worse ? " and the reward fell" : ""));
    add_figures(finding, alive, rise.onset, rise.detected);
    finding.suggests.push_back(
        {"grad-norm-spike", 0.6,
         cat("gradient norms are ", format_short(rise.peak / rise.base, 2), " times their level")});
    if (rise.ended) resolve(finding, alive.points[*rise.ended]);
    out.push_back(std::move(finding));
  }
}

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  for (const Track& track : tracks_of(state.find("grad_norm"))) {
    const std::vector<Spike> spikes = spikes_of(track);
    double told = 0;  // the largest ratio that was worth a warning
    for (size_t k = 0; k < spikes.size(); ++k) {
      const bool grave = spikes[k].ratio >= kGrave.value;
      const size_t last = grave ? k : last_of_group(spikes, k);
      const auto large = std::count_if(spikes.begin() + static_cast<std::ptrdiff_t>(k),
                                       spikes.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                                       [](const Spike& spike) { return spike.ratio >= kLarge.value; });
      const bool joined = spikes[k].ratio >= kWith.value && jumps_too(state, track.points[spikes[k].index]);
      const bool again = joined || large >= static_cast<std::ptrdiff_t>(points_of(kAgain));
      const double worst = worst_of(spikes, k, last).ratio;
      const bool news = worst > kNews.value * told;  // the same again and again is one story
      tell(state, track, spikes, k, last, (again || grave) && news ? Severity::kWarning : Severity::kInfo, out);
      if (again || grave) told = std::max(told, worst);
      k = last;
    }
    if (told == 0) judge_level(state, track, out);
  }
}

}  // namespace

extern const Detector gradient_spike;
const Detector gradient_spike{
    "gradient-spike", "Gradient norms far above the run's own level.", {"gradient-spike"}, kKnobs, judge};

}  // namespace mw::detect
