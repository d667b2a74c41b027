#include "core/agreeing_figures.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace mw {
namespace {

/// The same number, as two sinks print it: within 0.6 % (three digits), or equal at the decimals that one of them
/// shows.
bool same_value(double a, double b) {
  if (std::abs(a - b) <= 0.006 * std::max(std::abs(a), std::abs(b))) return true;
  for (const double scale : {1e2, 1e3, 1e4, 1e6}) {
    const double round_a = std::round(a * scale), round_b = std::round(b * scale);
    const bool shown = std::abs(a * scale - round_a) < 1e-6 || std::abs(b * scale - round_b) < 1e-6;
    if (shown && round_a == round_b && round_a != 0) return true;
  }
  return false;
}

}  // namespace

bool is_distinctive(double value) { return std::isfinite(value) && value != std::round(value); }

int32_t attempt_that_agrees(const State& state, uint32_t source, const event::Measured& measured) {
  struct Votes {
    uint32_t same = 0, compared = 0;
  };
  std::vector<Votes> votes(state.attempts.size());
  for (const Reading& reading : measured.readings) {
    if (!is_distinctive(reading.value)) continue;
    for (const Series& series : state.series) {
      const bool same_name = reading.signal().empty() ? series.raw == reading.raw() : series.signal == reading.signal();
      if (!same_name || series.source == source) continue;
      for (const Point& point : series.points()) {
        if (point.step != measured.step || !is_distinctive(point.value) || point.attempt >= votes.size()) continue;
        ++votes[point.attempt].compared;
        if (same_value(point.value, reading.value)) ++votes[point.attempt].same;
      }
    }
  }
  int32_t best = -1;
  for (size_t i = 0; i < votes.size(); ++i) {
    if (votes[i].same == 0 || votes[i].same * 3 < votes[i].compared * 2) continue;
    if (best < 0 || votes[i].same > votes[static_cast<size_t>(best)].same) best = static_cast<int32_t>(i);
  }
  return best;
}

bool differs_from_all(const State& state, uint32_t source, const event::Measured& measured) {
  bool compared = false;
  for (const Reading& reading : measured.readings) {
    if (!is_distinctive(reading.value) || reading.signal().empty()) continue;
    for (const Series& series : state.series) {
      if (series.signal != reading.signal() || series.source == source) continue;
      for (const Point& point : series.points()) {
        if (point.step != measured.step || !is_distinctive(point.value)) continue;
        if (same_value(point.value, reading.value)) return false;
        compared = true;
      }
    }
  }
  return compared;
}

}  // namespace mw
