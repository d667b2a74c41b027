#include "core/supervise/decide.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>

namespace mw {
namespace {

using What = Decision::What;

Time hang_time(int64_t seconds) { return Time{(1000 + seconds) * 1'000'000'000}; }

/// A supervised run whose engine is proven dead, or of which the figures are poisoned.
struct Run {
  State state;
  RunSpec spec;

  Run() {
    put(event::AttemptStarted{1, 100, "boot"});
    state.attempts.resize(1);
  }
  template <typename Body>
  void put(Body body) {
    fold(state, {{}, {}, std::move(body)});
  }
  void engine_dies() {
    ComponentState engine;
    engine.troubles.push_back({{}, 0, {}, Moment{}, std::nullopt});
    state.components.push_back(engine);
    Incident incident;
    incident.kind = "engine-dead";
    incident.severity = Severity::kCritical;
    incident.summary = "The engine died";
    incident.onset.step = 7;
    state.incidents.push_back(incident);
  }
  Decision due() const { return decide_break(state, spec, 1).decision; }
};

TEST_CASE("the breaker: no case, off, watching, asking, acting each gives its reason") {
  Run run;
  CHECK(run.due().what == What::kNothing);
  CHECK(run.due().why == "Nothing speaks against the attempt.");
  run.engine_dies();
  CHECK(run.due().what == What::kAct);
  CHECK(decide_break(run.state, run.spec, 1).incident == &run.state.incidents.front());
  run.spec.breaker = false;
  CHECK(run.due().why == "The circuit breaker is off.");
  run.spec.breaker = true;
  run.spec.breaking = Mode::kWatch;
  CHECK(run.due().what == What::kReport);
  CHECK_FALSE(run.due().pause);
  run.put(event::Asked{1, "break", run.due().text});
  run.put(event::Answered{1, "break", std::string(kOnlyWatching)});
  CHECK(run.due().why == "midwatch only watches.");
}

TEST_CASE("the breaker ends and pauses no client of a training that runs elsewhere") {
  Run run;
  run.engine_dies();
  for (const Mode mode : {Mode::kAct, Mode::kAsk}) {
    run.spec.breaking = mode;
    run.spec.command = {"docker", "run", "image", "python", "train.py"};
    CHECK(run.due().what == What::kReport);
    CHECK_FALSE(run.due().pause);
    CHECK(run.due().why == "The engine died. A person must end it: the training is no process below the command.");
    run.spec.command = {"python", "train.py"};
    CHECK(run.due().what == (mode == Mode::kAct ? What::kAct : What::kAsk));
  }
}

TEST_CASE("the breaker asks once, pauses an attempt whose component is dead, and heeds the answer") {
  Run run;
  run.engine_dies();
  run.spec.breaking = Mode::kAsk;
  const Decision ask = run.due();
  CHECK(ask.what == What::kAsk);
  CHECK(ask.text == "attempt 1 would be ended: engine-dead since step 7");
  CHECK(ask.pause);
  run.put(event::Asked{1, "break", ask.text});
  run.put(event::Requested{"pause", std::string(kByMidwatch)});
  CHECK(run.due().what == What::kNothing);
  CHECK_FALSE(run.due().pause);
  Run gone = run;
  gone.state.incidents.clear();
  CHECK(gone.due().what == What::kNothing);  // paused, it shows nothing new
  gone.put(event::Requested{"resume", "mira@node7"});
  CHECK(gone.due().what == What::kWithdraw);
  Run refused = run;
  refused.put(event::Answered{1, "break", "no"});
  CHECK(refused.due().why == "A person refused.");
  run.put(event::Answered{1, "break", "yes"});
  CHECK(run.due().what == What::kAct);
}

TEST_CASE("a restart waits for its decision, a resume and an approval, and never comes after a stop") {
  Run run;
  CHECK(decide_restart(run.state, run.spec, 1).why == "No further attempt was decided on.");
  run.put(event::Decided{1, true, 10, "It died.", "{}", false, "{}"});
  CHECK(decide_restart(run.state, run.spec, 1).what == What::kAct);
  run.put(event::Requested{"pause", "mira@node7"});
  CHECK(decide_restart(run.state, run.spec, 1).why == "The run is paused.");
  run.put(event::Requested{"resume", "mira@node7"});
  run.spec.restarting = Mode::kAsk;
  const Decision ask = decide_restart(run.state, run.spec, 1);
  CHECK(ask.what == What::kAsk);
  run.put(event::Asked{1, "restart", ask.text});
  CHECK(decide_restart(run.state, run.spec, 1).why == "It waits for approval.");
  run.put(event::Answered{1, "restart", "yes"});
  CHECK(decide_restart(run.state, run.spec, 1).what == What::kAct);
  run.put(event::Requested{"stop", "mira@node7"});
  CHECK(decide_restart(run.state, run.spec, 1).why == "The run is to stop.");
}

TEST_CASE("pauses: what is due with the processes, and why") {
  Supervision known;
  CHECK(decide_pause(known, false) == PauseStep::kNone);
  CHECK(decide_pause(known, true) == PauseStep::kResume);
  CHECK(pause_reason(known, 1) == "A resume was requested.");
  known.pause = true;
  known.pause_by = "mira@node7";
  CHECK(decide_pause(known, false) == PauseStep::kPause);
  CHECK(decide_pause(known, true) == PauseStep::kKeepPaused);
  CHECK(pause_reason(known, 1) == "A pause was requested.");
  known.pause_by = kByComponent;
  CHECK(pause_reason(known, 1) == "A component that it needs is being restarted.");
  known.pause = false;
  known.requests.push_back({{}, {}, "resume", std::string(kByComponent)});
  CHECK(pause_reason(known, 1) == "No component that it needs is being restarted any more.");
  known.requests.push_back({{}, {}, "resume", "mira@node7"});
  CHECK(pause_reason(known, 1) == "A resume was requested.");
}

TEST_CASE("a hang is waited for, then asked about or ended; a dead component goes first") {
  Run run;
  Incident hang;
  hang.kind = "stall";
  hang.severity = Severity::kCritical;
  hang.summary = "No step after 40";
  hang.onset.step = 40;
  hang.detected.at = Time{1'000'000'000'000};
  run.state.incidents.push_back(hang);
  const auto at = [&run](int64_t seconds) {
    run.state.ticks.push_back({0, hang_time(seconds), 40, false});
    return decide_break(run.state, run.spec, 1);
  };
  CHECK(at(100).decision.why == "It does nothing any more; midwatch waits 8m 20s longer.");
  CHECK(at(599).decision.what == What::kNothing);
  const Decision ask = at(600).decision;
  CHECK(ask.what == What::kAsk);
  CHECK_FALSE(ask.pause);  // there is nothing to pause
  run.spec.breaking_hang = Mode::kAct;
  CHECK(at(600).decision.what == What::kAct);
  run.spec.hang_patience = Duration::seconds(3600);
  CHECK(at(601).decision.what == What::kNothing);
  CHECK(tainted_by(run.state) == nullptr);  // nothing was trained since
  run.engine_dies();
  CHECK(at(602).decision.what == What::kAct);
}

}  // namespace
}  // namespace mw
