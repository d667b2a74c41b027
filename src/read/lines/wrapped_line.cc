#include "read/lines/wrapped_line.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/json.h"
#include "base/numbers.h"
#include "base/one_of.h"
#include "base/text.h"
#include "base/time.h"
#include "read/files/row_builder.h"
#include "read/lines/container_line.h"
#include "read/lines/logged_message.h"
#include "read/lines/sample_name.h"

namespace mw {
namespace {

constexpr std::array<std::string_view, 6> kMessages = {"message", "msg", "log", "textPayload", "line", "MESSAGE"};
constexpr std::string_view kJournal = kMessages.back();
constexpr size_t kTextLimit = 400;  // bytes of any text beside the message

/// Might one be among its members? (Most lines of JSON have none, and need not be parsed.)
bool names_message(std::string_view line) {
  return std::any_of(kMessages.begin(), kMessages.end(), [line](std::string_view name) {
    const size_t at = find_part(line, name);
    return at != std::string_view::npos && at > 0 && line[at - 1] == '"' &&
           line.substr(at + name.size()).starts_with("\":");
  });
}

bool is_time_name(std::string_view name) {
  static constexpr std::array<std::string_view, 4> kNames = {"ts", "t", "date", "created"};
  return contains_folded(name, "time") || is_one_of(name, kNames);
}

/// What a collector says of where the line comes from, with numbers that measure nothing.
bool is_origin(std::string_view name) {
  static constexpr std::array<std::string_view, 14> kNames = {"kubernetes", "labels", "resource", "host",   "container",
                                                              "docker",     "agent",  "ecs",      "cloud",  "source",
                                                              "stream",     "fields", "tags",     "process"};
  return is_one_of(name, kNames);
}

bool is_plain_number(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kNames = {"offset", "PRIORITY", "priority",
                                                             "seq",    "sequence", "flags"};
  return is_time_name(name) || is_logger_name(name) || is_one_of(name, kNames);
}

/// A member beside the message that takes nothing from what the line says.
bool is_aside(std::string_view name, const Json& value, int depth = 0) {
  constexpr int kDepth = 4;
  switch (value.kind()) {
    case Json::Kind::kNumber:
      return is_plain_number(name);
    case Json::Kind::kString: {
      const std::string& text = value.string();
      return !is_sample_name(name) && text.size() <= kTextLimit && text.find('\n') == std::string::npos;
    }
    case Json::Kind::kArray:
      return value.items().empty();
    case Json::Kind::kObject:
      return depth < kDepth && (is_origin(name) || std::all_of(value.members().begin(), value.members().end(),
                                                               [depth](const Json::Member& one) {
                                                                 return is_aside(one.first, one.second, depth + 1);
                                                               }));
    default:
      return true;
  }
}

/// A text that journald keeps as the list of its bytes, since one of them is a control character, as bars and colours
/// have them.
std::string text_of_bytes(const Json& list) {
  std::string text;
  for (const Json& byte : list.items()) {
    if (byte.is_number()) text += static_cast<char>(static_cast<unsigned char>(std::clamp(byte.number(), 0.0, 255.0)));
  }
  return text;
}

/// The moment that a member states, as a header would: as it is written, or in UTC.
std::string time_text(const Json& value) {
  if (value.is_number()) return format_utc(time_from_epoch(value.number()));
  if (!value.is_string()) return {};
  const std::string& text = value.string();
  if (parse_time(trim(text))) return std::string(trim(text));
  const auto epoch = parse_double(trim(text));
  return epoch && std::isfinite(*epoch) ? format_utc(time_from_epoch(*epoch)) : std::string();
}

}  // namespace

bool read_wrapped_event(std::string_view line, std::string& time, std::string& text) {
  if (!may_be_wrapped(line) || line.back() != '}') return false;
  const auto json = Json::parse(line);
  if (!json.ok() || !json->is_object()) return false;
  const Json* message = nullptr;
  time.clear();
  for (const auto& [name, value] : json->members()) {
    const bool bytes = value.is_array() && name == kJournal;
    if ((value.is_string() || bytes) && is_one_of(name, kMessages)) {
      if (message != nullptr) return false;  // which of them is it?
      message = &value;
      continue;
    }
    if (!is_aside(name, value)) return false;
    if (time.empty() && is_time_name(name)) time = time_text(value);
  }
  if (message == nullptr || time.empty()) return false;
  text = message->is_array() ? text_of_bytes(*message) : message->string();
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return true;
}

bool read_wrapped_line(std::string_view line, std::string& time, std::string& text) {
  return names_message(line) && read_wrapped_event(line, time, text) && text.find('\n') == std::string::npos;
}

bool unwrap_line(std::string_view line, std::string& out) {
  if (unwrap_container_line(line, out)) return true;
  std::string time, text;
  if (!read_wrapped_line(line, time, text)) return false;
  out.append(time).append(" ").append(text) += '\n';
  return true;
}

}  // namespace mw
