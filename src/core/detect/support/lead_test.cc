// Which of the symptoms of one moment leads.
#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "core/detect/support/failure_chain.h"

namespace mw::detect {
namespace {

/// A run that does a few steps and then says two signatures, a line apart. Returns the id that leads.
class Two {
 public:
  Two(std::string_view first_kind, Role first_role, std::string_view second_kind, Role second_role) {
    add("slurm-task-failed", first_kind, first_role);
    add("second", second_kind, second_role);
    say(event::SourceOpened{0, "train.log", "text", 0});
    for (int64_t step = 1; step <= 5; ++step) say(event::Measured{step, false, {{"reward.mean", "reward", 0.5}}});
  }
  /// What is shown first of a lead that is followed by an exception.
  std::string shown_first(std::string text, std::string exception, std::string message) {
    say(event::Matched{"slurm-task-failed", std::move(text), 1, false});
    event::TraceSeen trace;
    trace.exception = std::move(exception);
    trace.message = std::move(message);
    trace.last_line = line_ + 1;
    say(std::move(trace));
    say(event::Closed{});
    const std::vector<FailureChain> chains = fatal_chains(state_, symptoms_of(state_, knowledge_));
    if (chains.size() != 1) return "";
    Finding finding;
    describe(state_, chains[0], finding);
    return finding.evidence[0].text;
  }
  /// With a symptom of kind `before` a line earlier.
  std::string leads(std::string text, std::string_view before) {
    add("before", before, Role::kSymptom);
    say(event::Matched{"before", "before", 1, false});
    return leads(std::move(text));
  }
  std::string leads(std::string text) {
    say(event::Matched{"slurm-task-failed", std::move(text), 1, false});
    say(event::Matched{"second", "second", 1, false});
    say(event::Closed{});
    const std::vector<FailureChain> chains = fatal_chains(state_, symptoms_of(state_, knowledge_));
    return chains.size() == 1 ? chains[0].lead.signature->id : "";
  }

