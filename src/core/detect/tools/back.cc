#include "core/detect/tools/back.h"

namespace mw::detect {

std::vector<Stretch> stretches_of(const Track& track, const StretchRule& rule) {
  std::vector<Stretch> found;
  size_t row = 0;
  for (size_t i = rule.from; i < track.size(); ++i) {
    row = track.values[i] > rule.limit ? row + 1 : 0;
    if (row < rule.persist) continue;
    Stretch stretch{i + 1 - row, i, std::nullopt};
    stretch.ended = back_at(track, i, rule.back, [&rule](double value) { return value <= rule.limit; });
    if (found.size() == kStretchesReported) found.pop_back();
    found.push_back(stretch);
    if (!stretch.ended) break;
    row = 0;
    i = *stretch.ended;
  }
  return found;
}

}  // namespace mw::detect
