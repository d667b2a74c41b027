#include "read/files/log_events.h"

#include <algorithm>

#include "base/text.h"
#include "base/time.h"
#include "read/files/json_members.h"
#include "read/files/json_value.h"
#include "read/lines/wrapped_line.h"

namespace mw {
namespace {

constexpr size_t kPiece = size_t{64} << 10;  // plain bytes handed over at once

/// Where the first object begins, and whether it stands in no list; npos where there is none.
std::pair<size_t, bool> first_object(std::string_view head) {
  constexpr std::pair<size_t, bool> kNone{std::string_view::npos, false};
  const size_t begin = skip_json_space(head, 0);
  if (begin >= head.size()) return kNone;
  if (head[begin] == '[') return {skip_json_space(head, begin + 1), false};
  if (head[begin] != '{') return kNone;
  const size_t key = skip_json_space(head, begin + 1);
  const size_t colon = key < head.size() && head[key] == '"' ? skip_json_value(head, key) : std::string_view::npos;
  if (colon == std::string_view::npos) return kNone;
  const size_t value = skip_json_space(head, skip_json_space(head, colon) + 1);
  if (value < head.size() && head[value] == '[') return {skip_json_space(head, value + 1), false};
  return {begin, true};
}

/// The time and the text of an object, however it is spread over lines.
bool read_event(std::string_view object, std::string& time, std::string& text) {
  const size_t key = skip_json_space(object, 1);
  return read_wrapped_event(cat("{", object.substr(std::min(key, object.size()))), time, text);
}

}  // namespace

bool are_log_events(std::string_view head) {
  const auto [at, bare] = first_object(head);
  if (at >= head.size() || head[at] != '{') return false;
  const size_t end = skip_json_value(head, at);
  if (end == std::string_view::npos) return false;
  const std::string_view object = head.substr(at, end - at);
  if (bare && object.find('\n') == std::string_view::npos) return false;  // a line of a log as it is
  std::string time, text;
  return read_event(object, time, text);
}

LogEvents::LogEvents(std::string_view head) : bare_(first_object(head).second) {}

Result<void> LogEvents::feed(std::string_view bytes, const Sink& sink) {
  for (const char c : bytes) {
    if (object_nesting_.depth() > 0) {
      inside(c);
    } else {
      outside(c, sink);
    }
  }
  return {};
}

void LogEvents::outside(char c, const Sink& sink) {
  const bool text = around_.in_string();  // a name, or a text beside the list
  around_.closes(c);
  if (text || around_.in_string()) {
    // what it holds opens nothing
  } else if (c == '[') {
    listed_ = true;
  } else if (c == ']') {
    listed_ = false;
    hand_over(sink);
  } else if (c == '{' && (listed_ || bare_)) {
    object_ = "{";
    object_nesting_.closes(c);
  }
  if (bytes_ > kLogEventsLimit) hand_over(sink);
}

void LogEvents::inside(char c) {
  object_ += c;
  if (object_nesting_.closes(c)) end_object();
}

void LogEvents::end_object() {
  std::string time, text;
  if (!read_event(object_, time, text)) return;
  std::string lines;
  for (const std::string_view line : split(text, '\n')) lines += cat(time, " ", line, "\n");
  if (lines_.empty()) first_ = time;
  last_ = std::move(time);
  bytes_ += lines.size();
  lines_.push_back(std::move(lines));
}

void LogEvents::hand_over(const Sink& sink) {
  const auto first = parse_time(first_), last = parse_time(last_);
  if (first && last && *last < *first) std::reverse(lines_.begin(), lines_.end());
  std::string out;
  for (const std::string& lines : lines_) {
    out += lines;
    if (out.size() < kPiece) continue;
    sink(out);
    out.clear();
  }
  if (!out.empty()) sink(out);
  lines_.clear();
  bytes_ = 0;
}

Result<void> LogEvents::finish(const Sink& sink) {
  const bool torn = object_nesting_.depth() > 0 || listed_;
  hand_over(sink);
  if (!torn) return {};
  return Error{Error::Code::kTruncated, "the list of log lines does not end",
               "what came before is kept; the file may still be being written"};
}

}  // namespace mw
