#include "ui/view/layout.h"

#include <algorithm>
#include <cstdint>
#include <set>

#include "base/text.h"

namespace mw {
namespace {

struct Range {
  uint32_t first, last;
};

bool within(const Range* begin, const Range* end, uint32_t point) {
  return std::any_of(begin, end, [point](const Range& r) { return point >= r.first && point <= r.last; });
}

constexpr Range kWide[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0x33ff},  {0x3400, 0x4dbf},
                           {0x4e00, 0x9fff},   {0xa000, 0xa4cf},   {0xac00, 0xd7a3},  {0xf900, 0xfaff},
                           {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},  {0x1f300, 0x1f64f},
                           {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
constexpr Range kNarrow[] = {{0x0300, 0x036f}, {0x1ab0, 0x1aff}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};

/// Bytes of the character at `at` (1 where it is broken); `cells` gets its width.
size_t character(std::string_view text, size_t at, size_t* cells) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const size_t want = lead < 0x80 ? 1 : (lead >> 5) == 6 ? 2 : (lead >> 4) == 14 ? 3 : (lead >> 3) == 30 ? 4 : 1;
  *cells = 1;
  if (want == 1 || at + want > text.size()) return 1;
  uint32_t point = lead & (0x7fU >> want);
  for (size_t i = 1; i < want; ++i) point = (point << 6) | (static_cast<unsigned char>(text[at + i]) & 0x3fU);
  if (within(std::begin(kNarrow), std::end(kNarrow), point)) *cells = 0;
  if (within(std::begin(kWide), std::end(kWide), point)) *cells = 2;
  return want;
}

/// Bytes of the longest start of `text` that takes at most `cells` cells.
size_t prefix(std::string_view text, size_t cells) {
  size_t at = 0, used = 0;
  while (at < text.size()) {
    size_t width = 0;
    const size_t bytes = character(text, at, &width);
    if (used + width > cells) break;
    used += width;
    at += bytes;
  }
  return at;
}

}  // namespace

size_t cells_of(std::string_view text) {
  size_t at = 0, used = 0;
  while (at < text.size()) {
    size_t width = 0;
    at += character(text, at, &width);
    used += width;
  }
  return used;
}

std::string fit(std::string_view text, size_t cells) {
  if (prefix(text, cells) == text.size()) return std::string(text);
  if (cells == 0) return "";
  return std::string(text.substr(0, prefix(text, cells - 1))) + "…";
}

namespace {

/// At most `cells` cells: of a text that is longer the first `head`, "…", and what else has room of its end.
std::string keep_ends(std::string_view text, size_t cells, size_t head) {
  if (cells == 0 || head + 1 >= cells || prefix(text, cells) == text.size()) return fit(text, cells);
  size_t from = text.size();  // of the longest end that has room, where a character begins
  for (size_t at = text.size(); at-- > 0;) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) continue;
    if (cells_of(text.substr(at)) > cells - 1 - head) break;
    from = at;
  }
  return cat(text.substr(0, prefix(text, head)), "…", text.substr(from));
}

}  // namespace

std::string fit_place(std::string_view text, size_t cells) {
  constexpr size_t kLineNumber = 9;  // bytes, the colon included
  const size_t colon = text.rfind(':');
  const std::string_view tail = colon == std::string_view::npos ? "" : text.substr(colon);
  const bool number = tail.size() > 1 && tail.size() <= kLineNumber &&
                      tail.find_first_not_of("0123456789", 1) == std::string_view::npos;
  if (!number || cells <= 2 * kLineNumber || prefix(text, cells) == text.size()) return fit(text, cells);
  return fit(text.substr(0, prefix(text, cells - tail.size() - 1)), cells) + "…" + std::string(tail);
}

std::vector<std::string> fit_names(const std::vector<std::string>& names, size_t cells) {
  std::vector<std::string> best;
  size_t most = 0;                                           // different ones
  for (const size_t head : {cells, cells / 2, size_t{0}}) {  // cells, of what is cut
    std::vector<std::string> cut;
    cut.reserve(names.size());
    for (const std::string& name : names) cut.push_back(keep_ends(name, cells, head));
    const size_t different = std::set<std::string>(cut.begin(), cut.end()).size();
    if (different <= most) continue;
    most = different;
    best = std::move(cut);
  }
  return best;
}

std::string pad(std::string_view text, size_t cells, bool right) {
  const size_t used = cells_of(text);
  const std::string fill(used < cells ? cells - used : 0, ' ');
  return right ? fill + std::string(text) : std::string(text) + fill;
}

std::string column(std::string_view text, size_t cells, bool right) { return pad(fit(text, cells), cells, right); }

std::vector<std::string> wrap(std::string_view text, size_t cells, size_t most) {
  cells = std::max<size_t>(cells, 2);  // the widest character fits, so every line takes something
  std::vector<std::string> lines;
  while (!text.empty() && most > 0) {
    size_t end = prefix(text, cells);
    if (end == text.size()) {
      lines.emplace_back(text);
      break;
    }
    if (lines.size() + 1 == most) {
      lines.push_back(fit(text, cells));
      break;
    }
    if (const size_t space = text.substr(0, end + 1).rfind(' '); space != std::string_view::npos && space > 0) {
      end = space;
    }
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  }
  return lines;
}

}  // namespace mw
