// Lasting rises of a signal above its own level, point by point.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"

namespace mw::detect {

double shaped(double value, Shape shape) {
  if (shape == Shape::kReciprocal) return 1 / std::max(value, 1e-9);
  if (shape == Shape::kSize) return std::abs(value);
  if (shape == Shape::kLogSize) return std::abs(std::log(std::max(value, 1e-6)));
  if (shape == Shape::kShortOfOne) return std::max(1 - value, 0.0);
  return value;
}

std::optional<Rise> early_rise(const Track& track, const EarlyRule& rule) {
  if (track.size() < 2 * rule.few || track.points[0].attempt > 0) return std::nullopt;
  Rise rise;
  rise.base = -INFINITY;
  for (size_t i = 0; i < rule.few; ++i) rise.base = std::max(rise.base, shaped(track.values[i], rule.shape));
  const double limit = std::max(rule.least, rule.factor * rise.base);
  size_t streak = 0;
  for (size_t i = rule.few; i < std::min(track.size(), rule.until); ++i) {
    streak = shaped(track.values[i], rule.shape) > limit ? streak + 1 : 0;
    if (streak < rule.few) continue;
    rise.onset = rise.first = i + 1 - streak;
    rise.detected = i;
    rise.peak = shaped(track.values[i], rule.shape);
    return rise.base > 0 ? std::optional(rise) : std::nullopt;
  }
  return std::nullopt;
}

/// Rolling median of the points behind the warm-up that end at `i`.
double RiseWalk::median_at(const Track& track, size_t i) const {
  if (i < rule_.skip) return INFINITY;
  const size_t n = std::min(rule_.width, i + 1 - rule_.skip), from = i + 1 - n;
  std::array<double, kSmallWindow> small;
  std::vector<double> large(n > small.size() ? n : 0);
  const std::span<double> window = n > small.size() ? std::span(large) : std::span(small).first(n);
  for (size_t k = 0; k < n; ++k) window[k] = value(track, from + k);
  return median_of(window);
}

/// The same for i - 1, for one i after the other.
double RiseWalk::median_before(const Track& track, size_t i) {
  const size_t from = std::max({window_end_, rule_.skip, i - std::min(i, rule_.width)});
  for (size_t k = from; k < i; ++k) window_.push(value(track, k));
  window_end_ = i;
  return window_.size() == 0 ? INFINITY : window_.median();
}

/// Nearly the highest of the recent points before `end` that belong to no earlier rise; or the value at `end`, where
/// that is not above it.
double RiseWalk::shown_before(const Track& track, size_t end) const {
  const double here = value(track, end);
  if (found_.empty()) {  // most often, and the value itself need not be known
    const size_t count = std::min(kRecent, end - std::min(end, rule_.skip));
    const size_t enough = count - quantile_index(std::max<size_t>(count, 1), rule_.novel);
    for (size_t i = end, not_below = 0; count > 0 && i > end - count; --i) {
      not_below += value(track, i - 1) >= here;
      if (not_below == enough) return here;
    }
  }
  std::array<double, kRecent> room;
  size_t count = 0, not_below = 0;
  for (size_t i = end; i > rule_.skip && count < kRecent; --i) {
    const bool covered = std::any_of(found_.begin(), found_.end(), [i](const Rise& rise) {
      return i - 1 >= rise.onset && i - 1 <= rise.ended.value_or(rise.detected);
    });
    if (covered) continue;
    room[count++] = value(track, i - 1);
    not_below += room[count - 1] >= here;
  }
  if (count == 0) return -INFINITY;
  if (not_below >= count - quantile_index(count, rule_.novel)) return here;  // most often; no need to sort
  return quantile_of(std::span(room).first(count), rule_.novel);
}

/// Where the rise that crossed its threshold at `first` left its level.
size_t RiseWalk::onset_of(const Track& track, size_t first) const {
  constexpr double kLeft = 0.25;    // share of the way to the threshold that counts as having left the level
  constexpr size_t kFarthest = 20;  // points that an onset may lie before the threshold was crossed
  const double level = median_at(track, first - 1);
  const double left = level + kLeft * (limit_ - level);
  size_t onset = first;
  while (onset > 0 && first - onset < kFarthest && value(track, onset - 1) > left) --onset;
  return onset;
}

/// A rise by degrees takes the level right before its threshold along: it began where the level stood still for the
/// last time, for at least half as long as the rise then took.
size_t RiseWalk::left_at(const Track& track, size_t onset) const {
  constexpr double kStill = 0.1;   // of the way from the base to the threshold: a level that moves by less stands still
  constexpr size_t kShort = 20;    // points for which it stands at least, or a tenth of the run so far
  constexpr double kNoise = 4;     // standard deviations of the noise that it leaves behind
  constexpr double kMost = 0.25;   // of the way, however large the noise is
  constexpr size_t kSmoothed = 5;  // points of a median that single ones do not move
  const double way = limit_ - base_;
  size_t still = onset;
  while (still > base_at_) {
    const size_t span = std::max({kShort, onset / 10, (onset - still) / 2});
    const size_t earlier = still - std::min(still - base_at_, span);
    if (median_at(track, still) - median_at(track, earlier) < kStill * way) break;
    still = earlier;
  }
  std::vector<double> before;
  for (size_t i = rule_.skip; i <= still; ++i) before.push_back(value(track, i));
  const double level = std::max(base_, median_at(track, still));
  const double beyond = std::clamp(kNoise * noise(before), kStill * way, kMost * way);
  const auto smoothed = [&](size_t i) {
    std::vector<double> last;
    for (size_t k = i + 1 - std::min(i + 1, kSmoothed); k <= i; ++k) last.push_back(value(track, k));
    return median(std::move(last));
  };
  size_t left = onset;
  while (left > still && smoothed(left - 1) > level + beyond) --left;
  return left;
}

void RiseWalk::wait_for_end(const Track& track, size_t i) {
  low_ = value(track, i) < base_ + 0.5 * (limit_ - base_) ? low_ + 1 : 0;
  if (low_ < rule_.persist) return;
  found_.back().ended = i;
  open_ = false;
  streak_ = 0;
}

void RiseWalk::add_rise(const Track& track, size_t i) {
  Rise rise;
  rise.first = i + 1 - streak_;
  rise.detected = i;
  rise.base = base_;
  rise.base_at = base_at_;
  rise.onset = onset_of(track, rise.first);
  rise.left = rule_.from_lowest ? left_at(track, rise.onset) : rise.onset;
  std::vector<double> over;
  for (size_t k = rise.first; k <= i; ++k) over.push_back(value(track, k));
  rise.peak = median(std::move(over));
  found_.push_back(rise);
  open_ = true;
  low_ = 0;
}

void RiseWalk::step(const Track& track, size_t i) {
  const size_t start = std::max<size_t>(rule_.history + rule_.skip, 1);
  if (i < start || (!open_ && found_.size() >= kRisesReported)) return;
  const double before = median_before(track, i);
  if (i == start || before < lowest_median_) {
    lowest_ = i - 1;
    lowest_median_ = before;
  }
  if (open_) return wait_for_end(track, i);
  if (streak_ == 0) {
    base_at_ = rule_.from_lowest ? lowest_ : i - 1;
    base_ = rule_.from_lowest ? lowest_median_ : before;
    limit_ = std::max(base_ * rule_.factor, base_ + rule_.delta);
    if (value(track, i) > limit_) limit_ = std::max(limit_, shown_before(track, i));
  }
  streak_ = value(track, i) > limit_ ? streak_ + 1 : 0;
  if (streak_ >= rule_.persist) add_rise(track, i);
}

std::vector<Rise> rises(const Track& track, const RiseRule& rule) {
  RiseWalk walk(rule);
  for (size_t i = 0; i < track.size(); ++i) walk.step(track, i);
  return walk.found();
}

RiseRule rule_of_falls(const RiseRule& rule) {
  RiseRule inverted = rule;
  inverted.delta = 0;
  return inverted;
}

std::vector<Rise> falls_of(const std::vector<Rise>& reciprocal, const RiseRule& rule) {
  std::vector<Rise> out;
  for (Rise fall : reciprocal) {
    fall.base = 1 / fall.base;
    fall.peak = 1 / fall.peak;
    if (fall.base - fall.peak >= rule.delta) out.push_back(fall);
  }
  return out;
}

std::vector<Rise> falls(const Track& track, const RiseRule& rule) {
  RiseWalk walk(rule_of_falls(rule), Shape::kReciprocal);
  for (size_t i = 0; i < track.size(); ++i) walk.step(track, i);
  return falls_of(walk.found(), rule);
}

}  // namespace mw::detect
