#include "core/supervise/breaker.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <string_view>

#include "core/advance.h"
#include "core/supervise/policy.h"

namespace mw {
namespace {

/// A run that is judged as it goes.
struct Run {
  Knowledge known;
  State state;
  uint64_t line = 0;
  int64_t at = 0;

  template <typename Body>
  void put(Body body) {
    std::vector<Event> decided;
    advance(state, {{}, {0, ++line}, std::move(body)}, known, Judge::kAlways, decided);
  }
  void step(double reward, double loss = 0.01, double grad_norm = 0.3, double length = 500) {
    put(event::Measured{++at,
                        false,
                        {{"reward.mean", "reward", reward},
                         {"loss.policy", "loss", loss},
                         {"grad_norm", "grad", grad_norm},
                         {"response.length", "length", length}}});
  }
  void healthy(int steps) {
    for (int i = 0; i < steps; ++i) step(0.4 + 0.01 * (i % 5));
  }
  BreakCase trips() {
    put(event::Ticked{});
    return breaker(state);
  }
  bool trips_for(BreakReason why) {
    const BreakCase found = trips();
    return found.incident != nullptr && found.why == why;
  }
};

const double kNan = std::nan("");

TEST_CASE("a figure that is no number once, or a few times apart, ends nothing") {
  Run run;
  run.healthy(10);
  for (int i = 0; i < 5; ++i) {
    run.step(0.4, kNan, kNan);
    CHECK(run.trips().incident == nullptr);
    run.healthy(3);
    CHECK(run.trips().incident == nullptr);
  }
  run.step(kNan);
  run.step(kNan);
  run.step(kNan);
  CHECK(run.trips().incident == nullptr);  // a reward without samples, while the loss is well
}

TEST_CASE("weights that are gone end the attempt, once completed steps show it") {
  Run run;
  run.healthy(10);
  run.step(0.4, kNan, kNan);
  run.step(0.4, kNan, kNan);
  CHECK(run.trips().incident == nullptr);
  run.step(0.4, kNan, kNan);
  CHECK(run.trips_for(BreakReason::kLearning));
  run.step(0.4);
  CHECK(run.trips().incident == nullptr);  // it healed
}

TEST_CASE(
    "gradient norms alone that are no numbers may be steps skipped for an overflow, as long as a scale takes to fall") {
  Run run;
  run.healthy(10);
  for (int i = 0; i < 19; ++i) run.step(0.4, 0.01, kNan);
  CHECK(run.trips().incident == nullptr);
  run.step(0.4, 0.01, kNan);
  CHECK(run.trips_for(BreakReason::kLearning));
}

TEST_CASE("rewards on their floor end the attempt only when they stay there") {
  Run cold;
  for (int i = 0; i < 60; ++i) cold.step(0);
  CHECK(cold.trips().incident == nullptr);  // a cold start loses nothing
  Run run;
  run.healthy(20);
  for (int i = 0; i < 10; ++i) run.step(0);
  CHECK(run.trips().incident == nullptr);  // a curriculum, an evaluation
  for (int i = 0; i < 10; ++i) run.step(0);
  CHECK(run.trips_for(BreakReason::kLearning));
}

TEST_CASE("what somebody stopped is not ended: an engine at once, a trainer after hours, whatever waits for them") {
  for (const char* kind : {"engine", "other"}) {
    CAPTURE(kind);
    Run run;
    run.healthy(10);
    event::ComponentSaw saw;
    saw.component = saw.kind = kind;
    saw.health = event::ComponentSaw::Health::kFrozen;
    saw.text = "it was stopped";
    saw.certain = true;
    run.put(event::ComponentSaw(saw));
    run.put(event::Ticked{});
    REQUIRE(!run.state.incidents.empty());
    CHECK(run.state.incidents.back().kind == "stall");
    CHECK(run.trips().incident == nullptr);
    saw.health = event::ComponentSaw::Health::kDead;  // somebody killed it then
    run.put(event::ComponentSaw(saw));
    if (saw.kind == "engine") CHECK(run.trips_for(BreakReason::kDeadComponent));
  }
}

TEST_CASE("two kinds of evidence are enough after few steps: zero rewards for answers that are empty") {
  Run run;
  run.healthy(10);
  for (int i = 0; i < 5; ++i) run.step(0, 0, 0, 1);
  CHECK(run.trips_for(BreakReason::kLearning));
  Run failed;
  failed.healthy(10);
  event::ComponentSaw saw;
  saw.component = saw.kind = "engine";
  saw.health = event::ComponentSaw::Health::kGone;
  saw.text = "the engine ended";
  failed.put(event::ComponentSaw(saw));
  CHECK(failed.trips().incident == nullptr);  // it may have been taken away on purpose
  for (int i = 0; i < 5; ++i) failed.step(0, 0, 0, 1);
  CHECK(failed.trips_for(BreakReason::kDeadComponent));
  Run proven;
  proven.healthy(10);
  saw.certain = true;
  proven.put(event::ComponentSaw(saw));
  CHECK(proven.trips_for(BreakReason::kDeadComponent));
}

TEST_CASE("one of several engines is gone: a reward below all before is no floor, and no proof that the run needs it") {
  const auto engine = [](std::string_view name, event::ComponentSaw::Health health) {
    event::ComponentSaw saw;
    saw.component = name;
    saw.kind = "engine";
    saw.health = health;
    saw.text = "Process 7 of the run has ended while the trainer goes on";
    return saw;
  };
  Run run;
  run.put(engine("VLLM::Engine_1 (6)", event::ComponentSaw::Health::kWell));
  run.put(engine("VLLM::Engine_2 (7)", event::ComponentSaw::Health::kWell));
  for (int i = 0; i < 10; ++i) run.step(i % 2 == 0 ? -0.1 : 0.1);
  run.put(engine("VLLM::Engine_2 (7)", event::ComponentSaw::Health::kGone));
  for (int i = 0; i < 12; ++i) {
    run.step(-0.2 - 0.01 * i);
    CHECK(run.trips().incident == nullptr);
  }
  run.step(-1);
  run.step(-1);
  CHECK(run.trips_for(BreakReason::kDeadComponent));

  Run sparse;  // on its floor for two steps now and then
  sparse.put(engine("VLLM::Engine_1 (6)", event::ComponentSaw::Health::kWell));
  sparse.put(engine("VLLM::Engine_2 (7)", event::ComponentSaw::Health::kWell));
  for (int i = 0; i < 20; ++i) sparse.step(i % 4 < 2 ? 0 : 0.2);
  sparse.put(engine("VLLM::Engine_2 (7)", event::ComponentSaw::Health::kGone));
  for (int i = 0; i < 20; ++i) {
    sparse.step(i % 4 < 2 ? 0 : 0.2);
    CHECK(sparse.trips().incident == nullptr);
  }
}

TEST_CASE("a dead engine that only the text reports ends nothing while steps are worth something") {
  State state;
  state.attempts.resize(2);
  state.attempts.back().last_step = 20;
  Incident incident;
  incident.kind = "engine-dead";
  incident.severity = Severity::kCritical;
  incident.onset.attempt = incident.latest.attempt = 1;
  incident.onset.step = incident.latest.step = 20;
  state.incidents = {incident};
  CHECK(breaker(state).incident == nullptr);
  CHECK(tainted_by(state) == &state.incidents.front());  // but once it is over, its checkpoints are not resumed from
  ComponentState part;
  part.troubles.emplace_back();
  part.troubles.back().began.attempt = 1;
  state.components = {part};
  CHECK(breaker(state).why == BreakReason::kDeadComponent);
  CHECK(breaker(state).incident != nullptr);
  state.incidents.front().latest.attempt = 0;
  CHECK(breaker(state).incident == nullptr);  // of an attempt that is over
  state.incidents.front().latest.attempt = 1;
  state.incidents.front().open = false;
  CHECK(breaker(state).incident == nullptr);
}

TEST_CASE(
    "what a command begins anew by itself is its own affair; what midwatch restarted must not lose a checkpoint") {
  State state;
  state.attempts.resize(2);
  state.checkpoints.push_back({{10, {}, {}, 0}, {10, "out/global_step_10", true}});
  Incident incident;
  incident.kind = "restart-from-scratch";
  incident.latest.attempt = 1;
  state.incidents = {incident};
  CHECK(breaker(state).incident == nullptr);
  ActionState restart;
  restart.attempt = 0;
  restart.intent.action = "restart";
  state.actions = {restart};
  CHECK(breaker(state).incident == nullptr);  // its first save is far
  state.attempts.back().last_step = 7;
  CHECK(breaker(state).why == BreakReason::kFromScratch);
  CHECK(breaker(state, true).incident == nullptr);
}

TEST_CASE("a part that certainly failed ends what stands still for it, and poison taints the checkpoints") {
  const auto state_with = [](const char* kind) {
    State state;
    state.attempts.resize(1);
    state.attempts.back().last_step = 20;
    Incident incident;
    incident.kind = kind;
    incident.severity = Severity::kCritical;
    incident.onset.step = incident.latest.step = 20;
    state.incidents = {incident};
    return state;
  };
  for (const char* kind : {"engine-dead", "stall", "worker-lost"}) {
    CAPTURE(std::string(kind));
    State state = state_with(kind);
    const BreakCase before = breaker(state);
    CHECK((before.incident == nullptr || before.why == BreakReason::kHang));  // decide.h: that is waited for
    ComponentState part;
    part.troubles.emplace_back();
    part.troubles.back().certain = Moment();
    state.components = {part};
    CHECK(breaker(state).incident != nullptr);
    CHECK(breaker(state).why == BreakReason::kDeadComponent);
  }
  for (const char* kind : {"engine-dead", "zero-reward", "non-finite"}) {
    CAPTURE(std::string(kind));
    CHECK(tainted_by(state_with(kind)) != nullptr);
  }
  CHECK(tainted_by(state_with("entropy-collapse")) == nullptr);
}

TEST_CASE("at an address where nobody ever answered nothing is dead: no attempt ends for it, nothing is tainted") {
  Run run;
  run.put(event::SourceOpened{1, "host:components", std::string(kHostKind), 0});
  const auto says = [&run](event::ComponentSaw::Health health, bool certain) {
    event::ComponentSaw saw;
    saw.component = "judge", saw.kind = "engine", saw.health = health, saw.certain = certain;
    saw.text = "refused";
    run.put(saw);
  };
  using Health = event::ComponentSaw::Health;
  run.healthy(10);
  says(Health::kStarting, false);
  says(Health::kStarting, true);  // for too long
  run.healthy(10);
  CHECK(run.trips().incident == nullptr);
  CHECK(tainted_by(run.state) == nullptr);
  REQUIRE(run.state.incidents.size() == 1);
  CHECK(run.state.incidents[0].kind == "environment-fault");
  CHECK(run.state.incidents[0].severity == Severity::kWarning);
  says(Health::kWell, false);
  run.healthy(5);
  says(Health::kSilent, true);  // what once answered and stops
  run.healthy(2);
  CHECK(run.trips_for(BreakReason::kDeadComponent));
}

TEST_CASE("zero rewards from the first step on end a run only where something that gives them failed with them") {
  for (const char* kind : {"engine-dead", "network", "worker-lost", "environment-fault", "config-error"}) {
    CAPTURE(std::string(kind));
    State state;
    state.attempts.resize(1);
    state.attempts.back().first_step = 1;
    state.attempts.back().last_step = 9;
    Incident zero;
    zero.kind = "zero-reward";
    zero.severity = Severity::kCritical;
    zero.latest.step = 2;
    Incident other;
    other.kind = kind;
    other.latest.step = 1;
    state.incidents = {zero, other};
    CHECK((breaker(state).incident != nullptr) == (std::string_view(kind) != "config-error"));
  }
}

TEST_CASE("a save is due by the rhythm of those before") {
  Run run;
  run.healthy(5);
  CHECK_FALSE(save_is_due(run.state));
  run.put(event::CheckpointSaved{5, "out/5", true});
  run.healthy(2);
  CHECK_FALSE(save_is_due(run.state));
  run.healthy(1);
  CHECK(save_is_due(run.state));  // the ninth step is under way, and the tenth comes before its figures are logged
  run.healthy(2);
  run.put(event::CheckpointSaved{10, "out/10", true});
  CHECK_FALSE(save_is_due(run.state));
}

}  // namespace
}  // namespace mw
