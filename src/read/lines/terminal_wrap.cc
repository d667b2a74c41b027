#include "read/lines/terminal_wrap.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "read/lines/log_line.h"

namespace mw {
namespace {

constexpr size_t kNarrowest = 40, kWidest = 400;  // columns
constexpr size_t kHead = size_t{256} << 10;       // bytes that are looked at
constexpr size_t kFullLeast = 8;                  // lines: fewer may have one width by chance
constexpr double kLong = 0.85;                    // of the width: so long a line is near the longest
constexpr double kFull = 0.6;                     // of the long lines have just the width
constexpr double kAlike = 0.3;     // of what follows full lines may begin like the line before, as rows of a table do
constexpr double kWhole = 0.2;     // of it may begin as whole lines do
constexpr size_t kBegins = 4;      // so many beginnings it has: what follows one fixed line is mostly one other
constexpr double kOneBegin = 0.5;  // of it may have the same
constexpr size_t kThirds = 3;      // lines of three pieces
constexpr size_t kBegin = 4;       // bytes by which beginnings are compared

/// As a terminal shows it: without colours, and of what was drawn over only the last.
std::string_view shown(std::string_view line, std::string& scratch) {
  while (line.ends_with('\r')) line.remove_suffix(1);
  if (const size_t drawn = line.rfind('\r'); drawn != std::string_view::npos) line.remove_prefix(drawn + 1);
  return line.find('\x1b') == std::string_view::npos ? line : strip_ansi(line, scratch);
}

size_t columns(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

/// The edge of a table, a rule, or what is drawn to the last column on purpose.
bool is_drawn(std::string_view text) {
  static constexpr std::string_view kEdges = "|+-=_*#~";
  if (text.size() < 3) return false;
  const auto last = static_cast<unsigned char>(text.back());
  return last >= 0x80 || (kEdges.find(text.back()) != std::string_view::npos && text[text.size() - 2] == text.back()) ||
         (text.front() == '|' && text.back() == '|');
}

/// Letters are one, digits another: "2026-03-01" and "2027-11-30" look alike. Of letters alone no likeness is taken.
bool look_alike(std::string_view a, std::string_view b) {
  a = a.substr(0, kBegin), b = b.substr(0, kBegin);
  if (a.size() < kBegin || b.size() < kBegin) return a == b;
  if (a == b) return true;
  bool digits = false;
  const auto kind = [](char c) {
    if (c >= '0' && c <= '9') return '0';
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? 'a' : c;
  };
  for (size_t i = 0; i < kBegin; ++i) {
    if (kind(a[i]) != kind(b[i])) return false;
    digits = digits || kind(a[i]) != 'a';
  }
  return digits;
}

std::vector<std::string> lines_of(std::string_view head) {
  std::vector<std::string> lines;
  std::string scratch;
  for (size_t end = head.find('\n'); end != std::string_view::npos; end = head.find('\n')) {
    lines.emplace_back(shown(head.substr(0, end), scratch));
    head.remove_prefix(end + 1);
  }
  return lines;
}

/// The beginnings that several of the lines have which follow no full line.
std::set<std::string, std::less<>> whole_beginnings(const std::vector<std::string>& lines, size_t width) {
  std::map<std::string, size_t> seen;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].size() < kBegin || (i > 0 && columns(lines[i - 1]) + 1 >= width)) continue;
    ++seen[lines[i].substr(0, kBegin)];
  }
  std::set<std::string, std::less<>> out;
  for (const auto& [begin, times] : seen) {
    if (times >= 3) out.insert(begin);
  }
  return out;
}

/// What stands in the lines that are as wide as the terminal, and behind them.
struct Tally {
  size_t full = 0, near = 0, all_long = 0, shorter = 0;  // lines; `near`: full, or one column short
  size_t blank = 0;                                      // full ones that end with a blank
  size_t followed = 0, alike = 0, whole = 0, third = 0;  // full lines by what follows; `third`: another full one
  std::map<std::string, size_t> begins;                  // of what follows

