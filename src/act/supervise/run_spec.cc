#include "act/supervise/run_spec.h"

#include "base/json.h"
#include "base/text.h"
#include "platform/durable.h"

namespace mw {
namespace {

Error wrong(std::string_view key) {
  return {Error::Code::kInvalid, cat("'", key, "' is missing or of the wrong kind"), ""};
}

void read_texts(const Json& json, std::string_view key, std::vector<std::string>& out) {
  const Json* list = json.find(key);
  if (list == nullptr || !list->is_array()) return;
  for (const Json& text : list->items()) out.push_back(text.string());
}

}  // namespace

std::string run_spec_path(Disk& disk, const std::string& run_folder) {
  for (const std::string_view name : {kRunSpecFile, kOldRunSpecFile}) {
    std::string path = cat(run_folder, "/", name);
    if (disk.info(path).ok()) return path;
  }
  return "";
}

Result<std::string> read_run_spec(Disk& disk, const std::string& run_folder) {
  auto text = read_small(disk, cat(run_folder, "/", kRunSpecFile));
  if (text.ok() || text.error().code != Error::Code::kNotFound) return text;
  auto old = read_small(disk, cat(run_folder, "/", kOldRunSpecFile));
  return old.ok() ? old : text;
}

std::string run_spec_text(const RunSpec& spec) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("version").integer(1).key("command").begin_array();
    for (const std::string& word : spec.command) json.string(word);
    json.end_array().key("folder").string(spec.folder).key("environment").begin_object();
    for (const auto& [name, value] : spec.environment) json.key(name).string(value);
    json.end_object().key("config").string(spec.config).key("also").begin_array();
    for (const std::string& path : spec.also) json.string(path);
    json.end_array().key("checkpoints").begin_array();
    for (const std::string& path : spec.checkpoints) json.string(path);
    json.end_array().key("resume").begin_array();
    for (const std::string& word : spec.resume) json.string(word);
    json.end_array().key("from_scratch").boolean(spec.from_scratch).key("restarts").integer(spec.limits.restarts);
    json.key("first_wait_ns").integer(spec.limits.first_wait.ns);
    json.key("longest_wait_ns").integer(spec.limits.longest_wait.ns);
    json.key("grace_ns").integer(spec.grace.ns);
    json.key("rotate_bytes").integer(static_cast<int64_t>(spec.rotate_bytes));
    json.key("breaker").boolean(spec.breaker).key("breaking").string(mode_name(spec.breaking));
    json.key("breaking_learning").string(mode_name(spec.breaking_learning));
    json.key("restarting").string(mode_name(spec.restarting)).key("dry").boolean(spec.dry);
    json.key("nonce").string(spec.nonce).key("mark").string(spec.marker);
    json.end_object();
  }
  return out;
}

Result<RunSpec> parse_run_spec(std::string_view text) {
  auto json = Json::parse(text);
  if (!json.ok()) return json.error();
  RunSpec spec;
  const Json* command = json->find("command");
  if (command == nullptr || !command->is_array() || command->items().empty()) return wrong("command");
  for (const Json& word : command->items()) {
    if (!word.is_string()) return wrong("command");
    spec.command.push_back(word.string());
  }
  spec.folder = json->string_or("folder", "");
  if (spec.folder.empty()) return wrong("folder");
  if (const Json* environment = json->find("environment"); environment != nullptr && environment->is_object()) {
    for (const auto& [name, value] : environment->members()) spec.environment[name] = value.string();
  }
  spec.config = json->string_or("config", "");
  read_texts(*json, "also", spec.also);
  read_texts(*json, "checkpoints", spec.checkpoints);
  read_texts(*json, "resume", spec.resume);
  spec.from_scratch = json->boolean_or("from_scratch", false);
  spec.limits.restarts = static_cast<int>(json->integer_or("restarts", spec.limits.restarts));
  spec.limits.first_wait.ns = json->integer_or("first_wait_ns", spec.limits.first_wait.ns);
  spec.limits.longest_wait.ns = json->integer_or("longest_wait_ns", spec.limits.longest_wait.ns);
  spec.grace.ns = json->integer_or("grace_ns", spec.grace.ns);
  const int64_t rotate = json->integer_or("rotate_bytes", 0);
  if (rotate > 0) spec.rotate_bytes = static_cast<uint64_t>(rotate);
  spec.breaker = json->boolean_or("breaker", true);
  spec.breaking = mode_of(json->string_or("breaking", ""));
  spec.breaking_learning = mode_of(json->string_or("breaking_learning", "ask"));
  spec.restarting = mode_of(json->string_or("restarting", ""));
  spec.dry = json->boolean_or("dry", false);
  spec.nonce = json->string_or("nonce", "");
  spec.marker = json->string_or("mark", "");
  return spec;
}

}  // namespace mw
