// Comma-separated values, RFC 4180.
#pragma once

#include <string>
#include <string_view>

namespace mw {

/// One cell, quoted where it must be. Text that a spreadsheet would take for a formula gets an apostrophe in front.
std::string csv_cell(std::string_view text);

}  // namespace mw
