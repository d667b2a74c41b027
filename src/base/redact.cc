// The one redactor: whatever becomes part of an event, a message or a file of midwatch's own goes through here.
#include <algorithm>
#include <array>

#include "base/secret_finder.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kWrapLeast = 40;    // bytes of a line that a terminal or a logger may have wrapped
constexpr size_t kSeamBytes = 600;   // of either line that are looked at across a line's end
constexpr size_t kPemLineLeast = 4;  // bytes of base64 that make a line of a key: its last may be short

constexpr std::string_view kPemBegin = "-----BEGIN", kPemEnd = "-----END";

bool of_base64(char c) { return is_alnum(c) || c == '+' || c == '/' || c == '='; }
bool of_wrapped(char c) { return of_base64(c) || contains("_-.:@%~&?\"'", std::string_view(&c, 1)); }

/// Where a line's own text begins: behind blanks and Ray's or torchrun's prefix.
size_t behind_prefix(std::string_view line) {
  size_t at = std::min(line.find_first_not_of(" \t|>"), line.size());
  for (const auto& [open, close] : {std::pair{'(', ')'}, std::pair{'[', ']'}}) {
    if (at >= line.size() || line[at] != open) continue;
    const size_t end = line.find(close, at);
    if (end == std::string_view::npos || end - at > 80) continue;
    at = std::min(line.find_first_not_of(": \t|", end + 1), line.size());
  }
  return at;
}

/// Where the two lines' common prefix (time, level, logger: digits may differ) ends.
size_t behind_common(std::string_view before, std::string_view line) {
  size_t at = 0, end = 0;
  while (at < std::min(before.size(), line.size()) &&
         (before[at] == line[at] || (is_digit(before[at]) && is_digit(line[at])))) {
    if (line[at] == ' ') end = at + 1;
    ++at;
  }
  return end;
}

std::string_view last_line(std::string_view before) {
  while (before.ends_with('\n') || before.ends_with('\r')) before.remove_suffix(1);
  const size_t cut = before.find_last_of("\r\n");
  return cut == std::string_view::npos ? before : before.substr(cut + 1);
}

/// Of a secret that begins in the line before, or whose name does: how much of it stands there, and where it begins and
/// ends in the line.
struct Across {
  size_t left = 0, begin = 0, right = 0;
};

Across across(std::string_view before, std::string_view line, size_t from) {
  while (before.ends_with(' ') || before.ends_with('\r')) before.remove_suffix(1);
  if (before.size() < kWrapLeast || from >= line.size()) return {};
  if (!of_wrapped(line[from]) || !(of_wrapped(before.back()) || before.back() == '=')) return {};
  const std::string_view head = before.substr(before.size() - std::min(before.size(), kSeamBytes));
  const std::string_view tail = line.substr(from, kSeamBytes);
  // What begins behind a blank of the line is none of the line before; see below.
  const size_t until = head.size() + std::min(tail.find(' '), tail.size());
  for (const SecretSpan& span : SecretFinder(cat(head, tail), false).find(until)) {
    if (span.end <= head.size()) continue;
    const size_t right = span.end - head.size();
    const size_t begin = span.begin - std::min(span.begin, head.size());
    if (span.begin == head.size() && !opaque(tail.substr(0, right))) continue;
    if (contains(tail.substr(0, begin), " ")) break;
    // A form that is not yet whole goes on; else what comes may as well be the next line's own word.
    const std::string_view left = head.substr(std::min(span.begin, head.size()));
    const bool half = shaped_secret(left, 0, true) > 0 && shaped_secret(left, 0, false) == 0;
    if (begin == 0 && !half && !may_go_on(tail)) break;
    return {head.size() - std::min(span.begin, head.size()), begin, right};
  }
  return {};
}

/// What the line holds of a secret that was wrapped at the end of the line before; the part in that line, too.
SecretSpan continued(std::string_view before, std::string_view line, size_t& left) {
  const std::array<size_t, 2> begins = {behind_common(before, line), behind_prefix(line)};
  for (size_t i = 0; i < begins.size(); ++i) {
    const size_t from = begins[i];
    if (i > 0 && from == begins[0]) break;  // most lines: no need to look twice
    const Across found = across(before, line, from);
    if (found.right == 0) continue;
    left = std::max(left, found.left);
    return {from + found.begin, from + found.right};
  }
  return {};
}

/// A private key in PEM, over lines or in one.
struct Pem {
  bool inside = false;

