#include "act/supervise/run_spec.h"

#include "base/json.h"
#include "base/text.h"
#include "core/outcome_json.h"
#include "platform/durable.h"

namespace mw {
namespace {

Error wrong(std::string_view key) {
  return {Error::Code::kInvalid, cat("'", key, "' is missing or of the wrong kind"), ""};
}

void put_step(JsonWriter& json, std::string_view key, int64_t step) {
  json.key(key);
  step == kNoStep ? json.null() : json.integer(step);
}

void read_texts(const Json& json, std::string_view key, std::vector<std::string>& out) {
  const Json* list = json.find(key);
  if (list == nullptr || !list->is_array()) return;
  for (const Json& text : list->items()) out.push_back(text.string());
}

void put_plan(JsonWriter& json, const QuarantinePlan& plan) {
  json.begin_object().key("root").string(plan.root).key("label").string(plan.label).key("items").begin_array();
  for (const QuarantinePlan::Item& item : plan.items) {
    json.begin_object().key("step").integer(item.step).key("identity").string(identity_text(item.identity));
    json.end_object();
  }
  json.end_array();
  put_step(json, "keep", plan.keep);
  json.key("set_pointer").boolean(plan.set_pointer).end_object();
}

QuarantinePlan plan_in(const Json& json) {
  QuarantinePlan plan;
  plan.root = json.string_or("root", "");
  plan.label = json.string_or("label", "");
  const Json* items = json.find("items");
  for (size_t i = 0; items != nullptr && items->is_array() && i < items->items().size(); ++i) {
    const Json& item = items->items()[i];
    plan.items.push_back({item.integer_or("step", kNoStep), identity_in(item.string_or("identity", ""))});
  }
  plan.keep = json.integer_or("keep", kNoStep);
  plan.set_pointer = json.boolean_or("set_pointer", false);
  return plan;
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
    json.key("nonce").string(spec.nonce).key("mark").string(spec.mark);
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
  spec.mark = json->string_or("mark", "");
  return spec;
}

std::string trip_text(const Trip& trip) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object()
        .key("version")
        .integer(1)
        .key("run")
        .string(trip.nonce)
        .key("kind")
        .string(trip.kind)
        .key("cause")
        .string(trip.cause);
    json.key("reaction").string(trip.reaction).key("summary").string(trip.summary);
    put_step(json, "step", trip.step);
    json.key("source").integer(trip.where.source).key("line").integer(static_cast<int64_t>(trip.where.line));
    json.end_object();
  }
  return out;
}

Result<Trip> parse_trip(std::string_view text) {
  auto json = Json::parse(text);
  if (!json.ok()) return json.error();
  Trip trip;
  trip.nonce = json->string_or("run", "");
  trip.kind = json->string_or("kind", "");
  if (trip.kind.empty()) return wrong("kind");
  trip.cause = json->string_or("cause", "");
  trip.reaction = json->string_or("reaction", "");
  trip.summary = json->string_or("summary", "");
  trip.step = json->integer_or("step", kNoStep);
  trip.where.source = static_cast<uint32_t>(json->integer_or("source", 0));
  trip.where.line = static_cast<uint64_t>(json->integer_or("line", 0));
  return trip;
}

std::string judgement_text(const Judgement& judgement) {
  const AttemptOutcome& of = judgement.outcome;
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("version").integer(1).key("run").string(judgement.nonce);
    write_outcome(json, of);
    json.key("restart").boolean(judgement.decision.restart);
    json.key("wait_ns").integer(judgement.decision.wait.ns).key("why").string(judgement.decision.why);
    json.key("spent").integer(judgement.decision.spent).key("framework").string(judgement.framework);
    json.key("facts").string(judgement.facts).key("quarantine").begin_object().key("roots").begin_array();
    for (const std::string& root : judgement.back.roots) json.string(root);
    json.end_array();
    put_step(json, "from", judgement.back.from);
    json.key("why").string(judgement.back.why).key("plans").begin_array();
    for (const QuarantinePlan& plan : judgement.back.plans) put_plan(json, plan);
    json.end_array().end_object().key("resume").begin_object();
    put_step(json, "step", judgement.resume.step);
    json.key("path").string(judgement.resume.path).key("words").begin_array();
    for (const std::string& word : judgement.resume.words) json.string(word);
    json.end_array().end_object().key("asks").boolean(judgement.asks).end_object();
  }
  return out;
}

Result<Judgement> parse_judgement(std::string_view text) {
  auto json = Json::parse(text);
  if (!json.ok()) return json.error();
  if (!json->is_object() || json->find("restart") == nullptr) return wrong("restart");
  Judgement judgement;
  judgement.nonce = json->string_or("run", "");
  judgement.outcome = read_outcome(*json);
  judgement.facts = json->string_or("facts", "");
  judgement.decision.restart = json->boolean_or("restart", false);
  judgement.decision.wait.ns = json->integer_or("wait_ns", 0);
  judgement.decision.why = json->string_or("why", "");
  judgement.decision.spent = static_cast<int>(json->integer_or("spent", 0));
  judgement.framework = json->string_or("framework", "");
  const Json* aside = json->find("quarantine");
  if (aside == nullptr) aside = json->find("set_aside");  // as midwatch 0.1 called it
  if (aside != nullptr && aside->is_object()) {
    read_texts(*aside, "roots", judgement.back.roots);
    judgement.back.from = aside->integer_or("from", kNoStep);
    judgement.back.why = aside->string_or("why", "");
    const Json* plans = aside->find("plans");
    if (plans == nullptr && !judgement.back.roots.empty() && judgement.decision.restart) {
      judgement.decision.restart = false;  // of a midwatch that did not look whose they are
      judgement.decision.why += " But an earlier midwatch decided which checkpoints move: a person must look.";
    }
    for (size_t i = 0; plans != nullptr && plans->is_array() && i < plans->items().size(); ++i) {
      judgement.back.plans.push_back(plan_in(plans->items()[i]));
    }
  }
  if (const Json* resume = json->find("resume"); resume != nullptr && resume->is_object()) {
    judgement.resume.step = resume->integer_or("step", kNoStep);
    judgement.resume.path = resume->string_or("path", "");
    read_texts(*resume, "words", judgement.resume.words);
  }
  judgement.asks = json->boolean_or("asks", false);
  return judgement;
}

}  // namespace mw
