#include "read/lines/log_line.h"

#include <algorithm>
#include <array>

#include "base/numbers.h"
#include "base/text.h"
#include "read/lines/log_header.h"
#include "read/lines/log_time.h"

namespace mw {
namespace {

constexpr char kEscape = '\x1b';
constexpr int kLabelsSure = 8;         ///< from which on srun's labels are believed
constexpr size_t kEscapeLimit = 4096;  ///< bytes an OSC string may take before it counts as unterminated

bool between(char c, int low, int high) {
  return static_cast<unsigned char>(c) >= low && static_cast<unsigned char>(c) <= high;
}

/// The end of the escape sequence that begins at `at` (ECMA-48: CSI, OSC and the other string sequences, two-byte
/// ones).
size_t escape_end(std::string_view text, size_t at) {
  size_t i = at + 1;
  if (i >= text.size()) return i;
  if (text[i] == '[') {
    ++i;
    while (i < text.size() && between(text[i], 0x20, 0x3f)) ++i;
    return i < text.size() && between(text[i], 0x40, 0x7e) ? i + 1 : i;
  }
  if (text[i] == ']' || text[i] == 'P' || text[i] == '_' || text[i] == '^' || text[i] == 'X') {
    const size_t limit = std::min(text.size(), i + kEscapeLimit);
    for (size_t j = i + 1; j < limit && text[j] != '\n'; ++j) {
      if (text[j] == '\a') return j + 1;
      if (text[j] == kEscape) return j + 1 < text.size() && text[j + 1] == '\\' ? j + 2 : j;
    }
    return i + 1;  // unterminated: drop only the introducer, keep the text
  }
  while (i < text.size() && between(text[i], 0x20, 0x2f)) ++i;
  return i < text.size() && between(text[i], 0x30, 0x7e) ? i + 1 : i;
}

/// What launchers over several machines put before each line: pdsh's "10.0.0.2: ", mpirun's "[1,3]<stderr>:". Returns
/// its length, 0 when there is none.
size_t launcher_prefix(std::string_view line, int* rank) {
  const auto digits = [&](size_t at) {
    size_t i = at;
    while (i < line.size() && line[i] >= '0' && line[i] <= '9' && i - at < 7) ++i;
    return i - at;
  };
  size_t at = 0;
  if (line.starts_with("[")) {
    const size_t job = digits(1);
    at = 1 + job;
    if (job == 0 || at >= line.size() || line[at] != ',') return 0;
    const size_t width = digits(at + 1);
    const std::string_view number = line.substr(at + 1, width);
    at += 1 + width;
    if (width == 0) return 0;
    for (const std::string_view stream : {"]<stdout>:", "]<stderr>:"}) {
      if (!line.substr(at).starts_with(stream)) continue;
      *rank = static_cast<int>(parse_int(number).value_or(-1));
      return at + stream.size();
    }
    return 0;
  }
  for (int part = 0; part < 4; ++part) {
    const size_t width = digits(at);
    if (width == 0 || width > 3) return 0;
    at += width;
    const std::string_view separator = part < 3 ? "." : ": ";
    if (!line.substr(at).starts_with(separator)) return 0;
    at += separator.size();
  }
  return at;
}

bool is_name_char(char c) {
  return between(c | 32, 'a', 'z') || between(c, '0', '9') || c == '.' || c == '_' || c == '-';
}

/// The length of a machine's name before a line ("node01: ", as pdsh writes it), or of a rank in brackets ("[0] ", as
/// `mpiexec -l` does); 0 when there is none. A step or an epoch before each line is no machine.
size_t named_label(std::string_view line) {
  constexpr size_t kMost = 40;
  static constexpr std::array<std::string_view, 7> kNoMachine = {"step",  "epoch",  "iter", "batch",
                                                                 "round", "sample", "q"};
  if (line.starts_with("[")) {
    const size_t close = line.find(']');
    const bool rank = close <= 5 && parse_int(line.substr(1, close - 1)).has_value();
    return rank && line.substr(close + 1, 1) == " " ? close + 2 : 0;
  }
  size_t end = 0, digits = 0;
  for (; end < line.size() && end <= kMost && is_name_char(line[end]); ++end) digits += between(line[end], '0', '9');
  if (digits == 0 || end > kMost || !between(line[0] | 32, 'a', 'z') || line.substr(end, 1) != ":") return 0;
  const std::string name = to_lower(line.substr(0, end));
  const auto begins = [&name](std::string_view word) { return name.starts_with(word); };
  if (std::any_of(kNoMachine.begin(), kNoMachine.end(), begins)) return 0;
  if (end + 1 == line.size()) return end + 1;
  return line[end + 1] == ' ' ? end + 2 : 0;
}

/// What labels of one kind share: "node" of "node01: ", "[" of "[0] ".
std::string_view family_of(std::string_view label) {
  const size_t end = label.find_first_of("0123456789");
  return label.substr(0, std::min(end, label.size()));
}

/// "[repeated 4x across cluster]" near the end, with or without Ray's explanation behind it; cuts it off.
void take_repeated(std::string_view& text, LogLine& line) {
  constexpr std::string_view kMark = "[repeated ";
  constexpr size_t kTail = 400;  // Ray's explanation is shorter than this
  if (text.empty() || (text.back() != ']' && text.back() != ')')) return;
  const size_t at = text.rfind(kMark);
  if (at == std::string_view::npos || text.size() - at > kTail) return;
  uint64_t count = 0;
  size_t i = at + kMark.size();
  for (; i < text.size() && text[i] >= '0' && text[i] <= '9' && count < 1'000'000'000; ++i) {
    count = count * 10 + static_cast<uint64_t>(text[i] - '0');
  }
  if (count == 0 || text.substr(i, 16) != "x across cluster") return;
  line.repeated = count;
  text = text.substr(0, at);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
}

}  // namespace

std::string_view strip_ansi(std::string_view line, std::string& out) {
  size_t at = line.find(kEscape);
  if (at == std::string_view::npos) return line;
  out.clear();
  out.reserve(line.size());
  size_t from = 0;
  while (at != std::string_view::npos) {
    out.append(line.substr(from, at - from));
    from = escape_end(line, at);
    at = line.find(kEscape, from);
  }
  if (from < line.size()) out.append(line.substr(from));
  return out;
}

void LineReader::set_zone(const TimeZone& zone) {
  if (last_.known()) last_ = zone.to_wall(zone_.to_utc(last_));
  zone_ = zone;
  zone_set_ = true;
  lacks_zone_ = false;
}

void LineReader::set_date_hint(Time date) {
  if (!last_.known()) {
    last_ = date.known() ? zone_.to_wall(date) : date;
    hinted_ = date.known();
    order_.set_changed(last_);
  }
}

void LineReader::expect_dates(std::string_view head) {
  if (last_.known() && !hinted_) return;
  expect_order(head);
  if (!expect_date_in(head, {}) && last_.known()) (void)expect_date_in(head, last_);
}

/// The first whole date in `head`; with the day of the file's last change also the first of a month and a day.
bool LineReader::expect_date_in(std::string_view head, Time changed) {
  constexpr size_t kLines = 2000;
  LineReader ahead;
  ahead.set_zone(zone_);
  ahead.last_ = changed;
  ahead.hinted_ = changed.known();
  ahead.seeks_date_ = true;
  ahead.order_ = order_;
  ahead.clocks_ = clocks_;
  for (size_t i = 0; i < kLines && !head.empty(); ++i) {
    const size_t end = std::min(head.find('\n'), head.size() - 1);
    const Time at = ahead.read(head.substr(0, end + 1), i + 1).at;
    head.remove_prefix(end + 1);
    if (!at.known()) continue;
    last_ = zone_.to_wall(at);
    hinted_ = expected_ = true;
    lacks_date_ = ahead.lacks_date_;
    return true;
  }
  return false;
}

/// In which order the dates in `head` are, where its first lines have some that may be either.
void LineReader::expect_order(std::string_view head) {
  constexpr size_t kLines = 20, kMost = 20'000;
  LineReader ahead;
  ahead.order_ = order_;
  ahead.clocks_ = clocks_;
  for (size_t i = 0; i < kMost && !head.empty() && (i < kLines || ahead.order_.open()); ++i) {
    const size_t end = std::min(head.find('\n'), head.size() - 1);
    (void)ahead.read(head.substr(0, end + 1), i + 1);
    head.remove_prefix(end + 1);
  }
  order_.learn(ahead.order_);
}

void LineReader::expect_clocks(std::string_view head) {
  constexpr size_t kLines = 12;
  LineReader ahead;
  ahead.containers_ = containers_;
  ahead.family_ = family_;
  ahead.labels_ = labels_;
  for (size_t i = 0; i < kLines && !head.empty(); ++i) {
    const size_t end = std::min(head.find('\n'), head.size() - 1);
    (void)ahead.read(head.substr(0, end + 1), i + 1);
    head.remove_prefix(end + 1);
  }
  if (ahead.clocks_.sure()) clocks_.begin_with(ahead.clocks_);
}

void LineReader::expect_labels(std::string_view head) {
  containers_.expect(head);
  expect_names(head);
  expect_numbers(head);
  expect_clocks(head);
}

/// srun's labels: "3: message".
void LineReader::expect_numbers(std::string_view head) {
  constexpr size_t kLines = 12;  // all of which have one, and of which some neighbours have the same
  size_t lines = 0, same = 0;
  std::string_view before;
  for (; lines < kLines && head.find('\n') != std::string_view::npos; ++lines) {
    const std::string_view line = trim(head.substr(0, head.find('\n')));
    head.remove_prefix(head.find('\n') + 1);
    const std::string_view name = line.substr(0, line.find(':'));
    const bool number = !name.empty() && name.size() <= 6 && name.size() < line.size() && parse_int(name).has_value();
    const bool apart = line.size() == name.size() + 1 || line.substr(std::min(line.size(), name.size() + 1), 1) == " ";
    if (!number || !apart) return;
    same += name == before ? 1 : 0;
    before = name;
  }
  if (lines == kLines && same * 3 >= lines) labels_ = kLabelsSure;
}

void LineReader::expect_names(std::string_view head) {
  constexpr size_t kLines = 12;
  size_t lines = 0, same = 0;
  std::string_view before, family;
  for (; lines < kLines && head.find('\n') != std::string_view::npos; ++lines) {
    const std::string_view line = head.substr(0, head.find('\n'));
    head.remove_prefix(line.size() + 1);
    const std::string_view label = line.substr(0, named_label(line));
    if (label.empty() || (lines > 0 && family_of(label) != family)) return;
    same += label == before ? 1 : 0;
    before = label;
    family = family_of(label);
  }
  if (lines == kLines && same * 3 >= lines) family_ = family;
}

/// "*** JOB 7 ON node CANCELLED AT 2026-02-19T09:08:11 DUE TO TIME LIMIT ***", as slurmstepd writes it: the moment.
std::optional<Stamp> LineReader::slurm_stamp(std::string_view text) const {
  constexpr size_t kHead = 120;  // bytes within which the stars stand
  constexpr std::string_view kAt = " CANCELLED AT ";
  if (!line_.rare.may_hold('*') || text.substr(0, kHead).find("*** ") == std::string_view::npos) return std::nullopt;
  const size_t at = text.find(kAt);
  return at == std::string_view::npos ? std::nullopt : read_stamp(text.substr(at + kAt.size()));
}

const LogLine& LineReader::read(std::string_view line, uint64_t number) {
  line_ = LogLine{};
  line_.number = number;
  wall_ = {};
  if (line.size() > kBytesLimit) line = line.substr(0, kBytesLimit);
  const RareBytes rare = line_.rare = RareBytes(line);
  std::string_view clean = rare.may_hold(kEscape) ? strip_ansi(line, clean_) : line;
  while (!clean.empty() && (clean.back() == '\n' || clean.back() == '\r')) clean.remove_suffix(1);

  LogHeader header(line_, clocks_);
  const size_t drawn = rare.may_hold('\r') ? clean.rfind('\r') : std::string_view::npos;
  if (drawn != std::string_view::npos) {  // a progress bar: what wraps the line stands before its first picture
    header.take_wrapping(clean.substr(0, clean.find('\r')));
    clean = clean.substr(drawn + 1);
  }
  line_.whole = clean;
  std::string_view text = label(clean);
  take_repeated(text, line_);
  line_.text = header.take(text);
  if (line_.level == Level::kNone) line_.level = level_in_words(line_.text, rare);
  if (!clean.empty()) heed_clock(header.bare_clock());
  if (header.stamp()) {
    date(*header.stamp(), header.month_first());
  } else if (const auto stamp = slurm_stamp(line_.text)) {
    date(*stamp, false);
  }
  return line_;
}

void LineReader::heed_clock(BareClocks::Begin begin) {
  constexpr int64_t kMs = 1'000'000, kDayMs = 86'400'000;
  if (!hinted_ && last_.known()) begin.moment_ms = static_cast<int32_t>(last_.ns / kMs % kDayMs);
  clocks_.line(line_.number, begin);
}

void LineReader::date(Stamp stamp, bool month_first) {
  if (stamp.zoned) {
    line_.at = stamp.at;
    last_ = zone_.to_wall(stamp.at);
    hinted_ = false;
    return;
  }
  if (stamp.order != Stamp::Order::kNone) {
    stamp.at = order_.moment(stamp, month_first);
    if (!stamp.at.known()) return;
  }
  if (stamp.kind != Stamp::Kind::kFull) line_.clock_ms = static_cast<int32_t>(stamp.day_ns / 1'000'000);
  if (seeks_date_ && stamp.kind == Stamp::Kind::kClock) return;
  if (hinted_ && stamp.kind == Stamp::Kind::kClock) {  // the hint is good for its day, not for its hour
    constexpr int64_t kDay = 86400LL * 1'000'000'000;
    Time same{last_.ns - last_.ns % kDay + stamp.day_ns};
    if (expected_ && same.ns > last_.ns + kDay / 2) same.ns -= kDay;  // before the midnight of the first date
    last_ = same;
  }
  line_.at = hinted_ && !expected_ ? latest_before(stamp, last_) : Time{};  // a line is not younger than its file
  if (!line_.at.known()) line_.at = complete_stamp(stamp, last_);
  if (!line_.at.known()) return;
  lacks_date_ = lacks_date_ || (hinted_ && !expected_ && stamp.kind != Stamp::Kind::kFull);
  lacks_zone_ = lacks_zone_ || !zone_set_;
  last_ = wall_ = line_.at;
  line_.at = zone_.to_utc(wall_);
  hinted_ = false;
}

std::string_view LineReader::label(std::string_view line) {
  // "3: message" is what srun -l writes, and also how people number a list. Only a file whose lines nearly all begin
  // so is taken to be labelled; a number that comes twice in a row numbers no list.
  constexpr int kMost = 16, kSame = 7;
  if (const size_t launcher = launcher_prefix(line, &line_.rank); launcher > 0) return line.substr(launcher);
  if (const size_t container = containers_.label(line); container > 0) return line.substr(container);
  if (!family_.empty() && line.starts_with(family_)) {
    if (const size_t named = named_label(line); named > 0) return line.substr(named);
  }
  size_t i = 0;
  while (i < line.size() && line[i] == ' ' && i < 6) ++i;
  const size_t first = i;
  int rank = 0;
  for (; i < line.size() && line[i] >= '0' && line[i] <= '9' && i - first < 6; ++i) rank = rank * 10 + (line[i] - '0');
  const bool labelled = i > first && i < line.size() && line[i] == ':' && (i + 1 == line.size() || line[i + 1] == ' ');
  if (!labelled) {
    labels_ = line.empty() ? labels_ : std::max(0, labels_ - 2);
    last_label_ = line.empty() ? last_label_ : -1;
    return line;
  }
  labels_ = std::min(kMost, labels_ + (rank == last_label_ ? kSame : 1));
  last_label_ = rank;
  const std::string_view rest = line.substr(std::min(i + 2, line.size()));
  if (labels_ < kLabelsSure && !LogHeader::begins(rest)) return line;
  line_.rank = rank;
  return rest;
}

}  // namespace mw
