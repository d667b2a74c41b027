#include "core/detect/support/fall_shape.h"

#include <algorithm>

#include "core/detect/tools/stats.h"

namespace mw::detect {
namespace {

// In sigma of single records: of a lower fall, one record in six of a level lies so far from it as one between the two.
constexpr double kClear = 6;
constexpr double kNear = 0.25;  // of the fall's height, from a level: such a record belongs to it
constexpr size_t kBetween = 1;  // records between the levels, of a fall that takes two

}  // namespace

FallShape fall_shape(const Track& track, size_t onset, size_t detected, size_t width) {
  FallShape shape;
  if (onset == 0 || onset > detected || detected >= track.size()) return shape;
  const size_t from = onset > width ? onset - width : 0;
  const auto before = track.slice(from, onset), after = track.slice(onset, detected + 1);
  shape.before = mean(before);
  shape.after = mean(after);
  const double height = shape.before - shape.after;
  if (!(height > 0) || height < kClear * std::max(noise(before), noise(after))) return shape;
  shape.clear = true;
  size_t between = 0;
  for (size_t i = onset; i-- > from && track.values[i] < shape.before - kNear * height;) ++between;
  for (size_t i = onset; i <= detected && track.values[i] > shape.after + kNear * height; ++i) ++between;
  shape.at_once = between <= kBetween;
  return shape;
}

}  // namespace mw::detect
