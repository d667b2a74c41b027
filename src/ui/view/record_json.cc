#include "ui/view/record_json.h"

#include <type_traits>

#include "base/text.h"

namespace mw {
namespace {

constexpr std::string_view kSchema = "midwatch.run/1";

/// A member that holds a step: kNoStep is null.
struct Step {
  int64_t& step;
};

// One list of members for both ways: `to` writes them or reads them.
template <typename To>
void members(To& to, RunRecord::Attempt& it) {
  to("began", it.began);
  to("last", it.last);
  to("first_step", Step{it.first_step});
  to("last_step", Step{it.last_step});
  to("resumed_at", Step{it.resumed_at});
  to("end", it.end);
  to("seconds", it.seconds);
}
template <typename To>
void members(To& to, RunRecord::Incident& it) {
  to("id", it.id);
  to("kind", it.kind);
  to("severity", it.severity);
  to("open", it.open);
  to("at", it.at);
  to("step", Step{it.step});
  to("attempt", it.attempt);
  to("summary", it.summary);
  to("cause", it.cause);
  to("fix", it.fix);
  to("outcome", it.outcome);
}
template <typename To>
void members(To& to, RunRecord::Figure& it) {
  to("name", it.name);
  to("unit", it.unit);
  to("evaluation", it.evaluation);
  to("first", it.first);
  to("first_step", Step{it.first_step});
  to("last", it.last);
  to("last_step", Step{it.last_step});
  to("rated", it.rated);
  to("best", it.best);
  to("best_step", Step{it.best_step});
}
template <typename To>
void members(To& to, RunRecord::Checkpoint& it) {
  to("step", Step{it.step});
  to("at", it.at);
  to("bytes", it.bytes);
  to("saved", it.saved);
  to("verified", it.verified);
  to("path", it.path);
}
template <typename To>
void members(To& to, RunRecord::Note& it) {
  to("at", it.at);
  to("step", Step{it.step});
  to("who", it.who);
  to("kind", it.kind);
  to("text", it.text);
}
template <typename To>
void members(To& to, RunRecord::Change& it) {
  to("attempt", it.attempt);
  to("what", it.what);
  to("name", it.name);
  to("before", it.before);
  to("after", it.after);
}
template <typename To>
void members(To& to, RunRecord::Machine& it) {
  to("name", it.name);
  to("gpus", it.gpus);
  to("first_attempt", it.first);
  to("last_attempt", it.last);
}
template <typename To>
void members(To& to, RunRecord& it) {
  to("name", it.name);
  to("folder", it.folder);
  to("began", it.began);
  to("ended", it.ended);
  to("seconds", it.seconds);
  to("verdict", it.verdict);
  to("status", it.status);
  to("headline", it.headline);
  to("framework", it.framework);
  to("version", it.version);
  to("settings", it.settings);
  to("wandb", it.wandb);
  to("command", it.command);
  to("step", Step{it.step});
  to("planned_steps", it.planned);
  to("steps_seen", it.steps);
  to("seconds_per_step", it.step_seconds);
  to("critical", it.critical);
  to("cost_per_hour", it.cost_per_hour);
  to("attempts", it.attempts);
  to("incidents", it.incidents);
  to("figures", it.figures);
  to("checkpoints", it.checkpoints);
  to("checkpoints_in_all", it.checkpoints_in_all);
  to("notes", it.notes);
  to("tags", it.tags);
  to("changes", it.changes);
  to("machines", it.machines);
  to("asks", it.asks);
}

using Settings = std::vector<std::pair<std::string, std::string>>;

struct Write {
  JsonWriter& json;

  template <typename Value>
  void operator()(std::string_view key, Value&& value) {
    json.key(key);
    put(value);
  }
  void put(const Step& it) { it.step == kNoStep ? json.null() : json.integer(it.step); }
  void put(const Time& at) { at.known() ? json.string(format_utc(at)) : json.null(); }
  void put(const std::string& text) { json.string(text); }
  void put(bool value) { json.boolean(value); }
  void put(double value) { json.number(value); }
  template <typename Number>
  requires std::is_integral_v<Number>
  void put(Number value) { json.integer(static_cast<int64_t>(value)); }
  void put(Settings& settings) {
    json.begin_object();
    for (const auto& [key, value] : settings) json.key(key).string(value);
    json.end_object();
  }
  template <typename Item>
  void put(std::vector<Item>& items) {
    json.begin_array();
    for (Item& item : items) put(item);
    json.end_array();
  }
  template <typename Object>
  requires requires(Write& to, Object& object) { members(to, object); }
  void put(Object& object) {
    json.begin_object();
    members(*this, object);
    json.end_object();
  }
};

struct Read {
  const Json& json;

  template <typename Value>
  void operator()(std::string_view key, Value&& value) {
    if (const Json* at = json.find(key)) take(*at, value);
  }
  static void take(const Json& at, Step& it) {
    if (at.is_number()) it.step = at.integer();
  }
  static void take(const Json& at, Time& time) { time = parse_time(at.string()).value_or(Time()); }
  static void take(const Json& at, std::string& text) { text = at.string(); }
  static void take(const Json& at, bool& value) { value = at.boolean(); }
  static void take(const Json& at, double& value) { value = at.is_number() ? at.number() : 0; }
  template <typename Number>
  requires std::is_integral_v<Number>
  static void take(const Json& at, Number& value) { value = static_cast<Number>(at.integer()); }
  static void take(const Json& at, Settings& settings) {
    for (const auto& [key, value] : at.members()) settings.emplace_back(key, value.string());
  }
  template <typename Item>
  static void take(const Json& at, std::vector<Item>& items) {
    for (const Json& one : at.items()) take(one, items.emplace_back());
  }
  template <typename Object>
  requires requires(Read& to, Object& object) { members(to, object); }
  static void take(const Json& at, Object& object) {
    Read below{at};
    members(below, object);
  }
};

}  // namespace

std::string record_json(const RunRecord& record) {
  RunRecord copy = record;  // the lists of members are for both ways, and so take what could be changed
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("schema").string(kSchema);
    Write write{json};
    members(write, copy);
    json.end_object();
  }
  return out;
}

Result<RunRecord> parse_record(std::string_view text) {
  const auto json = Json::parse(text);
  if (!json.ok()) return json.error();
  if (json->string_or("schema", "") != kSchema)
    return Error{Error::Code::kInvalid, cat("this is not the record of a run (", kSchema, ")"), ""};
  RunRecord record;
  Read read{*json};
  members(read, record);
  return record;
}

void put_changes(JsonWriter& json, const std::vector<RunRecord::Change>& changes) {
  std::vector<RunRecord::Change> copy = changes;
  Write{json}.put(copy);
}

}  // namespace mw
