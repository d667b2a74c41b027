// A reward that lies on its floor in most records, from the first one on: where all answers of a step are worth the
// same, the step teaches nothing.
#pragma once

#include <cstddef>

#include "core/detect/detector.h"
#include "core/detect/tools/track.h"

namespace mw::detect {

// They stand in the table of the detector "zero-reward".
inline constexpr Knob kNearPoints{"near_points", 30, "points", "Records before 'hardly ever off the floor' is said",
                                  "own"};
inline constexpr Knob kNearShare{"near_share", 0.9, "ratio",
                                 "Of all records lie exactly on the floor, from the start on", "own"};
inline constexpr Knob kNearMean{"near_mean", 0.02, "ratio", "Of the reward's range: the mean height above the floor",
                                "own"};
inline constexpr Knob kSeldomPoints{"seldom_points", 50, "points", "Records before 'seldom off the floor' is said",
                                    "own"};
inline constexpr Knob kSeldom{
    "seldom", 0.8, "ratio",
    "Of all records, and of their last third, lie exactly on the floor: that the others rise is then "
    "no comfort, as all rewards of a step on the floor are equal",
    "own"};
inline constexpr Knob kScarcePoints{"scarce_points", 40, "points", "Records before 'scarce' is said", "own"};
inline constexpr Knob kScarce{
    "scarce", 0.5, "ratio",
    "Of all records, and of their last third, lie exactly on the floor, while none of the others "
    "leaves it by more than `scarce_most`",
    "own"};
inline constexpr Knob kScarceMost{"scarce_most", 0.05, "ratio", "Of the reward's range, and of 1 at least", "own"};

/// How many of the track's records [from, to) lie on the floor, as a share.
double share_on(const Track& track, size_t from, size_t to, double floor);

/// The records of a track, one after the other. `floor`: the value of the first.
class NearFloor {
 public:
  explicit NearFloor(double floor) : floor_(floor), possible_(floor <= 0), highest_(floor) {}

  /// No record lay below the floor, which is zero or a penalty.
  bool possible() const { return possible_; }
  /// Takes the next record, of index `i`: do most of those up to it lie on the floor, and leave the others it hardly?
  bool see(const State& state, const Track& track, size_t i);

 private:
  bool hardly_off(const State& state, const Track& track, size_t n) const;
  bool seldom_off(const Track& track, size_t n) const;
  bool scarcely_off(const State& state, const Track& track, size_t n) const;

  double floor_;
  bool possible_;
  size_t on_ = 0;
  double above_ = 0;  ///< sum of the heights
  double highest_;
};

}  // namespace mw::detect
