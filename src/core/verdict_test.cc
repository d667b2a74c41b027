// Which words and incidents end a run, from what a person would say of each.
#include <doctest/doctest.h>

#include <string_view>

#include "core/advance.h"

namespace mw {
namespace {

using How = event::Ended::How;

/// A run of one attempt in the middle of its plan.
State run() {
  State state;
  state.attempts.resize(1);
  state.attempts.back().last_step = 30;
  state.total_steps = 100;
  state.closed = true;
  return state;
}

State ended(How how, int64_t code = 0) {
  State state = run();
  state.attempts.back().ended = event::Ended{how, code, ""};
  return state;
}

Incident critical(std::string_view kind) {
  Incident incident;
  incident.kind = kind;
  incident.severity = Severity::kCritical;
  return incident;
}

}  // namespace

TEST_CASE("what ends a run when it is critical") {
  for (const char* kind : {"crash", "engine-dead", "worker-lost", "collective-timeout", "gpu-out-of-memory",
                           "host-out-of-memory", "gpu-fault", "shm-exhausted", "disk-full", "resource-limit", "network",
                           "credentials", "dependency-broken", "config-error", "data-error", "code-error",
                           "environment-fault", "checkpoint-failed", "checkpoint-incomplete"}) {
    CAPTURE(std::string(kind));
    CHECK(verdict_of(run(), {critical(kind)}) == "crashed");
    Incident warning = critical(kind);
    warning.severity = Severity::kWarning;
    CHECK(verdict_of(run(), {warning}) == "unknown");
    Incident over = critical(kind);
    over.open = false;
    CHECK(verdict_of(run(), {over}) == "unknown");
  }
}

TEST_CASE("what was to end, and did so by a signal or a status of its own, was interrupted") {
  for (const How how : {How::kFailed, How::kExit}) {
    State state = ended(how, how == How::kExit ? 1 : -15);
    CHECK(verdict_of(state, {}) == "crashed");
    state.supervision.attempts.push_back({});
    state.supervision.attempts.back().number = 1;
    state.supervision.attempts.back().started_at = Time::from_seconds(10);
    state.supervision.requests.push_back({Time::from_seconds(20), Time::from_seconds(20), "stop", "mira"});
    CHECK(verdict_of(state, {}) == "interrupted");
    CHECK(verdict_of(state, {critical("code-error")}) == "crashed");
  }
}

TEST_CASE("what the breaker ended did not finish, though its trainer saved and ended well") {
  State state = ended(How::kExit, 0);
  state.attempts.back().first_step = 1;
  state.attempts.back().total_steps = 100;
  state.supervision.attempts.push_back({});
  state.supervision.attempts.back().number = 1;
  state.supervision.attempts.back().trip.emplace();
  CHECK(verdict_of(state, {}) == "interrupted");
}

TEST_CASE("what a run learns badly does not end it") {
  for (const char* kind : {"reward-collapse", "zero-reward", "no-learning", "zero-advantage", "entropy-collapse",
                           "entropy-explosion", "kl-runaway", "gradient-spike", "non-finite", "reward-hacking"}) {
    CAPTURE(std::string(kind));
    CHECK(verdict_of(run(), {critical(kind)}) == "unknown");
  }
}

TEST_CASE(
    "a run is finished by its last step, by its distance between records, or by its word, not by most of its plan") {
  const auto at = [](int64_t step, int64_t every) {
    State state = run();
    state.sources.resize(1);
    state.attempts.back().last_step = step;
    Series& series = state.series.emplace_back();
    for (int64_t i = 3; i-- > 0;) series.add({step - i * every, 0.5, {}, {}, 0});
    return state;
  };
  CHECK(verdict_of(at(98, 1), {}) == "unknown");
  CHECK(verdict_of(at(99, 1), {}) == "finished");  // counted from 0
  CHECK(verdict_of(at(98, 5), {}) == "finished");  // the next record would be that of step 103
  State said = at(98, 1);
  said.sources[0].last_text = "final model saved";
  CHECK(verdict_of(said, {}) == "finished");
  State live = at(100, 1);
  live.closed = false;
  CHECK(verdict_of(live, {}) == "finished");
  live.ticks = {{1, Time::from_seconds(1000), 100, true}, {2, Time::from_seconds(1030), 100, false}};
  CHECK(verdict_of(live, {}) == "running");  // it evaluates, or saves
  live.ticks.push_back({3, Time::from_seconds(1100), 100, false});
  CHECK(verdict_of(live, {}) == "finished");
}

TEST_CASE("how an attempt ended, and what its incidents say of that") {
  CHECK(verdict_of(run(), {}) == "unknown");
  CHECK(verdict_of(run(), {critical("interrupted")}) == "interrupted");
  CHECK(verdict_of(run(), {critical("preempted")}) == "interrupted");
  CHECK(verdict_of(run(), {critical("stall")}) == "stalled");
  CHECK(verdict_of(ended(How::kFailed), {}) == "crashed");
  CHECK(verdict_of(ended(How::kFailed), {critical("interrupted")}) == "interrupted");
  CHECK(verdict_of(ended(How::kFailed), {critical("preempted")}) == "interrupted");
  CHECK(verdict_of(ended(How::kExit), {critical("died-silently")}) == "ended-early");
  CHECK(verdict_of(ended(How::kComplete), {critical("died-silently")}) == "ended-early");
  CHECK(verdict_of(ended(How::kExit), {}) == "finished");
  CHECK(verdict_of(ended(How::kExit, 1), {critical("died-silently")}) == "crashed");
  CHECK(verdict_of(ended(How::kStopped), {}) == "interrupted");
  CHECK(verdict_of(ended(How::kComplete), {critical("crash")}) == "crashed");
}

}  // namespace mw
