// The characters of a regular expression that mean something.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace mw {

/// Calls take(at) for each character that is neither escaped nor inside a class, the '[' that begins one left out. The
/// expression is one of RE2's syntax. Returns whether it ends inside a class.
template <typename Take>
bool walk_syntax(std::string_view expression, const Take& take) {
  bool in_class = false;
  for (size_t i = 0; i < expression.size(); ++i) {
    const char c = expression[i];
    if (c == '\\') {
      ++i;
    } else if (in_class) {
      in_class = c != ']';
    } else if (c == '[') {
      in_class = true;
      if (expression.substr(i + 1).starts_with('^')) ++i;
      if (expression.substr(i + 1).starts_with(']')) ++i;  // the first one is a member
    } else {
      take(i);
    }
  }
  return in_class;
}

/// The expression with plain captures in place of named ones. RE2 builds a table of all of Unicode's letters, once, to
/// check the first name that it meets; names that were checked before need it not.
inline std::string without_names(std::string_view expression) {
  std::string out;
  size_t kept = 0;
  walk_syntax(expression, [&](size_t at) {
    if (!expression.substr(at).starts_with("(?P<")) return;
    out.append(expression.substr(kept, at + 1 - kept));
    kept = std::min(expression.find('>', at), expression.size() - 1) + 1;
  });
  return out.append(expression.substr(kept));
}

}  // namespace mw
