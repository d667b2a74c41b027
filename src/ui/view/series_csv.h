// The figures of a run as one table for spreadsheets, pandas and gnuplot (docs/formats/series-csv.md).
#pragma once

#include <string>

#include "core/state.h"

namespace mw {

/// CSV by RFC 4180, with a head line and one line per attempt and step: `attempt,step,time` and a column for each
/// signal, then one for each evaluation and for each name that no dialect maps. Figures of the machine are left out. A
/// cell is empty where nothing was recorded; NaN and infinite figures are `nan`, `inf`, `-inf`. Figures without a step
/// stand in lines of their own, by time, at the end of their attempt. A name that a spreadsheet would take for a
/// formula begins with `'`.
std::string series_csv(const State& state);

}  // namespace mw
