#include "read/lines/container_label.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kNameLimit = 63;  // of a label of the Domain Name System: what pods and containers are called

bool lower(char c) { return c >= 'a' && c <= 'z'; }
bool digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trim_right(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r' || text.back() == '\n')) text.remove_suffix(1);
  return text;
}

/// What counts, and what is counted: words of a message of which there is one in each line.
bool counts(std::string_view name) {
  static constexpr std::array<std::string_view, 16> kCounts = {
      "step", "epoch", "iter", "batch", "round",  "sample", "episode", "update",
      "q",    "loss",  "eval", "game",  "prompt", "task",   "group",   "rollout"};
  return std::any_of(kCounts.begin(), kCounts.end(), [name](std::string_view word) {
    return name.starts_with(word) && (name.size() <= word.size() || !lower(name[word.size()]) || word == "iter");
  });
}

/// The length of the name that `text` begins with, in which there are digits behind letters; 0: none.
size_t name_length(std::string_view text, bool pod) {
  size_t end = 0, digits = 0, dashes = 0;
  for (; end < text.size() && end <= kNameLimit; ++end) {
    const char c = text[end];
    const bool upper = c >= 'A' && c <= 'Z';
    if (!lower(c) && !digit(c) && c != '-' && (pod || (c != '_' && c != '.' && !upper))) break;
    digits += digit(c) ? 1 : 0;
    dashes += c == '-' || c == '_' ? 1 : 0;
  }
  const bool named = end > 0 && end <= kNameLimit && digits > 0 && dashes > 0 && !digit(text[0]) && text[0] != '-';
  return named && !counts(text.substr(0, end)) ? end : 0;
}

/// "trainer-1  | ": names are padded to one width, and an empty line ends behind the bar.
size_t compose_length(std::string_view line) {
  constexpr size_t kPadding = 64;
  const size_t name = name_length(line, false);
  if (name == 0) return 0;
  size_t at = name;
  while (at < line.size() && at < name + kPadding && line[at] == ' ') ++at;
  if (at == name || at >= line.size() || line[at] != '|') return 0;
  ++at;
  if (at == line.size()) return at;
  return line[at] == ' ' ? at + 1 : 0;
}

/// "trainer-0 pytorch ".
size_t stern_length(std::string_view line) {
  const size_t pod = name_length(line, true);
  if (pod == 0 || pod >= line.size() || line[pod] != ' ') return 0;
  size_t end = pod + 1;
  while (end < line.size() && end - pod <= kNameLimit && (lower(line[end]) || digit(line[end]) || line[end] == '-'))
    ++end;
  if (end == pod + 1 || !lower(line[pod + 1]) || counts(line.substr(pod + 1, end - pod - 1))) return 0;
  if (end == line.size()) return end;
  return line[end] == ' ' ? end + 1 : 0;
}

/// "+ trainer-0 › pytorch": stern found the container, and follows it from here on; "-": it is gone.
bool is_stern_notice(std::string_view line) {
  return (line.starts_with("+ ") || line.starts_with("- ")) && contains(line, " \xe2\x80\xba ");
}

}  // namespace

size_t ContainerLabels::length(std::string_view line, Kind kind) {
  return kind == Kind::kCompose ? compose_length(line) : kind == Kind::kStern ? stern_length(line) : 0;
}

void ContainerLabels::expect(std::string_view head) {
  constexpr int kLines = 12;    // all of which have one, and of which some neighbours have the same
  constexpr int kFewLines = 3;  // where the file has no more, all of which have the same one
  for (const Kind kind : {Kind::kCompose, Kind::kStern}) {
    std::string_view rest = head, before;
    std::set<std::string, std::less<>> labels;
    int lines = 0, same = 0;
    for (size_t end = 0; lines < kLines && (end = rest.find('\n')) != std::string_view::npos;) {
      const std::string_view line = trim_right(rest.substr(0, end));
      rest.remove_prefix(end + 1);
      if (kind == Kind::kStern && (is_stern_notice(line) || line.empty())) continue;
      const std::string_view label = trim_right(line.substr(0, length(line, kind)));
      if (label.empty()) break;
      ++lines;
      same += label == before ? 1 : 0;
      before = label;
      labels.emplace(label);
    }
    const bool short_file = kind == Kind::kCompose && lines >= kFewLines && rest.empty() && same == lines - 1;
    if (!short_file && (lines < kLines || same * 2 < lines)) continue;
    kind_ = kind;
    known_ = std::move(labels);
    return;
  }
}

size_t ContainerLabels::label(std::string_view line) {
  if (kind_ == Kind::kNone && looked_ >= kLooked) return 0;
  size_t used = 0;
  if (kind_ == Kind::kNone) {
    ++looked_;
    used = compose_length(line);
    if (used == 0) used = stern_length(line);
  } else {
    used = length(line, kind_);
  }
  const std::string_view label = trim_right(line.substr(0, used));
  if (kind_ != Kind::kNone && known(label)) return used;
  if (label.empty() || label != last_) {
    same_ = 1;
    last_ = label;
    return 0;
  }
  const int sure = kind_ == Kind::kNone ? kSure : 2;
  if (++same_ < sure || known_.size() >= kMostKnown) return 0;
  if (kind_ == Kind::kNone) kind_ = label.ends_with('|') ? Kind::kCompose : Kind::kStern;
  known_.emplace(label);
  return used;
}

}  // namespace mw
