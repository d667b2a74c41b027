#include "act/notify/channels/message.h"

#include <algorithm>

#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kTitleLimit = 200;     // bytes
constexpr size_t kWholeNotices = 6;     // beyond so many, each gets two lines
constexpr size_t kSentenceLimit = 600;  // bytes of each part of a notice in a message for people

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

std::string one_line(std::string_view text, size_t limit) {
  std::string out = escape_terminal(clip(text, limit));
  std::replace(out.begin(), out.end(), '\n', ' ');
  return out;
}

std::string since_of(const Notice& notice, Time now) {
  std::string out;
  if (notice.step != kNoStep) out = cat("step ", notice.step);
  if (notice.since.known()) {
    const Duration ago = now - notice.since;
    out += cat(out.empty() ? "" : ", ", format_utc(notice.since));
    if (ago.ns > 0) out += cat(" (", format_duration(ago), " ago)");
  }
  return out;
}

void put_text(JsonWriter& json, std::string_view key, std::string_view text) { json.key(key).string(text); }

}  // namespace

std::string notice_title(const Notice& notice) {
  if (notice.event == "test") return "Test message";
  if (notice.event == "restarted") return "Restarted";
  if (notice.event == "asks") return "Asks for approval";
  if (notice.event == "stopped") return "Stopped";
  if (notice.event == "finished") return "Finished";
  const std::string step = notice.step == kNoStep ? "" : cat(" since step ", notice.step);
  const std::string number = notice.incident == 0 ? "" : cat(" (#", notice.incident, ")");
  if (notice.event == "closed") return cat("Over: ", notice.kind, number);
  return cat(notice.event == "escalation" ? "STILL " : "", upper(severity_name(notice.severity)), " ", notice.kind,
             number, step);
}

const Notice& leading(const Message& message) {
  MW_CHECK(!message.notices.empty());
  return *std::max_element(message.notices.begin(), message.notices.end(),
                           [](const Notice& a, const Notice& b) { return a.severity < b.severity; });
}

std::string message_title(const Message& message) {
  std::string title = cat(notice_title(leading(message)), " in ", message.run);
  if (message.notices.size() > 1) title += cat(", and ", message.notices.size() - 1, " more");
  return one_line(title, kTitleLimit);
}

std::string message_text(const Message& message, size_t limit) {
  std::string out;
  const auto line = [&out](std::string_view word, std::string_view text) {
    if (!text.empty()) out += cat(word, one_line(text, kSentenceLimit), "\n");
  };
  for (const Notice& notice : message.notices) {
    if (message.notices.size() > 1) line(out.empty() ? "" : "\n", notice_title(notice));
    line("", notice.what);
    if (message.notices.size() > kWholeNotices) continue;
    line("Since: ", since_of(notice, message.at));
    line("Likely cause: ", notice.why);
    line("midwatch: ", notice.did);
    line("To do: ", notice.advice);
  }
  line("Run: ", cat(message.run, message.host.empty() ? "" : " on ", message.host));
  if (message.again) line("", "(This may be a repeat: midwatch was ended while it was being sent.)");
  if (!out.empty()) out.pop_back();
  return clip(out, limit);
}

std::string message_key(const Message& message) {
  std::string key = message.run;
  for (const Notice& notice : message.notices) key += cat(key.size() == message.run.size() ? "/" : "+", notice.key);
  return key;
}

void put_notice(JsonWriter& json, const Notice& notice) {
  json.begin_object();
  put_text(json, "key", notice.key);
  put_text(json, "event", notice.event);
  put_text(json, "severity", severity_name(notice.severity));
  json.key("incident_id");
  notice.incident == 0 ? json.null() : json.integer(notice.incident);
  put_text(json, "kind", notice.kind);
  put_text(json, "what", notice.what);
  json.key("since").begin_object().key("step");
  notice.step == kNoStep ? json.null() : json.integer(notice.step);
  json.key("time");
  notice.since.known() ? json.string(format_utc(notice.since)) : json.null();
  json.end_object();
  put_text(json, "cause", notice.cause);
  put_text(json, "why", notice.why);
  put_text(json, "did", notice.did);
  put_text(json, "advice", notice.advice);
  json.key("incident");
  notice.incident_json.empty() ? json.null() : json.raw(notice.incident_json);
  json.end_object();
}

std::string message_json(const Message& message) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object();
    put_text(json, "schema", "midwatch.notification/1");
    put_text(json, "key", message_key(message));
    json.key("again").boolean(message.again);
    put_text(json, "run", message.run);
    put_text(json, "host", message.host);
    put_text(json, "folder", message.folder);
    put_text(json, "time", format_utc(message.at));
    put_text(json, "severity", severity_name(leading(message).severity));
    put_text(json, "title", message_title(message));
    put_text(json, "text", message_text(message, 8000));
    json.key("notices").begin_array();
    for (const Notice& notice : message.notices) put_notice(json, notice);
    json.end_array().end_object();
  }
  return out;
}

}  // namespace mw
