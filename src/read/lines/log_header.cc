#include "read/lines/log_header.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/byte_set.h"
#include "base/numbers.h"
#include "base/text.h"
#include "read/lines/log_header_text.h"

namespace mw {

using namespace log_header;  // NOLINT(google-build-using-namespace): the words of this class alone

namespace {

constexpr int kPiecesLimit = 14;       ///< pieces of one header: two processes, three stamps, level, names
constexpr size_t kProcessLimit = 160;  ///< bytes of "(Name pid=1, ip=10.0.0.1)"
constexpr size_t kLoggerLimit = 96;    ///< bytes of a logger's name, spaces included

/// What a container runtime writes: "2026-02-19T09:08:11.123456789Z".
bool container_stamp(std::string_view text, const Stamp& stamp) {
  return stamp.kind == Stamp::Kind::kFull && char_at(text, 10) == 'T' && stamp.used >= 26 &&
         (text[stamp.used - 1] == 'Z' || char_at(text, stamp.used - 3) == ':');
}

/// A progress bar, or the dict of a Trainer's record: what begins a message, whatever stands before it.
bool opens_output(std::string_view text) {
  text = left_trim(text);
  const size_t percent = count_digits(text, 0);
  return text.starts_with("{'") || (percent > 0 && percent <= 3 && text.substr(percent).starts_with("%|"));
}

/// A traceback's head or verl's record: what neither a duration nor a column of a table stands before.
bool opens_record(std::string_view text) {
  constexpr std::string_view kStep = "step:";
  return text.starts_with("Traceback (most recent call last)") ||
         (text.starts_with(kStep) && digit(char_at(text, kStep.size())) && contains(text, " - "));
}

/// What machines and containers are called. (A bar's title may end in a number, too: "MATH-500: 12%|".)
bool machine_name(std::string_view name) {
  static constexpr std::array<std::string_view, 14> kBegins = {"worker",  "node",     "gpu",   "host", "rank",
                                                               "ip-",     "master",   "train", "algo", "pod",
                                                               "compute", "launcher", "dgx",   "hgx"};
  const bool address =
      std::count(name.begin(), name.end(), '.') == 3 && name.find_first_not_of("0123456789.") == std::string_view::npos;
  return address || std::any_of(kBegins.begin(), kBegins.end(),
                                [name](std::string_view begin) { return name.starts_with(begin); });
}

}  // namespace

std::string_view LogHeader::take(std::string_view text) {
  rest_ = text;
  record_ = taken_ = padded_ = false;
  (void)take_host();
  for (int i = 0; i < kPiecesLimit && step(); ++i) {
  }
  finish();
  return rest_;
}

void LogHeader::take_wrapping(std::string_view text) {
  take(text);
  line_.level = Level::kNone;
  line_.logger = {};
  sources_ = 0;
}

bool LogHeader::step() {
  const std::string_view before = rest_;
  rest_ = left_trim(rest_);
  dashed_ = record_ && rest_.starts_with("- ");
  static constexpr ByteSet kSeparating("|->");
  if (record_ && kSeparating.holds(char_at(rest_, 0)) && !is_row(rest_)) {
    for (const std::string_view separator : {"| ", "- ", ">> ", "-- "}) {
      if (rest_.starts_with(separator)) {
        rest_ = left_trim(rest_.substr(separator.size()));
        break;
      }
    }
  }
  const bool padded = padded_;
  padded_ = false;
  bool took = false;
  switch (char_at(rest_, 0)) {
    case '\0':
      break;
    case '(':
      took = take_process();
      break;
    case '[':
      took = take_bracket();
      break;
    default:
      took =
          take_glog() || take_stamp() || take_syslog() || take_level() || take_logger_before_level() || take_source();
  }
  if (took) return true;
  rest_ = before;
  padded_ = padded;
  return false;
}

/// Drops what separates the header from the message: one space (more would be the message's indentation), or a dash,
/// bar or colon.
void LogHeader::finish() {
  if (record_) {
    static constexpr ByteSet kSeparating("-|>:");
    const std::string_view text = left_trim(rest_);
    for (const std::string_view separator : {"- ", "| ", ">> ", "-- ", ": "}) {
      if (!kSeparating.holds(char_at(text, 0))) break;
      if (!text.starts_with(separator) || is_row(text)) continue;
      rest_ = text.substr(separator.size());
      return;
    }
  }
  const char c = char_at(rest_, 0);
  if (taken_ && !padded_ && (c == ' ' || c == '\t')) drop(1);
}

void LogHeader::note_stamp(const Stamp& stamp) {
  if (!stamp_ || (stamp_->kind != Stamp::Kind::kFull && stamp.kind == Stamp::Kind::kFull)) stamp_ = stamp;
}

void LogHeader::note_logger(std::string_view name) {
  if (line_.logger.empty()) line_.logger = name;
}

/// "worker-0: ", "10.0.0.2: " of pdsh, "trainer-1  | " of Docker Compose: the machine or container that printed it.
bool LogHeader::take_host() {
  constexpr size_t kNameLimit = 40;
  const std::string_view text = left_trim(rest_);
  size_t at = 0, digits = 0;
  for (; name_char(char_at(text, at)) && at <= kNameLimit; ++at) digits += digit(text[at]) ? 1 : 0;
  const std::string_view name = text.substr(0, at);
  if (digits == 0 || digits == at || at > kNameLimit) return false;
  std::string_view after = text.substr(at);
  const bool colon = after.starts_with(": ");
  if (!colon) after = left_trim(after);
  if ((colon && !machine_name(name)) || (!colon && !after.starts_with("| ")) || !opens_output(after.substr(2)))
    return false;
  rest_ = after.substr(2);
  return taken_ = padded_ = true;
}

// ---- processes: Ray "(Name pid=1, ip=10.0.0.1)", vLLM "(EngineCore_0 pid=1)", "(raylet)"
// ------------------------------

bool LogHeader::take_process() {
  const std::string_view head = rest_.substr(0, kProcessLimit);
  const size_t pid_at = head.find("pid=");
  if (pid_at != std::string_view::npos) {
    const size_t width = count_digits(head, pid_at + 4);
    size_t end = pid_at + 4 + width;
    const auto pid = parse_int(head.substr(pid_at + 4, width));
    std::string_view ip;
    if (head.substr(end, 5) == ", ip=") {
      const size_t close = head.find(')', end);
      if (close == std::string_view::npos) return false;
      ip = head.substr(end + 5, close - end - 5);
      end = close;
    }
    if (!pid || char_at(head, end) != ')') return false;
    line_.pid = *pid;
    line_.actor = trim(head.substr(1, pid_at - 1));
    if (!ip.empty()) line_.ip = ip;
    if (line_.rank < 0) line_.rank = rank_in(line_.actor);
    drop(end + 1);
    return taken_ = true;
  }
  const size_t close = head.find(')');
  return close != std::string_view::npos && take_named_process(head.substr(1, close - 1), close + 1);
}

bool LogHeader::take_named_process(std::string_view inner, size_t used) {
  const size_t comma = inner.find(", ip=");
  const std::string_view name = inner.substr(0, comma);
  const bool ray = name == "raylet" || name == "gcs_server" || name.starts_with("autoscaler");
  const bool single = !name.empty() && std::all_of(name.begin(), name.end(), name_char);
  if (!ray && !(single && at_stamp(left_trim(rest_.substr(used))))) return false;
  if (char_at(rest_, used) != ' ') return false;
  if (line_.actor.empty() || ray) line_.actor = name;
  if (comma != std::string_view::npos) line_.ip = inner.substr(comma + 5);
  drop(used);
  return taken_ = true;
}

// ---- stamps, levels, names
// ---------------------------------------------------------------------------------------------

/// Whether a clock without a date that the line begins with is a time of day: "00:12:33 elapsed" is none.
bool LogHeader::is_time(const Stamp& stamp, std::string_view after) {
  static constexpr std::array<std::string_view, 7> kDurations = {"elapsed", "remaining", "left", "eta",
                                                                 "total",   "passed",    "ago"};
  size_t width = 0;
  const bool message = contains("[#=", after.substr(0, 1)) || after.substr(0, after.find(' ')).find('=') != kNone;
  const bool header = message || level_word(after, &width) != Level::kNone || after.starts_with("| ") ||
                      after.starts_with("- ") || opens_output(after) || opens_record(after);
  size_t first = 0;
  while (first < after.size() && !upper(after[first]) && !lower(after[first]) && after[first] >= 0) ++first;
  const std::string begin = to_lower(after.substr(std::min(first, after.size()), 10));
  const bool duration = std::any_of(kDurations.begin(), kDurations.end(),
                                    [&begin](std::string_view one) { return begin.starts_with(one); });
  bare_.clock_ms = static_cast<int32_t>(stamp.day_ns / 1'000'000);
  bare_.worded = first < after.size() && !duration;
  return header || (clocks_.sure() && !duration);
}

bool LogHeader::take_stamp() {
  if (stamps_ >= 3) return false;
  const auto stamp = read_stamp(rest_);
  if (!stamp) return false;
  const char next = char_at(rest_, stamp->used);
  if (word(next) || next == '.' || next == '/' || next == '%') return false;
  const std::string_view after = left_trim(rest_.substr(stamp->used));
  size_t width = 0;
  if (stamp->kind == Stamp::Kind::kClock && !record_ && !is_time(*stamp, after)) return false;
  const bool container = container_stamp(rest_, *stamp);
  const bool elapsed = bare_.clock_ms >= 0 && !record_ && clocks_.sure() && clocks_.elapsed();
  if (!elapsed) note_stamp(*stamp);
  month_first_ = month_first_ || (stamp->order != Stamp::Order::kNone && after.starts_with("- ") &&
                                  level_word(after.substr(2), &width) != Level::kNone);
  ++stamps_;
  drop(stamp->used);
  if (char_at(rest_, 0) == ':' || char_at(rest_, 0) == ',') drop(1);
  if (container) {
    for (const std::string_view stream : {" stdout F", " stderr F", " stdout P", " stderr P"}) {
      if (rest_.starts_with(stream)) drop(stream.size());
    }
  }
  record_ = record_ || !container;
  return taken_ = true;
}

/// "gpu-7 python[2211]: " behind a stamp, as syslog and journalctl write it (RFC 3164, 4.1).
bool LogHeader::take_syslog() {
  if (!stamp_ || stamps_ == 0 || line_.pid >= 0 || line_.level != Level::kNone) return false;
  size_t at = 0;
  while (name_char(char_at(rest_, at))) ++at;
  if (at == 0 || char_at(rest_, at) != ' ') return false;
  const size_t program = ++at;
  while (name_char(char_at(rest_, at)) || char_at(rest_, at) == '/') ++at;
  const size_t width = count_digits(rest_, at + 1);
  if (at == program || char_at(rest_, at) != '[' || width == 0 || width > 10) return false;
  if (rest_.substr(at + 1 + width, 3) != "]: ") return false;
  line_.actor = rest_.substr(program, at - program);
  line_.pid = parse_int(rest_.substr(at + 1, width)).value_or(-1);
  drop(at + 1 + width + 2);
  return taken_ = true;
}

bool LogHeader::take_glog() {
  const Level level = level_letter(char_at(rest_, 0));
  if (level == Level::kNone || !digit(char_at(rest_, 1))) return false;
  const auto stamp = read_glog_stamp(rest_.substr(1));
  if (!stamp) return false;
  note_stamp(*stamp);
  line_.level = level;
  drop(1 + stamp->used);
  rest_ = left_trim(rest_);
  const size_t thread = count_digits(rest_, 0);
  if (thread > 0 && char_at(rest_, thread) == ' ') rest_ = left_trim(rest_.substr(thread));
  const size_t close = rest_.substr(0, kBracketLimit).find(']');
  if (close != std::string_view::npos && source_name(rest_.substr(0, close))) {
    note_logger(rest_.substr(0, close));
    drop(close + 1);
  }
  return record_ = taken_ = true;
}

bool LogHeader::take_level() {
  size_t width = 0;
  const Level level = level_word(rest_, &width);
  if (level == Level::kNone || line_.level != Level::kNone) return false;
  const char next = char_at(rest_, width);
  if (next != '\0' && next != ' ' && next != ':' && next != '|' && next != '\t' && next != ']') return false;
  line_.level = level;
  record_ = taken_ = true;
  drop(width);
  if (next == ']') drop(1);
  if (next == ':') {
    drop(1);
    size_t i = 0;  // logging.basicConfig: "INFO:root:message"
    while (name_char(char_at(rest_, i))) ++i;
    if (i > 0 && i < kLoggerLimit && char_at(rest_, i) == ':' && !digit(rest_[0])) {
      note_logger(rest_.substr(0, i));
      drop(i + 1);
      padded_ = true;
      return true;
    }
  }
  constexpr size_t kColumn = 8;  // levels are padded to the longest name
  for (size_t i = width; i < kColumn && char_at(rest_, 0) == ' ' && char_at(rest_, 1) == ' '; ++i) drop(1);
  return true;
}

/// "name LEVEL: ", " - name - LEVEL - ", "Name With Spaces INFO: " behind a stamp.
bool LogHeader::take_logger_before_level() {
  if (!record_ || line_.level != Level::kNone) return false;
  const std::string_view head = rest_.substr(0, kLoggerLimit);
  for (size_t i = 1; i < head.size(); ++i) {
    const char c = head[i - 1];
    if (c == '=' || c == '"' || c == '\'' || c == '{' || (c == ':' && head[i] == ' ')) return false;
    if (!upper(head[i]) || (c != ' ' && c != '[' && c != '|')) continue;
    size_t width = 0;
    if (level_word(head.substr(i), &width) == Level::kNone) continue;
    const std::string_view after = head.substr(i + width);
    const bool closed = after.starts_with(":") || after.starts_with("]") || left_trim(after).starts_with("- ") ||
                        left_trim(after).starts_with("| ");
    const std::string_view name = trim(head.substr(0, i - (c == '[' || c == '|' ? 1 : 0)));
    const bool single = dotted_name(name) || source_name(name);
    if (!closed && !(single && after.starts_with(" "))) return false;
    size_t end = name.size();
    while (end > 0 && (name[end - 1] == ' ' || name[end - 1] == '-' || name[end - 1] == '|')) --end;
    note_logger(name.substr(0, end));
    drop(i);
    return take_level();
  }
  return false;
}

/// "trainer" in "2026-02-19 09:08:11,482 - INFO - trainer - message".
bool LogHeader::plain_logger(std::string_view token, std::string_view after) const {
  size_t number = 0;
  if (after.size() > 3 && parse_double_prefix(after.substr(3), &number)) return false;  // "reward - 0.5"
  return dashed_ && line_.level != Level::kNone && sources_ == 0 && !digit(token[0]) &&
         std::all_of(token.begin(), token.end(), name_char);
}

/// Logger and file names behind a level or a stamp.
bool LogHeader::take_source() {
  if (!record_ || sources_ >= 3) return false;
  size_t i = 0;
  const size_t limit = std::min(rest_.size(), kLoggerLimit);
  while (i < limit && rest_[i] != ' ' && rest_[i] != '\t') ++i;
  if (i == 0 || i == limit) return false;
  const std::string_view token = rest_.substr(0, i), after = rest_.substr(i);
  size_t used = 0;
  std::string_view name = token;
  if (token.back() == ']' && source_name(token.substr(0, i - 1))) {  // older vLLM: "INFO 02-19 09:08:11 model.py:12] "
    name = token.substr(0, i - 1);
    used = i;
  } else if ((is_place(token) && (after.starts_with(" - ") || after.starts_with(" -- "))) ||
             ((dotted_name(token) || plain_logger(token, after)) && after.starts_with(" - "))) {
    used = i;
  } else if (token.back() == ':') {
    name = token.substr(0, i - 1);
    const char next = char_at(after, 1);
    const bool script = line_.level != Level::kNone && contains(name, "_") && upper(next) && lower(char_at(after, 2)) &&
                        std::all_of(name.begin(), name.end(), [](char c) { return lower(c) || digit(c) || c == '_'; });
    size_t number = 0;
    const bool value = parse_double_prefix(after.substr(1), &number).has_value() || next == '{';
    if ((!dotted_name(name) && !script) || value || after.starts_with(" None") || after.starts_with(" True") ||
        after.starts_with(" False")) {
      return false;
    }
    used = i;
  }
  if (used == 0) return false;
  note_logger(name);
  ++sources_;
  drop(used);
  return true;
}

bool LogHeader::begins(std::string_view text) {
  text = left_trim(text);
  size_t width = 0;
  if (at_stamp(text) || level_word(text, &width) != Level::kNone) return true;
  if (text.starts_with("Traceback (most recent")) return true;
  return char_at(text, 0) == '(' && contains(text.substr(0, kProcessLimit), " pid=");
}

}  // namespace mw
