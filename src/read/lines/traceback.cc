#include "read/lines/traceback.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "core/trace_frame.h"
#include "read/lines/ipython_trace.h"

namespace mw {
namespace {

constexpr std::string_view kHead = "Traceback (most recent call last)";
constexpr std::string_view kOriginal = "Original Traceback (most recent call last)";
constexpr std::string_view kHandling = "During handling of the above exception, another exception occurred:";
constexpr std::string_view kCause = "The above exception was the direct cause of the following exception:";
constexpr size_t kNameLimit = 160;      ///< bytes of an exception's dotted name
constexpr size_t kFrameLimit = 400;     ///< bytes of a frame
constexpr size_t kOwnFrameLimit = 240;  ///< bytes of the run's own frame, where another one follows it
constexpr size_t kCodeLimit = 200;      ///< bytes of a frame's source line
constexpr int kCutFrames = 3;           ///< frames without head and exception that make a traceback which was cut

bool upper(char c) { return c >= 'A' && c <= 'Z'; }
bool lower(char c) { return c >= 'a' && c <= 'z'; }
bool name_char(char c) { return upper(c) || lower(c) || (c >= '0' && c <= '9') || c == '_' || c == '.'; }

std::string_view left_trim(std::string_view text) {
  size_t i = 0;
  while (i < text.size() && (text[i] == ' ' || text[i] == '\t')) ++i;
  return text.substr(i);
}

/// " 12%|█▏ | 14/120 [00:21<02:43]": a bar that is closed as the program ends, behind its error.
bool progress_bar(std::string_view bare) {
  const size_t at = bare.find("%|");
  return at != std::string_view::npos && at > 0 && bare[at - 1] >= '0' && bare[at - 1] <= '9';
}

/// A bar or a row of numbers, which is no source line.
bool is_figures(std::string_view bare) {
  if (bare.find(' ') == std::string_view::npos) return false;
  return progress_bar(bare) || bare.find_first_not_of("0123456789. \t-+e") == std::string_view::npos;
}

bool frame_line(std::string_view bare) {
  return bare.starts_with("File \"") && bare.substr(0, 2 * kFrameLimit).find("\", line ") != std::string_view::npos;
}

/// The box that rich draws around a traceback: `inner` is what stands between its sides.
bool rich_line(std::string_view message, std::string_view& inner) {
  const std::string_view text = left_trim(message);
  if (text.starts_with("\u256d") || text.starts_with("\u2570")) {  // its upper and lower edge
    inner = {};
    return true;
  }
  constexpr std::string_view kSide = "\u2502";
  if (!text.starts_with(kSide)) return false;
  inner = left_trim(text.substr(kSide.size()));
  return true;
}

/// "/app/train.py:120 in main", as rich names a frame.
bool rich_frame(std::string_view inner) {
  const size_t in = inner.find(" in ");
  const size_t colon = inner.substr(0, in).rfind(':');
  return in != std::string_view::npos && colon != std::string_view::npos && colon > 3 && inner[0] != ' ' &&
         inner.substr(0, colon).ends_with(".py");
}

/// The margin of an exception group: "  | ", "  +-+---- 1 ----", "    +----". Returns what is behind it.
bool group_margin(std::string_view message, std::string_view& inner) {
  const std::string_view text = left_trim(message);
  if (text.empty() || text.size() == message.size() || (text[0] != '|' && text[0] != '+')) return false;
  if (text[0] == '+') {
    if (!text.starts_with("+-") && !text.starts_with("+ Exception Group ")) return false;
    inner = text.starts_with("+-") ? std::string_view() : text.substr(2);
    return true;
  }
  inner = text.substr(text.starts_with("| ") ? 2 : 1);
  return true;
}

/// Names that are not dotted must look like a class's: "Step: 4" cuts into tracebacks, too.
bool class_like(std::string_view name) {
  constexpr std::array<std::string_view, 9> kEnds = {"Error",   "Exception", "Interrupt", "Exit", "Warning",
                                                     "Timeout", "Iteration", "Group",     "Fault"};
  for (const std::string_view end : kEnds) {
    if (name.ends_with(end)) return upper(name[0]) || name[0] == '_';
  }
  int humps = 0;
  for (size_t i = 0; i + 1 < name.size(); ++i) humps += upper(name[i]) && lower(name[i + 1]) ? 1 : 0;
  return humps >= 2 && upper(name[0]);
}

/// The length of the exception's name when `line` is an exception line, else 0.
size_t exception_name(std::string_view line) {
  size_t i = 0;
  while (i < line.size() && i < kNameLimit && name_char(line[i])) ++i;
  if (i == 0 || line[0] == '.' || line[i - 1] == '.' || (line[0] >= '0' && line[0] <= '9')) return 0;
  const std::string_view name = line.substr(0, i);
  if (i < line.size() && line[i] == '(' && name.ends_with("RayTaskError")) {  // "RayTaskError(KeyError): "
    const size_t close = line.find(')', i);
    if (close > kNameLimit) return 0;  // as npos is
    i = close + 1;
  }
  const bool alone = i == line.size();
  const bool colon = !alone && line[i] == ':' && (i + 1 == line.size() || line[i + 1] == ' ');
  if (!alone && !colon) return 0;
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return class_like(name) ? i : 0;
  return upper(name[dot + 1]) || name[dot + 1] == '_' || colon ? i : 0;
}

/// A file that a tool may have been given to run.
bool frame_is_scratch(std::string_view frame) {
  return frame.starts_with("/tmp/") || frame.starts_with("/var/tmp/") || frame.starts_with("/sandbox/");
}

/// A file of Python itself, of an installed package, or of a program that was installed with one.
bool frame_is_library(std::string_view frame) {
  return !contains(frame, ".py:") || contains(frame, "-packages/") || contains(frame, "/lib/python") ||
         contains(frame, "/lib64/python");
}

/// A training loop by the name of its function. What it called and nobody caught below it is the program's own failure,
/// even when it was raised in generated code ("<string>"): a caught one lists no frames above the function that caught.
bool trains(std::string_view function) {
  constexpr std::array<std::string_view, 4> kParts = {"training_loop", "training_step", "train_step", "train_loop"};
  if (function.starts_with("train_test_")) return false;  // that is a split of data
  return function == "train" || function == "fit" || function.starts_with("train_") || function.ends_with("_train") ||
         function.ends_with("_training") ||
         std::any_of(kParts.begin(), kParts.end(), [&](std::string_view part) { return contains(function, part); });
}

/// A file of a library that trains, or that what trains calls: no tool of an agent calls it.
bool frame_is_of_training(std::string_view file) {
  constexpr std::array<std::string_view, 14> kPackages = {
      "/trl/",  "/transformers/", "/unsloth", "/accelerate/", "/torch/", "/vllm/",      "/verl/",
      "/peft/", "/datasets/",     "/sglang/", "/deepspeed/",  "/ray/",   "/verifiers/", "/bitsandbytes/"};
  return std::any_of(kPackages.begin(), kPackages.end(), [&](std::string_view one) { return contains(file, one); });
}

}  // namespace

void TracebackReader::begin(uint64_t number) {
  state_ = State::kFrames;
  ipython_ = group_ = remote_ = syntax_ = headless_ = false;
  scratch_entry_ = true;
  training_ = module_entry_ = false;
  own_frame_.clear();
  code_.clear();
  foreign_ = blanks_ = frames_ = 0;
  margin_ = 0;
  flat_ = false;
  first_line_ = number;
  given_first_ = 0;
  trace_ = {};
}

void TracebackReader::finish(bool handled) {
  trace_.handled = handled;
  if (trace_.message.empty() && trace_.exception.ends_with("AssertionError") && code_.starts_with("assert ")) {
    trace_.message = code_;
  }
  // An excerpt that ends with Ray's wrapper: "ray::LLMActor.load() (pid=11992, ip=10.1.0.9, actor_id=94eaf5)".
  if (const size_t end = trace_.message.find('('); trace_.message.starts_with("ray::") && end != std::string::npos)
    trace_.message =
        cat("raised in ", trace_.message.substr(5, end - 5), " of a Ray worker, whose own words are not here");
  trace_.message = redact_secrets(trace_.message);
  // A program may well live under /tmp, but then it is entered from somewhere; what a tool runs begins there.
  const bool scratch = frame_is_scratch(trace_.frame);
  trace_.sample =
      !trace_.frame.empty() && !frame_is_infrastructure(trace_.frame) && (!scratch || scratch_entry_) && !training_;
  if (ipython_) trace_.sample = !training_;
  temporary_program_ = trace_.sample && (scratch || ipython_);
  cell_program_ = trace_.sample && ipython_;
  fileless_program_ = trace_.sample && !temporary_program_ && trace_.frame.starts_with("<");
  // What a person can mend is in the run's own file; where it was raised says what the exception is about.
  if (!own_frame_.empty() && own_frame_ != trace_.frame) {
    trace_.frame = cat(clip(own_frame_, kOwnFrameLimit), kRaisedIn, clip(trace_.frame, kFrameLimit / 2));
  }
  finished_ = std::move(trace_);
  ready_first_ = first_line_;
  ready_ = true;
  trace_ = {};
  state_ = State::kIdle;
}

event::TraceSeen TracebackReader::take() {
  if (ready_) given_first_ = ready_first_;
  ready_ = false;
  return std::move(finished_);
}

std::optional<event::TraceSeen> TracebackReader::flush(bool at_end) {
  if (ready_) return take();
  const bool cut = headless_ && at_end && frames_ >= kCutFrames && foreign_ <= (flat_ ? 1 : 0);
  // A log that was cut off, or that its writer could finish no more, may end with the first line of one.
  const bool head = at_end && state_ == State::kFrames && !headless_ && !syntax_ && frames_ == 0 && foreign_ == 0;
  const bool enough = state_ != State::kIdle &&
                      (!trace_.exception.empty() || head || (!trace_.frame.empty() && !syntax_ && (!headless_ || cut)));
  if (head) trace_.last_line = std::max(trace_.last_line, first_line_);
  if (!enough) {
    state_ = State::kIdle;
    return std::nullopt;
  }
  finish(false);
  return take();
}

void TracebackReader::take_frame(std::string_view line, uint64_t number) {
  // File "/a/b.py", line 12, in name
  const std::string_view text = line.substr(6, 2 * kFrameLimit);
  const size_t quote = text.find("\", line ");
  const std::string_view rest = text.substr(quote + 8);
  if (trace_.frame.empty()) scratch_entry_ = !frame_is_infrastructure(text.substr(0, quote));
  const size_t comma = rest.find(", in ");
  if (trace_.frame.empty())
    module_entry_ = comma != std::string_view::npos && trim(rest.substr(comma + 5)) == "<module>";
  size_t digits = 0;
  while (digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9') ++digits;
  trace_.frame = clip(cat(text.substr(0, quote), ":", rest.substr(0, digits)), kFrameLimit);
  if (comma != std::string_view::npos) {
    trace_.frame += clip(cat(" in ", rest.substr(comma + 5)), kFrameLimit);
    training_ = training_ || (trains(trim(rest.substr(comma + 5))) && frame_is_infrastructure(trace_.frame));
  }
  if (!frame_is_library(trace_.frame)) own_frame_ = trace_.frame;
  code_.clear();
  ++frames_;
  trace_.last_line = number;
}

bool TracebackReader::take_exception(std::string_view line, uint64_t number) {
  const size_t length = exception_name(line);
  if (length == 0) return false;
  if (syntax_ && !contains(line.substr(0, length), "SyntaxError") && !contains(line.substr(0, length), "Indentation")) {
    return false;
  }
  trace_.last_line = number;
  const bool leaf = group_ && !trace_.exception.empty() && !trace_.exception.ends_with("ExceptionGroup");
  if (!leaf) {
    const std::string_view message = trim(line.substr(std::min(line.size(), length + 1)));
    trace_.exception = std::string(line.substr(0, length));
    trace_.message = clip(sanitize_utf8(message.substr(0, kTextLimit)), kTextLimit);
    remote_ = contains(message.substr(0, kFrameLimit), "ray::");
  }
  state_ = State::kException;
  blanks_ = 0;
  return true;
}

TracebackReader::Took TracebackReader::wake(std::string_view message, std::string_view bare, bool headed,
                                            uint64_t number) {
  const size_t indent = message.size() - bare.size();
  const bool frame = !headed && (indent == 2 || number <= kCutHead) && frame_line(bare);
  const bool wrapper = number <= kCutHead && message.size() == bare.size() && contains(bare, "RayTaskError(");
  if (wrapper && exception_name(bare) > 0) {
    begin(number);
    return take_exception(bare, number) ? Took::kYes : Took::kNo;
  }
  if (!headed && !frame) return Took::kNo;
  begin(number);
  margin_ = frame && indent > 2 ? indent - 2 : 0;
  flat_ = frame && indent == 0;
  const bool named = contains(bare, ", in ");
  syntax_ = frame && !named;
  headless_ = frame && named;
  if (headed && !trim(bare).ends_with("last):")) foreign_ = 1;  // what stands behind the head is none of its lines
  ipython_ = headed && is_ipython_head(message);
  group_ = headed && contains(message.substr(0, message.find(kHead)), "+ Exception Group ");
  if (frame) take_frame(bare, number);
  return Took::kYes;
}

TracebackReader::Took TracebackReader::feed(std::string_view message, uint64_t number) {
  const size_t head = find_part(message, kHead);
  std::string_view bare = left_trim(message);
  took_source_ = false;
  if (state_ == State::kIdle) return wake(message, bare, head != std::string_view::npos, number);
  message.remove_prefix(std::min(margin_, message.size() - bare.size()));
  if (number - first_line_ > kLinesLimit) {
    const bool enough = !trace_.exception.empty();
    state_ = State::kIdle;
    if (enough) finish(false);
    return enough ? Took::kDone : Took::kNo;
  }
  std::string_view inner;
  if (group_margin(message, inner) && (group_ || contains(inner, "ExceptionGroup"))) {
    group_ = true;
    message = inner;
    bare = left_trim(inner);
    if (bare.empty() || contains(message, kHead)) {
      if (!bare.empty()) state_ = State::kFrames;
      return Took::kYes;
    }
  } else if (head != std::string_view::npos) {  // the next one begins before this one was seen to end
    const bool enough = !trace_.exception.empty();
    if (enough) finish(contains(message, kOriginal));
    begin(number);
    return enough ? Took::kDone : Took::kYes;
  }
  return state_ == State::kFrames ? feed_frames(message, bare, number) : feed_after(message, bare, number);
}

/// False: it is none of the lines that IPython prints above an exception's.
bool TracebackReader::take_ipython(std::string_view message, uint64_t number) {
  const IpythonLine line = ipython_line(message);
  if (line.kind == IpythonLine::Kind::kOther) return false;
  trace_.last_line = number;
  took_source_ = line.kind != IpythonLine::Kind::kFrame;
  if (line.kind == IpythonLine::Kind::kFrame) {
    trace_.frame = clip(cat(sanitize_utf8(line.file), line.line.empty() ? "" : ":", line.line,
                            line.function.empty() ? "" : " in ", sanitize_utf8(line.function)),
                        kFrameLimit);
    training_ = training_ || frame_is_of_training(line.file) || trains(line.function);
    if (!frame_is_library(trace_.frame)) own_frame_ = trace_.frame;
    code_.clear();
    ++frames_;
  } else if (line.kind == IpythonLine::Kind::kArrow) {
    const size_t in = std::min(trace_.frame.find(" in "), trace_.frame.size());
    if (!trace_.frame.empty() && trace_.frame.find(':') >= in) {  // older versions say the line only here
      if (own_frame_ == trace_.frame) own_frame_.clear();
      trace_.frame.insert(in, cat(":", line.line));
      if (!frame_is_library(trace_.frame)) own_frame_ = trace_.frame;
    }
    code_ = clip(sanitize_utf8(line.code.substr(0, kFrameLimit)), kCodeLimit);
  }
  return true;
}

TracebackReader::Took TracebackReader::feed_frames(std::string_view message, std::string_view bare, uint64_t number) {
  if (std::string_view inner; rich_line(message, inner)) {
    foreign_ = 0;
    trace_.last_line = number;
    took_source_ = !rich_frame(inner);
    if (took_source_) return Took::kYes;
    if (trace_.frame.empty()) scratch_entry_ = !frame_is_infrastructure(inner);
    const size_t end = inner.find_first_of(" \t", inner.find(" in ") + 4);
    trace_.frame = clip(inner.substr(0, end), kFrameLimit);
    if (!frame_is_library(trace_.frame)) own_frame_ = trace_.frame;
    return Took::kYes;
  }
  if (frame_line(bare)) {
    take_frame(bare, number);
    foreign_ = 0;
    return Took::kYes;
  }
  if (ipython_ && take_ipython(message, number)) {
    foreign_ = 0;
    return Took::kYes;
  }
  if (take_exception(message, number)) return Took::kYes;
  if (frames_ > 0 && bare.size() < message.size() && !is_figures(bare)) {  // a frame's source, or the carets under it
    foreign_ = 0;
    took_source_ = true;
    if (code_.empty()) code_ = clip(sanitize_utf8(bare.substr(0, kFrameLimit)), kCodeLimit);
    return Took::kYes;
  }
  if (bare.empty()) return Took::kYes;
  if (++foreign_ > kForeignLimit) state_ = State::kIdle;
  return Took::kNo;
}

TracebackReader::Took TracebackReader::feed_after(std::string_view message, std::string_view bare, uint64_t number) {
  constexpr int kBlanksLimit = 2;
  if (bare.empty() && ++blanks_ <= kBlanksLimit) return Took::kYes;
  if (bare.starts_with(kHandling) || bare.starts_with(kCause)) {
    finish(true);
    return Took::kDone;
  }
  if (frame_line(bare) && (remote_ || group_) && blanks_ == 0) {
    state_ = State::kFrames;
    take_frame(bare, number);
    return Took::kYes;
  }
  if (group_ && bare.size() + 2 <= message.size()) return Took::kYes;
  if (remote_ && blanks_ == 0 && message != bare) return Took::kYes;
  // One that the worker raised without a frame, and handled: "RuntimeError: no running event loop".
  if (remote_ && blanks_ == 0 && trace_.message.starts_with("ray::") && take_exception(message, number))
    return Took::kYes;
  const bool goes_on = !bare.empty() && blanks_ == 0 && message != bare && !progress_bar(bare);
  if (goes_on && trace_.message.size() < kTextLimit / 2) {
    trace_.message +=
        cat(trace_.message.empty() ? "" : "\n", clip(sanitize_utf8(bare.substr(0, kFrameLimit)), kFrameLimit));
    trace_.last_line = number;
    return Took::kYes;
  }
  finish(false);
  return Took::kDone;
}

bool is_exception_line(std::string_view line) {
  const size_t length = exception_name(line);
  if (length == 0 || length == line.size()) return false;  // a name alone says too little
  const std::string_view name = line.substr(0, length);
  return name.ends_with("Error") || name.ends_with("Exception") || name.ends_with(")");
}

bool frame_is_infrastructure(std::string_view frame) {
  if (const size_t quote = frame.find("File \""); quote != std::string_view::npos) frame = frame.substr(quote + 6);
  constexpr std::array<std::string_view, 8> kWritten = {"<string>",       "<stdin>", "Cell In[",  "<ipython-input",
                                                        "/tmp/ipykernel", "<tool>",  "<sandbox>", "<console>"};
  for (const std::string_view mark : kWritten) {
    if (frame.starts_with(mark)) return false;
  }
  const bool scratch = frame_is_scratch(frame);
  const bool package =
      contains(frame, "-packages/") || contains(frame, "/lib/python") || contains(frame, "/ray/session");
  return !scratch || package;
}

}  // namespace mw
