#include "ui/view/series_csv.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "base/numbers.h"
#include "base/text.h"
#include "core/host_figures.h"
#include "core/trajectory.h"
#include "ui/view/csv.h"
#include "ui/view/phase_series.h"

namespace mw {
namespace {

using Row = std::tuple<uint16_t, bool, int64_t>;  // attempt; has no step; step, or nanoseconds where there is none

struct Cells {
  Time at;  // the earliest
  std::vector<std::string> values;
};

std::vector<const Series*> columns(const State& state, const std::map<std::string, Series, std::less<>>& phases) {
  std::vector<const Series*> mapped, raw;
  for (const bool evaluations : {false, true}) {
    for (const Series* series : state.shown(evaluations)) {
      if (of_machine(series->raw) || of_trajectory(series->raw)) continue;
      const Series* const whole = evaluations ? series : shown_signal(state, phases, series->signal);
      (series->signal.empty() ? raw : mapped).push_back(series->signal.empty() ? series : whole);
    }
  }
  for (const auto& [name, series] : phases) {
    if (std::find(mapped.begin(), mapped.end(), &series) == mapped.end()) mapped.push_back(&series);
  }
  mapped.insert(mapped.end(), raw.begin(), raw.end());
  return mapped;
}

}  // namespace

std::string series_csv(const State& state) {
  const auto phases = phase_series(state);
  const std::vector<const Series*> shown = columns(state, phases);
  std::map<Row, Cells> rows;
  std::string out = "attempt,step,time";
  for (size_t i = 0; i < shown.size(); ++i) {
    out += cat(",", csv_cell(shown[i]->signal.empty() ? shown[i]->raw : shown[i]->signal));
    for (const Point& point : shown[i]->points()) {
      const bool stepless = point.step == kNoStep;
      Cells& cells = rows[{point.attempt, stepless, stepless ? point.at.ns : point.step}];
      cells.values.resize(shown.size());
      cells.values[i] = format_double(point.value);
      if (point.at.known() && (!cells.at.known() || point.at < cells.at)) cells.at = point.at;
    }
  }
  out += '\n';
  for (const auto& [row, cells] : rows) {
    const auto& [attempt, stepless, step] = row;
    out += cat(attempt + 1, ",", stepless ? std::string() : cat(step), ",",
               cells.at.known() ? format_utc(cells.at) : std::string());
    for (const std::string& value : cells.values) out += cat(",", value);
    out += '\n';
  }
  return out;
}

}  // namespace mw
