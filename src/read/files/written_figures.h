// Figures of a structured record that no number holds: loggers that turn all values into text write {"reward": "0.31"},
// json.dumps(default=str) does so of what it does not know, and some keep {"metrics": [{"name": "reward", "value":
// 0.3}]}.
#pragma once

#include <optional>
#include <string_view>

#include "read/files/row_builder.h"

namespace mw {

/// What the whole of `text` says: "0.31", "3,141", "45%", "12.3s", "1.2k", "tensor(0.31, device='cuda:0')"; nullopt
/// where it says no number, or a clock.
std::optional<RowNumber> figure_in(std::string_view key, std::string_view text);

/// Makes numbers of the texts of a record that has a step: of all that say one, where no number of the record measures
/// anything; else of those with a decimal, as a text of digits may be a name or an answer. A record with a long text is
/// a sample, and left as it is. Where nothing is measured then, takes what lies in a list of objects: a name and a
/// value each, or in one object alone. `json`: the record itself.
void add_written_figures(std::string_view json, RowBuilder& row);

}  // namespace mw
