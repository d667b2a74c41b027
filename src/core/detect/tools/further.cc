#include "core/detect/tools/further.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "base/text.h"
#include "core/detect/tools/stats.h"

namespace mw::detect {
namespace {

constexpr double kFar = 1.5;      // times the change that the sentence names already
constexpr double kHalf = 2;       // a fall to so small a part, however small its distance from there
constexpr double kNext = 1.05;    // times the distance named last
constexpr double kSmaller = 1.1;  // or so small a part of the level named last

/// Is `level` further than `than`, by the factor of its distance from the beginning or as a part of it?
bool beyond(const Change& change, double level, double than, double distance, double part) {
  const double went = (level - change.from) / (than - change.from);
  const bool fall = change.to < change.from;
  return went >= distance || (fall && went > 1 && level >= 0 && than > 0 && level * part <= than);
}

}  // namespace

std::string and_further(const Track& track, const Change& change, size_t width) {
  if (!std::isfinite(change.from) || !std::isfinite(change.to) || change.from == change.to) return "";
  double named = change.to;
  size_t at = change.found;
  const size_t end = std::min(change.ended.value_or(track.size()), track.size());
  for (size_t i = change.found + 1; i < end; ++i) {
    if (!beyond(change, track.values[i], named, kNext, kSmaller)) continue;  // most: no need of their level
    const double level = median_of_last(track.slice(0, i + 1), width);
    if (!beyond(change, level, named, kNext, kSmaller)) continue;
    named = level;
    at = i;
  }
  if (at == change.found || !beyond(change, named, change.to, kFar, kHalf)) return "";
  const size_t middle = std::max(at - std::min(at, (width - 1) / 2), change.found + 1);  // of the records of that level
  return cat(", and to ", format_short(named, 4), " by step ", track.points[middle].step);
}

}  // namespace mw::detect
