// Lines as a container's log driver keeps them.
#pragma once

#include <string>
#include <string_view>

namespace mw {

/// Docker's json-file driver: {"log":"text\n","stream":"stdout","time":"2026-01-02T10:20:30.123456789Z"}. Adds to `out`
/// the time, a space and the text, as one line that ends with '\n'. False, and nothing is added, for any other line.
bool unwrap_container_line(std::string_view line, std::string& out);

/// Might it be one? (The first bytes say so.)
inline bool may_be_container_line(std::string_view line) {
  return line.starts_with("{\"log\":") || line.starts_with("{\"stream\":") || line.starts_with("{\"time\":");
}

}  // namespace mw
