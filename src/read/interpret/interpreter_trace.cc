// Tracebacks, and what was matched inside them: both wait until the traceback is whole.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "core/attempts.h"
#include "core/detect/support/failure_chain.h"
#include "core/trace_frame.h"
#include "read/interpret/interpreter.h"
#include "read/interpret/interpreter_stream.h"

namespace mw {
namespace {

constexpr std::string_view kTraceHead = "Traceback (most recent call last)";
constexpr int kBetween = 3;           ///< lines between a traceback and the end that it brings about
constexpr uint64_t kLostFrames = 10;  ///< lines of a file in which an exception may stand whose frames were cut off
constexpr size_t kHookLimit = 80;     ///< bytes of a line within which the hook's head stands
constexpr size_t kWhyLimit = 200;     ///< bytes of what an attempt began with
const event::Ended kInterrupted{event::Ended::How::kInterrupted, 0, "KeyboardInterrupt"};

/// Of a match that waited with a traceback, which is one of a sample or not and ends at line `last`.
template <typename Match>
bool is_sample(const Match& match, bool sample, uint64_t last) {
  return match.sample || (sample && match.number <= last);
}

bool ends_the_run(const event::TraceSeen& trace) {
  return !trace.sample && !trace.handled && trace.exception == "KeyboardInterrupt";
}

/// Printed by PyTorch's hook for what nobody caught.
bool is_hooked(const LogLine& line) {
  return line.rank >= 0 && contains(line.whole.substr(0, kHookLimit), cat("[rank", line.rank, "]: "));
}

/// "/path/file.py:12: FutureWarning: text", which another thread may print between the lines of a traceback.
bool is_python_warning(const LogLine& line) {
  if (line.level != Level::kWarning) return false;
  const size_t file = line.text.find(".py:"), warning = line.text.find("Warning: ");
  return file != std::string_view::npos && warning != std::string_view::npos && file < warning;
}

/// What a program that failed leaves behind its traceback: a bar that is closed, W&B's farewell, its launcher's words.
bool is_left_behind(const LogLine& line) {
  static constexpr std::array<std::string_view, 4> kStarts = {"wandb:", "srun:", "slurmstepd:", "W&B "};
  static constexpr std::array<std::string_view, 3> kParts = {"%|", "torch/distributed/", "torch.distributed."};
  const auto starts = [&line](std::string_view one) { return line.whole.starts_with(one); };
  const auto holds = [&line](std::string_view one) { return contains(line.whole, one); };
  return std::any_of(kStarts.begin(), kStarts.end(), starts) || std::any_of(kParts.begin(), kParts.end(), holds);
}

/// "Error extracting action for item 49873": the error was one of one piece of work, which the program gives up.
bool gives_up_one(const LogLine& line) {
  static constexpr std::array<std::string_view, 11> kPieces = {" item",    " sample",     " task",    " prompt",
                                                               " rollout", " trajectory", " episode", " example",
                                                               " row",     " question",   " request"};
  constexpr size_t kLimit = 200;
  const std::string_view text = line.text.substr(0, kLimit);
  if (line.level != Level::kError || (!text.starts_with("Error ") && !text.starts_with("Failed to "))) return false;
  return std::any_of(kPieces.begin(), kPieces.end(), [text](std::string_view piece) {
    const size_t at = text.find(piece);
    if (at == std::string_view::npos) return false;
    const std::string_view behind = text.substr(at + piece.size());
    const size_t number = behind.find_first_not_of(" #=:_id");
    return number != 0 && number <= 6 && number < behind.size() && behind[number] >= '0' && behind[number] <= '9';
  });
}

/// An engine could not read the tool call that a model wrote, and logs of what: the answer stays text.
bool is_of_a_tool_call(const event::TraceSeen& trace) {
  return contains(trace.frame, "tool_parser") || contains(trace.frame, "/function_call/");
}

/// Two processes that print the same exception into one pipe at once: "KeyErrorKeyError: : 'a''a'".
void part_doubled(event::TraceSeen& trace) {
  const auto is_doubled = [](std::string_view text) {
    const size_t half = text.size() / 2;
    return half > 0 && text.size() % 2 == 0 && text.substr(0, half) == text.substr(half);
  };
  if (!trace.exception.ends_with("Error") && !trace.exception.ends_with("Exception")) return;
  if (!is_doubled(trace.exception)) return;
  trace.exception.resize(trace.exception.size() / 2);
  std::string_view message = trim(trace.message);
  if (message.starts_with(": ")) message = trim(message.substr(2));
  trace.message = std::string(is_doubled(message) ? message.substr(0, message.size() / 2) : message);
}

/// How loggers write the end of a line inside of one. A JSON string has "\\n"; outside of one that is the text of
/// something that a program was given, mostly the error of a tool.
std::string_view line_end_at(std::string_view text, bool json) {
  static constexpr std::array<std::string_view, 4> kEnds = {"\\x0a", "\\u000a", "#012", "\\n"};
  const auto* const last = json ? kEnds.end() : kEnds.end() - 1;
  const auto* const end =
      std::find_if(kEnds.begin(), last, [text](std::string_view one) { return text.starts_with(one); });
  return end == last ? std::string_view() : *end;
}

/// A logger's JSON object of an error that has the text of an exception from `at` on.
bool is_error_record(std::string_view text, size_t at) {
  static constexpr std::array<std::string_view, 6> kKeys = {
      "\"exc_info\":", "\"exception\":", "\"exc_text\":", "\"stack_info\":", "\"traceback\":", "\"stack_trace\":"};
  static constexpr std::array<std::string_view, 3> kLevels = {"\"error\"", "\"critical\"", "\"fatal\""};
  if (!text.starts_with("{\"") || !text.ends_with('}')) return false;
  std::string_view key = text.substr(0, at);
  while (!key.empty() && (key.back() == '"' || key.back() == ' ')) key.remove_suffix(1);
  const auto holds = [text](std::string_view level) { return contains_folded(text, level); };
  const auto named = [key](std::string_view one) { return key.ends_with(one); };
  return std::any_of(kKeys.begin(), kKeys.end(), named) && std::any_of(kLevels.begin(), kLevels.end(), holds);
}

/// The lines of a traceback that stands in one, as `end` parts them, and unquoted where they are of a JSON string.
std::vector<std::string> unfold(std::string_view text, std::string_view end, bool json) {
  std::vector<std::string> lines(1);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with(end)) {
      lines.emplace_back();
      i += end.size() - 1;
    } else if (json && text[i] == '"') {
      break;
    } else if (json && text[i] == '\\' && i + 1 < text.size()) {
      lines.back().push_back(text[++i]);
    } else {
      lines.back().push_back(text[i]);
    }
  }
  return lines;
}

}  // namespace

