// What people are notified of: notices, and the messages that carry them. docs/formats/notification.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "core/event.h"
#include "core/knowledge.h"

namespace mw {

/// One thing to notify of. Its texts may quote the run's own output, so each channel escapes them.
struct Notice {
  std::string key;    ///< of what happened, once in a run: "opened:3"
  std::string event;  ///< "opened", "closed", "restarted", "asks", "stopped", "finished", "escalation", "test"
  Severity severity = Severity::kInfo;
  uint32_t incident = 0;    ///< its number; 0: none
  std::string kind, cause;  ///< of the incident; "": none
  std::string what;         ///< one sentence
  int64_t step = kNoStep;   ///< since when
  Time since;
  std::string why;            ///< the leading cause, in a sentence
  std::string did;            ///< what midwatch did or will do
  std::string advice;         ///< what the reader should do
  std::string incident_json;  ///< the incident as in docs/formats/replay-json.md; "": none
};

struct Message {
  std::string run, host, folder;
  Time at;
  bool again = false;           ///< it may have been sent before: midwatch ended before the send was confirmed
  std::vector<Notice> notices;  ///< at least one; the most severe sets title and color
};

/// The most severe of the notices; of equal ones the first.
const Notice& leading(const Message& message);

/// "CRITICAL engine-dead (#3) since step 188": what happened, without the run's name.
std::string notice_title(const Notice& notice);

/// "CRITICAL engine-dead (#3) since step 188 in grpo-7b": one line, at most 200 bytes.
std::string message_title(const Message& message);

/// All of it in a few lines of plain text, without the title; at most `limit` bytes.
std::string message_text(const Message& message, size_t limit);

/// docs/formats/notification.md
std::string message_json(const Message& message);
void put_notice(JsonWriter& json, const Notice& notice);

/// Equal for two sends of the same message, different for any other: "grpo-7b/opened:3".
std::string message_key(const Message& message);

}  // namespace mw
