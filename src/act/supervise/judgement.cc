#include "act/supervise/judgement.h"

#include <optional>

#include "base/text.h"
#include "core/supervise/outcome_json.h"

namespace mw {
namespace {

constexpr size_t kPlanBytes = 250'000;

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
  json.key("set_pointer").boolean(plan.set_pointer);
  if (!plan.misled.empty()) json.key("misled").string(plan.misled);
  json.end_object();
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
  plan.misled = json.string_or("misled", "");
  return plan;
}

std::string plan_text(const Judgement& judgement) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("framework").string(judgement.framework);
    if (judgement.from_scratch) json.key("from_scratch").boolean(true);
    json.key("quarantine").begin_object().key("roots").begin_array();
    for (const std::string& root : judgement.back.roots) json.string(root);
    json.end_array();
    put_step(json, "from", judgement.back.from);
    json.key("why").string(judgement.back.why).key("plans").begin_array();
    for (const QuarantinePlan& plan : judgement.back.plans) put_plan(json, plan);
    json.end_array().end_object().key("resume").begin_object();
    put_step(json, "step", judgement.resume.step);
    json.key("path").string(judgement.resume.path).key("words").begin_array();
    for (const std::string& word : judgement.resume.words) json.string(word);
    json.end_array().end_object().end_object();
  }
  return out;
}

}  // namespace

event::Tripped tripped_event(int64_t attempt, const Trip& trip) {
  return {attempt, trip.kind, trip.cause, trip.reaction, trip.summary, trip.step, trip.where.source, trip.where.line};
}

Trip trip_of(const event::Tripped& tripped) {
  Trip trip{tripped.kind, tripped.cause, tripped.reaction, tripped.summary, tripped.step, {}};
  trip.where.source = tripped.source;
  trip.where.line = tripped.line;
  return trip;
}

event::Decided decided_event(int64_t attempt, const Judgement& judgement) {
  const RestartDecision& decision = judgement.decision;
  std::string plan = plan_text(judgement);
  if (plan.size() > kPlanBytes) plan.clear();  // a person must look at so many
  return {attempt,         decision.restart, decision.wait.seconds(), decision.why,
          judgement.facts, judgement.asks,   std::move(plan)};
}

bool read_plan(const Json& json, Judgement& into) {
  into.framework = json.string_or("framework", "");
  into.from_scratch = json.boolean_or("from_scratch", false);
  if (const Json* resume = json.find("resume"); resume != nullptr && resume->is_object()) {
    into.resume.step = resume->integer_or("step", kNoStep);
    into.resume.path = resume->string_or("path", "");
    read_texts(*resume, "words", into.resume.words);
  }
  const Json* moves = json.find("quarantine");
  if (moves == nullptr) moves = json.find("set_aside");  // as midwatch 0.1 called it
  if (moves == nullptr || !moves->is_object()) return true;
  read_texts(*moves, "roots", into.back.roots);
  into.back.from = moves->integer_or("from", kNoStep);
  into.back.why = moves->string_or("why", "");
  const Json* plans = moves->find("plans");
  if (plans == nullptr || !plans->is_array()) return into.back.roots.empty();
  for (const Json& plan : plans->items()) into.back.plans.push_back(plan_in(plan));
  return true;
}

Judgement judgement_of(const SupervisedAttempt& attempt) {
  Judgement judgement;
  if (auto facts = facts_from_json(attempt.facts); facts) {
    judgement.outcome = std::move(facts->outcome);
    judgement.decision = std::move(facts->decision);
  }
  judgement.facts = attempt.facts;
  judgement.asks = attempt.asks;
  // What was decided in the end, after all that core/supervise/policy.h does not know.
  judgement.decision.restart = attempt.restart;
  judgement.decision.wait = Duration::seconds(attempt.wait_s);
  judgement.decision.why = attempt.why;
  const auto plan = Json::parse(attempt.plan);
  if (plan.ok() && plan->is_object() && read_plan(*plan, judgement)) return judgement;
  if (!attempt.restart) return judgement;
  judgement.decision.restart = judgement.asks = false;
  judgement.decision.why += " But what was to be done before it cannot be read: a person must look.";
  return judgement;
}

}  // namespace mw
