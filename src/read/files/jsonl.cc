#include "read/files/jsonl.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "read/files/json_rewards.h"
#include "read/files/plain_json.h"
#include "read/files/written_figures.h"
#include "read/lines/logged_message.h"
#include "read/lines/wrapped_line.h"

namespace mw {
namespace {

class RowLeaves : public JsonLeaves {
 public:
  explicit RowLeaves(RowBuilder& row) : row_(row) {}
  void number(std::string_view path, double value) override { row_.add_number(row_.keep(path), value); }
  void string(std::string_view path, std::string_view value) override {
    row_.add_text(row_.keep(path), row_.keep(value));
  }
  bool enter_array(std::string_view) override { return false; }

 private:
  RowBuilder& row_;
};

constexpr std::string_view kData = "data/";
constexpr std::string_view kTraceHead = "Traceback (most recent call last)";
constexpr std::string_view kTraceLine = "Traceback (most recent call last):";
constexpr size_t kLogTextLimit = size_t{64} << 10;  // bytes of one message; more is no word of a log
constexpr size_t kLogNumbers = 6;                   // time, process, thread, line, …: more are metrics

std::string_view last_name(std::string_view key) { return key.substr(key.rfind('/') + 1); }

template <size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::any_of(names.begin(), names.end(), [name](std::string_view one) { return to_lower(name) == one; });
}

/// As logging and its JSON formatters name them.
bool is_exception_name(std::string_view name) {
  return is_one_of(name, std::array<std::string_view, 4>{"exc_info", "exc_text", "stack_trace", "stacktrace"});
}
bool is_message_name(std::string_view name) {
  return is_one_of(name, std::array<std::string_view, 10>{"message", "msg", "log", "event", "text", "textpayload",
                                                          "exception", "traceback", "error", "err"});
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// What a record says, rather than what went wrong.
bool is_words_name(std::string_view name) {
  return is_one_of(name, std::array<std::string_view, 6>{"message", "msg", "log", "event", "text", "textpayload"});
}

struct LogRecord {
  bool level = false;  ///< it says how grave it is
  bool loud = false;   ///< an error
  bool warns = false;  ///< a warning
  bool words = false;  ///< a logger wrote it, and whatever figures it has are in its message
  bool plain = false;  ///< it is words, with hardly a number
  bool other = false;  ///< of a tool, a sample or an environment, whose errors are none of the run's
};

LogRecord log_record(RowBuilder& row) {
  LogRecord record;
  record.plain = row.numbers().size() <= kLogNumbers;
  for (const RowText& text : row.texts()) {
    const std::string_view name = last_name(text.key);
    if (is_one_of(name, std::array<std::string_view, 5>{"level", "levelname", "severity", "lvl", "log_level"})) {
      record.level = true;
      record.loud = is_one_of(text.value, std::array<std::string_view, 4>{"error", "critical", "fatal", "err"});
      record.warns = is_one_of(text.value, std::array<std::string_view, 2>{"warning", "warn"});
    }
    const bool logger = is_one_of(
        name, std::array<std::string_view, 6>{"logger", "logger_name", "stream", "caller", "pathname", "funcname"});
    record.words = record.words || record.level || logger;
    if (text.key.starts_with("record/")) continue;  // loguru's: its "function" is the caller's name
    record.other = record.other || is_one_of(name, std::array<std::string_view, 8>{"tool", "tool_name", "function",
                                                                                   "prompt", "response", "completion",
                                                                                   "observation", "tool_output"});
  }
  const auto levels = [](const RowNumber& one) { return contains(one.key, "level"); };  // 30 is INFO to some
  record.words = record.words || std::any_of(row.numbers().begin(), row.numbers().end(), levels);
  record.words = record.words && std::all_of(row.numbers().begin(), row.numbers().end(),
                                             [](const RowNumber& one) { return is_logger_name(one.key); });
  return record;
}

/// Words, rather than the pieces of a record or what never was text.
bool is_text(std::string_view line) {
  const std::string_view bare = trim(line);
  const bool object = bare[0] == '{' && bare.substr(1, 1) != "'";  // Python's {'a': 1} is text to us
  const bool piece = object || (bare == line && bare.back() == '}' && contains(bare, "\":"));
  return !piece && std::none_of(bare.begin(), bare.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t' && c != '\x1b' && c != '\r') || byte == 0x7f;
  });
}

/// Whether everything but step and time is below "data/".
bool all_in_data(RowBuilder& row) {
  size_t inside = 0;
  const auto outside = [&](std::string_view key) {
    if (key.substr(0, kData.size()) == kData) return ++inside, false;
    return step_key_rank(key) < 0 && !contains(key, "time");
  };
  for (const RowNumber& number : row.numbers()) {
    if (outside(number.key)) return false;
  }
  for (const RowText& text : row.texts()) {
    if (outside(text.key)) return false;
  }
  return inside > 0;
}

template <typename Values>
void strip_data(Values& values) {
  for (auto& value : values) {
    if (value.key.substr(0, kData.size()) == kData) value.key.remove_prefix(kData.size());
  }
}

}  // namespace

