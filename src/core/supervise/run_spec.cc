#include "core/supervise/run_spec.h"

#include <array>

#include "base/json.h"
#include "base/text.h"

namespace mw {
namespace {

using Member = RunSetting::Member;

constexpr std::array kSettings = {
    RunSetting{"command", "run.command", [](RunSpec& spec) -> Member { return &spec.command; }},
    RunSetting{"folder", "", [](RunSpec& spec) -> Member { return &spec.folder; }},
    RunSetting{"input", "", [](RunSpec& spec) -> Member { return &spec.input; }},
    RunSetting{"environment", "", [](RunSpec& spec) -> Member { return &spec.environment; }},
    RunSetting{"config", "", [](RunSpec& spec) -> Member { return &spec.config; }},
    RunSetting{"also", "run.watch", [](RunSpec& spec) -> Member { return &spec.also; }},
    RunSetting{"notices", "run.notices", [](RunSpec& spec) -> Member { return &spec.notices; }},
    RunSetting{"checkpoints", "run.checkpoints", [](RunSpec& spec) -> Member { return &spec.checkpoints; }},
    RunSetting{"resume", "run.resume", [](RunSpec& spec) -> Member { return &spec.resume; }},
    RunSetting{"from_scratch", "run.from_scratch", [](RunSpec& spec) -> Member { return &spec.from_scratch; }},
    RunSetting{"restarts", "run.restarts", [](RunSpec& spec) -> Member { return &spec.limits.restarts; }},
    RunSetting{"restarts_total", "run.restarts_total", [](RunSpec& spec) -> Member { return &spec.limits.total; }},
    RunSetting{"hang_patience_ns", "run.hang_patience", [](RunSpec& spec) -> Member { return &spec.hang_patience; }},
    RunSetting{"answer_patience_ns", "run.answer_patience",
               [](RunSpec& spec) -> Member { return &spec.answer_patience; }},
    RunSetting{"unattended", "run.unattended", [](RunSpec& spec) -> Member { return &spec.unattended; }},
    RunSetting{"first_wait_ns", "run.first_wait", [](RunSpec& spec) -> Member { return &spec.limits.first_wait; }},
    RunSetting{"longest_wait_ns", "run.longest_wait",
               [](RunSpec& spec) -> Member { return &spec.limits.longest_wait; }},
    RunSetting{"grace_ns", "run.grace", [](RunSpec& spec) -> Member { return &spec.grace; }},
    RunSetting{"rotate_bytes", "run.rotate", [](RunSpec& spec) -> Member { return &spec.rotate_bytes; }},
    RunSetting{"breaker", "run.breaker", [](RunSpec& spec) -> Member { return &spec.breaker; }},
    RunSetting{"breaking", "actions.break", [](RunSpec& spec) -> Member { return &spec.breaking; }},
    RunSetting{"breaking_learning", "actions.break_learning",
               [](RunSpec& spec) -> Member { return &spec.breaking_learning; }},
    RunSetting{"breaking_hang", "actions.break_hang", [](RunSpec& spec) -> Member { return &spec.breaking_hang; }},
    RunSetting{"restarting", "actions.restart", [](RunSpec& spec) -> Member { return &spec.restarting; }},
    RunSetting{"store", "store.place", [](RunSpec& spec) -> Member { return &spec.store; }},
    RunSetting{"store_endpoint", "store.endpoint", [](RunSpec& spec) -> Member { return &spec.store_endpoint; }},
    RunSetting{"store_region", "store.region", [](RunSpec& spec) -> Member { return &spec.store_region; }},
    RunSetting{"store_profile", "store.profile", [](RunSpec& spec) -> Member { return &spec.store_profile; }},
    RunSetting{"store_addressing", "store.addressing", [](RunSpec& spec) -> Member { return &spec.store_addressing; }},
    RunSetting{"store_parallel", "store.parallel", [](RunSpec& spec) -> Member { return &spec.store_parallel; }},
    RunSetting{"store_limit", "store.limit", [](RunSpec& spec) -> Member { return &spec.store_limit; }},
    RunSetting{"store_wait_ns", "store.wait", [](RunSpec& spec) -> Member { return &spec.store_wait; }},
    RunSetting{"first_step", "", [](RunSpec& spec) -> Member { return &spec.first_step; }},
    RunSetting{"first_words", "", [](RunSpec& spec) -> Member { return &spec.first_words; }},
    RunSetting{"first_root", "", [](RunSpec& spec) -> Member { return &spec.first_root; }},
    RunSetting{"first_shipped", "", [](RunSpec& spec) -> Member { return &spec.first_shipped; }},
    RunSetting{"shown_command", "", [](RunSpec& spec) -> Member { return &spec.shown_command; }},
    RunSetting{"dry", "", [](RunSpec& spec) -> Member { return &spec.dry; }},
    RunSetting{"nonce", "", [](RunSpec& spec) -> Member { return &spec.nonce; }},
    RunSetting{"mark", "", [](RunSpec& spec) -> Member { return &spec.marker; }},
};

struct Write {
  JsonWriter& json;
  void operator()(const bool* value) const { json.boolean(*value); }
  void operator()(const int* value) const { json.integer(*value); }
  void operator()(const uint64_t* value) const { json.integer(static_cast<int64_t>(*value)); }
  void operator()(const Duration* value) const { json.integer(value->ns); }
  void operator()(const Mode* value) const { json.string(mode_name(*value)); }
  void operator()(const std::string* value) const { json.string(*value); }
  void operator()(const std::vector<std::string>* value) const {
    json.begin_array();
    for (const std::string& text : *value) json.string(text);
    json.end_array();
  }
  void operator()(const std::map<std::string, std::string>* value) const {
    json.begin_object();
    for (const auto& [name, text] : *value) json.key(name).string(text);
    json.end_object();
  }
};

struct Read {
  const Json& json;  ///< the whole object
  const RunSetting& setting;
  void operator()(bool* value) const { *value = json.boolean_or(setting.json, *value); }
  void operator()(int* value) const { *value = static_cast<int>(json.integer_or(setting.json, *value)); }
  void operator()(uint64_t* value) const {
    const int64_t found = json.integer_or(setting.json, 0);
    if (found > 0) *value = static_cast<uint64_t>(found);
  }
  void operator()(Duration* value) const { value->ns = json.integer_or(setting.json, value->ns); }
  void operator()(Mode* value) const { *value = mode_of(json.string_or(setting.json, mode_name(*value))); }
  void operator()(std::string* value) const { *value = json.string_or(setting.json, *value); }
  void operator()(std::vector<std::string>* value) const {
    const Json* list = json.find(setting.json);
    if (list == nullptr || !list->is_array()) return;
    value->clear();  // what is written replaces the default
    for (const Json& text : list->items()) value->push_back(text.string());
  }
  void operator()(std::map<std::string, std::string>* value) const {
    const Json* object = json.find(setting.json);
    if (object == nullptr || !object->is_object()) return;
    for (const auto& [name, text] : object->members()) (*value)[name] = text.string();
  }
};

Error wrong(std::string_view key) {
  return {Error::Code::kInvalid, cat("'", key, "' is missing or of the wrong kind"), ""};
}

}  // namespace

void answer_for_itself(RunSpec& spec) {
  for (Mode* mode : {&spec.breaking, &spec.breaking_learning, &spec.breaking_hang, &spec.restarting}) {
    if (*mode == Mode::kAsk) *mode = Mode::kAct;
  }
}

std::span<const RunSetting> run_settings() { return kSettings; }

std::string run_spec_text(const RunSpec& spec) {
  RunSpec copy = spec;  // a row gives a pointer that could be written through
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("version").integer(1);
    for (const RunSetting& setting : kSettings) {
      json.key(setting.json);
      std::visit(Write{json}, setting.member(copy));
    }
    json.end_object();
  }
  return out;
}

Result<RunSpec> parse_run_spec(std::string_view text) {
  const auto json = Json::parse(text);
  if (!json.ok()) return json.error();
  const Json* command = json->find("command");
  if (command == nullptr || !command->is_array() || command->items().empty()) return wrong("command");
  for (const Json& word : command->items()) {
    if (!word.is_string()) return wrong("command");
  }
  RunSpec spec;
  for (const RunSetting& setting : kSettings) std::visit(Read{*json, setting}, setting.member(spec));
  if (spec.folder.empty()) return wrong("folder");
  return spec;
}

}  // namespace mw
