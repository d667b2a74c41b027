#include "core/zone_by_steps.h"

#include <cmath>
#include <map>
#include <vector>

#include "core/agreeing_figures.h"
#include "core/mixed_runs.h"

namespace mw {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kQuarter = 900 * kSecond;  // zones lie whole quarters of an hour apart
constexpr int64_t kApart = 60 * kSecond;     // of what two files write of one step, at most
constexpr int64_t kMost = 14LL * 3600 * kSecond;
constexpr size_t kSteps = 3;         // with the same figures, at least
constexpr size_t kCompared = 500;    // steps of a series: more show nothing new
constexpr size_t kMostSeries = 200;  // beyond them nobody is compared

bool is_dated(const Point& point) { return point.step != kNoStep && point.at.known() && std::isfinite(point.value); }

/// Whole quarters of an hour; nullopt: no zone is so far from another one.
std::optional<int64_t> quarters(int64_t off) {
  const int64_t near = kQuarter * std::llround(static_cast<double>(off) / static_cast<double>(kQuarter));
  return std::abs(off - near) > kApart || std::abs(near) > kMost ? std::nullopt : std::optional(near);
}

/// How much later `local` shows the steps that both have, with the same figures.
std::optional<int64_t> later_by(const Series& local, const Series& zoned) {
  std::map<int64_t, const Point*> steps;
  for (const Point& point : local.points()) {
    if (steps.size() < kCompared && is_dated(point)) steps.emplace(point.step, &point);
  }
  std::optional<int64_t> off;
  size_t same = 0, other = 0;
  for (const Point& point : zoned.points()) {
    const auto found = is_dated(point) ? steps.find(point.step) : steps.end();
    if (found == steps.end()) continue;
    if (figures_differ(point.value, found->second->value)) {
      ++other;
      continue;
    }
    if (!is_distinctive(point.value)) continue;
    const auto near = quarters(found->second->at.ns - point.at.ns);
    if (!near || (off && *off != *near)) return std::nullopt;
    off = near;
    ++same;
  }
  return same >= kSteps && same > other ? off : std::nullopt;
}

}  // namespace

std::optional<Duration> east_by_steps(const State& state) {
  std::vector<const Series*> local, zoned;
  for (const Series& series : state.series) {
    if (series.signal.empty() || series.source >= state.sources.size()) continue;
    const SourceState& source = state.sources[series.source];
    if (source.clock_lacks.date || !source.last_at.known()) continue;
    std::vector<const Series*>& kind = source.clock_lacks.zone ? local : zoned;
    if (kind.size() < kMostSeries) kind.push_back(&series);
  }
  std::optional<int64_t> east;
  for (const Series* one : local) {
    for (const Series* other : zoned) {
      if (one->signal != other->signal) continue;
      const auto off = later_by(*one, *other);
      if (off && east && *east != *off) return std::nullopt;
      if (off) east = off;
    }
  }
  return east && *east != 0 ? std::optional(Duration{*east}) : std::nullopt;
}

}  // namespace mw