 private:
  void add(const char* id, std::string_view kind, Role role) {
    Signature signature;
    signature.id = id;
    signature.kind = kind;
    signature.role = role;
    signature.severity = Severity::kCritical;
    signature.fatal = true;
    knowledge_.by_id[id] = knowledge_.signatures.size();
    knowledge_.signatures.push_back(std::move(signature));
  }
  template <typename Body>
  void say(Body body) {
    Event event;
    event.at = Time::from_seconds(1'700'000'000.0 + static_cast<double>(++line_));
    event.where = {0, line_};
    event.body = std::move(body);
    fold(state_, event);
  }

  Knowledge knowledge_;
  State state_;
  uint64_t line_ = 0;
};

}  // namespace

TEST_CASE("a resource that ran out leads over the crash and the failed save in which it shows") {
  for (const char* kind :
       {"gpu-out-of-memory", "host-out-of-memory", "gpu-fault", "shm-exhausted", "disk-full", "resource-limit"}) {
    CAPTURE(std::string(kind));
    CHECK(Two("crash", Role::kRoot, kind, Role::kRoot).leads("it crashed") == "second");
    CHECK(Two("checkpoint-failed", Role::kRoot, kind, Role::kRoot).leads("the save failed") == "second");
    CHECK(Two("network", Role::kRoot, kind, Role::kRoot).leads("no route") == "slurm-task-failed");
  }
  CHECK(Two("crash", Role::kRoot, "config-error", Role::kRoot).leads("it crashed") == "slurm-task-failed");
}

TEST_CASE("of a wrapper the exception is shown first that it was raised by, unless its own line says it") {
  const auto shown = [](const char* text) {
    return Two("engine-dead", Role::kRoot, "network", Role::kSymptom).shown_first(text, "ValueError", "no cache");
  };
  CHECK(shown("the scheduler raised") == "ValueError: no cache");
  CHECK(shown("the scheduler raised: no cache") == "the scheduler raised: no cache");
}

namespace {

/// A log in which the signatures of `words` were matched inside one traceback, or none. Returns what leads and why.
struct Leading {
  std::string lead, first_cause;
};
Leading lead_of(std::vector<Signature> signatures, event::TraceSeen trace, bool inside = true) {
  Knowledge knowledge;
  State state;
  fold(state, {{}, {0, 1}, event::SourceOpened{0, "train.log", "text", 0}});
  trace.last_line = 9;
  fold(state, {{}, {0, 2}, trace});
  uint64_t line = inside ? 8 : 400;
  for (Signature& signature : signatures) {
    signature.severity = Severity::kCritical;
    signature.fatal = true;
    knowledge.by_id[signature.id] = knowledge.signatures.size();
    fold(state, {{}, {0, line++}, event::Matched{signature.id, "its words", 1, false}});
    knowledge.signatures.push_back(signature);
  }
  fold(state, {{}, {0, 900}, event::Closed{}});
  const std::vector<FailureChain> chains = fatal_chains(state, symptoms_of(state, knowledge));
  if (chains.empty()) return {};
  Finding finding;
  describe(state, chains[0], finding);
  const auto* best = &finding.suggests[0];
  for (const auto& one : finding.suggests) best = one.weight > best->weight ? &one : best;
  return {chains[0].kind, best->cause};
}

Signature root(const char* id, const char* kind, bool wrapper) {
  Signature signature;
  signature.id = id;
  signature.kind = kind;
  signature.wrapper = wrapper;
  return signature;
}

event::TraceSeen raised(const char* exception, const char* message) {
  event::TraceSeen trace;
  trace.exception = exception;
  trace.message = message;
  return trace;
}

}  // namespace

TEST_CASE("what a wrapper was raised by leads, and an engine's death keeps its kind beside that cause") {
  const auto plain = raised("RuntimeError", "x");
  const Leading usage = lead_of({root("usage", "code-error", true), root("duplicate", "config-error", false)}, plain);
  CHECK(usage.lead == "config-error");
  CHECK(usage.first_cause == "duplicate");
  CHECK(lead_of({root("usage", "code-error", false), root("duplicate", "config-error", false)}, plain).first_cause ==
        "usage");
  const Leading engine =
      lead_of({root("core", "engine-dead", true), root("memory", "gpu-out-of-memory", false)}, plain);
  CHECK(engine.lead == "engine-dead");
  CHECK(engine.first_cause == "memory");
  CHECK(lead_of({root("core", "engine-dead", true)}, raised("KeyError", "'w'")).first_cause == "key-error");
  CHECK(lead_of({root("core", "engine-dead", true)}, plain).first_cause == "core");
}

TEST_CASE("where a wrapper says no more than that all failed, the traceback that follows it leads") {
  const auto leads = [](uint64_t line) {
    Knowledge knowledge;
    Signature signature = root("gave-up", "crash", true);
    signature.severity = Severity::kCritical;
    signature.fatal = true;
    knowledge.by_id[signature.id] = 0;
    knowledge.signatures = {signature};
    State state;
    fold(state, {{}, {0, 1}, event::SourceOpened{0, "train.log", "text", 0}});
    fold(state, {{}, {0, line}, event::Matched{"gave-up", "Training failed: 3 rows and 4 answers", 1, false}});
    event::TraceSeen trace = raised("ValueError", "3 rows and 4 answers");
    trace.last_line = 29;
    fold(state, {{}, {0, 22}, trace});
    fold(state, {{}, {0, 90}, event::Closed{}});
    return cause_of(fatal_chains(state, symptoms_of(state, knowledge))[0].lead);
  };
  CHECK(leads(21) == "value-error");
  CHECK(leads(5) == "gave-up");
}

TEST_CASE("the lines behind an exception that says nothing are the rest of its message") {
  const auto leads = [](const char* exception, uint64_t line) {
    Knowledge knowledge;
    Signature signature = root("own-code", "config-error", false);
    signature.fatal = true;
    knowledge.by_id[signature.id] = 0;
    knowledge.signatures = {signature};
    State state;
    fold(state, {{}, {0, 1}, event::SourceOpened{0, "train.log", "text", 0}});
    event::TraceSeen trace = raised(exception, "the repository holds code");
    trace.last_line = 9;
    fold(state, {{}, {0, 2}, trace});
    fold(state, {{}, {0, line}, event::Matched{"own-code", "Please pass the argument", 1, false}});
    fold(state, {{}, {0, 90}, event::Closed{}});
    return kind_of(fatal_chains(state, symptoms_of(state, knowledge))[0].lead);
  };
  CHECK(leads("ValueError", 11) == "config-error");
  CHECK(leads("ValueError", 40) == "crash");
  CHECK(leads("KeyError", 11) == "code-error");
}

TEST_CASE("an exception that is an echo leads over a word that only says that something crashed") {
  Signature task;
  task.id = "task-raised";
  task.kind = "crash";
  task.role = Role::kSymptom;
  const auto echo = raised("aiohttp.client_exceptions.ServerDisconnectedError", "Server disconnected");
  CHECK(lead_of({task}, echo).lead == "network");
  CHECK(lead_of({task}, echo, false).lead == "network");
  Signature reset = task;
  reset.id = "reset";
  reset.kind = "network";
  reset.role = Role::kCascade;
  CHECK(lead_of({reset}, echo).lead == "network");
  CHECK(lead_of({task}, raised("subprocess.CalledProcessError", "exit status 1")).first_cause == "task-raised");
}

TEST_CASE("of a chain the first link leads where it is the machine's and the last says nothing") {
  const auto cause = [](const char* exception, const char* message, const char* last, const char* words) {
    State state;
    fold(state, {{}, {0, 1}, event::SourceOpened{0, "train.log", "text", 0}});
    event::TraceSeen first = raised(exception, message);
    first.handled = true;
    first.last_line = 5;
    fold(state, {{}, {0, 2}, first});
    event::TraceSeen end = raised(last, words);
    end.last_line = 12;
    fold(state, {{}, {0, 8}, end});
    fold(state, {{}, {0, 12}, event::Closed{}});
    const std::vector<FailureChain> chains = fatal_chains(state, symptoms_of(state, {}));
    return chains.size() == 1 ? cause_of(chains[0].lead) : std::string();
  };
  CHECK(cause("OSError", "[Errno 28] No space left on device", "RuntimeError", "no") == "enospc-generic");
  CHECK(cause("KeyError", "'a'", "ValueError", "no") == "value-error");
  CHECK(cause("OSError", "[Errno 28] No space left on device", "ValueError", "lr must be positive") == "value-error");
}

TEST_CASE("what was lost before leads over the launcher's words on the task and on its step") {
  Two run("crash", Role::kSymptom, "interrupted", Role::kRoot);
  CHECK(run.leads("srun: error: node1: task 3: Exited with exit code 1", "worker-lost") == "before");
  Two other("crash", Role::kSymptom, "interrupted", Role::kRoot);
  CHECK(other.leads("srun: error: node1: task 3: Exited with exit code 1", "crash") == "slurm-task-failed");
}

TEST_CASE("a task that failed of itself leads over the end of its job step, one that the job took down does not") {
  const auto leads = [](const char* text) {
    return Two("crash", Role::kSymptom, "interrupted", Role::kRoot).leads(text);
  };
  CHECK(leads("srun: error: node1: task 3: Exited with exit code 1") == "slurm-task-failed");
  for (const char* text : {"srun: error: node1: task 3: Terminated", "srun: error: node1: task 3: Killed",
                           "srun: error: node1: task 3: Exited with exit code 143",
                           "srun: error: node1: task 3: Exited with exit code 130"}) {
    CAPTURE(std::string(text));
    CHECK(leads(text) == "second");
  }
}

TEST_CASE("what was lost before leads over the end of the job step, though the task's own word comes out behind it") {
  const auto leads = [](std::string_view lost, const char* task) {
    Knowledge knowledge;
    const auto add = [&knowledge](const char* id, std::string_view kind, Role role) {
      Signature signature;
      signature.id = id;
      signature.kind = kind;
      signature.role = role;
      signature.severity = Severity::kCritical;
      signature.fatal = true;
      knowledge.by_id[id] = knowledge.signatures.size();
      knowledge.signatures.push_back(std::move(signature));
    };
    add("ray-worker-died-unexpectedly", "worker-lost", Role::kSymptom);
    add("exit-137-unexplained", "crash", Role::kSymptom);
    add("user-cancelled", "interrupted", Role::kRoot);
    add("slurm-task-failed", "crash", Role::kSymptom);
    State state;
    fold(state, {{}, {0, 0}, event::SourceOpened{0, "train.log", "text", 0, 0, 0}});
    for (int64_t step = 1; step <= 5; ++step)
      fold(state,
           {{}, {0, static_cast<uint64_t>(step)}, event::Measured{step, false, {{"reward.mean", "reward", 0.5}}}});
    if (!lost.empty()) fold(state, {{}, {0, 6}, event::Matched{std::string(lost), "gone", 1, false}});
    fold(state, {{},
                 {0, 7},
                 event::Matched{"user-cancelled", "*** STEP 7.0 ON n1 CANCELLED AT 2026-11-20T09:46:45", 1, false}});
    fold(state, {{}, {0, 9}, event::Matched{"slurm-task-failed", task, 1, false}});
    fold(state, {{}, {0, 9}, event::Closed{}});
    const std::vector<FailureChain> chains = fatal_chains(state, symptoms_of(state, knowledge));
    return chains.size() == 1 ? chains[0].lead.signature->id : std::string();
  };
  constexpr const char* kFailed = "srun: error: n1: task 0: Exited with exit code 1";
  CHECK(leads("ray-worker-died-unexpectedly", kFailed) == "ray-worker-died-unexpectedly");
  CHECK(leads("exit-137-unexplained", kFailed) == "exit-137-unexplained");
  CHECK(leads("ray-worker-died-unexpectedly", "srun: error: n1: task 0: Terminated") == "user-cancelled");
  CHECK(leads("", kFailed) == "user-cancelled");
}

TEST_CASE("the word that memory was why leads over the worker that vanished without one") {
  const auto leads = [](std::string_view kind, Role role, std::string_view other) {
    return Two(kind, role, other, Role::kRoot).leads("A worker died");
  };
  CHECK(leads("worker-lost", Role::kSymptom, "host-out-of-memory") == "second");
  CHECK(leads("worker-lost", Role::kRoot, "host-out-of-memory") == "slurm-task-failed");  // it says itself what it was
}

TEST_CASE("a signature that only wraps an exception is reported with the exception's own words") {
  Knowledge knowledge;
  Signature signature;
  signature.id = "engine-raised";
  signature.kind = "engine-dead";
  signature.role = Role::kRoot;
  signature.fatal = true;
  knowledge.by_id[signature.id] = 0;
  knowledge.signatures = {signature};
  State state;
  fold(state, {{}, {0, 1}, event::SourceOpened{0, "server.log", "text", 0}});
  event::TraceSeen trace;
  trace.exception = "AssertionError";
  trace.message = "this backend needs SM>=80";
  trace.last_line = 9;
  fold(state, {{}, {0, 2}, trace});
  fold(state, {{}, {0, 2}, event::Matched{"engine-raised", "The engine raised: Traceback (most recent call last):"}});
  fold(state, {{}, {0, 9}, event::Closed{}});
  const std::vector<FailureChain> chains = fatal_chains(state, symptoms_of(state, knowledge));
  REQUIRE(chains.size() == 1);
  Finding finding;
  describe(state, chains[0], finding);
  REQUIRE(finding.evidence.size() == 2);
  CHECK(finding.evidence[0].text == "AssertionError: this backend needs SM>=80");
  CHECK(finding.evidence[0].where.line == 9);
  REQUIRE(finding.suggests.size() == 2);
  CHECK(finding.suggests[1].cause == "assertion-error");
  CHECK(finding.suggests[1].reason == "raised: AssertionError: this backend needs SM>=80");
}

}  // namespace mw::detect
