// Pieces of a log line's header that stand in brackets.
#include "read/lines/log_header.h"
#include "read/lines/log_header_text.h"

namespace mw {

using namespace log_header;  // NOLINT(google-build-using-namespace): the words of this class alone

bool LogHeader::take_bracket() {
  const size_t close = rest_.substr(0, kBracketLimit).find(']');
  if (close == std::string_view::npos || close == 1) return false;
  const std::string_view inner = rest_.substr(1, close - 1);
  const size_t used = close + 1;
  const bool took = take_rank(inner, used) || take_bracket_stamp(inner, used) || take_bracket_level(inner, used) ||
                    take_bracket_name(inner, used);
  taken_ = taken_ || took;
  return took;
}

/// torchrun's "[default0]:", Python's "[rank3]:" under torchrun, prime-rl's "[trainer0]:", MindSpeed's
/// "[Rank 3 | Local Rank 0] ".
bool LogHeader::take_rank(std::string_view inner, size_t used) {
  if (const size_t bar = inner.find(" | Local Rank "); bar != std::string_view::npos && inner.starts_with("Rank ")) {
    const auto value = parse_int(inner.substr(5, bar - 5));
    if (!value || *value < 0 || *value >= 1'000'000) return false;
    line_.rank = static_cast<int>(*value);
    drop(used);
    return true;
  }
  if (inner.starts_with("Rank ") || inner.starts_with("rank ") || inner.starts_with("RANK ")) {
    const auto value = parse_int(inner.substr(5));  // part of the message: "[Rank 0] Saved model"
    if (value && line_.rank < 0 && *value >= 0 && *value < 1'000'000) line_.rank = static_cast<int>(*value);
    return false;
  }
  size_t i = 0;
  while (lower(char_at(inner, i)) || upper(char_at(inner, i))) ++i;
  const size_t width = count_digits(inner, i);
  if (i == 0 || width == 0 || width > 6 || i + width != inner.size() || char_at(rest_, used) != ':') return false;
  line_.rank = static_cast<int>(parse_int(inner.substr(i)).value_or(-1));
  drop(used + 1);
  padded_ = !inner.starts_with("rank");  // only Python's own hook puts a space behind it
  return true;
}

/// "[2026-02-19 09:08:11,482]", SGLang's "[... DP0 TP0]", Ray's "[2026-02-19 09:08:11,482 E 39 39]", "[09:08:11]",
/// "[W219 09:08:11.5 file.cpp:12]", dmesg's "[12345.678901]".
bool LogHeader::take_bracket_stamp(std::string_view inner, size_t used) {
  if (const Level level = level_letter(inner[0]); level != Level::kNone && digit(char_at(inner, 1))) {
    const auto stamp = read_glog_stamp(inner.substr(1));
    if (!stamp) return false;
    note_stamp(*stamp);
    if (line_.level == Level::kNone) line_.level = level;
    note_logger(trim(inner.substr(1 + stamp->used)));
    drop(used);
    return record_ = true;
  }
  Level nemo = Level::kNone;
  if (inner.starts_with("NeMo ") && inner.size() > 8) {
    nemo = level_letter(inner[5]);
    inner.remove_prefix(7);
  }
  const auto stamp = read_stamp(left_trim(inner));
  if (!stamp) {
    const std::string_view seconds = left_trim(inner);
    const size_t whole = count_digits(seconds, 0);
    const bool uptime = whole > 0 && char_at(seconds, whole) == '.' && count_digits(seconds, whole + 1) == 6 &&
                        whole + 7 == seconds.size();
    if (uptime) drop(used);
    return uptime;
  }
  std::string_view after = trim(left_trim(inner).substr(stamp->used));
  if (char_at(after, 0) == '<' || char_at(after, 0) == '/' || after.size() > 80) return false;  // a progress bar
  note_stamp(*stamp);
  if (nemo != Level::kNone) {
    line_.level = nemo;
    note_logger(after);
  } else if (line_.level == Level::kNone && (after.size() == 1 || char_at(after, 1) == ' ')) {
    line_.level = level_letter(char_at(after, 0));
  }
  if (line_.rank < 0) line_.rank = rank_in(after);
  drop(used);
  if (char_at(rest_, 0) == ':') drop(1);
  return record_ = true;
}

/// "[INFO]", "[INFO|trainer.py:2128]", structlog's "[warning  ]" behind a stamp.
bool LogHeader::take_bracket_level(std::string_view inner, size_t used) {
  size_t width = 0;
  Level level = level_word(trim(inner), &width);
  if (level == Level::kNone && record_ && lower(inner[0])) {
    std::string loud(trim(inner));
    for (char& c : loud) c = lower(c) ? static_cast<char>(c - 'a' + 'A') : c;
    level = level_word(loud, &width);
    if (width != loud.size()) return false;
  }
  if (level == Level::kNone || line_.level != Level::kNone) return false;
  const std::string_view after = trim(inner).substr(width);
  if (!after.empty() && after[0] != '|' && after[0] != ':' && after[0] != ' ') return false;
  line_.level = level;
  if (!after.empty()) note_logger(trim(after.substr(1)));
  drop(used);
  if (char_at(rest_, 0) == ':') drop(1);
  return record_ = true;
}

/// "[core.py:340]" behind a level or a stamp; names in front of a stamp, a level or another bracket; kubectl's pods.
bool LogHeader::take_bracket_name(std::string_view inner, size_t used) {
  const std::string_view after = left_trim(rest_.substr(used));
  size_t width = 0;
  const bool level_next = line_.level == Level::kNone && level_word(after, &width) != Level::kNone;
  const bool plain = std::all_of(inner.begin(), inner.end(), [](char c) { return name_char(c) || c == ' '; });
  const bool source = record_ && (source_name(inner) || dotted_name(inner));
  const bool chained = record_ && plain && char_at(rest_, used) == '[' && sources_ < 2;
  const bool before_header = plain && (at_stamp(after) || (record_ && level_next) || after.starts_with("(AReaL) "));
  const bool pod = inner.starts_with("pod/") && !record_;
  if (!source && !chained && !before_header && !pod) return false;
  if (pod) {
    line_.actor = inner.substr(4);
  } else {
    note_logger(inner);
  }
  ++sources_;
  drop(used);
  return true;
}

}  // namespace mw
