// Lists that never grow beyond a limit.
#pragma once

#include <cstddef>
#include <vector>

namespace mw {

/// Where a chain has more than `limit` items, its first and its last ones are worth most.
template <typename Item>
void make_room(std::vector<Item>& items, size_t limit) {
  if (items.size() >= limit) items.erase(items.begin() + static_cast<ptrdiff_t>(limit / 2));
}

}  // namespace mw