  SecretSpan line(std::string_view text) {
    const size_t begin = text.find(kPemBegin);
    const size_t end = text.find(kPemEnd);
    const bool begins = begin != std::string_view::npos && contains(text.substr(begin, 60), "PRIVATE KEY");
    if (!begins && !inside) return {};
    size_t from = begins ? begin : behind_text(text);
    size_t to = text.size();
    if (end != std::string_view::npos && (!begins || end > begin)) {
      const size_t dashes = text.find("-----", end + kPemEnd.size());
      to = dashes == std::string_view::npos ? text.size() : dashes + 5;
      inside = false;
      const size_t space = text.rfind(' ', end);  // whatever prefix a logger gives each line stays
      return {begins ? from : space == std::string_view::npos ? 0 : space + 1, to};
    }
    if (begins) {
      inside = true;
      if (const size_t quote = text.find('"', begin); quote != std::string_view::npos) to = quote, inside = false;
      return {from, to};
    }
    if (!key_line(text.substr(from))) {
      inside = !trim(text.substr(from)).empty() && contains(text, ": ");  // "Proc-Type: 4,ENCRYPTED", or none at all
      return {};
    }
    return {from, to};
  }

 private:
  static size_t behind_text(std::string_view text) {
    const std::string_view line = trim(text);
    const size_t space = line.rfind(' ');  // whatever prefix a logger gives each line
    const size_t from = static_cast<size_t>(line.data() - text.data());
    return space == std::string_view::npos ? from : from + space + 1;
  }
  static bool key_line(std::string_view text) {
    text = trim(text);
    while (text.ends_with("\\n") || text.ends_with("\"") || text.ends_with(",")) text.remove_suffix(1);
    if (text.starts_with("\"")) text.remove_prefix(1);
    return text.size() >= kPemLineLeast && std::all_of(text.begin(), text.end(), of_base64);
  }
};

struct Line {
  std::string_view text;
  std::vector<SecretSpan> spans;
};

}  // namespace

bool may_hold_key(std::string_view text) { return contains(text, kPemBegin); }

void join_spans(std::vector<SecretSpan>& spans) {
  std::sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  size_t kept = 0;
  for (const SecretSpan& span : spans) {
    if (span.end <= span.begin) continue;
    if (kept > 0 && span.begin <= spans[kept - 1].end) {
      spans[kept - 1].end = std::max(spans[kept - 1].end, span.end);
    } else {
      spans[kept++] = span;
    }
  }
  spans.resize(kept);
}

std::vector<SecretSpan> find_secrets(std::string_view line, std::string_view before) {
  std::vector<SecretSpan> spans = SecretFinder(line, line.size() >= kWrapLeast).find();
  Pem pem;
  if (may_hold_key(before)) {
    for (const std::string_view earlier : split(before, '\n')) {
      if (!earlier.empty()) pem.line(earlier);
    }
  }
  spans.push_back(pem.line(line));
  size_t left = 0;
  if (!before.empty()) spans.push_back(continued(last_line(before), line, left));
  join_spans(spans);
  return spans;
}

std::string without(std::string_view text, const std::vector<SecretSpan>& spans) {
  std::string out;
  size_t kept = 0;
  for (const SecretSpan& span : spans) {
    out.append(text.substr(kept, span.begin - kept));
    if (!out.ends_with(kRedacted) || span.begin != kept) out.append(kRedacted);
    kept = span.end;
  }
  return out.append(text.substr(kept));
}

std::string redact_secrets(std::string_view text) {
  if (text.find('\n') == std::string_view::npos) return without(text, find_secrets(text));
  std::vector<Line> lines;
  for (const std::string_view line : split(text, '\n')) lines.push_back({line, {}});
  Pem pem;
  for (size_t i = 0; i < lines.size(); ++i) {
    Line& line = lines[i];
    line.spans = SecretFinder(line.text, line.text.size() >= kWrapLeast).find();
    line.spans.push_back(pem.line(line.text));
    if (i == 0) continue;
    size_t left = 0;
    const std::string_view before = lines[i - 1].text;
    line.spans.push_back(continued(before, line.text, left));
    if (left > 0) lines[i - 1].spans.push_back({before.size() - std::min(left, before.size()), before.size()});
  }
  std::string out;
  for (size_t i = 0; i < lines.size(); ++i) {
    join_spans(lines[i].spans);
    out.append(i == 0 ? "" : "\n").append(without(lines[i].text, lines[i].spans));
  }
  return out;
}

}  // namespace mw
