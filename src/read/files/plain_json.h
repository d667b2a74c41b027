// Metric records as JSON, read in one go: what loggers write is plain, and a reader of all JSON costs five times as
// much.
#pragma once

#include <string_view>

#include "read/files/row_builder.h"

namespace mw {

/// Adds the values of one JSON object to `row`, as read_json_record() (jsonl.h) says; the row's views are into `json`.
/// False where it holds something that is not plain (an escape, a long number, deep nesting) or is no JSON; what was
/// added by then is to be cleared.
bool read_plain_json(std::string_view json, RowBuilder& row);

}  // namespace mw
