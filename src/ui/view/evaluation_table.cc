#include "ui/view/evaluation_table.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string_view>

#include "core/evaluation_name.h"

namespace mw {

bool is_score(std::string_view name) { return evaluation_sense(name) == EvaluationSense::kHigher; }

EvaluationTable evaluation_table(const State& state, const Cycle& cycle, size_t most) {
  EvaluationTable table;
  const std::vector<SignalLine> lines = evaluations(state, cycle);
  std::set<int64_t> steps;
  for (const SignalLine& line : lines) {
    for (const Point& point : line.points) {
      if (point.step != kNoStep) steps.insert(point.step);
    }
  }
  table.steps.assign(steps.begin(), steps.end());
  if (table.steps.size() > most) {
    table.more = table.steps.size() - most;
    table.steps.erase(table.steps.begin(), table.steps.end() - static_cast<std::ptrdiff_t>(most));
  }
  for (const SignalLine& line : lines) {
    EvaluationRow row{line.name, std::vector<double>(table.steps.size(), std::numeric_limits<double>::quiet_NaN()),
                      line.trend};
    bool said = false;
    for (const Point& point : line.points) {
      const auto at = std::lower_bound(table.steps.begin(), table.steps.end(), point.step);
      if (at == table.steps.end() || *at != point.step) continue;
      row.values[static_cast<size_t>(at - table.steps.begin())] = point.value;
      said = true;
    }
    if (said) table.rows.push_back(std::move(row));
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const EvaluationRow& a, const EvaluationRow& b) {
    const bool left = is_score(a.name), right = is_score(b.name);
    return left != right ? left : a.name < b.name;
  });
  table.scores = static_cast<size_t>(
      std::count_if(table.rows.begin(), table.rows.end(), [](const EvaluationRow& row) { return is_score(row.name); }));
  return table;
}

}  // namespace mw
