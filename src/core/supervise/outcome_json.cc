#include "core/supervise/outcome_json.h"

namespace mw {
namespace {

void put_step(JsonWriter& json, std::string_view key, int64_t step) {
  json.key(key);
  step == kNoStep ? json.null() : json.integer(step);
}

}  // namespace

void write_outcome(JsonWriter& json, const AttemptOutcome& of) {
  json.key("started").boolean(of.started).key("known").boolean(of.known);
  json.key("code").integer(of.code).key("signal").integer(of.signal);
  json.key("lasted_ns").integer(of.lasted.ns);
  json.key("stop_requested").boolean(of.stop_requested);
  json.key("stopped_for").string(of.stopped_for);
  json.key("unfinished").boolean(of.unfinished).key("finished").boolean(of.finished);
  json.key("said").string(of.said).key("from_outside").boolean(of.from_outside);
  json.key("planned").integer(of.planned).key("made_room").boolean(of.made_room);
  json.key("time_limit").string(of.time_limit);
  json.key("trains_on").string(of.trains_on);
  json.key("provider").boolean(of.provider).key("tripped").boolean(of.tripped);
  put_step(json, "suspect", of.suspect);
  put_step(json, "onset", of.onset);
  put_step(json, "first_step", of.first_step);
  put_step(json, "last_step", of.last_step);
  put_step(json, "last_checkpoint", of.last_checkpoint);
  put_step(json, "resumed_at", of.resumed_at);
  json.key("kind").string(of.kind).key("cause").string(of.cause).key("transient").string(of.transient);
  json.key("reaction").string(of.reaction).key("layer").string(of.layer);
  json.key("new_error").boolean(of.new_error);
  json.key("can_roll_back").boolean(of.can_roll_back);
}

AttemptOutcome read_outcome(const Json& json) {
  AttemptOutcome of;
  of.started = json.boolean_or("started", false);
  of.known = json.boolean_or("known", false);
  of.code = static_cast<int>(json.integer_or("code", -1));
  of.signal = static_cast<int>(json.integer_or("signal", 0));
  of.lasted.ns = json.integer_or("lasted_ns", 0);
  // The second name is that of midwatch 0.1.
  of.stop_requested = json.boolean_or("stop_requested", json.boolean_or("told_to_stop", false));
  of.stopped_for = json.string_or("stopped_for", "");
  of.unfinished = json.boolean_or("unfinished", false);
  of.said = json.string_or("said", "");
  of.from_outside = json.boolean_or("from_outside", false);
  of.finished = json.boolean_or("finished", false);
  of.planned = json.integer_or("planned", 0);
  of.made_room = json.boolean_or("made_room", false);
  of.time_limit = json.string_or("time_limit", "");
  of.trains_on = json.string_or("trains_on", "");
  of.provider = json.boolean_or("provider", false);
  of.tripped = json.boolean_or("tripped", false);
  of.suspect = json.integer_or("suspect", kNoStep);
  of.onset = json.integer_or("onset", kNoStep);
  of.first_step = json.integer_or("first_step", kNoStep);
  of.last_step = json.integer_or("last_step", kNoStep);
  of.last_checkpoint = json.integer_or("last_checkpoint", kNoStep);
  of.resumed_at = json.integer_or("resumed_at", kNoStep);
  of.kind = json.string_or("kind", "");
  of.cause = json.string_or("cause", "");
  of.transient = json.string_or("transient", "");
  of.reaction = json.string_or("reaction", "");
  of.layer = json.string_or("layer", "");
  of.new_error = json.boolean_or("new_error", false);
  of.can_roll_back = json.boolean_or("can_roll_back", json.boolean_or("can_go_back", false));
  return of;
}

std::string facts_json(const DecisionFacts& facts) {
  std::string out;
  {
    JsonWriter json(out);
    write_outcome(json.begin_object().key("outcome").begin_object(), facts.outcome);
    json.end_object().key("limits").begin_object().key("restarts").integer(facts.limits.restarts);
    json.key("restarts_total").integer(facts.limits.total);
    json.key("first_wait_ns").integer(facts.limits.first_wait.ns);
    json.key("longest_wait_ns").integer(facts.limits.longest_wait.ns).end_object();
    json.key("decision")
        .begin_object()
        .key("end")
        .string(end_class_word(facts.decision.end))
        .key("restart")
        .boolean(facts.decision.restart);
    json.key("wait_ns").integer(facts.decision.wait.ns).key("why").string(facts.decision.why);
    json.key("spent").integer(facts.decision.spent).end_object().end_object();
  }
  return out;
}

std::optional<DecisionFacts> facts_from_json(std::string_view text) {
  const auto json = Json::parse(text);
  if (!json.ok()) return std::nullopt;
  const Json *outcome = json->find("outcome"), *limits = json->find("limits"), *decision = json->find("decision");
  if (outcome == nullptr || limits == nullptr || decision == nullptr) return std::nullopt;
  DecisionFacts facts;
  facts.outcome = read_outcome(*outcome);
  facts.limits.restarts = static_cast<int>(limits->integer_or("restarts", facts.limits.restarts));
  facts.limits.total = static_cast<int>(limits->integer_or("restarts_total", facts.limits.total));
  facts.limits.first_wait.ns = limits->integer_or("first_wait_ns", facts.limits.first_wait.ns);
  facts.limits.longest_wait.ns = limits->integer_or("longest_wait_ns", facts.limits.longest_wait.ns);
  facts.decision.end = end_class_of(decision->string_or("end", ""));
  facts.decision.restart = decision->boolean_or("restart", false);
  facts.decision.wait.ns = decision->integer_or("wait_ns", 0);
  facts.decision.why = decision->string_or("why", "");
  facts.decision.spent = static_cast<int>(decision->integer_or("spent", 0));
  return facts;
}

}  // namespace mw
