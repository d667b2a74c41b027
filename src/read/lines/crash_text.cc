#include "read/lines/crash_text.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kPlaceLimit = 200;  // bytes of a frame
constexpr int kConfirmLines = 8;     // within which "goroutine 1 [running]:" or "Stacktrace:" follows the head
constexpr int kStackLines = 400;     // of a stack
constexpr std::string_view kGoroutine = "goroutine ";

bool digit(char c) { return c >= '0' && c <= '9'; }
bool upper(char c) { return c >= 'A' && c <= 'Z'; }

bool name_char(char c) { return upper(c) || (c >= 'a' && c <= 'z') || digit(c) || c == '_' || c == '.' || c == '$'; }

size_t name_length(std::string_view text) {
  size_t end = 0;
  while (end < text.size() && name_char(text[end])) ++end;
  return end;
}

/// "com.acme.BadState: gone" as its two parts; without a message, or where no name leads, the other part is "".
struct Words {
  std::string_view name, message;
};
Words words_in(std::string_view text) {
  text = trim(text);
  const size_t end = name_length(text);
  if (end == 0) return {{}, text};
  if (end == text.size()) return {text, {}};
  if (text[end] == ':') return {text.substr(0, end), trim(text.substr(end + 1))};
  return upper(text[0]) ? Words{text.substr(0, end), trim(text.substr(end))} : Words{{}, text};
}

bool is_error_name(std::string_view name) { return name.ends_with("Error") || name.ends_with("Exception"); }

bool is_frame(std::string_view text) { return trim(text).starts_with("at ") && text.front() != 'a'; }

/// "at com.acme.Main.run(Main.java:41)", "at Acme.Main() in /src/Main.cs:line 20" and "at take (/srv/i.js:88:11)" as
/// "Main.java:41 in com.acme.Main.run".
std::string place_of(std::string_view frame) {
  frame = trim(frame).substr(3, 2 * kPlaceLimit);
  if (const size_t in = frame.find(" in "), line = frame.find(":line "); in < line && line < frame.size()) {
    return clip(cat(frame.substr(in + 4, line - in - 4), ":", frame.substr(line + 6), " in ",
                    frame.substr(0, std::min(in, frame.find('(')))),
                kPlaceLimit);
  }
  const size_t open = frame.rfind('('), close = frame.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return "";
  std::string_view file = frame.substr(open + 1, close - open - 1);
  const size_t column = file.rfind(':'), line = file.find(':');
  if (line != std::string_view::npos && column > line && digit(file.back())) file = file.substr(0, column);
  return clip(cat(file, " in ", trim(frame.substr(0, open))), kPlaceLimit);
}

}  // namespace

bool CrashTextReader::may_begin(std::string_view text) {
  if (text.size() < 8) return false;
  switch (text.front()) {
    case 't':
      return text.starts_with("thread '");
    case 'p':
      return text.starts_with("panic: ");
    case 'f':
      return text.starts_with("fatal error: ");
    default:
      break;
  }
  if (!upper(text.front())) return false;
  const size_t end = name_length(text);
  const std::string_view name = text.substr(0, end);
  return is_error_name(name) || name == "ERROR" || name == "Unhandled" || name == "Exception" || name == "Fatal";
}

void CrashTextReader::begin(Kind kind, uint64_t number, std::string_view exception, std::string_view message) {
  kind_ = kind;
  sure_ = kind != Kind::kGo && kind != Kind::kNode && kind != Kind::kJulia;
  lines_ = 0;
  first_ = number_ = number;
  trace_ = {};
  trace_.exception = clip(sanitize_utf8(exception.substr(0, kTextLimit)), kPlaceLimit);
  trace_.message = clip(sanitize_utf8(message.substr(0, kTextLimit)), kTextLimit);
  trace_.last_line = number;
}

