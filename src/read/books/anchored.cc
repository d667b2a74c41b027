#include "read/books/anchored.h"

#include "base/text.h"
#include "read/match/syntax_walk.h"

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
  bool found = false;
  walk_syntax(expression, [&](size_t at) {
    const char c = expression[at];
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    found = found || (c == '|' && depth == 0);
  });
  return found;
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
