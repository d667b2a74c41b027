#include "ui/view/csv.h"

#include "base/text.h"

namespace mw {

std::string csv_cell(std::string_view text) {
  constexpr std::string_view kFormula = "=+-@\t\r";
  std::string safe = text.empty() || !contains(kFormula, text.substr(0, 1)) ? std::string(text) : cat("'", text);
  if (safe.find_first_of(",\"\r\n") == std::string::npos) return safe;
  std::string quoted = "\"";
  for (const char c : safe) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted += '"';
}

}  // namespace mw
