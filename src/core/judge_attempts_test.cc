// What is said of a failure that several attempts had.
#include <doctest/doctest.h>

#include "base/text.h"
#include "core/incident_links.h"
#include "core/planted_run_for_test.h"

namespace mw {
namespace {

/// What the machine shows at the time of the run's last line.
void disk_shows(PlantedRun& run, double free) {
  ++run.line;
  Event event;
  event.at = Time::from_seconds(1'700'000'000.0 + 60.0 * static_cast<double>(run.line));
  event.where = {1, run.line};
  event.body = event::Measured{kNoStep, false, {{"disk.size", "/data", 500e9}, {"disk.free", "/data", free}}};
  std::vector<Event> decided;
  advance(run.state, event, run.knowledge, Judge::kAtClose, decided);
}

}  // namespace

TEST_CASE("how many attempts a failure was in does not depend on how many of its signs each had") {
  PlantedRun run;
  run.say(event::SourceOpened{1, "host:disks", std::string(kHostKind), 0});
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (attempt > 0) run.restart();
    disk_shows(run, 100e9);
    run.steps(1 + 10 * attempt, 10 + 10 * attempt);
    disk_shows(run, 4096);
    run.matched("enospc-generic");
    run.say(event::Ended{event::Ended::How::kFailed, 1, "exit status 1"});
  }
  size_t full = 0;
  for (const Incident& one : run.close()) {
    if (one.kind != "disk-full") continue;
    ++full;
    CAPTURE(one.summary);
    CHECK(contains(one.summary, "in 3 attempts"));
  }
  CHECK(full == 1);
}

TEST_CASE("what the circuit breaker acted on stays known where later attempts make nothing of it") {
  PlantedRun run;
  run.steps(1, 10);
  Incident one;
  one.id = 1;
  one.kind = "engine-dead";
  one.severity = Severity::kCritical;
  one.open = true;
  run.state.incidents.push_back(one);
  one.id = 2;
  one.kind = "stall";
  run.state.incidents.push_back(one);
  run.state.last_incident = 2;
  ActionState broke;
  broke.intent = {1, "break", "attempt 1", 1, "engine-dead"};
  run.state.actions.push_back(broke);
  run.restart();
  run.steps(1, 10);
  (void)run.close();
  const Incident* kept = nullptr;
  for (const Incident& incident : run.state.incidents) {
    CHECK(incident.id != 2);
    if (incident.id == 1) kept = &incident;
  }
  REQUIRE(kept != nullptr);
  CHECK_FALSE(kept->open);
}

TEST_CASE("what ended an attempt that trained did not come of what ended the one before") {
  for (const bool trained : {true, false}) {
    State state;
    state.attempts.resize(2);
    state.attempts[1].first_step = trained ? 11 : kNoStep;
    Incident cause, effect;
    cause.kind = "code-error";
    cause.open = true;
    cause.onset.step = 11;
    effect.kind = "crash";
    effect.onset.attempt = 1;
    effect.onset.step = 22;
    CHECK(may_have_led_to(state, Knowledge(), cause, effect) == !trained);
    cause.kind = "disk-full";  // the machine's: it outlasts an attempt
    CHECK(may_have_led_to(state, Knowledge(), cause, effect));
  }
}

TEST_CASE("a reward that falls after many good steps did not come of what ended the attempt before") {
  State state;
  state.attempts.resize(2);
  state.attempts[1].first_step = 31;
  const auto led = [&state](std::string_view kind, int64_t step) {
    Incident cause, effect;
    cause.kind = kind;
    cause.onset.step = 30;
    cause.onset.at = Time::from_seconds(1000);
    effect.kind = "reward-collapse";
    effect.onset.attempt = 1;
    effect.onset.step = step;
    effect.onset.at = Time::from_seconds(1300);
    cause.causes.push_back({"ray-actor-died", "", 0.9, {}, {}, "", ""});
    return may_have_led_to(state, Knowledge(), cause, effect);
  };
  CHECK(led("worker-lost", 33));
  CHECK_FALSE(led("worker-lost", 61));
  CHECK(led("gpu-out-of-memory", 61));  // the machine's: it outlasts an attempt
  SignatureState seen;
  seen.id = "ray-actor-died";
  seen.matches.push_back({{60, Time::from_seconds(1290), {0, 9}, 1}, "an actor died", 7});
  state.signatures.push_back(seen);
  CHECK(led("worker-lost", 61));  // it came again
}

}  // namespace mw