/// A stream may fall silent in the middle of a traceback; what came of it is emitted then, not at the end of the file.
void Interpreter::end_stale_traces() {
  stale_check_ = number_ + kTraceLines;
  for (auto& [key, stream] : streams_) {
    if (!stream->reader.open()) continue;
    if (number_ - stream->used < kTraceLines) {
      stale_check_ = std::min(stale_check_, stream->used + kTraceLines);
      continue;
    }
    end_trace(*stream);
  }
}

/// Emits the stream's traceback, whole or not.
void Interpreter::end_trace(Stream& stream, bool at_end) {
  stream.end_crash_text(*this);
  if (stream.reader.open()) --open_traces_;
  if (auto trace = stream.reader.flush(at_end)) trace_done(stream, std::move(*trace));
  for (const Stream::Match& match : stream.matches) {
    matched(match.signature, match.text, match.number, match.count, match.sample, match.at);
  }
  stream.matches.clear();
}

bool Interpreter::feed_trace(const LogLine& line, bool sample) {
  const int64_t key = line.pid * 4096 + line.rank;
  auto found = streams_.find(key);
  if (found == streams_.end()) {
    const bool head = (line.rare.may_hold('(') && contains(line.text, kTraceHead)) ||
                      (line.rare.may_hold('"') && contains(line.text, "  File \""));
    const bool cut = line.number <= TracebackReader::kCutHead &&  // a copy that begins within one
                     (line.text.starts_with("File \"") || contains(line.text, "RayTaskError("));
    if (!head && !cut) return false;
    if (streams_.size() >= kStreamLimit) {
      auto oldest = std::min_element(streams_.begin(), streams_.end(),
                                     [](const auto& a, const auto& b) { return a.second->used < b.second->used; });
      end_trace(*oldest->second);
      streams_.erase(oldest);
    }
    found = streams_.emplace(key, std::make_unique<Stream>()).first;
    found->second->pid = line.pid;
    found->second->rank = line.rank;
  }
  Stream& stream = *found->second;
  const bool was_open = stream.reader.open();
  if (was_open && is_python_warning(line)) {
    if (stream.reader.may_be_whole()) end_trace(stream);  // else its source line would be taken for the message's next
    return false;
  }
  const auto took = was_open ? stream.reader.feed(clean_.take(line.text, SIZE_MAX), line.number)
                             : stream.reader.feed(line.text, line.number);  // none of its text is kept yet
  if (took == TracebackReader::Took::kDone) {
    stream.caught = stream.caught || (stream.logged && gives_up_one(line));
    trace_done(stream, stream.reader.take());
  }
  if (was_open != stream.reader.open()) {
    open_traces_ += was_open ? -1 : 1;
    stale_check_ = std::min(stale_check_, line.number + kTraceLines);
  }
  if (!stream.reader.open()) return took == TracebackReader::Took::kYes;
  if (took == TracebackReader::Took::kNo) return false;
  if (!was_open || took == TracebackReader::Took::kDone) {
    stream.sample = sample;
    stream.hooked = is_hooked(line);
    stream.logged = line.level == Level::kError;
    stream.caught = line.level == Level::kWarning || line.level == Level::kDebug || line.number <= ignored_until_;
    stream.at = line.at;
  }
  stream.used = line.number;
  return took == TracebackReader::Took::kYes || contains(line.text, kTraceHead);
}

