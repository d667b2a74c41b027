#include "ui/view/reward_parts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/text.h"
#include "core/trajectory.h"

namespace mw {
namespace {

bool before(const Point& point, const Point& end) {
  if (point.where.source == end.where.source && end.where.line > 0) return point.where.line <= end.where.line;
  return point.at.known() && end.at.known() && point.at <= end.at;
}

/// The step in whose batch a point lies: that of the next end of a rollout phase, or the one under way.
int64_t step_of(const State& state, const Point& point) {
  const auto phase = state.phases.find("rollout");
  if (phase != state.phases.end()) {
    for (const Point& end : phase->second.ends) {
      if (end.attempt == point.attempt && before(point, end)) return end.step;
    }
  }
  return point.where.source < state.sources.size() ? state.sources[point.where.source].step : kNoStep;
}

struct Batches {
  std::map<int64_t, RewardCount> of_last;  ///< attempt, by step
  RewardCount cycle;
  bool passes = true;
};

Batches batches_of(const State& state, const Series& series, const Cycle& cycle) {
  Batches out;
  const auto& points = series.points();
  // Of a very long run the older half of the points is thinned out: no whole batches are there.
  const size_t whole = series.rewritten() > 0 ? points.size() / 2 : 0;
  for (size_t i = 0; i < points.size(); ++i) {
    Point point = points[i];
    if (!std::isfinite(point.value)) continue;
    out.passes = out.passes && (point.value == 0 || point.value == 1);
    point.step = step_of(state, point);
    if (cycle.has(point)) out.cycle.add(point.value);
    if (i >= whole && point.attempt + 1U == state.attempts.size() && point.step != kNoStep)
      out.of_last[point.step].add(point.value);
  }
  return out;
}

std::vector<const Series*> series_of(const State& state) {
  std::vector<const Series*> found;
  for (const Series* series : state.shown()) {
    if (series->signal.empty() && of_trajectory(series->raw) && !series->empty()) found.push_back(series);
  }
  return found;
}

}  // namespace

void RewardCount::add(double value) {
  min = count == 0 ? value : std::min(min, value);
  max = count == 0 ? value : std::max(max, value);
  ++count;
  sum += value;
}

RewardParts reward_parts(const State& state, const Cycle& cycle, size_t batches) {
  RewardParts out;
  std::vector<Batches> all;
  std::set<int64_t> steps;
  for (const Series* series : series_of(state)) {
    all.push_back(batches_of(state, *series, cycle));
    for (const auto& [step, count] : all.back().of_last) steps.insert(step);
    const uint64_t count = series->count() - series->non_finite();
    RewardPart part;
    part.name = series->raw.substr(kTrajectory.size());
    part.passes = all.back().passes;
    part.all = {count, series->mean() * static_cast<double>(count), series->min(), series->max()};
    part.cycle = all.back().cycle;
    out.parts.push_back(std::move(part));
  }
  out.steps.assign(steps.begin(), steps.end());
  if (out.steps.size() > batches) {
    out.steps.erase(out.steps.begin(), out.steps.end() - static_cast<std::ptrdiff_t>(batches));
  }
  for (size_t i = 0; i < all.size(); ++i) {
    for (const int64_t step : out.steps) out.parts[i].batches.push_back(all[i].of_last[step]);
  }
  return out;
}

std::string reward_count_text(const RewardPart& part, const RewardCount& count) {
  if (count.count == 0) return "";
  const double mean = count.sum / static_cast<double>(count.count);
  if (part.passes) return cat(std::lround(100 * mean), " % (", std::llround(count.sum), "/", count.count, ")");
  if (count.min == count.max) return format_value(mean, "1");
  return cat(format_value(mean, "1"), " (", format_value(count.min, "1"), " to ", format_value(count.max, "1"), ")");
}

std::string rollouts_scored_text(const State& state) {
  if (state.current_phase != "rollout") return "";
  const RewardParts parts = reward_parts(state, {}, 2);
  if (parts.steps.empty()) return "";
  uint64_t now = 0, full = 0;
  for (const RewardPart& part : parts.parts) {
    now = std::max(now, part.batches.back().count);
    if (parts.steps.size() > 1) full = std::max(full, part.batches.front().count);
  }
  const auto phase = state.phases.find("rollout");
  const bool over = phase != state.phases.end() && !phase->second.ends.empty() &&
                    phase->second.ends.back().step == parts.steps.back() &&
                    phase->second.ends.back().attempt + 1U == state.attempts.size();
  if (over || now == 0) return "";
  return full >= now ? cat(now, " of ", full, " rollouts scored")
                     : cat(now, now == 1 ? " rollout scored" : " rollouts scored");
}

}  // namespace mw
