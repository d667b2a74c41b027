// Which kinds of failure, sources and signals detectors treat alike: each in a run that only it makes notable.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/detect/detector.h"
#include "core/detect/support/pause.h"
#include "core/judge_memory.h"
#include "core/state.h"
#include "core/supervise/breaker.h"

namespace mw {
namespace {

/// A run of one source, a line a second, with signatures of the test's own.
class Run {
 public:
  explicit Run(std::string kind = "text") { say(event::SourceOpened{0, "a/train.log", std::move(kind), 0}); }
  Signature& signature(const char* id, std::string_view kind, bool fatal) {
    Signature one;
    one.id = id;
    one.kind = kind;
    one.role = Role::kRoot;
    one.severity = Severity::kCritical;
    one.fatal = fatal;
    one.symptom = id;
    known_.by_id[id] = known_.signatures.size();
    known_.signatures.push_back(std::move(one));
    return known_.signatures.back();
  }
  /// An inference engine, as knowledge/engines has them.
  void engine(std::string name) {
    known_.engines.emplace_back();
    known_.engines.back().name = std::move(name);
  }
  template <typename Body>
  void say(Body body) {
    Event event;
    event.at = Time::from_seconds(1'700'000'000.0 + static_cast<double>(++second_));
    event.where = {0, second_};
    event.body = std::move(body);
    fold(state_, event);
  }
  void match(const char* id, std::string text = "it said so") { say(event::Matched{id, std::move(text), 1, false}); }
  void wait(uint64_t seconds) { second_ += seconds; }
  void steps(int count) {
    for (int i = 0; i < count; ++i) {
      ++step_;
      say(event::Measured{step_, false, {{"reward.mean", "r", 0.3 + 0.001 * static_cast<double>(step_ % 5)}}});
    }
  }
  std::vector<Finding> found(std::string_view detector) {
    say(event::SourceEnded{9000, 900, false, "the last line"});
    say(event::Closed{});
    std::vector<Finding> findings;
    JudgeMemory memory;
    for (const Detector* one : all_detectors()) {
      if (one->name == detector) one->judge(state_, known_, memory, findings);
    }
    return findings;
  }
  State& state() { return state_; }

 private:
  Knowledge known_;
  State state_;
  uint64_t second_ = 0;
  int64_t step_ = 0;
};

/// The severity of a signature that is seen once and that the run survives.
Severity outlived(std::string_view kind, bool fatal, std::string text, const char* transient = "likely-transient") {
  Run run;
  run.signature("it", kind, fatal).transient = transient;
  run.steps(5);
  run.match("it", std::move(text));
  run.steps(5);
  const auto findings = run.found("failure-signature");
  REQUIRE(findings.size() == 1);
  return findings.front().severity;
}

}  // namespace

TEST_CASE("what a run survives is a warning where something is lost by it") {
  const std::string error = "OSError: [Errno 28]";
  for (const char* kind : {"checkpoint-failed", "disk-full", "logging-gap"}) {
    CAPTURE(std::string(kind));
    CHECK(outlived(kind, false, error) == Severity::kWarning);
  }
  CHECK(outlived("network", false, error) == Severity::kInfo);
  for (const char* transient : {"poison", "degraded"}) {
    CAPTURE(std::string(transient));
    CHECK(outlived("network", false, error, transient) == Severity::kWarning);
  }
}

TEST_CASE("a full disk is one where a program says so, not a shell's or a tool's word") {
  for (const char* text : {"[Errno 28] No space left on device", "IO Error: No space left", "ERROR no space left",
                           "StorageFull: no space left"}) {
    CAPTURE(std::string(text));
    CHECK(outlived("disk-full", true, text) == Severity::kWarning);
  }
  CHECK(outlived("disk-full", true, "cp: no space left on device") == Severity::kInfo);
}

TEST_CASE("what fails at a start and is trained without is no failure") {
  for (const char* kind : {"dependency-broken", "config-error"}) {
    CAPTURE(std::string(kind));
    CHECK(outlived(kind, true, "x") == Severity::kInfo);
  }
  CHECK(outlived("network", true, "x") == Severity::kWarning);
}

TEST_CASE("of several signatures of one moment the one that names a memory is the warning") {
  for (const char* memory : {"gpu-out-of-memory", "host-out-of-memory"}) {
    CAPTURE(std::string(memory));
    Run run;
    run.signature("first", "network", true);
    run.signature("second", memory, true);
    run.steps(5);
    run.match("first");
    run.match("second");
    run.steps(5);
    for (const Finding& finding : run.found("failure-signature")) {
      CHECK((finding.severity == Severity::kWarning) == (finding.kind == memory));
    }
  }
}

TEST_CASE("an end from outside is reported as such, is no failure and no loop, and outlives what came long before") {
  for (const char* kind : {"interrupted", "preempted"}) {
    CAPTURE(std::string(kind));
    Run run;
    run.signature("stopped", kind, true);
    run.signature("failed", "network", true);
    run.steps(5);
    run.match("failed");
    run.wait(600);
    run.match("stopped");
    const auto ends = run.found("interrupted");
    REQUIRE(ends.size() == 1);
    CHECK(ends.front().kind == kind);
    for (const Finding& finding : run.found("failure-signature")) CHECK(finding.severity != Severity::kCritical);
    Run again;
    again.signature("stopped", kind, true);
    for (int attempt = 0; attempt < 5; ++attempt) {
      if (attempt > 0) again.say(event::AttemptBegan{"launcher"});
      again.match("stopped");
    }
    CHECK(again.found("crash-loop").empty());
  }
}

TEST_CASE("what midwatch itself ended was not stopped from outside, whatever the command says of the signal") {
  for (const bool ended : {false, true}) {
    CAPTURE(ended);
    Run run;
    run.signature("stopped", "interrupted", true);
    run.steps(5);
    run.say(event::Tripped{1, "restart-from-scratch", "", "", "", 1, 0, 0});
    run.match("stopped");
    if (ended) run.say(event::Ended{event::Ended::How::kStopped, 0, ""});
    CHECK(run.found("interrupted").empty());
  }
}

TEST_CASE("files that end with the run, and servers that have no plan") {
  for (const char* live : {"text", "wandb"}) {
    CAPTURE(std::string(live));
    Run run(live);
    run.say(event::Planned{100});
    run.steps(60);
    CHECK(run.found("died-silently").size() == 1);
  }
  Run exported("csv");
  exported.say(event::Planned{100});
  exported.steps(60);
  CHECK(exported.found("died-silently").empty());
  const auto reported = [](const char* framework) {
    Run run;
    run.steps(60);
    run.engine("vllm");
    run.engine("sglang");
    run.state().framework = framework;
    return !run.found("died-silently").empty();
  };
  CHECK(reported("trl"));
  CHECK_FALSE(reported("vllm"));
  CHECK_FALSE(reported("sglang"));
}

TEST_CASE("a run is paused until it is resumed or started anew") {
  const auto paused = [](const char* then) {
    State state;
    for (const std::string_view action : {std::string_view("pause"), std::string_view(then)}) {
      ActionState one;
      one.intent.action = action;
      state.actions.push_back(std::move(one));
    }
    return detect::is_paused(state);
  };
  CHECK(paused("notify"));
  CHECK_FALSE(paused("resume"));
  CHECK_FALSE(paused("restart"));
}

TEST_CASE("weights are gone when any one figure of their updates is lastingly no number") {
  for (const char* signal : {"loss.total", "loss.policy", "grad_norm", "entropy"}) {
    CAPTURE(std::string(signal));
    State state;
    for (int64_t step = 1; step <= (std::string_view(signal) == "grad_norm" ? 24 : 9); ++step) {
      const double value = step < 5 ? 0.5 : std::numeric_limits<double>::quiet_NaN();
      fold(state, {{}, {0, static_cast<uint64_t>(step)}, event::Measured{step, false, {{signal, signal, value}}}});
    }
    Incident incident;
    incident.kind = "non-finite";
    incident.severity = Severity::kCritical;
    state.incidents = {incident};
    CHECK((breaker(state).incident != nullptr) == (std::string_view(signal) != "entropy"));
  }
}

TEST_CASE("little memory, of the machine and of its cgroup") {
  for (const char* of : {"host.memory", "cgroup.memory"}) {
    CAPTURE(std::string(of));
    Run run("host");
    for (int i = 0; i < 20; ++i) {
      run.wait(9);
      run.say(event::Measured{
          kNoStep,
          false,
          {{std::string(of) + ".free", "machine", 1e9}, {std::string(of) + ".size", "machine", 100e9}}});
    }
    CHECK(run.found("memory-limit").size() == 1);
  }
}

}  // namespace mw
