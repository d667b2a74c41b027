#include "core/step_axis.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "core/agreeing_figures.h"

namespace mw {
namespace {

constexpr size_t kMatches = 10;      // of values that occur once, at least
constexpr double kOnLine = 0.8;      // of those
constexpr double kSame = 5e-4;       // of the larger value: what rounding for a console costs
constexpr size_t kCompared = 400;    // records of a log: more show nothing new
constexpr size_t kMostSeries = 100;  // beyond them nobody is compared
constexpr int64_t kMostScale = 1'000'000'000;

struct Match {
  int64_t step = 0, shown = 0;
};

bool is_telling(const Point& point) { return point.step != kNoStep && is_distinctive(point.value); }

/// The values that both have, each once: where the log has them, and the sink.
std::vector<Match> matches(const Series& log, const Series& sink) {
  std::vector<std::pair<double, int64_t>> values;
  for (const Point& point : sink.points()) {
    if (is_telling(point)) values.emplace_back(point.value, point.step);
  }
  std::sort(values.begin(), values.end());
  std::vector<Match> out;
  for (const Point& point : log.points()) {
    if (!is_telling(point) || out.size() >= kCompared) continue;
    const double slack = kSame * std::abs(point.value);
    const auto first = std::lower_bound(values.begin(), values.end(), std::pair(point.value - slack, INT64_MIN));
    if (first == values.end() || first->first > point.value + slack) continue;
    const auto second = std::next(first);
    if (second == values.end() || second->first > point.value + slack) out.push_back({point.step, first->second});
  }
  return out;
}

/// The straight line on which nearly all of them lie.
std::optional<StepAxis> line_of(const std::vector<Match>& matches) {
  if (matches.size() < kMatches) return std::nullopt;
  std::map<std::pair<int64_t, int64_t>, size_t> votes;
  const size_t apart = matches.size() / 2;
  for (size_t i = 0; i + apart < matches.size(); ++i) {
    const Match &a = matches[i], &b = matches[i + apart];
    const int64_t steps = b.step - a.step, shown = b.shown - a.shown;
    if (steps <= 0 || shown <= 0 || shown % steps != 0 || shown / steps > kMostScale) continue;
    const int64_t scale = shown / steps;
    if (a.step < kMostScale) ++votes[{scale, a.shown - scale * a.step}];
  }
  const auto best =
      std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (best == votes.end()) return std::nullopt;
  const StepAxis axis{best->first.first, best->first.second};
  const auto on = std::count_if(matches.begin(), matches.end(), [&axis](const Match& match) {
    return match.shown == axis.origin + axis.scale * match.step;
  });
  const bool enough = static_cast<double>(on) >= kOnLine * static_cast<double>(matches.size());
  return enough ? std::optional(axis) : std::nullopt;
}

bool names_steps(const SourceState& source) { return source.names_steps && source.attempt >= 0; }

}  // namespace

int64_t StepAxis::step(int64_t shown) const {
  if (shown == kNoStep || scale <= 1) return shown;
  const int64_t from = shown - origin;
  return from / scale - (from % scale < 0 ? 1 : 0);
}

StepAxes other_axes(const State& state) {
  std::map<std::string, std::map<int64_t, StepAxis>> found;
  std::vector<const Series*> logs, sinks;
  for (const Series& series : state.series) {
    if (series.signal.empty() || series.source >= state.sources.size()) continue;
    const SourceState& source = state.sources[series.source];
    if (!names_steps(source)) continue;
    std::vector<const Series*>& kind = source.kind == "text" ? logs : sinks;
    if (kind.size() < kMostSeries) kind.push_back(&series);
  }
  for (const Series* sink : sinks) {
    for (const Series* log : logs) {
      if (log->signal != sink->signal) continue;
      if (const auto axis = line_of(matches(*log, *sink))) found[state.sources[sink->source].path][axis->scale] = *axis;
    }
  }
  StepAxes axes;
  for (const auto& [path, lines] : found) {
    if (lines.size() == 1 && lines.begin()->first > 1) axes[path] = lines.begin()->second;
  }
  return axes;
}

void count_along(const StepAxes& axes, const State& state, Event& event) {
  const uint32_t source = event.where.source;
  const auto axis = source < state.sources.size() ? axes.find(state.sources[source].path) : axes.end();
  if (axis == axes.end()) return;
  if (auto* measured = std::get_if<event::Measured>(&event.body)) measured->step = axis->second.step(measured->step);
  if (auto* began = std::get_if<event::StepBegan>(&event.body)) began->step = axis->second.step(began->step);
}

}  // namespace mw
