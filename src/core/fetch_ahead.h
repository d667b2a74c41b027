// Memory that is written to soon is fetched while other work is done.
#pragma once

#include <cstddef>
#include <vector>

#include "core/series.h"

namespace mw {

/// Figures of a record mostly come in the order of their series, each of which ends in memory of its own: the ends of
/// those that come next are fetched meanwhile. Returns the place of this one.
inline size_t fetch_ahead(const std::vector<Series>& all, const Series* now) {
  constexpr size_t kAhead = 6;
  const size_t place = static_cast<size_t>(now - all.data()), next = place + kAhead;
  const Series& coming = all[next < all.size() ? next : next % all.size()];
  if (!coming.empty()) {
    const char* const last = reinterpret_cast<const char*>(&coming.points().back());
    __builtin_prefetch(last, 1);
    __builtin_prefetch(last + 2 * sizeof(Point) - 1, 1);  // the end of the one that will be written
  }
  return place;
}

}  // namespace mw