bool Interpreter::feed_folded_trace(const LogLine& line, bool sample) {
  constexpr size_t kFoldedLimit = 64 << 10;
  const size_t head = line.rare.may_hold('(') ? find_part(line.text, kTraceHead) : std::string_view::npos;
  if (head == std::string_view::npos) return false;
  std::string_view behind = line.text.substr(head + kTraceHead.size());
  if (behind.starts_with(':')) behind.remove_prefix(1);
  const bool json = head > 0 && is_error_record(trim(line.text), head);
  const std::string_view end = line_end_at(behind, json);
  if (end.empty() || (head > 0 && !json)) return false;
  Stream stream;
  stream.pid = line.pid;
  stream.rank = line.rank;
  stream.at = line.at;
  stream.sample = sample;
  for (const std::string& one : unfold(clean_.take(line.text.substr(head), kFoldedLimit), end, json)) {
    if (stream.reader.feed(one, line.number) == TracebackReader::Took::kDone) trace_done(stream, stream.reader.take());
  }
  if (auto trace = stream.reader.flush(true)) trace_done(stream, std::move(*trace));
  return true;
}

/// Where a line is no part of any traceback, those of other streams that have their exception are whole: who printed
/// them may say nothing more, and what comes now is not to be taken for what came before.
void Interpreter::end_whole_traces(const LogLine& line) {
  const int64_t own = line.pid * 4096 + line.rank;
  for (auto& [key, stream] : streams_) {
    if (key != own && stream->reader.may_be_whole()) end_trace(*stream);
  }
}

void Interpreter::note_last_exception(const LogLine& line, bool other) {
  if (trim(line.text).empty()) return;
  if (last_temporary_ && !other && !is_left_behind(line)) ++last_temporary_->lines_after;
  // The hook's last line at the top of a copy that lost the frames above it: nothing has to show that it ended the run.
  if (!other && line.number <= kLostFrames && is_hooked(line) && is_exception_line(line.text)) {
    last_exception_ = {clean_.cut(line.text, kTextLimit), line.number, line.at, 0};
    emit_last_exception();
    return;
  }
  if (!other && is_exception_line(line.text)) {
    last_exception_ = {clean_.cut(line.text, kTextLimit), line.number, line.at, 0};
  } else if (!last_exception_.text.empty() && (other || ++last_exception_.lines_after > kAfterException)) {
    last_exception_ = {};
  }
}

