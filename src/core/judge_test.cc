// Planted chains, event by event: which incidents come out, in which order, led by which cause; and look-alikes that
// must be silent.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "core/advance.h"
#include "core/planted_run_for_test.h"
#include "core/signal.h"

namespace mw {

TEST_CASE("one failure is one incident, led by its root") {
  PlantedRun run;
  run.say(event::Planned{100});
  run.steps(1, 20);
  run.matched("cuda-oom-trainer");
  run.matched("nccl-remote-process-exited");
  run.matched("ray-actor-died");
  run.trace("ray.exceptions.ActorDiedError", "The actor died");
  const auto incidents = run.close();
  REQUIRE(notable(incidents) == "gpu-out-of-memory/cuda-oom-trainer");
  CHECK(incidents[0].onset.step == 20);
  CHECK(incidents[0].onset.where.line == 23);
  CHECK(incidents[0].severity == Severity::kCritical);
  CHECK(verdict_of(run.state, incidents) == "crashed");
}

TEST_CASE("the earliest root leads though a symptom was seen before it") {
  PlantedRun run;
  run.steps(1, 5);
  run.matched("ray-actor-died");
  run.matched("vllm-enginecore-fatal");
  CHECK(notable(run.close()) == "engine-dead/vllm-enginecore-fatal");
}

TEST_CASE("without a root the symptom is reported") {
  PlantedRun run;
  run.steps(1, 5);
  run.matched("ray-actor-died");
  CHECK(notable(run.close()) == "worker-lost/ray-actor-died");
}

TEST_CASE("a traceback that no signature knows is named by its type") {
  PlantedRun run;
  run.steps(1, 5);
  run.trace("TypeError", "forward() missing 1 required positional argument: 'ids'");
  CHECK(notable(run.close()) == "code-error/python-api-drift-typeerror");
}

TEST_CASE("the first link of a chain of exceptions is the onset, the last one names it") {
  PlantedRun run;
  run.trace("KeyError", "'x'", "cache.py:1 in get", false, true);
  run.trace("LocalEntryNotFoundError", "cannot find the file");
  const auto incidents = run.close();
  REQUIRE(notable(incidents) == "network/hf-hub-unreachable");
  CHECK(incidents[0].onset.where.line == 2);
}

TEST_CASE("what the run lived through is no crash") {
  PlantedRun run;
  run.say(event::Planned{40});
  run.steps(1, 20);
  run.trace("ValueError", "bad answer");
  run.matched("cuda-oom-trainer");
  run.steps(21, 40);
  run.say(event::Ended{event::Ended::How::kComplete, 0, "done"});
  const auto incidents = run.close();
  CHECK(notable(incidents) == "gpu-out-of-memory/cuda-oom-trainer");
  CHECK(incidents[0].severity == Severity::kWarning);
  CHECK(verdict_of(run.state, incidents) == "finished");
}

TEST_CASE("an engine that goes on without a request is no sign that the trainer lives") {
  const auto after_the_error = [](double running) {
    PlantedRun run;
    run.say(event::Planned{40});
    run.steps(1, 20);
    run.trace("ValueError", "bad answer");
    for (int i = 0; i < 60; ++i) {  // an hour
      run.say(event::Measured{20, false, {{"engine.running", "Running", running}, {"", "Prompt throughput", 0}}});
    }
    return verdict_of(run.state, run.close());
  };
  CHECK(after_the_error(0) == "crashed");
  CHECK(after_the_error(3) != "crashed");
}

TEST_CASE("before the first step an engine that works off its requests is no sign that the trainer lives either") {
  PlantedRun run;
  run.trace("ValueError", "bad answer");
  for (int i = 0; i < 3; ++i) run.say(event::Measured{kNoStep, false, {{"engine.running", "Running", 1}}});
  CHECK(verdict_of(run.state, run.close()) == "crashed");
}

TEST_CASE("incidents come in the order of their onsets, also where a hint of one came earlier") {
  PlantedRun run;
  run.add("length-explosion-truncation", "truncation", Role::kRoot, Severity::kWarning, false, "ignore");
  run.matched("length-explosion-truncation");
  for (int64_t step = 1; step <= 60; ++step) {
    const double reward = step < 20 ? 0.5 + 0.01 * static_cast<double>(step % 5) : 0;
    run.say(event::Measured{
        step, false, {{"reward.mean", "reward", reward}, {"response.truncated", "clipped", step < 40 ? 0.02 : 1.0}}});
  }
  const auto incidents = run.close();
  const auto place = [&incidents](std::string_view kind) {
    return std::find_if(incidents.begin(), incidents.end(), [kind](const Incident& one) { return one.kind == kind; });
  };
  REQUIRE(place("truncation") != incidents.end());
  REQUIRE(place("zero-reward") != incidents.end());
  CHECK(place("truncation")->onset.step == 40);
  CHECK(place("zero-reward") < place("truncation"));
}

TEST_CASE("teardown after the end, samples and benign lines are silent") {
  PlantedRun run;
  run.say(event::Planned{20});
  run.matched("ray-noset-visible-devices-warning");
  run.steps(1, 10);
  run.trace("KeyError", "written by the model", "<string>:1 in f", true);
  run.matched("cuda-oom-trainer", true);
  run.steps(11, 20);
  run.say(event::Ended{event::Ended::How::kComplete, 0, "Training finished"});
  run.matched("vllm-engine-dead");
  run.matched("nccl-remote-process-exited");
  CHECK(notable(run.close()).empty());
}

TEST_CASE("an interruption is one, with its echoes") {
  PlantedRun run;
  run.say(event::Planned{100});
  run.steps(1, 30);
  run.matched("user-cancelled");
  run.matched("torchelastic-sigterm");
  run.trace("torch.distributed.elastic.multiprocessing.api.SignalException", "got signal 15");
  const auto incidents = run.close();
  CHECK(notable(incidents) == "interrupted/user-cancelled");
  CHECK(verdict_of(run.state, incidents) == "interrupted");
}

TEST_CASE("a log that ends in mid-flight died silently, one that is nearly done did not") {
  PlantedRun cut;
  cut.say(event::Planned{100});
  cut.steps(1, 30);
  CHECK(notable(cut.close()) == "died-silently/user-cancelled");
  PlantedRun done;
  done.say(event::Planned{100});
  done.steps(1, 95);
  CHECK(notable(done.close()).empty());
  PlantedRun open;
  open.steps(1, 30);
  CHECK(notable(open.close()).empty());
}

TEST_CASE("a failure that comes back is one incident, and it is known which attempt it came back to") {
  PlantedRun run;
  for (int attempt = 0; attempt < 3; ++attempt) {
    run.restart();
    run.steps(1 + 10 * attempt, 10 + 10 * attempt);
    run.matched("vllm-enginecore-fatal");
    run.say(event::Ended{event::Ended::How::kFailed, 1, "exit status 1"});
  }
  const auto incidents = run.close();
  REQUIRE(notable(incidents).starts_with("engine-dead/vllm-enginecore-fatal"));
  CHECK(incidents[0].onset.attempt == 0);
  CHECK(incidents[0].latest.attempt == 2);
  CHECK(incidents[0].latest.step == 30);
  CHECK(verdict_of(run.state, incidents) == "crashed");
}

TEST_CASE("while a person holds it still no step is no stall, and neither is the time until then") {
  const auto stalls = [](PlantedRun& run) {
    const auto incidents = judge(run.state, run.knowledge);
    return std::any_of(incidents.begin(), incidents.end(), [](const Incident& one) { return one.kind == "stall"; });
  };
  const auto ticks = [](PlantedRun& run, int minutes) {
    for (int i = 0; i < minutes; ++i) run.say(event::Ticked{});
  };
  PlantedRun run;
  run.steps(1, 30);
  run.say(event::Intended{1, "pause", "attempt 1", 0, ""});
  ticks(run, 120);
  CHECK_FALSE(stalls(run));
  run.say(event::Intended{2, "resume", "attempt 1", 0, ""});
  ticks(run, 20);
  CHECK_FALSE(stalls(run));
  ticks(run, 20);
  CHECK(stalls(run));
}

TEST_CASE("what fails without a clock beside it is dated by what comes soon after") {
  PlantedRun run;
  run.say_without_clock(event::Matched{"module-not-found-spawn-child", "No module named 'env'", 1});
  run.talk(200);
  run.matched("torchelastic-sigterm");
  run.talk(1);
  run.matched("user-cancelled");
  run.talk(200);
  run.say_without_clock(event::Matched{"user-cancelled", "the step is aborted", 1});
  const auto incidents = run.close();
  REQUIRE(!incidents.empty());
  CHECK(incidents[0].kind == "dependency-broken");
  CHECK(incidents[0].severity == Severity::kCritical);
}

TEST_CASE("an evaluation that the log timed is no standstill, and a step that is spoken of twice is one") {
  const auto stall_of = [](uint64_t minutes, double evaluated) {
    PlantedRun run;
    run.say(event::Planned{100});
    for (int64_t step = 1; step <= 8; ++step) {
      run.say(event::StepBegan{step});
      run.talk(10);
      run.steps(step, step);  // its figures, and at once the next step
    }
    run.talk(minutes);
    run.say(event::PhaseEnded{"eval", evaluated, kNoStep});
    std::string summary;
    for (const Incident& one : run.close()) summary += one.kind == "stall" ? one.summary : "";
    return summary;
  };
  CHECK(stall_of(300, 10) != "");
  CHECK(stall_of(300, 300.0 * 60) == "");
  CHECK(stall_of(100, 10) == "");  // a step takes 12 minutes, not the one between two of its lines
}

TEST_CASE("a run that goes on saying something at a long step does not stall") {
  const auto severities = [](PlantedRun& run) {
    std::vector<Severity> all;
    for (const Incident& one : judge(run.state, run.knowledge)) {
      if (one.kind == "stall") all.push_back(one.severity);
    }
    return all;
  };
  const auto tick = [](PlantedRun& run, int minutes, bool speaks) {
    for (int i = 0; i < minutes; ++i) run.say(event::Ticked{false, speaks});
  };
  PlantedRun run;
  run.steps(1, 30);
  tick(run, 45, true);
  CHECK(severities(run) == std::vector{Severity::kInfo});
  tick(run, 60, true);
  CHECK(severities(run) == std::vector{Severity::kWarning});
  tick(run, 16, false);
  CHECK(severities(run) == std::vector{Severity::kCritical});
}

TEST_CASE("an exception that the run lives with does not end it") {
  PlantedRun run;
  run.say(event::Planned{1000});
  for (int64_t step = 1; step <= 6; ++step) {
    run.trace("ValueError", "no answer found", "agent.py:7 in parse");
    run.steps(step, step);
  }
  run.trace("ValueError", "no answer found", "agent.py:7 in parse");
  CHECK(notable(run.close()) == "died-silently/user-cancelled");
}

TEST_CASE("a grave word that ends nothing leaves room for a silent end") {
  PlantedRun run;
  run.add("empty-train-batches", "no-learning", Role::kRoot, Severity::kCritical, false, "stop-and-notify");
  run.say(event::Planned{100});
  run.steps(1, 30);
  run.matched("empty-train-batches");
  CHECK(notable(run.close()) == "no-learning/empty-train-batches died-silently/user-cancelled");
}

TEST_CASE("two starts in one log, hours apart and without a step, are two chains") {
  PlantedRun run;
  run.matched("vllm-enginecore-fatal");
  run.matched("ray-actor-died");
  run.line += 300;  // five hours
  run.matched("ray-actor-died");
  run.matched("nccl-watchdog-timeout");
  CHECK(notable(run.close()) == "engine-dead/vllm-enginecore-fatal worker-lost/ray-actor-died");
}

TEST_CASE("chain 1: shm, core dumps, a full disk, then training from scratch") {
  PlantedRun run;
  run.steps(1, 4);
  run.saved(4, false);
  run.matched("shm-sigbus-share-fd");
  run.restart();
  run.steps(1, 2);
  run.matched("enospc-generic");
  run.restart();
  run.steps(1, 2);
  const auto incidents = run.close();
  CHECK(has(incidents, "shm-exhausted", "shm-sigbus-share-fd"));
  CHECK(has(incidents, "restart-from-scratch", "resume-silently-from-scratch"));
  CHECK(has(incidents, "disk-full", "enospc-generic"));
  REQUIRE(incidents.size() >= 3);
  CHECK(incidents[0].kind == "shm-exhausted");
  CHECK_FALSE(incidents[0].followed_by.empty());
}

TEST_CASE("chain 3: file descriptors run out, the engine dies, the clients cannot connect") {
  PlantedRun run;
  run.say(event::Planned{200});
  run.steps(1, 10);
  run.matched("emfile-too-many-open-files");
  run.matched("vllm-silent-death");
  run.matched("api-connection-error-all-rollouts");
  CHECK(notable(run.close()) == "resource-limit/emfile-too-many-open-files");
}

TEST_CASE("chain 4: a full disk breaks the save") {
  PlantedRun run;
  run.steps(1, 12);
  run.matched("enospc-generic");
  run.matched("torch-writer-failed");
  CHECK(notable(run.close()) == "disk-full/enospc-generic");
}

TEST_CASE("chain 7: a reward that meets a list instead of an object") {
  PlantedRun run;
  run.steps(1, 12);
  run.matched("reward-malformed-json-list-get");
  run.trace("AttributeError", "'list' object has no attribute 'get'", "reward.py:3 in score");
  CHECK(notable(run.close()) == "code-error/reward-malformed-json-list-get");
}

TEST_CASE("chain 8: a module that only the spawned children miss") {
  PlantedRun run;
  run.steps(1, 3);
  run.trace("ModuleNotFoundError", "No module named 'trainer'", "spawn.py:5 in main");
  CHECK(notable(run.close()) == "dependency-broken/module-not-found");
}

TEST_CASE("chain 10: wake-up without memory comes before the illegal access") {
  PlantedRun run;
  run.steps(1, 3);
  run.matched("vllm-wakeup-oom");
  run.matched("cuda-illegal-memory-access");
  CHECK(notable(run.close()) == "gpu-out-of-memory/vllm-wakeup-oom");
}

TEST_CASE("a network outage that turns into zero rewards is their cause, and no information") {
  PlantedRun run;
  run.add("connection-refused", "network", Role::kSymptom, Severity::kWarning, false, "retry");
  run.add("wandb-retries", "network", Role::kRoot, Severity::kWarning, false, "retry");
  run.knowledge.signatures.back().layer = "wandb";
  run.steps(1, 2);
  run.matched("connection-refused");  // one hiccup long before
  run.steps(3, 40);
  for (int64_t step = 41; step <= 90; ++step) {
    for (int i = 0; i < 2; ++i) run.matched("connection-refused");
    run.matched("wandb-retries");
    run.say(event::Measured{step, false, {{"reward.mean", "reward", 0}}});
  }
  const auto incidents = run.close();
  const auto find = [&](std::string_view cause) {
    return std::find_if(incidents.begin(), incidents.end(), [&](const Incident& one) {
      return !one.causes.empty() && one.causes.front().id == cause && one.kind == "network";
    });
  };
  const auto zero =
      std::find_if(incidents.begin(), incidents.end(), [](const Incident& one) { return one.kind == "zero-reward"; });
  const auto network = find("connection-refused"), tracker = find("wandb-retries");
  REQUIRE(zero != incidents.end());
  REQUIRE(network != incidents.end());
  REQUIRE(tracker != incidents.end());
  CHECK(zero->onset.step == 41);
  CHECK(network->severity == Severity::kWarning);
  CHECK(network->followed_by == std::vector<uint32_t>{zero->id});
  CHECK(tracker->followed_by.empty());
  REQUIRE_FALSE(zero->causes.empty());
  CHECK(std::any_of(zero->causes.begin(), zero->causes.end(), [&](const RankedCause& cause) {
    return cause.id == "connection-refused" &&
           cause.reasons_for.front() == cat("network (#", network->id, ") came before it");
  }));
}

TEST_CASE("an engine that is lost at the end of the log is more than information") {
  const auto severity = [](bool went_on) {
    PlantedRun run;
    run.add("engine-ended", "engine-dead", Role::kRoot, Severity::kWarning, false, "ignore");
    run.matched("engine-ended");
    if (went_on) run.steps(1, 20);
    for (const Incident& one : run.close()) {
      if (one.kind == "engine-dead") return one.severity;
    }
    return Severity::kCritical;
  };
  CHECK(severity(false) == Severity::kWarning);
  CHECK(severity(true) == Severity::kInfo);
}

TEST_CASE("records without steps are counted, and the count is called no step") {
  PlantedRun run;
  for (int i = 0; i < 60; ++i)
    run.say(event::Measured{kNoStep, false, {{std::string(kListedRewards), "rewards/listed", -1}}});
  const auto incidents = run.close();
  const auto zero =
      std::find_if(incidents.begin(), incidents.end(), [](const Incident& one) { return one.kind == "zero-reward"; });
  REQUIRE(zero != incidents.end());
  CHECK(zero->onset.step == kNoStep);
  CHECK(zero->detected.step == kNoStep);
  CHECK(contains(zero->summary, "from the first record on"));
  CHECK_FALSE(contains(zero->summary, "step"));
}

TEST_CASE("a network that failed and was well again long before explains no zero rewards") {
  PlantedRun run;
  run.add("connection-refused", "network", Role::kSymptom, Severity::kWarning, false, "retry");
  run.steps(1, 2);
  for (int i = 0; i < 9; ++i) run.matched("connection-refused");
  run.steps(3, 60);
  for (int64_t step = 61; step <= 110; ++step) run.say(event::Measured{step, false, {{"reward.mean", "reward", 0}}});
  for (const Incident& incident : run.close()) {
    if (incident.kind != "network") continue;
    CHECK(incident.severity == Severity::kInfo);
    CHECK(incident.followed_by.empty());
  }
}

TEST_CASE("the same failure in three attempts is one incident and a loop") {
  PlantedRun run;
  for (int i = 0; i < 4; ++i) {
    if (i > 0) run.restart();
    run.trace("omegaconf.errors.ConfigKeyError", "Key 'x' not in 'Config'");
  }
  const auto incidents = run.close();
  CHECK(notable(incidents) == "config-error/hydra-config-key-error crash/autoretry-crash-loop");
  CHECK(incidents[0].followed_by == std::vector<uint32_t>{2});
}

TEST_CASE("starts that come to nothing are a loop though none says why") {
  PlantedRun run;
  run.add("pip-index-unreachable", "network", Role::kRoot, Severity::kWarning, false, "retry");
  run.matched("pip-index-unreachable");
  for (int i = 0; i < 5; ++i) {
    run.say(event::Ended{event::Ended::How::kFailed, 1, ""});
    run.restart();
  }
  const auto incidents = run.close();
  CHECK(has(incidents, "network", "pip-index-unreachable"));
  CHECK(has(incidents, "crash", "autoretry-crash-loop"));
}

TEST_CASE("an exit status without a word is a crash, a good one is not") {
  PlantedRun killed;
  killed.steps(1, 3);
  killed.say(event::Ended{event::Ended::How::kFailed, -9, "Killed"});
  CHECK(notable(killed.close()) == "crash/exit-137-unexplained");
  PlantedRun fine;
  fine.steps(1, 3);
  fine.say(event::Ended{event::Ended::How::kExit, 0, ""});
  CHECK(notable(fine.close()).empty());
}

TEST_CASE("a save that failed stands open until one is known to be whole") {
  for (const bool made_good : {false, true}) {
    CAPTURE(made_good);
    PlantedRun run;
    run.steps(1, 10);
    run.matched("torch-writer-failed");
    run.steps(11, 20);
    if (made_good) run.saved(20);
    run.steps(21, 30);
    const auto incidents = run.close();
    REQUIRE(notable(incidents) == "checkpoint-failed/torch-writer-failed");
    CHECK(incidents[0].open != made_good);
  }
}

TEST_CASE("what an engine says when it dies is no cause where the exception behind it is known") {
  PlantedRun run;
  run.steps(1, 20);
  run.matched("vllm-enginecore-fatal");
  run.matched("cuda-illegal-memory-access");
  CHECK(has(run.close(), "engine-dead", "cuda-illegal-memory-access"));
}

TEST_CASE("judging twice gives the same") {
  PlantedRun run;
  run.steps(1, 4);
  run.matched("shm-sigbus-share-fd");
  run.matched("enospc-generic");
  const auto once = run.close();
  const auto again = judge(run.state, run.knowledge);
  REQUIRE(once.size() == again.size());
  CHECK(notable(once) == notable(again));
}

}  // namespace mw
