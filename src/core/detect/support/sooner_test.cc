// How long a live run may do no step before that is a stall: what makes it sooner, and what does not.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "core/advance.h"
#include "core/supervise/decide.h"

namespace mw {
namespace {

constexpr double kStep = 210;  // s

/// A run of regular steps that midwatch watches live, by the clock of the machine.
class Watched {
 public:
  explicit Watched(int64_t plan = 1000) {
    say(event::SourceOpened{0, "train.log", "text", 0});
    say(event::SourceOpened{1, "host:machine", std::string(kHostKind), 0}, 1);
    say(event::AttemptBegan{"launcher"});
    if (plan > 0) say(event::Planned{plan});
    machine(12, 1);
  }

  template <typename Body>
  void say(Body body, uint32_t source = 0) {
    Event event;
    event.at = event.received = Time::from_seconds(1'700'000'000 + at_);
    event.where = {source, ++line_};
    event.body = std::move(body);
    std::vector<Event> decided;
    advance(state_, event, knowledge_, Judge::kAtClose, decided);
  }

  void machine(double processors, double gpu) {
    say(event::Measured{kNoStep, false, {{"process.cpu", "run", processors}, {"gpu.busy", "0", gpu}}}, 1);
  }
  /// What the driver says of a GPU.
  void gpu(const std::string& index, double busy, double memory, double watts) {
    say(event::Measured{kNoStep,
                        false,
                        {{"gpu.busy", index, busy}, {"gpu.memory.busy", index, memory}, {"gpu.power", index, watts}}},
        1);
  }
  void engine(event::ComponentSaw::Health health) {
    event::ComponentSaw saw;
    saw.component = "VLLM::EngineCor (4711)";
    saw.kind = "engine";
    saw.health = health;
    saw.text = "it does not answer";
    saw.pid = 4711;
    say(std::move(saw), 1);
  }
  void saved(bool complete = true) { say(event::CheckpointSaved{step_, "ck", complete}); }

  void steps(int count, double seconds = kStep) {
    for (int i = 0; i < count; ++i) {
      wait(seconds);
      say(event::Measured{++step_, false, {{"reward.mean", "reward", 0.5 + 0.01 * static_cast<double>(step_ % 5)}}});
      say(event::Ticked{false, true});
    }
  }
  void wait(double seconds, bool speaks = false) {
    for (double passed = 0; passed < seconds; passed += 30) {
      at_ += 30;
      say(event::Ticked{false, speaks});
    }
  }

  /// The clock is set forward, or the machine slept.
  void jump(double seconds) { at_ += seconds; }

  /// Minutes from now until a critical stall is said; -1: not within an hour.
  int minutes_to_stall() {
    for (int minutes = 1; minutes <= 60; ++minutes) {
      wait(60);
      if (stalls()) return minutes;
    }
    return -1;
  }
  /// midwatch asks whether it may end the attempt, where it would.
  bool asks(const RunSpec& spec) {
    state_.incidents = judge(state_, knowledge_);
    const Decision due = decide_break(state_, spec, 1).decision;
    if (due.what == Decision::What::kAsk) say(event::Asked{1, "break", due.text});
    return due.what == Decision::What::kAsk;
  }
  Decision decision(const RunSpec& spec) {
    state_.incidents = judge(state_, knowledge_);
    return decide_break(state_, spec, 1).decision;
  }
  bool stalls() const {
    const auto incidents = judge(state_, knowledge_);
    return std::any_of(incidents.begin(), incidents.end(),
                       [](const Incident& one) { return one.kind == "stall" && one.severity == Severity::kCritical; });
  }

 private:
  State state_;
  Knowledge knowledge_;
  double at_ = 0;
  int64_t step_ = 0;
  uint64_t line_ = 0;
};

constexpr int kByTimeAlone = 36;  // minutes: ten steps of 210 s

TEST_CASE("a regular run whose processes rest stalls after five usual steps, and one that works does not") {
  Watched idle;
  idle.steps(40);
  idle.machine(0.3, 0);
  CHECK(idle.minutes_to_stall() == 18);
  Watched busy;
  busy.steps(40);
  busy.machine(12, 1);
  CHECK(busy.minutes_to_stall() == kByTimeAlone);
  Watched gpus;  // an evaluation on the GPUs alone, or a collective that spins
  gpus.steps(40);
  gpus.machine(0.3, 1);
  CHECK(gpus.minutes_to_stall() == kByTimeAlone);
}

/// Two GPUs that trained, 40 steps.
Watched trained(double memory = 0.6, double watts = 685) {
  Watched run;
  for (const char* index : {"0", "1"}) run.gpu(index, 1, memory, watts);
  run.steps(40);
  return run;
}

TEST_CASE("GPUs that spin in a collective are a witness") {
  Watched spins = trained();
  spins.machine(13, 1);
  spins.gpu("0", 1, 0, 128);
  spins.gpu("1", 1, 0, 127);
  CHECK(spins.minutes_to_stall() == 18);
  Watched rests = trained();  // a third one never worked: nobody's
  rests.gpu("2", 0, 0, 70);
  rests.steps(5);
  rests.gpu("0", 1, 0, 128);
  rests.gpu("1", 1, 0, 127);
  CHECK(rests.minutes_to_stall() == 18);
}

TEST_CASE("GPUs that only seem to spin are none") {
  Watched decodes = trained();  // an evaluation on one of them
  decodes.gpu("0", 1, 0, 128);
  decodes.gpu("1", 1, 0.7, 400);
  CHECK(decodes.minutes_to_stall() == kByTimeAlone);
  Watched waits = trained();  // for the rank of the other one, which may do anything on its processor
  waits.gpu("0", 1, 0, 128);
  waits.gpu("1", 0, 0, 125);
  CHECK(waits.minutes_to_stall() == kByTimeAlone);
  Watched judges = trained();  // programs that the rewards start
  judges.machine(60, 1);
  judges.gpu("0", 1, 0, 128);
  judges.gpu("1", 1, 0, 128);
  CHECK(judges.minutes_to_stall() == kByTimeAlone);
  Watched small = trained(0, 136);  // it never moves memory
  small.gpu("0", 1, 0, 128);
  small.gpu("1", 1, 0, 128);
  CHECK(small.minutes_to_stall() == kByTimeAlone);
  Watched draws = trained();
  draws.gpu("0", 1, 0, 600);
  draws.gpu("1", 1, 0, 600);
  CHECK(draws.minutes_to_stall() == kByTimeAlone);
}

TEST_CASE("processes that never did anything show nothing by doing nothing") {
  Watched client;
  client.machine(0.02, 0);
  client.steps(40);
  CHECK(client.minutes_to_stall() == kByTimeAlone);
}

TEST_CASE("an engine that falls silent for the first time is a witness, and one that sleeps in each step is none") {
  using Health = event::ComponentSaw::Health;
  Watched grey;
  grey.engine(Health::kWell);
  grey.steps(40);
  grey.engine(Health::kSilent);
  CHECK(grey.minutes_to_stall() == 18);
  Watched sleeps;
  for (int i = 0; i < 40; ++i) {
    sleeps.engine(Health::kSilent);
    sleeps.steps(1);
    sleeps.engine(Health::kWell);
  }
  sleeps.engine(Health::kSilent);
  CHECK(sleeps.minutes_to_stall() == kByTimeAlone);
}

TEST_CASE("what says something, has announced a pause, or may be at its end is given its time") {
  Watched talks;
  talks.steps(40);
  talks.machine(0.3, 0);
  talks.wait(20 * 60, true);
  CHECK_FALSE(talks.stalls());
  Watched saves;
  saves.steps(40);
  saves.saved(false);
  saves.machine(0.3, 0);
  CHECK(saves.minutes_to_stall() == kByTimeAlone);
  Watched evaluates;
  evaluates.steps(40);
  evaluates.say(event::PhaseBegan{"eval"});
  evaluates.machine(0.3, 0);
  CHECK(evaluates.minutes_to_stall() == -1);  // a service elsewhere may do it
  Watched unplanned(0);                       // after its last step it may send its weights somewhere
  unplanned.steps(40);
  unplanned.machine(0.3, 0);
  CHECK(unplanned.minutes_to_stall() == kByTimeAlone);
  Watched ends(42);
  ends.steps(40);
  ends.machine(0.3, 0);
  CHECK(ends.minutes_to_stall() == kByTimeAlone);
}

TEST_CASE("a run has its own long steps: what it has taken before is nothing new") {
  Watched evaluates;
  evaluates.steps(20);
  evaluates.steps(1, 600);
  evaluates.steps(20);
  evaluates.machine(0.3, 0);
  CHECK(evaluates.minutes_to_stall() == 25);
  Watched grows;  // the median of all steps is no measure of the present ones
  grows.steps(60, 60);
  grows.steps(20, 300);
  grows.machine(0.3, 0);
  CHECK(grows.minutes_to_stall() == 25);
}

TEST_CASE("an attempt that just began is given the time that loading and compiling take") {
  Watched anew;
  anew.steps(40);
  anew.say(event::AttemptBegan{"launcher"});
  anew.steps(3);
  anew.machine(0.3, 0);
  CHECK(anew.minutes_to_stall() == kByTimeAlone);
}

/// Until midwatch has asked whether it may end the attempt; false: it did not within an hour.
bool asks_in_time(Watched& run, const RunSpec& spec) {
  for (int minutes = 0; minutes < 60; ++minutes) {
    run.wait(60);
    if (run.asks(spec)) return true;
  }
  return false;
}

/// A supervised run that rests, until then.
bool asked_about(Watched& run, const RunSpec& spec, double processors, double gpu) {
  run.say(event::AttemptStarted{1, 100, "boot"});
  run.steps(40);
  run.machine(processors, gpu);
  return asks_in_time(run, spec);
}

/// Likewise one whose two GPUs spin.
bool asked_about_spinning(Watched& run, const RunSpec& spec) {
  run.say(event::AttemptStarted{1, 100, "boot"});
  run.steps(40);
  for (const char* index : {"0", "1"}) run.gpu(index, 1, 0, 128);
  return asks_in_time(run, spec);
}

TEST_CASE("what nobody answers is done in the end, where the run has rested ever since it was asked about") {
  using What = Decision::What;
  RunSpec spec;
  Watched rests;
  REQUIRE(asked_about(rests, spec, 0.3, 0));
  CHECK(rests.decision(spec).why == "It waits for approval.");
  rests.wait(29 * 60);
  CHECK(rests.decision(spec).what == What::kNothing);
  rests.wait(60);
  const Decision due = rests.decision(spec);
  CHECK((due.what == What::kAct && due.unanswered));
  CHECK(due.why == "Nobody answered within 30m 00s, and its processes do next to nothing.");
  rests.say(event::Answered{1, "break", "no"});
  CHECK(rests.decision(spec).why == "A person refused.");
  rests.say(event::Asked{1, "break", "again"});
  spec.answer_patience = {};
  rests.wait(3600);
  CHECK(rests.decision(spec).what != What::kAct);
}

TEST_CASE("nobody's silence ends what may still work, or what somebody stopped") {
  const RunSpec spec;
  Watched spins;  // in a collective, or in an evaluation
  REQUIRE(asked_about(spins, spec, 12, 1));
  spins.wait(3 * 3600.0);
  CHECK(spins.decision(spec).why == "It waits for approval.");
  Watched collective = trained();
  REQUIRE(asked_about_spinning(collective, spec));
  collective.wait(1700);
  CHECK(collective.decision(spec).what != Decision::What::kAct);
  collective.wait(200);
  CHECK(collective.decision(spec).what == Decision::What::kAct);
  Watched goes_on = trained();
  REQUIRE(asked_about_spinning(goes_on, spec));
  goes_on.gpu("1", 1, 0.5, 600);
  goes_on.wait(60);
  goes_on.gpu("1", 1, 0, 128);
  goes_on.wait(3600);
  CHECK(goes_on.decision(spec).what != Decision::What::kAct);
  Watched worked;  // since it was asked about
  REQUIRE(asked_about(worked, spec, 0.3, 0));
  worked.machine(12, 1);
  worked.wait(600);
  worked.machine(0.3, 0);
  worked.wait(3600);
  CHECK(worked.decision(spec).what == Decision::What::kNothing);
  Watched stopped;
  REQUIRE(asked_about(stopped, spec, 0.3, 0));
  stopped.engine(event::ComponentSaw::Health::kFrozen);
  stopped.wait(3600);
  CHECK(stopped.decision(spec).what == Decision::What::kWithdraw);
}

TEST_CASE("a clock that is set forward answers for nobody") {
  const RunSpec spec;
  Watched run;
  REQUIRE(asked_about(run, spec, 0.3, 0));
  run.jump(4 * 3600.0);
  run.wait(60);
  CHECK(run.decision(spec).what != Decision::What::kAct);
}

}  // namespace
}  // namespace mw