/// A step's figures: nothing ended of what was said before them.
void Interpreter::went_on(const LogLine& line) {
  if (last_exception_.number < line.number) last_exception_ = {};
  if (last_temporary_ && last_temporary_->lines_after > kBetween) drop_temporary_program();
  first_lines_.went_on();
  announced_ = false;
}

/// The program that lies in a folder for what is temporary is the run's own: nothing comes between its traceback and
/// the end. `fileless`: so is one that lies in no file.
void Interpreter::emit_temporary_program(bool fileless) {
  if (last_temporary_ && last_temporary_->lines_after <= kBetween && (fileless || !last_temporary_->fileless)) {
    put(std::move(last_temporary_->trace), last_temporary_->number, last_temporary_->at);
    for (const auto& [signature, text] : last_temporary_->matches)
      matched(signature, text, last_temporary_->number, 1, false, last_temporary_->at);
  }
  last_temporary_.reset();
}

uint64_t Interpreter::doubted_trace() const {
  if (!last_temporary_ || temporary_outlived_ >= kToolsPrograms || last_temporary_->lines_after > kBetween) return 0;
  return last_temporary_->program || number_ <= kExcerptLines ? last_temporary_->number : 0;
}

void Interpreter::writer_failed() {
  if (doubted_trace() != 0) emit_temporary_program(true);
}

/// Another attempt begins: what failed before failed in the one before, and the next bar says what it plans.
void Interpreter::begin_attempt(std::string_view why, const LogLine& line) {
  steps_total_ = 0;
  other_ = {};
  steps_complete_ = false;
  loop_ = {};  // the next bar is this attempt's
  code_done();
  for (auto& [key, stream] : streams_) end_trace(*stream);
  if (doubted_trace() != 0) emit_temporary_program(false);
  records_.begin_unnamed();
  begun_save_ = {};
  put(event::AttemptBegan{clean_.take(why, kWhyLimit)}, line.number, line.at);
}

void Interpreter::heed_first_lines(const LogLine& line) {
  if (!heeds_starts() || of_cells_ || beside_rows_) return;
  const auto behind_failure = first_lines_.read(line.text, line.number, line.at);
  const auto again = banner_.read(line.text, line.number, line.at);
  const auto begin = behind_failure ? behind_failure : again;
  if (!begin) return;
  for (auto& [key, stream] : streams_) end_trace(*stream);
  loop_ = {};
  // What stands between is nothing but the lines by which it is known again.
  if (last_temporary_ && begin->number <= last_temporary_->trace.last_line + kBetween + 1)
    last_temporary_->lines_after = 0;
  if (doubted_trace() != 0) emit_temporary_program(false);
  put(event::AttemptBegan{std::string(behind_failure ? kSameFirstLines : kBannerAgain)}, begin->number, begin->at);
}

/// The log went on after it: a tool's.
void Interpreter::drop_temporary_program() {
  if (last_temporary_ && last_temporary_->program) ++temporary_outlived_;
  last_temporary_.reset();
}

/// Another traceback is whole: the launcher's, which reports that the program before it failed; that of another rank,
/// which died of the same; or one after which the one before it is a tool's.
void Interpreter::follow_temporary_program(Stream& stream, const event::TraceSeen& trace) {
  const bool fileless = stream.reader.fileless_program();
  const bool temporary = (stream.reader.temporary_program() || fileless) && !stream.sample && !stream.caught;
  const bool near = last_temporary_ && last_temporary_->lines_after <= kBetween && !last_temporary_->fileless;
  if (near && temporary && last_temporary_->program && last_temporary_->trace.frame == trace.frame) {
    last_temporary_->trace.last_line = trace.last_line;
    return;
  }
  if (near && !temporary && detect::classify_exception(trace.exception, trace.message, trace.frame).consequence)
    emit_temporary_program(false);
  drop_temporary_program();
  if (!temporary) return;
  last_temporary_ = {trace,
                     stream.reader.first_line(),
                     stream.at,
                     fileless,
                     stream.reader.cell_program(),
                     stream.reader.ended_a_program(),
                     0,
                     {}};
  judge_trace(stream, last_temporary_->trace);
  last_temporary_->trace.sample = false;
  if (last_temporary_->program) first_lines_.failed();
  for (const Stream::Match& match : stream.matches) {
    if (!match.sample && match.number <= trace.last_line)
      last_temporary_->matches.emplace_back(match.signature, match.text);
  }
}

