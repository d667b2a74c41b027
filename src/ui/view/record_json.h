// The record of a run as JSON, and back: docs/formats/runs-json.md.
#pragma once

#include <string>
#include <string_view>

#include "api/requests.h"
#include "base/json.h"
#include "base/result.h"

namespace mw {

/// One object, schema midwatch.run/1.
std::string record_json(const RunRecord& record);
/// What record_json() wrote. kInvalid: it is no such object. Times come back to the millisecond.
Result<RunRecord> parse_record(std::string_view text);

/// The changes as an array of objects.
void put_changes(JsonWriter& json, const std::vector<RunRecord::Change>& changes);

}  // namespace mw
