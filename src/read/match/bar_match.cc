#include "read/match/bar_match.h"

#include <algorithm>

#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr size_t kTitle = 80;  // bytes of `what`

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r'; }

/// The count at `*at`, "12", "1,200", "1.2k"; `*at` goes behind it. Empty: none.
std::string_view count_at(std::string_view text, size_t* at) {
  const size_t begin = *at;
  size_t end = begin;
  while (end < text.size() && (is_digit(text[end]) || text[end] == '.' || text[end] == ',')) ++end;
  if (end > begin && end < text.size() && (text[end] == 'k' || text[end] == 'M' || text[end] == 'G')) ++end;
  *at = end;
  return text.substr(begin, end - begin);
}

/// What stands before the per cent's digits, which begin at `digits`; nullopt-like (data() is null) when nothing may.
std::string_view title_before(std::string_view text, size_t digits) {
  size_t blanks = digits;
  while (blanks > 0 && is_space(text[blanks - 1])) --blanks;
  const size_t stop = blanks > 0 && text[blanks - 1] == ':' ? blanks - 1 : blanks;  // where the title ends
  const size_t foreign = stop == 0 ? kNone : text.find_last_of("|:\r", stop - 1);   // no part of it
  if (foreign == kNone && stop <= kTitle) return text.substr(0, stop);
  // Else it begins behind the first blank behind which all of it may stand.
  size_t from = foreign == kNone ? 0 : foreign;
  from = std::max(from, stop - std::min(stop, kTitle + 1));
  for (size_t i = from; i < stop; ++i) {
    if (is_space(text[i])) return text.substr(i + 1, stop - i - 1);
  }
  return blanks < digits ? text.substr(blanks + 1, 0) : std::string_view();
}

}  // namespace

bool match_bar(std::string_view text, std::vector<std::string_view>& captures, size_t* end) {
  constexpr std::string_view kHead = "%|";
  for (size_t from = 0;;) {
    const size_t found = find_part(text.substr(from), kHead);
    if (found == kNone) return false;
    const size_t head = from + found;
    from = head + kHead.size();
    const size_t close = text.find('|', from);
    if (close == kNone) return false;
    size_t digits = head;
    while (digits > 0 && is_digit(text[digits - 1])) --digits;
    if (digits == head || !text.substr(close).starts_with("| ")) continue;
    size_t at = close + 2;
    const std::string_view done = count_at(text, &at);
    if (done.empty() || at >= text.size() || text[at] != '/') continue;
    const std::string_view total = count_at(text, &++at);
    if (total.empty() || !text.substr(at).starts_with(" [")) continue;
    const std::string_view what = title_before(text, digits);
    if (what.data() == nullptr) continue;
    captures.assign({what, done, total});
    *end = at + 2;
    return true;
  }
}

}  // namespace mw
