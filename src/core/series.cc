#include "core/series.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/host_figures.h"

namespace mw {
namespace {

/// Every second of the first `half` points stands for the one behind it, too. Returns how many are left of them.
size_t thin(std::vector<Point>& points, size_t half) {
  size_t kept = 0;
  for (size_t i = 0; i < half; i += 2) {
    uint32_t count = points[i].stands_for;
    if (i + 1 < half) count += points[i + 1].stands_for;
    points[kept] = points[i];
    points[kept++].stands_for = static_cast<uint16_t>(std::min<uint32_t>(count, UINT16_MAX));
  }
  return kept;
}

}  // namespace

void Series::count_in(double value) {
  last_ = value;
  if (!std::isfinite(value)) return;
  if (sums_.finite++ == 0) {
    sums_.min = sums_.max = value;
  } else {
    sums_.min = std::min(sums_.min, value);
    sums_.max = std::max(sums_.max, value);
  }
  sums_.sum += value;
}

void Series::add(const Point& point, size_t limit) {
  ++count_;
  if (!std::isfinite(point.value)) ++non_finite_;
  if (!points_.empty() && point.step != kNoStep && points_.back().step == point.step &&
      points_.back().attempt == point.attempt && !of_machine(raw)) {
    const bool moved = points_.back().where.source != point.where.source;
    points_.back() = point;
    if (points_.size() == 1) first_ = point.value;
    sums_ = before_last_;
    count_in(point.value);
    if (moved) index_all();
    return;
  }
  if (points_.empty()) first_ = point.value;
  before_last_ = sums_;
  count_in(point.value);
  while (points_.size() >= limit && points_.size() >= 4) {
    const size_t half = points_.size() / 2;
    const size_t kept = thin(points_, half);
    const auto at = [this](size_t i) { return points_.begin() + static_cast<ptrdiff_t>(i); };
    points_.erase(std::move(at(half), points_.end(), at(kept)), points_.end());
    ++rewritten_;
    index_all();
  }
  points_.push_back(point);
  index(points_.size() - 1);
}

void Series::move_attempt(uint16_t from, uint16_t to) {
  for (Point& point : points_) {
    if (point.attempt == from) point.attempt = to;
  }
  ++rewritten_;
  index_all();
}

std::pair<int64_t, int64_t> Series::move_attempt_where(uint16_t from, uint16_t to,
                                                       const std::function<bool(const Point&)>& moves) {
  std::pair<int64_t, int64_t> steps{kNoStep, kNoStep};
  bool moved = false;
  for (Point& point : points_) {
    if (point.attempt != from || !moves(point)) continue;
    point.attempt = to;
    moved = true;
    if (point.step == kNoStep) continue;
    steps.first = steps.first == kNoStep ? point.step : std::min(steps.first, point.step);
    steps.second = std::max(steps.second, point.step);
  }
  if (!moved) return steps;
  ++rewritten_;
  index_all();
  return steps;
}

void Series::goes_on_from(const Series& before) {
  const auto same = [](const Point& a, const Point& b) {
    return a.step == b.step && std::bit_cast<uint64_t>(a.value) == std::bit_cast<uint64_t>(b.value) && a.at == b.at &&
           a.where == b.where && a.attempt == b.attempt;
  };
  rewritten_ = before.rewritten_;
  const size_t firm = before.points_.empty() ? 0 : before.points_.size() - 1;
  bool goes_on =
      points_.size() >= before.points_.size() &&
      std::equal(before.points_.begin(), before.points_.begin() + static_cast<ptrdiff_t>(firm), points_.begin(), same);
  if (goes_on && !before.points_.empty()) {
    const Point &was = before.points_.back(), &is = points_[firm];
    goes_on = same(was, is) || (was.step != kNoStep && was.step == is.step && was.attempt == is.attempt);
  }
  if (!goes_on) ++rewritten_;
}

void Series::index(size_t at) {
  const Point& point = points_[at];
  if (parts_.empty() || parts_.back().attempt != point.attempt || parts_.back().source != point.where.source) {
    parts_.push_back({at, at, point.attempt, point.where.source, kNoStep, kNoStep, true});
  }
  Part& part = parts_.back();
  if (part.end > part.begin && points_[at - 1].step > point.step) part.in_order = false;
  part.end = at + 1;
  if (point.step == kNoStep) return;
  part.least = part.least == kNoStep ? point.step : std::min(part.least, point.step);
  part.most = std::max(part.most, point.step);
}

void Series::index_all() {
  parts_.clear();
  for (size_t i = 0; i < points_.size();) {  // as index() does, a part at a time
    Part part{i, i, points_[i].attempt, points_[i].where.source, kNoStep, kNoStep, true};
    for (; i < points_.size(); ++i) {
      const Point& point = points_[i];
      if (point.attempt != part.attempt || point.where.source != part.source) break;
      if (i > part.begin && points_[i - 1].step > point.step) part.in_order = false;
      if (point.step == kNoStep) continue;
      part.least = part.least == kNoStep ? point.step : std::min(part.least, point.step);
      part.most = std::max(part.most, point.step);
    }
    part.end = i;
    parts_.push_back(part);
  }
}

double Series::mean() const {
  return sums_.finite == 0 ? std::numeric_limits<double>::quiet_NaN() : sums_.sum / static_cast<double>(sums_.finite);
}

}  // namespace mw
