#include "core/supervise/decide_component.h"

#include <doctest/doctest.h>

#include "core/supervise/policy.h"

namespace mw {
namespace {

using What = ComponentDecision::What;

ComponentLimits limits() { return {3, Duration::seconds(2), Duration::seconds(5)}; }

ComponentState saw(event::ComponentSaw::Health health, bool certain) {
  ComponentState component;
  component.last.health = health;
  component.last.certain = certain;
  component.last.text = "it does not answer";
  return component;
}

/// Decided at `at` seconds, ready at `ready` (below 0: never).
void restart(State& state, std::string_view target, std::string_view action, int64_t at, int64_t ready) {
  ActionState one;
  one.at.ns = at * 1'000'000'000;
  one.done_at.ns = ready * 1'000'000'000;
  one.intent = {static_cast<uint32_t>(state.actions.size() + 1), std::string(action), std::string(target), 0, ""};
  one.done = one.begun = true;
  one.ok = ready >= 0;
  state.actions.push_back(std::move(one));
}

}  // namespace

TEST_CASE("a component that runs is started anew only for a failure that is certain") {
  using Health = event::ComponentSaw::Health;
  ComponentLife life;
  CHECK(decide_component(life, limits()).what == What::kNothing);  // nothing was seen of it
  ComponentState well = saw(Health::kWell, true), doubtful = saw(Health::kSilent, false);
  ComponentState starting = saw(Health::kStarting, true), silent = saw(Health::kSilent, true);
  for (const ComponentState* seen : {&well, &doubtful, &starting}) {
    life.seen = seen;
    CHECK(decide_component(life, limits()).what == What::kNothing);
  }
  life.seen = &silent;
  const ComponentDecision made = decide_component(life, limits());
  CHECK(made.what == What::kRestart);
  CHECK(made.why == "it does not answer");
}

TEST_CASE("waits double up to the longest, the first failure of what has worked is answered at once") {
  ComponentLife life;
  life.ended = "It ended: exit code 1";
  CHECK(decide_component(life, limits()).wait == Duration::seconds(2));
  CHECK(decide_component(life, limits()).spent == 1);
  life.spent = 1;
  CHECK(decide_component(life, limits()).wait == Duration::seconds(4));
  life.spent = 2;
  CHECK(decide_component(life, limits()).wait == Duration::seconds(5));
  life.was_ready = true;
  CHECK(decide_component(life, limits()).wait == Duration::seconds(5));
  life.spent = 0;
  CHECK(decide_component(life, limits()).wait == Duration());
}

TEST_CASE("it is given up when its budget is spent, and a proven life gives the budget back") {
  ComponentLife life;
  life.ended = "It ended: exit code 1";
  life.spent = 3;
  CHECK(decide_component(life, limits()).what == What::kGiveUp);
  CHECK(decide_component(life, limits()).why == life.ended);
  life.was_ready = true;
  life.ready_for = Duration{kComponentProven.ns - 1};
  CHECK(decide_component(life, limits()).what == What::kGiveUp);
  life.ready_for = kComponentProven;
  const ComponentDecision made = decide_component(life, limits());
  CHECK(made.what == What::kRestart);
  CHECK(made.spent == 1);
  CHECK(made.wait == Duration());
}

TEST_CASE("restarts in a row are those of the journal since a proven life") {
  State state;
  CHECK(restarts_in_a_row(state, "engine") == 0);
  restart(state, "engine", kRestartComponent, 1000, 1010);
  restart(state, "engine", kRestartComponent, 1020, 1030);  // ready, and not for long
  CHECK(restarts_in_a_row(state, "engine") == 2);
  restart(state, "engine", kRestartWithRun, 1330, -1);
  CHECK(restarts_in_a_row(state, "engine") == 1);
  restart(state, "other", kRestartComponent, 1340, 1350);
  restart(state, "engine", "pause", 1340, 1350);
  restart(state, "engine", kRestartComponent, 1360, -1);
  CHECK(restarts_in_a_row(state, "engine") == 2);
  CHECK(restarts_in_a_row(state, "other") == 1);
  state.actions.back().done = false;  // in doubt
  CHECK(restarts_in_a_row(state, "engine") == 1);
  state.actions.back().done = true;
  state.actions.back().begun = false;  // another one took its place
  CHECK(restarts_in_a_row(state, "engine") == 1);
}

TEST_CASE("a stop is a component's where one was given up before anybody requested it") {
  Supervision known;
  CHECK(given_up(known).empty());
  known.requests.push_back({{}, {}, "pause", std::string(kByComponent)});
  CHECK(given_up(known).empty());
  known.requests.push_back({{}, {}, "stop", by_component("judge")});
  known.requests.push_back({{}, {}, "stop", "mira@node7"});
  CHECK(given_up(known) == "The run cannot go on without component judge, which is not started anew any more.");
  known.requests.erase(known.requests.begin() + 1);
  CHECK(given_up(known).empty());
}

}  // namespace mw
