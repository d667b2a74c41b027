#include "core/detect/support/progress.h"

#include <algorithm>

#include "core/detect/tools/track.h"
#include "core/plan_bar.h"

namespace mw::detect {
namespace {

/// W&B's service samples the machine while the program dies, and a little longer.
bool samples_machine(const State& state, const Series& series) {
  const bool wandb = series.source < state.sources.size() && state.sources[series.source].kind == "wandb";
  return wandb && series.raw.starts_with("system/");
}

/// The step of the point before, where both stand in one line: a bar that is drawn over and over ends its line only
/// once.
int64_t step_before(const std::vector<Point>& points, size_t begin, size_t at) {
  if (at == begin || points[at].where.line == 0) return kNoStep;
  const Point &last = points[at], &before = points[at - 1];
  const bool same = before.where == last.where && before.step < last.step;
  return same ? before.step : kNoStep;
}

}  // namespace

Progress::Progress(const State& state) : state_(state) {
  for (const Series& series : state.series) {
    if (series.signal == "engine.running") engines_.push_back(&series);
  }
  for (const Series& series : state.series) {
    if (samples_machine(state, series) || series.signal.starts_with("engine.")) continue;
    // The points are in the order of arrival, so the last one of each attempt is the one before the next begins.
    const std::vector<Point>& points = series.points();
    for (const Series::Part& part : series.parts()) {
      size_t end = part.end;
      while (series.signal.empty() && end > part.begin && of_engine(points[end - 1])) --end;
      if (end > part.begin) note(points[end - 1], step_before(points, part.begin, end - 1));
    }
  }
}

bool Progress::after(const Moment& moment, uint64_t last_line, int64_t in_flight) const {
  if (moment.attempt < state_.attempts.size()) {
    const auto& ended = state_.attempts[moment.attempt].ended;
    if (ended && ended->how == event::Ended::How::kStopped) return false;
  }
  const auto of_attempt = last_.find(moment.attempt);
  if (of_attempt == last_.end()) return false;
  int64_t done = moment.step;
  if (moment.attempt < state_.attempts.size()) {
    const AttemptState& attempt = state_.attempts[moment.attempt];
    done = std::max(done, shown_before(attempt, moment.where.source, moment.where.line));
  }
  for (const auto& [source, point] : of_attempt->second) {
    const bool further = done == kNoStep || point.step == kNoStep || point.step > done;
    if (!further) continue;
    const bool clocked = point.at.known() && moment.at.known();
    if (source == moment.where.source && !(clocked && counts_apart(source))) {
      // In one line the order of the steps counts. The first after the moment may be of the very bar that shows it.
      const bool drawn_over = point.line == last_line && moment.step != kNoStep && point.before > moment.step;
      if (point.line > last_line || drawn_over) return true;
    } else if (clocked) {
      if (point.at > moment.at) return true;
    } else if (moment.step != kNoStep && point.step > moment.step + in_flight) {
      return true;
    }
  }
  return false;
}

int64_t Progress::last_step(uint16_t attempt) const {
  const auto of_attempt = last_.find(attempt);
  int64_t last = kNoStep;
  if (of_attempt == last_.end()) return last;
  for (const auto& [source, point] : of_attempt->second) last = std::max(last, point.step);
  return last;
}

/// A W&B file counts its records and the lines of its console apart.
bool Progress::counts_apart(uint32_t source) const {
  return source < state_.sources.size() && state_.sources[source].kind == "wandb";
}

/// Is it of a line in which an engine says how many requests run?
bool Progress::of_engine(const Point& point) const {
  if (point.where.line == 0) return false;
  return std::any_of(engines_.begin(), engines_.end(), [&point](const Series* engine) {
    if (engine->source != point.where.source) return false;
    const std::vector<Point>& points = engine->points();
    const auto same = std::lower_bound(points.begin(), points.end(), point.where.line,
                                       [](const Point& one, uint64_t line) { return one.where.line < line; });
    return same != points.end() && same->where.line == point.where.line;
  });
}

void Progress::note(const Point& point, int64_t before) {
  LastPoint& last = last_[point.attempt][point.where.source];
  if (point.where.line < last.line) return;
  if (point.where.line == last.line) before = std::max(before, last.before);
  last = {point.where.line, std::max(point.step, last.step), point.at, before};
}

Moment first_record(const State& state, size_t attempt, int64_t step) {
  Moment found = state.attempts[attempt].began;
  found.step = step;
  const auto rank = [&](const Where& where) { return std::pair{where.source != found.where.source, where}; };
  const Point* best = nullptr;
  for (const Series& series : state.series) {
    const std::vector<Point>& points = series.points();
    for (const Series::Part& part : series.parts()) {
      if (part.attempt != attempt || step < part.least || step > part.most) continue;
      for (size_t i = part.begin; i < part.end && !(part.in_order && points[i].step > step); ++i) {
        if (points[i].step != step) continue;
        if (best == nullptr || rank(points[i].where) < rank(best->where)) best = &points[i];
      }
    }
  }
  return best == nullptr ? found : moment_of(*best);
}

}  // namespace mw::detect
