// Text as one word of a shell.
#pragma once

#include <string>
#include <string_view>

namespace mw::fleet {

/// In single quotes, whatever is in it.
inline std::string shell_word(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

}  // namespace mw::fleet
