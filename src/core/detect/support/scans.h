// What a live watch found of one thing on the disk, time and again: when it is news, and when it is over.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/detect/detector.h"

namespace mw::detect {

/// The last scan before `i` for which `same` holds; nullptr when there is none.
template <typename Seen, typename Same>
const Seen* last_before(const std::vector<std::pair<Moment, Seen>>& scans, size_t i, const Same& same) {
  const auto found = std::find_if(scans.rend() - static_cast<std::ptrdiff_t>(i), scans.rend(),
                                  [&same](const auto& scan) { return same(scan.second); });
  return found == scans.rend() ? nullptr : &found->second;
}

/// The finding on scan `i` is over with the first scan from it on that `heals`.
template <typename Seen, typename Heals>
void resolve_by_later(Finding& finding, const std::vector<std::pair<Moment, Seen>>& scans, size_t i,
                      const Heals& heals) {
  const auto healed = std::find_if(scans.begin() + static_cast<std::ptrdiff_t>(i), scans.end(),
                                   [&heals](const auto& scan) { return heals(scan.second); });
  finding.resolved = healed != scans.end();
  if (finding.resolved) finding.resolved_at = healed->first;
}

}  // namespace mw::detect