bool read_json_record(std::string_view json, RowBuilder& row) {
  if (json.empty() || json[0] != '{') return row.clear(), false;
  if (!read_plain_json(json, row)) {
    row.clear();
    RowLeaves leaves(row);
    if (!for_each_leaf(json, leaves)) return row.clear(), false;
  }
  add_listed_rewards(json, row);
  add_written_figures(json, row);
  if (all_in_data(row)) strip_data(row.numbers()), strip_data(row.texts());
  return true;
}

void JsonlDecoder::feed(std::string_view bytes, RecordSink& sink) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const bool ended = end != std::string_view::npos;
    const std::string_view piece = bytes.substr(0, end);
    if (!overlong_ && pending_.size() + piece.size() > kJsonLineLimit) {
      too_long_.report(sink, "a line of more than 8 MiB was left out", lines_ + 1);
      overlong_ = true;
      pending_ = std::string();
    }
    offset_ += piece.size() + (ended ? 1 : 0);
    if (!ended) {
      if (!overlong_) pending_.append(piece);
      return;
    }
    bytes.remove_prefix(end + 1);
    ++lines_;
    if (!overlong_) {
      if (!pending_.empty()) pending_.append(piece);
      const std::string_view text = pending_.empty() ? piece : std::string_view(pending_);
      if (!line(text, sink)) left_out(text, sink);
    }
    pending_.clear();
    overlong_ = false;
    consumed_ = offset_;
  }
}

/// Hands the row of one line over; false when it holds something else than a record.
bool JsonlDecoder::line(std::string_view text, RecordSink& sink) {
  if (lines_ <= 1 && text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);
  const std::string_view whole = text;
  text = trim(text);
  if (text.empty()) return true;
  if (!read_json_record(text, row_)) {
    if (!is_text(whole)) return false;
    sink.text(whole.substr(0, whole.find_last_not_of('\r') + 1), lines_, {});
    return true;
  }
  const StepAndTime found = find_step_and_time(row_.numbers(), row_.texts());
  say_log_text(text, found.at, sink);
  row_.hand_over(sink, lines_, found.step, found.at);
  return true;
}

void JsonlDecoder::left_out(std::string_view text, RecordSink& sink) {
  not_a_record_.report(sink, clip(trim(text), 200), lines_);
  damage_.add(offset_ - text.size() - 1, text.size() + 1);
}

/// A line of a log that a collector wrapped, where a logger wrote it or it is one of a traceback. What only holds a
/// message may be anybody's, and what says how grave it is is read by that.
bool JsonlDecoder::say_wrapped_line(std::string_view json, bool logged, Time at, RecordSink& sink) {
  const bool behind_trace = std::exchange(in_trace_, false);
  if (row_.numbers().size() > kLogNumbers || !read_wrapped_line(json, wrapped_time_, wrapped_text_)) return false;
  in_trace_ = trim(wrapped_text_) == kTraceLine || (behind_trace && wrapped_text_.starts_with(' '));
  if (!logged && !in_trace_ && !behind_trace) return false;
  sink.text(wrapped_text_, lines_, at);
  return true;
}

/// A record of a log says in words what a text log would: they are read as such.
void JsonlDecoder::say_log_text(std::string_view json, Time at, RecordSink& sink) {
  if (row_.texts().empty()) return;
  const LogRecord record = log_record(row_);
  if (record.other || say_wrapped_line(json, record.words && !record.loud && !record.warns, at, sink)) return;
  for (const RowText& text : row_.texts()) {
    const std::string_view name = last_name(text.key);
    const bool trace = contains(text.value, kTraceHead) && (is_exception_name(name) ? true : is_message_name(name));
    const bool figures =
        record.words && is_words_name(name) && std::any_of(text.value.begin(), text.value.end(), is_digit);
    const bool said = record.loud ? is_message_name(name) : figures;
    const bool relevant = trace ? is_exception_name(name) || record.level || record.plain : said;
    if (!relevant || text.value.size() > kLogTextLimit) continue;
    const std::string line(trace ? "" : record.loud ? "ERROR " : record.warns ? "WARNING " : "");
    for (const std::string_view part : split(text.value, '\n'))
      sink.text(line.empty() ? part : line + std::string(part), lines_, at);
    if (!trace && !record.loud) return;  // the same words may stand under two names
  }
}

void JsonlDecoder::finish(RecordSink& sink) {
  if (pending_.empty() && !overlong_) return damage_.report(sink, offset_);
  ++lines_;
  if (overlong_ || !line(pending_, sink)) {
    sink.problem("torn-tail", cat("the last line, ", pending_.size(), " bytes, is no whole record"), lines_);
  } else {
    consumed_ = offset_;
  }
  pending_.clear();
  damage_.report(sink, offset_);
}

}  // namespace mw
