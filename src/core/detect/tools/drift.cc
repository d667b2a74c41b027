#include "core/detect/tools/drift.h"

#include <algorithm>

#include "core/detect/tools/stats.h"

namespace mw::detect {
namespace {

std::vector<double> copied(const Track& track, size_t from, size_t to) {
  const auto slice = track.slice(from, to);
  return {slice.begin(), slice.end()};
}

}  // namespace

void DriftWalk::step(const Track& track, size_t i) {
  if ((i + 1) % rule_.width == 0) end_block(track, i);
}

void DriftWalk::end_block(const Track& track, size_t last) {
  const size_t from = last + 1 - rule_.width;
  std::vector<double> block = copied(track, from, last + 1);
  const double level = median_of(block);
  if (!based_ || level < base_) {
    based_ = true;
    base_ = level;
    base_high_ = quantile_of(block, 0.75);
    base_at_ = last;
  }
  highest_ = std::max(highest_, level);
  if (level <= rule_.band * base_) {
    above_ = false;
    high_ = 0;
    shown_ = highest_;
    if (!found_.empty() && !found_.back().ended) found_.back().ended = last;
    return;
  }
  if (!above_) left_ = from;
  above_ = true;
  high_ = level >= rule_.factor * base_ && level - base_ >= rule_.delta ? high_ + 1 : 0;
  const bool open = !found_.empty() && !found_.back().ended;
  if (high_ >= rule_.persist && !open && found_.size() < kRisesReported) add(track, last);
}

void DriftWalk::add(const Track& track, size_t last) {
  const size_t from = last + 1 - rule_.persist * rule_.width;
  std::vector<double> now = copied(track, from, last + 1);
  // A figure that swings this widely all along has not left its level, nor has one that comes back to an earlier one.
  if (quantile_of(now, 0.25) <= std::max(base_high_, shown_)) return;
  Rise rise;
  rise.onset = left_;
  rise.first = from;
  rise.detected = last;
  rise.base = base_;
  rise.base_at = base_at_;
  rise.peak = median_of(now);
  found_.push_back(rise);
}

}  // namespace mw::detect
