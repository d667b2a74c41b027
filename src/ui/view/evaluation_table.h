// Held-out evaluations by step: what counts first, the last evaluations side by side.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/state.h"
#include "ui/view/overview.h"

namespace mw {

struct EvaluationRow {
  std::string name;            ///< the trainer's own
  std::vector<double> values;  ///< one per step of the table; NaN: not said
  Trend trend = Trend::kUnknown;
};
struct EvaluationTable {
  std::vector<int64_t> steps;       ///< the last ones, ascending
  std::vector<EvaluationRow> rows;  ///< scores first, then what else an evaluation measures, by name
  size_t more = 0;                  ///< evaluations before the first step shown
  size_t scores = 0;                ///< of the rows, the first ones: results rather than lengths and counts
};
/// Is it a result, by its name, rather than a length or a count?
bool is_score(std::string_view name);
EvaluationTable evaluation_table(const State& state, const Cycle& cycle, size_t most);

}  // namespace mw
