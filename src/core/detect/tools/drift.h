// A level that goes up by degrees, with no jump anywhere, so that each record is hardly above those before it.
#pragma once

#include <cstddef>
#include <vector>

#include "core/detect/tools/track.h"

namespace mw::detect {

/// Compared are blocks of records, by their medians, with the lowest one so far.
struct DriftRule {
  size_t width;    ///< records of a block
  double factor;   ///< times the lowest level
  double delta;    ///< and at least this much above it
  size_t persist;  ///< blocks in a row
  double band;     ///< times the lowest level: what lies below has not left it
};

/// After step(track, i) for every i below n, `found` is what the first n points show, as rises.
class DriftWalk {
 public:
  explicit DriftWalk(const DriftRule& rule) : rule_(rule) {}
  void step(const Track& track, size_t i);
  const std::vector<Rise>& found() const { return found_; }

 private:
  void end_block(const Track& track, size_t last);
  void add(const Track& track, size_t last);

  DriftRule rule_;
  double base_ = 0, base_high_ = 0;  ///< median and upper quartile of the lowest block
  size_t base_at_ = 0;               ///< its last record
  bool based_ = false;
  double highest_ = 0, shown_ = 0;  ///< highest block so far, and when it was last within the band
  size_t left_ = 0;                 ///< first record of the first block above the band
  bool above_ = false;
  size_t high_ = 0;  ///< blocks in a row above the threshold
  std::vector<Rise> found_;
};

}  // namespace mw::detect