/// Nobody says that the program ended, but its log ends so: with what a tool that runs a model's code survives hardly
/// ever. A missing module is such code's commonest failure, too, and counts in a short log alone.
bool Interpreter::fileless_ends_the_log() const {
  if (!last_temporary_ || !last_temporary_->fileless) return false;
  const event::TraceSeen& trace = last_temporary_->trace;
  const detect::ExceptionClass is = detect::classify_exception(trace.exception, trace.message, trace.frame);
  if (number_ <= kExcerptLines && is.kind == "dependency-broken") return true;
  return is.kind == "gpu-out-of-memory" || is.kind == "gpu-fault" || is.kind == "collective-timeout" ||
         is.cause == "torch-rendezvous-timeout";
}

/// An exception without its traceback, whose place says that the program ended of it: near the end of an excerpt that
/// holds only the last line of one, or right before a launcher's word that the program failed.
void Interpreter::emit_last_exception() {
  if (last_exception_.text.empty() || helper_log_) return;
  const std::string_view text = last_exception_.text;
  const size_t colon = std::min(text.find(':'), text.size());
  event::TraceSeen trace;
  trace.exception = std::string(text.substr(0, colon));
  trace.message = std::string(trim(text.substr(std::min(colon + 1, text.size()))));
  trace.last_line = last_exception_.number;
  put(std::move(trace), last_exception_.number, last_exception_.at);
  last_exception_ = {};
}

void Interpreter::judge_trace(const Stream& stream, event::TraceSeen& trace) {
  trace.sample = (trace.sample && !stream.hooked) || stream.sample || stream.caught;
  trace.sample = trace.sample || (stream.logged && is_of_a_tool_call(trace));
  trace.pid = stream.pid < 0 && stream.rank >= 0 ? pid_of_rank(stream.rank) : stream.pid;
  trace.message = clip(redact_secrets(trace.message), kTextLimit);
  part_doubled(trace);
}

void Interpreter::trace_done(Stream& stream, event::TraceSeen trace) {
  follow_temporary_program(stream, trace);
  judge_trace(stream, trace);
  const bool sample = trace.sample;
  const bool interrupted = ends_the_run(trace);
  if (!sample && !trace.handled) {
    first_lines_.failed();
    loop_.failed();
    other_ = {};  // what its buffers held comes now
  }
  const uint64_t last = trace.last_line;
  const uint64_t first = stream.reader.first_line();
  put(std::move(trace), first != 0 ? first : number_, stream.at);
  for (const Stream::Match& match : stream.matches) {
    matched(match.signature, match.text, match.number, match.count, is_sample(match, sample, last), match.at);
  }
  stream.matches.clear();
  if (interrupted) put(kInterrupted, last, stream.at);
}

bool Interpreter::holds_trace() const {
  return open_traces_ > 0 && std::any_of(streams_.begin(), streams_.end(),
                                         [](const auto& known) { return known.second->reader.may_be_whole(); });
}

void Interpreter::preview(EventSink& sink) const {
  for (const auto& [key, stream] : streams_) {
    if (!stream->reader.may_be_whole()) continue;
    TracebackReader reader = stream->reader;
    auto trace = reader.flush();
    if (!trace) continue;
    judge_trace(*stream, *trace);
    const bool sample = trace->sample, interrupted = ends_the_run(*trace);
    const uint64_t last = trace->last_line;
    sink.put({stream->at, where(reader.first_line()), std::move(*trace)});
    for (const Stream::Match& match : stream->matches) {
      sink.put({match.at, where(match.number),
                event::Matched{index_.knowledge->signatures[match.signature].id, match.text, match.count,
                               is_sample(match, sample, last)}});
    }
    if (interrupted) sink.put({stream->at, where(last), kInterrupted});
  }
}

}  // namespace mw
