#include "keeper/launch.h"

#include "base/json.h"
#include "base/text.h"

namespace mw {
namespace {

Error wrong(std::string_view key) {
  return {Error::Code::kInvalid, cat("launch: '", key, "' is missing or of the wrong kind"), ""};
}

}  // namespace

std::string began_line(int64_t attempt, Time at, int64_t pid) {
  return cat("=== midwatch: attempt ", attempt, " began ", format_utc(at), ", process ", pid, " ===");
}

std::string ended_line(int64_t attempt, Time at, std::string_view outcome) {
  return cat("=== midwatch: attempt ", attempt, " ended ", format_utc(at), ", ", outcome, " ===");
}

std::string launch_text(const Launch& launch) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("version").integer(1).key("attempt").integer(launch.attempt);
    json.key("command").begin_array();
    for (const std::string& word : launch.command) json.string(word);
    json.end_array().key("folder").string(launch.folder).key("environment").begin_object();
    for (const auto& [name, value] : launch.environment) json.key(name).string(value);
    json.end_object().key("output").string(launch.output);
    json.key("rotate_bytes").integer(static_cast<int64_t>(launch.rotate_bytes)).end_object();
  }
  return out;
}

Result<Launch> parse_launch(std::string_view text) {
  auto parsed = Json::parse(text);
  if (!parsed.ok()) return parsed.error();
  Launch launch;
  const Json* command = parsed->find("command");
  if (command == nullptr || !command->is_array() || command->items().empty()) return wrong("command");
  for (const Json& word : command->items()) {
    // A command line's words end at a zero byte, so one inside a word would cut it.
    if (!word.is_string() || word.string().find('\0') != std::string::npos) return wrong("command");
    launch.command.push_back(word.string());
  }
  if (launch.command.front().empty()) return wrong("command");
  launch.attempt = static_cast<int64_t>(parsed->number_or("attempt", 0));
  launch.folder = parsed->string_or("folder", "");
  launch.output = parsed->string_or("output", "");
  if (launch.folder.empty()) return wrong("folder");
  if (launch.output.empty()) return wrong("output");
  if (const Json* environment = parsed->find("environment"); environment != nullptr) {
    if (!environment->is_object()) return wrong("environment");
    for (const auto& [name, value] : environment->members()) {
      if (name.empty() || name.find('=') != std::string::npos || !value.is_string()) return wrong("environment");
      launch.environment[name] = value.string();
    }
  }
  const Json* rotate = parsed->find("rotate_bytes");
  if (rotate == nullptr || !rotate->is_number() || rotate->integer() <= 0) return wrong("rotate_bytes");
  launch.rotate_bytes = static_cast<uint64_t>(rotate->integer());
  return launch;
}

}  // namespace mw
