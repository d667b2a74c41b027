#include "act/keeper/launch.h"

#include "act/keeper/record.h"
#include "base/json.h"
#include "base/text.h"
#include "platform/durable.h"

namespace mw {
namespace {

Error wrong(std::string_view key) {
  return {Error::Code::kInvalid, cat("launch: '", key, "' is missing or of the wrong kind"), ""};
}

std::string stamp(Time at, std::string_view nonce) {
  return nonce.empty() ? format_utc(at) : cat(format_utc(at), " (", nonce, ")");
}

}  // namespace

std::string reason_text(std::string_view phrase, std::string_view nonce) {
  return nonce.empty() ? std::string(phrase) : cat(phrase, " (", nonce, ")");
}

std::string began_words(int64_t attempt) { return cat("=== midwatch: attempt ", attempt, " began "); }

std::string began_line(int64_t attempt, Time at, int64_t pid, std::string_view nonce) {
  return cat(began_words(attempt), stamp(at, nonce), ", process ", pid, " ===");
}

std::string ended_line(int64_t attempt, Time at, std::string_view outcome, std::string_view nonce) {
  return cat("=== midwatch: attempt ", attempt, " ended ", stamp(at, nonce), ", ", outcome, " ===");
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
    json.end_object().key("input").string(launch.input).key("output").string(launch.output);
    json.key("rotate_bytes").integer(static_cast<int64_t>(launch.rotate_bytes));
    json.key("mark").string(launch.marker).key("nonce").string(launch.nonce).end_object();
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
  launch.input = parsed->string_or("input", "");
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
  launch.marker = parsed->string_or("mark", "");
  launch.nonce = parsed->string_or("nonce", "");
  const Json* rotate = parsed->find("rotate_bytes");
  if (rotate == nullptr || !rotate->is_number() || rotate->integer() <= 0) return wrong("rotate_bytes");
  launch.rotate_bytes = static_cast<uint64_t>(rotate->integer());
  return launch;
}

Result<std::optional<Launch>> launch_in(Disk& disk, const std::string& keeper_folder) {
  const auto text = read_small(disk, cat(keeper_folder, "/", kLaunchFile));
  if (!text.ok()) {
    if (text.error().code == Error::Code::kNotFound) return std::optional<Launch>();
    return text.error();
  }
  auto launch = parse_launch(*text);
  if (launch.ok()) return std::optional<Launch>(std::move(*launch));
  const auto kept = read_kept(disk, keeper_folder);
  if (!kept.ok()) return kept.error();
  if (kept->keeper.known()) return launch.error();  // damaged, and perhaps something lives of it
  return std::optional<Launch>();
}

}  // namespace mw
