#include "read/books/anchored.h"

#include "base/text.h"

namespace mw {
namespace {

constexpr std::string_view kWrapping =
    R"(^(?:\x1b\[[0-9;]*m|\([^()]*\)|\[[^\[\]]*\]:?|[0-9]+:|\s)"
    R"(|20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d[0-9.,]*(?:Z|[+-]\d\d:?\d\d)?|\d\d:\d\d:\d\d[0-9.,]*)*)";
constexpr std::string_view kTail = R"((?:\s|\x1b\[[0-9;]*m)*$)";
constexpr std::string_view kSpaces = R"(\s*$)";

/// Is there a '|' outside of groups and classes?
bool has_alternatives(std::string_view expression) {
  int depth = 0;
  bool in_class = false;
  for (size_t i = 0; i < expression.size(); ++i) {
    const char c = expression[i];
    if (c == '\\') {
      ++i;
    } else if (in_class) {
      in_class = c != ']';
    } else if (c == '[') {
      in_class = true;
      if (expression.substr(i + 1).starts_with("^")) ++i;
      if (expression.substr(i + 1).starts_with("]")) ++i;
    } else if (c == '(') {
      ++depth;
    } else if (c == ')') {
      --depth;
    } else if (c == '|' && depth == 0) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string anchored(std::string_view expression) {
  if (has_alternatives(expression)) return std::string(expression);
  std::string out;
  if (expression.starts_with("^")) {
    out = kWrapping;
    expression.remove_prefix(1);
  }
  std::string_view tail;
  if (expression.ends_with(kSpaces)) {
    expression.remove_suffix(kSpaces.size());
    tail = kTail;
  } else if (expression.ends_with("$") && !expression.ends_with("\\$")) {
    expression.remove_suffix(1);
    tail = kTail;
  }
  return cat(out, expression, tail);
}

}  // namespace mw
