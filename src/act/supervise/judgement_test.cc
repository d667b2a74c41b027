#include "act/supervise/judgement.h"

#include <doctest/doctest.h>

#include "act/supervise/run_files.h"
#include "core/state.h"
#include "core/supervise/outcome_json.h"

namespace mw {
namespace {

TEST_CASE("a run.json is read back as written; others are refused") {
  RunSpec spec;
  spec.command = {"a b", "", "\xc3\xa9"};
  spec.folder = "/x";
  spec.environment = {{"A", "1=2"}};
  spec.limits.restarts = 7;
  const auto again = parse_run_spec(run_spec_text(spec));
  REQUIRE(again.ok());
  CHECK(again->command == spec.command);
  CHECK(again->environment == spec.environment);
  CHECK(again->limits.restarts == 7);
  CHECK(run_spec_text(*again) == run_spec_text(spec));
  for (const char* bad :
       {"", "[]", "{}", "{\"command\":[]}", "{\"command\":[1],\"folder\":\"/\"}", "{\"command\":[\"a\"]}"}) {
    CHECK_FALSE(parse_run_spec(bad).ok());
  }
}

TEST_CASE("a decision is read back from the journal as it was made; without its plan there is no restart") {
  Judgement judgement;
  judgement.outcome.last_step = 41;
  judgement.outcome.kind = "engine-dead";
  judgement.decision.restart = judgement.asks = true;
  judgement.decision.wait = Duration::seconds(20);
  judgement.decision.why = "so";
  judgement.facts = facts_json({judgement.outcome, {}, judgement.decision});
  judgement.framework = "verl";
  judgement.back.roots = {"/ck"};
  judgement.back.from = 30;
  judgement.back.plans = {{"/ck", "label", {{30, {}}}, 20, true}};
  judgement.resume = {20, "/ck/20", {"--resume", "20"}};
  State state;
  fold(state, {{}, {}, decided_event(3, judgement)});
  const SupervisedAttempt* known = state.supervision.attempt(3);
  REQUIRE(known != nullptr);
  const Judgement again = judgement_of(*known);
  CHECK(decided_event(3, again).plan == decided_event(3, judgement).plan);
  CHECK(again.outcome.kind == "engine-dead");
  CHECK(again.outcome.last_step == 41);
  CHECK(again.outcome.first_step == kNoStep);
  CHECK(again.decision.restart);
  CHECK(again.asks);
  CHECK(again.back.plans.size() == 1);
  CHECK(again.resume.words == judgement.resume.words);
  SupervisedAttempt torn = *known;
  torn.plan.resize(torn.plan.size() / 2);
  CHECK_FALSE(judgement_of(torn).decision.restart);
}

}  // namespace
}  // namespace mw