void CrashTextReader::head(std::string_view text, uint64_t number) {
  constexpr std::string_view kPanicked = "panicked at ",
                             kPanic = "panic: ", kGoFatal = "fatal error: ", kJava = "Exception in thread \"",
                             kJulia = "ERROR: ", kNet = "Unhandled exception. ", kFault = "Fatal Python error: ";
  if (text.starts_with("thread '")) {
    const size_t at = text.find(kPanicked);
    if (at == std::string_view::npos) return;
    const std::string_view rest = trim(text.substr(at + kPanicked.size()));
    const size_t quote = rest.rfind("', ");  // until 2023 the message stood before the place
    const bool old = rest.starts_with('\'') && quote != std::string_view::npos;
    begin(Kind::kRust, number, "Rust panic", old ? rest.substr(1, quote - 1) : std::string_view());
    std::string_view place = old ? rest.substr(quote + 3) : rest;
    while (place.ends_with(':')) place.remove_suffix(1);
    trace_.frame = clip(sanitize_utf8(place.substr(0, kTextLimit)), kPlaceLimit);
  } else if (text.starts_with(kPanic) || text.starts_with(kGoFatal)) {
    begin(Kind::kGo, number, "Go panic", trim(text.substr(text.find(": ") + 2)));
  } else if (text.starts_with(kJava)) {
    const size_t quote = text.find("\" ", kJava.size());
    if (quote == std::string_view::npos) return;
    const Words words = words_in(text.substr(quote + 2));
    if (!words.name.empty()) begin(Kind::kJvm, number, words.name, words.message);
  } else if (text.starts_with(kNet)) {
    const Words words = words_in(text.substr(kNet.size()));
    if (!words.name.empty()) begin(Kind::kJvm, number, words.name, words.message);
  } else if (text.starts_with(kJulia)) {
    const Words words = words_in(text.substr(kJulia.size()));
    begin(Kind::kJulia, number, words.name.empty() ? "Julia error" : words.name, words.message);
  } else if (text.starts_with(kFault)) {
    if (contains(text, " at interpreter shutdown")) return;
    begin(Kind::kFault, number, "Fatal Python error", trim(text.substr(kFault.size())));
  } else if (const size_t end = name_length(text); upper(text[0]) && text.substr(end).starts_with(": ")) {
    if (is_error_name(text.substr(0, end))) begin(Kind::kNode, number, text.substr(0, end), trim(text.substr(end + 1)));
  }
}

bool CrashTextReader::done(bool again) {
  again_ = again;
  kind_ = Kind::kNone;
  return true;
}

event::TraceSeen CrashTextReader::take() { return std::move(trace_); }

std::optional<event::TraceSeen> CrashTextReader::flush() {
  const bool enough = open() && sure_ && kind_ != Kind::kNode && (kind_ != Kind::kRust || !trace_.message.empty());
  drop();
  if (!enough) return std::nullopt;
  return take();
}

bool CrashTextReader::feed(std::string_view text, uint64_t number) {
  again_ = false;
  if (text.empty()) return false;
  number_ = number;
  if (kind_ == Kind::kNone) {
    head(text, number);
    return false;
  }
  if (++lines_ > kStackLines) {
    drop();
    return false;
  }
  switch (kind_) {
    case Kind::kRust:
      return feed_rust(text);
    case Kind::kGo:
      return feed_go(text);
    case Kind::kJvm:
      return feed_jvm(text, number);
    case Kind::kNode:
      return feed_node(text);
    case Kind::kJulia:
      return feed_julia(text);
    case Kind::kFault:
      return feed_fault(text);
    case Kind::kNone:
      break;
  }
  return false;
}

bool CrashTextReader::feed_rust(std::string_view text) {
  if (!trace_.message.empty()) return done(true);  // it stood before the place
  trace_.message = clip(sanitize_utf8(trim(text).substr(0, kTextLimit)), kTextLimit);
  trace_.last_line = number_;
  return done();
}

