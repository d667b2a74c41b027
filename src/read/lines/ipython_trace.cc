#include "read/lines/ipython_trace.h"

#include <algorithm>

#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kNameLimit = 160;  // bytes of an exception's dotted name
constexpr size_t kPathLimit = 400;
constexpr size_t kDigits = 7;  // of a line's number

bool is_digit(char c) { return c >= '0' && c <= '9'; }

size_t digits_at(std::string_view text) {
  size_t i = 0;
  while (i < text.size() && is_digit(text[i])) ++i;
  return i <= kDigits ? i : 0;
}

std::string_view without_blanks(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
}

/// "GRPOTrainer.__init__(self, model)" -> "GRPOTrainer.__init__"
std::string_view without_arguments(std::string_view function) { return trim(function.substr(0, function.find('('))); }

/// "237     model = ...", "237": a number, and the source after at least one blank.
bool is_numbered(std::string_view text, std::string_view& line, std::string_view& code) {
  const size_t digits = digits_at(text);
  if (digits == 0 || (digits < text.size() && text[digits] != ' ')) return false;
  line = text.substr(0, digits);
  code = trim(text.substr(digits));
  return true;
}

/// "Cell In[7], line 3", "Cell In[7], line 3, in f(x)", "File ~/a/b.py:237, in f(x)", "Input In [7], in <cell line:
/// 1>()"
bool is_frame(std::string_view text, IpythonLine& out) {
  const bool cell = text.starts_with("Cell In") || text.starts_with("Input In");
  if (!cell && !text.starts_with("File ")) return false;
  const size_t in = text.find(", in ");
  std::string_view place = text.substr(0, in);
  if (cell) {
    const size_t line = place.find(", line ");
    if (place.find('[') > 9) return false;
    out.file = place.substr(0, line);
    if (line != std::string_view::npos) out.line = place.substr(line + 7, digits_at(place.substr(line + 7)));
  } else {
    place.remove_prefix(5);
    const size_t colon = place.rfind(':');
    if (colon == std::string_view::npos || digits_at(place.substr(colon + 1)) == 0) return false;
    out.file = place.substr(0, colon);
    out.line = place.substr(colon + 1, digits_at(place.substr(colon + 1)));
  }
  if (in != std::string_view::npos) out.function = without_arguments(text.substr(in + 5));
  return out.file.size() <= kPathLimit;
}

/// "<ipython-input-5-ab12> in <module>", "/usr/lib/python3.10/x.py in f(self)"
bool is_older_frame(std::string_view text, IpythonLine& out) {
  const size_t in = text.find(" in ");
  if (in > kPathLimit) return false;  // as npos is
  const std::string_view file = text.substr(0, in);
  const bool path = (file.starts_with('/') || file.starts_with("~/")) && file.ends_with(".py");
  if (!path && !file.starts_with("<ipython-input-")) return false;
  out.file = file;
  out.function = without_arguments(text.substr(in + 4));
  return true;
}

}  // namespace

bool is_ipython_head(std::string_view message) {
  constexpr std::string_view kHead = "Traceback (most recent call last)";
  const std::string_view text = trim(message);
  if (!text.ends_with(kHead)) return false;
  const std::string_view name = trim(text.substr(0, text.size() - kHead.size()));
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '.';
  });
  return !name.empty() && name.size() <= kNameLimit && plain && !is_digit(name[0]) &&
         text.substr(name.size()).starts_with("  ");
}

IpythonLine ipython_line(std::string_view message) {
  using Kind = IpythonLine::Kind;
  IpythonLine out;
  const std::string_view text = without_blanks(message);
  if (text.size() == message.size() && (is_frame(text, out) || is_older_frame(text, out))) {
    out.kind = Kind::kFrame;
    return out;
  }
  out = {};
  const size_t dashes = std::min(text.find_first_not_of('-'), text.size());
  const bool arrow = dashes > 0 && text.substr(dashes).starts_with("> ");
  if (is_numbered(arrow ? without_blanks(text.substr(dashes + 1)) : text, out.line, out.code))
    out.kind = arrow ? Kind::kArrow : Kind::kCode;
  return out;
}

}  // namespace mw
