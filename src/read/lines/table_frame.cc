// Lines that only frame a table.
#include "read/lines/table_frame.h"

#include <array>

#include "base/text.h"
#include "read/lines/metric_line.h"

namespace mw {

bool is_bottom_frame(std::string_view text) {
  text = trim(text);
  return text.starts_with("\xe2\x94\x94") || text.starts_with("\xe2\x95\x98") || text.starts_with("\xe2\x95\xb0") ||
         text.starts_with("\xe2\x95\x9a");
}

bool enter_cell(std::string_view& text) {
  static constexpr std::array<std::string_view, 3> kSides = {"\u2502", "\u2503", "\u2551"};
  constexpr size_t kLeast = 5;
  for (const std::string_view side : kSides) {
    if (!text.starts_with(side) || !text.ends_with(side) || text.size() < 2 * side.size()) continue;
    const std::string_view inner = trim(text.substr(side.size(), text.size() - 2 * side.size()));
    if (contains(inner, side) || inner.size() < kLeast) return false;
    text = inner;
    return true;
  }
  return false;
}

bool is_table_frame(std::string_view text) {
  text = trim(text);
  if (text.size() < 3) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == 0xe2 && i + 2 < text.size() &&
        (static_cast<unsigned char>(text[i + 1]) == 0x94 || static_cast<unsigned char>(text[i + 1]) == 0x95)) {
      if (static_cast<unsigned char>(text[i + 1]) == 0x94 && static_cast<unsigned char>(text[i + 2]) == 0x82 &&
          i + 3 < text.size() && text.size() > 6 && text[i + 3] == ' ') {
        return false;  // "│ text": a row of cells
      }
      i += 2;
      continue;
    }
    if (c != '-' && c != '+' && c != '=' && c != '|' && c != ' ' && c != ':') return false;
  }
  return true;
}

}  // namespace mw