  void add(std::string_view line, std::string_view next, bool next_full, const TerminalWrap& wrap) {
    ++followed;
    alike += look_alike(line, next) ? 1 : 0;
    whole += wrap.begins.count(next.substr(0, kBegin)) > 0 ? 1 : 0;
    third += next_full ? 1 : 0;
    ++begins[std::string(next.substr(0, kBegin))];
  }
  bool shows_pieces() const {
    const auto share = [this](size_t part) { return static_cast<double>(part) / static_cast<double>(followed); };
    if (followed == 0 || share(alike) > kAlike || share(whole) > kWhole) return false;
    size_t most = 0;
    for (const auto& [begin, times] : begins) most = std::max(most, times);
    if (begins.size() < kBegins || share(most) > kOneBegin) return false;
    return third >= kThirds;
  }
};

}  // namespace

std::optional<TerminalWrap> find_terminal_wrap(std::string_view head) {
  const std::vector<std::string> lines = lines_of(head.substr(0, kHead));
  TerminalWrap wrap;
  for (const std::string& line : lines) wrap.width = std::max(wrap.width, columns(line));
  if (wrap.width < kNarrowest || wrap.width > kWidest) return std::nullopt;
  wrap.begins = whole_beginnings(lines, wrap.width);
  Tally tally;
  for (size_t i = 0; i < lines.size(); ++i) {
    const size_t wide = columns(lines[i]);
    const bool is_long = static_cast<double>(wide) >= kLong * static_cast<double>(wrap.width);
    tally.shorter += is_long ? 0 : 1;
    if (!is_long || is_drawn(lines[i])) continue;
    ++tally.all_long;
    tally.near += wide + 1 >= wrap.width ? 1 : 0;
    if (wide != wrap.width) continue;
    ++tally.full;
    tally.blank += lines[i].back() == ' ' ? 1 : 0;
    if (i + 1 < lines.size()) tally.add(lines[i], lines[i + 1], columns(lines[i + 1]) == wrap.width, wrap);
  }
  wrap.lost_blanks = tally.blank == 0;
  const size_t at_end = wrap.lost_blanks ? tally.near : tally.full;
  const bool most = static_cast<double>(at_end) >= kFull * static_cast<double>(tally.all_long);
  if (tally.full < kFullLeast || tally.shorter < kFullLeast / 2 || !most || !tally.shows_pieces()) return std::nullopt;
  return wrap;
}

void UnwrapTerminal::end_line(std::string& out) {
  if (!std::exchange(holds_, false)) return;
  out += held_;
  out.push_back('\n');
  numbers_.push_back(held_number_);
  held_.clear();
  lacks_blank_ = false;
}

std::string UnwrapTerminal::join(std::string_view bytes, uint64_t number) {
  numbers_.clear();
  std::string out;
  for (; !bytes.empty(); ++number) {
    const size_t end = std::min(bytes.find('\n'), bytes.size());
    std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
    while (line.ends_with('\r')) line.remove_suffix(1);
    const std::string_view text = shown(line, scratch_);
    const bool begins = text.empty() || wrap_.begins.count(text.substr(0, kBegin)) > 0 || held_.size() > kLongest;
    if (begins) end_line(out);
    if (!holds_) held_number_ = number;
    if (lacks_blank_) held_.push_back(' ');
    held_.append(line);
    holds_ = true;
    const size_t wide = columns(text);
    const bool full = wide == wrap_.width;
    lacks_blank_ = !full && wrap_.lost_blanks && wide + 1 == wrap_.width;
    if ((!full && !lacks_blank_) || is_drawn(text)) end_line(out);
  }
  return out;
}

std::string UnwrapTerminal::rest() {
  numbers_.clear();
  std::string out;
  end_line(out);
  return out;
}

}  // namespace mw