bool CrashTextReader::feed_go(std::string_view text) {
  if (text.starts_with(kGoroutine) && text.ends_with("]:")) {
    sure_ = true;
    trace_.last_line = number_;
    return false;
  }
  if (!sure_) {
    const bool between = trim(text).empty() || text.starts_with("[signal ") || text.starts_with("panic: ") ||
                         text.starts_with('\t') || text.starts_with("runtime stack");
    if (!between || lines_ > kConfirmLines) drop();
    return false;
  }
  trace_.last_line = number_;
  const std::string_view bare = trim(text);
  const size_t file = bare.find(".go:");
  if (file == std::string_view::npos) {  // a function's line; its file follows
    return lines_ > 2 * kConfirmLines && done();
  }
  trace_.frame = clip(sanitize_utf8(bare.substr(0, std::min(bare.find(' '), kPlaceLimit))), kPlaceLimit);
  return contains(bare, "/runtime/") ? lines_ > 2 * kConfirmLines && done() : done();
}

bool CrashTextReader::feed_jvm(std::string_view text, uint64_t number) {
  constexpr std::string_view kCause = "Caused by: ", kInner = "---> ";
  const std::string_view bare = trim(text);
  if (bare.starts_with(kCause) || bare.starts_with(kInner)) {
    constexpr size_t kEach = 160;
    const std::string_view cause = bare.substr(bare.find(' ') + 1);
    const std::string_view words = bare.starts_with(kCause) ? bare.substr(kCause.size()) : cause;
    trace_.message = cat(clip(trace_.message.substr(0, trace_.message.find("; caused by ")), kEach), "; caused by ",
                         clip(sanitize_utf8(words.substr(0, kTextLimit)), kEach));
  } else if (is_frame(text)) {
    if (trace_.frame.empty()) trace_.frame = sanitize_utf8(place_of(text));
  } else if (!bare.starts_with("... ") && !bare.starts_with("--- End of ") && !bare.empty()) {
    return done(true);
  }
  trace_.last_line = number;
  return false;
}

bool CrashTextReader::feed_node(std::string_view text) {
  if (text.starts_with("Node.js v") && sure_) {
    trace_.last_line = number_;
    return done();
  }
  if (is_frame(text)) {
    if (!sure_) trace_.frame = sanitize_utf8(place_of(text));
    sure_ = true;
    return false;
  }
  constexpr int kProperties = 60;  // lines of the error's own fields
  if (!sure_ || lines_ > kProperties) {
    drop();
    head(text, number_);
  }
  return false;
}

bool CrashTextReader::feed_julia(std::string_view text) {
  constexpr size_t kMessage = 300;
  const std::string_view bare = trim(text);
  if (!sure_) {
    if (bare == "Stacktrace:") {
      sure_ = true;
      trace_.last_line = number_;
    } else if (lines_ > kConfirmLines || bare.empty()) {
      drop();
    } else if (trace_.message.size() < kMessage) {
      trace_.message += cat(trace_.message.empty() ? "" : " ", clip(sanitize_utf8(bare.substr(0, kMessage)), kMessage));
    }
    return false;
  }
  trace_.last_line = number_;
  const size_t at = bare.starts_with("@ ") ? bare.rfind(' ') : std::string_view::npos;
  if (at != std::string_view::npos && at > 0) trace_.frame = clip(sanitize_utf8(bare.substr(at + 1)), kPlaceLimit);
  return (at != std::string_view::npos || lines_ > 2 * kConfirmLines) && done();
}

bool CrashTextReader::feed_fault(std::string_view text) {
  if (text.starts_with("Current thread ") ||
      (text.starts_with("Thread ") && contains(text, "most recent call first"))) {
    sure_ = text.front() == 'C';
    trace_.frame.clear();
    lines_ = 0;
  } else if (const std::string_view bare = trim(text); bare.starts_with("File \"") && trace_.frame.empty()) {
    const size_t quote = bare.find("\", line "), in = bare.find(" in ", quote);
    if (!sure_ || quote == std::string_view::npos) return false;
    const size_t end = std::min(in, bare.size());
    trace_.frame = clip(sanitize_utf8(cat(bare.substr(6, quote - 6), ":", bare.substr(quote + 8, end - quote - 8),
                                          bare.substr(end).substr(0, kPlaceLimit))),
                        kPlaceLimit);
    trace_.message +=
        cat(", in ", trace_.frame.substr(trace_.frame.substr(0, trace_.frame.find(" in ")).rfind('/') + 1));
    trace_.last_line = number_;
    return done();
  }
  return false;
}

}  // namespace mw
