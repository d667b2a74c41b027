#include "ui/view/phase_series.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "core/signal.h"

namespace mw {
namespace {

/// One point for each step of an attempt, in order of their ends.
std::vector<Point> by_step(const PhaseState& phase) {
  std::vector<Point> points;
  for (const Point& end : phase.ends) {
    if (end.step == kNoStep) continue;
    const bool again = !points.empty() && points.back().step == end.step && points.back().attempt == end.attempt;
    if (!again) {
      points.push_back(end);
      continue;
    }
    points.back().value += end.value;
    points.back().at = std::max(points.back().at, end.at);
  }
  if (phase.times != phase.ends.size() && !points.empty()) points.erase(points.begin());  // a part of it may be gone
  return points;
}

/// By attempt.
std::map<uint16_t, int64_t> last_steps_of(const std::vector<Point>& points) {
  std::map<uint16_t, int64_t> last;
  for (const Point& point : points) {
    int64_t& step = last.try_emplace(point.attempt, kNoStep).first->second;
    step = std::max(step, point.step);
  }
  return last;
}

Series extended(const Series& known, const std::vector<Point>& more) {
  const auto earlier = [](const Point& a, const Point& b) { return a.attempt < b.attempt; };
  if (known.empty() || std::none_of(more.begin(), more.end(),
                                    [&](const Point& point) { return earlier(point, known.points().back()); })) {
    Series series = known;  // with what it counts of points that are no longer kept
    for (const Point& point : more) series.add(point);
    return series;
  }
  std::vector<Point> all = known.points();
  all.insert(all.end(), more.begin(), more.end());
  std::stable_sort(all.begin(), all.end(), earlier);
  Series series;
  series.signal = known.signal;
  series.raw = known.raw;
  series.source = known.source;
  for (const Point& point : all) series.add(point);
  return series;
}

}  // namespace

std::map<std::string, Series, std::less<>> phase_series(const State& state) {
  std::map<std::string, Series, std::less<>> all;
  for (const auto& [phase, timed] : state.phases) {
    const std::string name = cat("time.", phase);
    const SignalRow* const row = find_signal(name);
    if (row == nullptr || row->name != name) continue;
    const Series* const found = state.find(name);
    const bool alone = found == nullptr || found->empty();
    std::vector<Point> more = by_step(timed);
    if (!alone) {
      const std::map<uint16_t, int64_t> last = last_steps_of(found->points());
      std::erase_if(more, [&last](const Point& point) {
        const auto known = last.find(point.attempt);
        return known != last.end() && point.step <= known->second;
      });
    }
    if (more.empty()) continue;
    Series none;
    none.signal = name;
    all.emplace(name, extended(alone ? none : *found, more));
  }
  return all;
}

bool known_from_its_first(const State& state, std::string_view name) {
  const Series* const found = state.find(name);
  const auto phase = state.phases.find(std::string(name.substr(name.find('.') + 1)));
  return (found != nullptr && !found->empty()) || phase == state.phases.end() ||
         phase->second.times == phase->second.ends.size();
}

const Series* shown_signal(const State& state, const std::map<std::string, Series, std::less<>>& phases,
                           std::string_view name) {
  const auto timed = phases.find(name);
  return timed != phases.end() ? &timed->second : state.find(name);
}

}  // namespace mw
