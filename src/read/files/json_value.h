// Single JSON values as they stand in run files: fast reading of numbers and strings, and finding where a value ends.
#pragma once

#include <string>
#include <string_view>

namespace mw {

/// Reads a whole JSON number, true, false, NaN, Infinity or -Infinity (as Python writes them); false when `text` is
/// something else. true is 1, false is 0. Correctly rounded.
bool read_json_number(std::string_view text, double& value);

/// Reads a whole JSON string. `value` views into `text` when there is no escape in it, else into `scratch`.
bool read_json_string(std::string_view text, std::string& scratch, std::string_view& value);

/// Position of the first byte at or after `at` that is no JSON white space.
size_t skip_json_space(std::string_view text, size_t at);

/// Position after the JSON value that begins at `at` (brackets matched, strings respected, not validated further);
/// npos when it does not end within `text`.
size_t skip_json_value(std::string_view text, size_t at);

}  // namespace mw
