#include "core/detect/support/in_flight.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace mw::detect {
namespace {

// An error that ends a log is followed by a logger's summary and the echoes of other ranks, rarely by more text.
constexpr uint64_t kEndingLines = 100;
constexpr size_t kGaps = 9;           // between steps, the last ones before the symptom: the middle one is usual
constexpr int64_t kWrittenAhead = 1;  // a step whose record is written before the line that announces it
constexpr int64_t kMost = 1000;       // steps between two lines; beyond it nothing tells what was in flight

/// The usual number of steps between two of its log's lines up to the symptom; 1 where they show none.
int64_t usual_gap(const State& state, const Symptom& symptom) {
  const Series* most = nullptr;
  for (const Series& series : state.series) {
    const bool own = !series.empty() && series.points().back().where.source == symptom.moment.where.source;
    if (own && (most == nullptr || series.count() > most->count())) most = &series;
  }
  std::vector<int64_t> gaps;
  if (most == nullptr) return 1;
  const std::vector<Point>& points = most->points();
  for (size_t i = points.size(); i-- > 1 && gaps.size() < kGaps;) {
    const Point &point = points[i], &before = points[i - 1];
    if (point.where.line > symptom.moment.where.line || point.attempt != symptom.moment.attempt) continue;
    if (before.attempt == point.attempt && before.step != kNoStep && point.step > before.step)
      gaps.push_back(point.step - before.step);
  }
  if (gaps.empty()) return 1;
  std::nth_element(gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2), gaps.end());
  return std::min(gaps[gaps.size() / 2], kMost);
}

}  // namespace

uint64_t last_line_of(const State& state, const Symptom& symptom) {
  const uint32_t number = symptom.moment.where.source;
  for (size_t i = symptom.moment.attempt + 1U; i < state.attempts.size(); ++i) {
    if (state.attempts[i].began.where.source == number) return state.attempts[i].began.where.line;
  }
  if (number >= state.sources.size()) return symptom.last_line;
  const SourceState& source = state.sources[number];
  return std::max(source.last_line, static_cast<uint64_t>(std::max<int64_t>(source.lines, 0)));
}

bool ends_its_log(const State& state, const Symptom& symptom) {
  const uint32_t number = symptom.moment.where.source;
  if (number >= state.sources.size() || state.sources[number].kind != "text") return false;
  return last_line_of(state, symptom) <= symptom.last_line + kEndingLines;
}

int64_t steps_in_flight(const State& state, const Symptom& symptom) {
  if (symptom.moment.step == kNoStep) return 1;
  const bool last = symptom.moment.attempt + 1U == state.attempts.size();
  const bool began = !state.ticks.empty() && symptom.order > state.ticks.front().order;
  const uint32_t number = symptom.moment.where.source;
  const bool open = state.ticks.empty() && number < state.sources.size() && !state.sources[number].ended;
  if (last && (began || open)) {
    const auto after = std::upper_bound(state.ticks.begin(), state.ticks.end(), symptom.order,
                                        [](uint64_t order, const Tick& tick) { return order < tick.order; });
    if (after == state.ticks.end()) return std::numeric_limits<int32_t>::max();  // nothing came after it yet
    return std::max<int64_t>(1, after->step - symptom.moment.step);
  }
  return ends_its_log(state, symptom) ? usual_gap(state, symptom) + kWrittenAhead : 1;
}

}  // namespace mw::detect
