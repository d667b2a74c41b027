#include "core/diagnose/diagnose.h"

#include <doctest/doctest.h>

#include "core/detect/support/failure_chain.h"

namespace mw::diagnose {
namespace {

Incident incident_with(std::string kind, std::string text) {
  Incident incident;
  incident.kind = std::move(kind);
  incident.severity = Severity::kCritical;
  incident.onset.step = 10;
  incident.evidence.push_back({{0, 7}, std::move(text), "", kNoStep, 0});
  return incident;
}

Knowledge with_reaction(const char* id, const char* reaction) {
  Knowledge knowledge;
  Signature signature;
  signature.id = id;
  signature.reaction = reaction;
  signature.fix = "do this";
  signature.check = {"look here", "and there"};
  knowledge.by_id[id] = 0;
  knowledge.signatures.push_back(std::move(signature));
  return knowledge;
}

}  // namespace

TEST_CASE("evidence adds up and never exceeds one") {
  const Incident incident = incident_with("crash", "x");
  const std::vector<Suggestion> suggestions{{"a", 0.6, "first"}, {"b", 0.5, "second"}, {"b", 0.5, "third"}};
  const auto causes = rank_causes(incident, suggestions, {}, {}, {});
  REQUIRE(causes.size() == 2);
  CHECK(causes[0].id == "b");
  CHECK(causes[0].score == doctest::Approx(1 - 0.95 * 0.5 * 0.5));
  CHECK(causes[0].reasons_for == std::vector<std::string>{"second", "third"});
  CHECK(causes[1].score < 1);
}

TEST_CASE("the words of the catalogue stand beside a cause") {
  const auto causes =
      rank_causes(incident_with("crash", "x"), {{"a", 0.5, "seen"}}, {}, {}, with_reaction("a", "retry"));
  REQUIRE(causes.size() == 1);
  CHECK(causes[0].check == "look here; and there");
  CHECK(causes[0].fix == "do this");
}

TEST_CASE("a learning rate that was raised at once leads, one that warms up does not") {
  const auto state_with = [](const std::vector<double>& rates) {
    State state;
    for (size_t i = 0; i < rates.size(); ++i) {
      fold(state, {{}, {0, i + 1}, event::Measured{static_cast<int64_t>(i + 1), false, {{"lr", "lr", rates[i]}}}});
    }
    return state;
  };
  const auto leads = [&](const std::vector<double>& rates, const char* kind = "entropy-collapse") {
    const auto causes = rank_causes(incident_with(kind, "x"), {{"another", 0.6, "seen"}}, {}, state_with(rates), {});
    return causes.front().id == "learning-rate-too-high";
  };
  const std::vector<double> raised{1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 5e-5, 5e-5, 5e-5, 5e-5};
  for (const char* upset : {"instability", "gradient-spike", "loss-spike", "kl-runaway", "entropy-collapse",
                            "entropy-explosion", "clip-saturation", "reward-collapse"}) {
    CAPTURE(std::string(upset));
    CHECK(leads(raised, upset));
  }
  CHECK_FALSE(leads(raised, "engine-dead"));
  CHECK(leads({5e-3, 5e-3, 5e-3, 5e-3, 5e-3, 5e-3, 5e-3, 5e-3, 5e-3, 5e-3, 5e-3}, "kl-runaway"));        // never right
  CHECK_FALSE(leads({2e-4, 2e-4, 2e-4, 2e-4, 2e-4, 2e-4, 2e-4, 2e-4, 2e-4, 2e-4, 2e-4}, "kl-runaway"));  // adapters
  CHECK_FALSE(leads({1e-7, 2e-7, 3e-7, 4e-7, 5e-7, 6e-7, 7e-7, 8e-7, 9e-7, 1e-6, 1e-6}));
  CHECK_FALSE(leads({1e-8, 4e-8, 2e-7, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6}));  // a steep warm-up
  CHECK_FALSE(leads({1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 5e-5}));  // afterwards
}

TEST_CASE(
    "tokens that turn random within one step come of broken weights in the engine, not of slow decay or a wild rate") {
  const auto leads = [](const std::vector<double>& entropy, double rate = 1e-6, int64_t mismatch_since = 5) {
    State state;
    for (size_t i = 0; i < entropy.size(); ++i) {
      const auto step = static_cast<int64_t>(i + 1);
      fold(state,
           {{}, {0, i + 1}, event::Measured{step, false, {{"entropy", "entropy", entropy[i]}, {"lr", "lr", rate}}}});
    }
    Incident zero = incident_with("zero-reward", "x"), mismatch = incident_with("policy-mismatch", "x");
    zero.onset.step = 5;
    mismatch.onset.step = mismatch_since;
    const auto causes = rank_causes(zero, {{"another", 0.6, "seen"}}, {mismatch}, state, {});
    return causes.front().id == "weight-sync-corrupt";
  };
  CHECK(leads({0.2, 0.3, 0.2, 0.3, 8.1, 9.2, 9.1}));
  CHECK_FALSE(leads({0.2, 0.8, 1.9, 3.1, 4.8, 6.2, 9.1}));
  CHECK_FALSE(leads({0.2, 0.3, 0.2, 0.3, 8.1, 9.2, 9.1}, 5e-3));
  CHECK_FALSE(leads({0.2, 0.3, 0.2, 0.3, 8.1, 9.2, 9.1}, 1e-6, 40));
}

TEST_CASE("memory held by other processes is distinguished from memory of our own") {
  const std::string shared =
      "CUDA out of memory. Tried to allocate 22.00 MiB. Process 71 has 20.00 GiB memory in use. Including non-PyTorch "
      "memory, this process has 3.50 GiB memory in use.";
  const auto causes =
      rank_causes(incident_with("gpu-out-of-memory", shared), {{"cuda-oom-trainer", 0.8, "seen"}}, {}, {}, {});
  REQUIRE(causes.size() == 2);
  CHECK(causes[0].id == "cuda-oom-trainer");
  CHECK(causes[1].id == "gpu-zombie-memory-holder");
}

TEST_CASE("in the first attempt no earlier one has left anything on the GPU") {
  const std::string text =
      "CUDA out of memory. Tried to allocate 1.00 GiB. Process 71 has 25.00 GiB memory in use. Including non-PyTorch "
      "memory, this process has 3.50 GiB memory in use.";
  const std::vector<Suggestion> seen{{"cuda-oom-trainer", 0.8, "seen"}, {"gpu-zombie-memory-holder", 0.7, "seen"}};
  Incident incident = incident_with("gpu-out-of-memory", text);
  CHECK(rank_causes(incident, seen, {}, {}, {})[0].id == "cuda-oom-trainer");
  incident.onset.attempt = 1;
  CHECK(rank_causes(incident, seen, {}, {}, {})[0].id == "gpu-zombie-memory-holder");
}

TEST_CASE("before the first step of a further attempt, what an earlier one had room for is held by somebody") {
  const std::string text =
      "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 79.10 GiB of which 9.00 MiB is "
      "free. Process 71 has 78.04 GiB memory in use.";
  const std::vector<Suggestion> seen{{"cuda-oom-trainer", 0.8, "seen"}, {"gpu-zombie-memory-holder", 0.7, "seen"}};
  State state;
  state.attempts.resize(2);
  state.attempts[0].last_step = 11;
  Incident incident = incident_with("gpu-out-of-memory", text);
  incident.onset.attempt = 1;
  CHECK(rank_causes(incident, seen, {}, state, {})[0].id == "gpu-zombie-memory-holder");
  // The process may see itself under another number: what it has allocated is its own.
  const Incident own = [&] {
    Incident one =
        incident_with("gpu-out-of-memory", text + " Of the allocated memory 76.50 GiB is allocated by PyTorch");
    one.onset.attempt = 1;
    return one;
  }();
  CHECK(rank_causes(own, seen, {}, state, {})[0].id == "cuda-oom-trainer");
  state.attempts[1].last_step = 12;  // it did steps itself
  CHECK(rank_causes(incident, seen, {}, state, {})[0].id == "cuda-oom-trainer");
}

TEST_CASE("where the GPU had room, the process met its own allowance, whoever else is there") {
  const std::string text =
      "CUDA out of memory. Tried to allocate 1024.00 MiB. GPU 0 has a total capacity of 79.18 GiB of which 47.12 GiB "
      "is free. Process 746 has 666.00 MiB memory in use. Process 71 has 20.51 GiB memory in use. Including "
      "non-PyTorch memory, this process has 8.44 GiB memory in use. 7.92 GiB allowed; Of the allocated memory 7.64 GiB "
      "is allocated by PyTorch, and 57.01 MiB is reserved by PyTorch but unallocated.";
  const std::vector<Suggestion> seen{{"cuda-oom-trainer", 0.8, "seen"}, {"gpu-zombie-memory-holder", 0.7, "seen"}};
  Incident incident = incident_with("gpu-out-of-memory", text);
  incident.onset.attempt = 2;
  const auto causes = rank_causes(incident, seen, {}, {}, {});
  CHECK(causes[0].id == "cuda-oom-trainer");
  CHECK(causes[0].reasons_for.back() == "the process may use 7.92 GiB of the GPU only: its memory fraction is set");
}

TEST_CASE("a disk that had room was not full: what its own count refutes is no cause of a save that is not whole") {
  Knowledge knowledge;
  for (const char* id : {"enospc-generic", "ended-during-save"}) {
    Cause cause;
    cause.id = id;
    cause.kinds = {"checkpoint-incomplete"};
    cause.prior = 0.3;
    knowledge.causes.push_back(cause);
  }
  const auto named = [&](double free, int64_t save, const char* path, bool said) {
    State state;
    fold(state, {Time::from_seconds(900), {3, 0}, event::SourceOpened{3, "host:disks", std::string(kHostKind), 0}});
    const auto measured = [&state](double at, double bytes) {
      fold(state,
           {Time::from_seconds(at),
            {3, 1},
            event::Measured{
                kNoStep, false, {{"disk.free", "/", 5e12}, {"disk.free", "/ck", bytes}, {"disk.size", "/ck", 1e12}}}});
    };
    measured(1000, 500e9);
    measured(1050, free);
    measured(1200, 500e9);  // what filled it was removed
    event::CheckpointSeen whole;
    whole.how = event::CheckpointSeen::How::kWhole;
    whole.bytes = save;
    if (save > 0) fold(state, {Time::from_seconds(1001), {3, 1}, whole});
    Incident incident = incident_with("checkpoint-incomplete", path);
    incident.onset.at = Time::from_seconds(1210);
    const auto causes = rank_causes(
        incident, said ? std::vector<Suggestion>{{"enospc-generic", 0.8, "seen"}} : std::vector<Suggestion>(), {},
        state, knowledge);
    return std::any_of(causes.begin(), causes.end(), [](const RankedCause& one) { return one.id == "enospc-generic"; });
  };
  const char* path = "/ck/step_5: there are no weights in it";
  CHECK_FALSE(named(61e9, 200'000, path, false));
  CHECK(named(61e9, 200'000, path, true));             // the trainer's own words: a quota, another disk
  CHECK(named(61e9, int64_t{47} << 30, path, false));  // a save takes nearly as much
  CHECK(named(0, 200'000, path, false));
  CHECK(named(20e9, 0, path, false));  // how much one takes is not known, and the disk is large
  CHECK_FALSE(named(0, 200'000, "/ckpts/step_5: cut", false));  // on another disk
}

TEST_CASE("the scheduler's reason leads over its word that the job was cancelled") {
  const std::vector<Suggestion> seen{{"slurm-cancelled", 0.8, "srun: Job step aborted"},
                                     {"slurm-time-limit", 0.45, "DUE TO TIME LIMIT"}};
  CHECK(rank_causes(incident_with("interrupted", "DUE TO TIME LIMIT"), seen, {}, {}, {})[0].id == "slurm-time-limit");
}

TEST_CASE("a reward that is lost has its cause in what went wrong just before") {
  State state;
  for (int64_t step = 1; step <= 10; ++step)
    fold(state, {{}, {0, 1}, event::Measured{step, false, {{"lr", "lr", 1e-6}}}});
  const auto leading = [&](const char* kind, const char* before, int64_t step, Severity severity = Severity::kWarning,
                           bool open = true) {
    Incident other = incident_with(before, "x");
    other.onset.step = step;
    other.severity = severity;
    other.open = open;
    const Incident incident = incident_with(kind, "y");
    return rank_causes(incident, {{"reward-drop-gradual", 0.6, "seen"}}, {other, incident}, state, {})[0].id;
  };
  CHECK(leading("zero-reward", "policy-mismatch", 9) == "train-inference-mismatch");
  CHECK(leading("zero-reward", "policy-mismatch", 2) == "reward-drop-gradual");
  CHECK(leading("reward-collapse", "truncation", 6) == "length-explosion-truncation");
  CHECK(leading("reward-collapse", "truncation", 6, Severity::kInfo) == "reward-drop-gradual");
  CHECK(leading("reward-collapse", "truncation", 6, Severity::kWarning, false) == "reward-drop-gradual");
  CHECK(leading("reward-collapse", "truncation", 2) == "reward-drop-gradual");
}

TEST_CASE("a node without memory is no GPU without memory") {
  const auto causes =
      rank_causes(incident_with("host-out-of-memory", "Node running low on memory"),
                  {{"cuda-oom-trainer", 0.8, "OutOfMemoryError"}, {"ray-memory-monitor-kill", 0.6, "x"}}, {}, {}, {});
  CHECK(causes[0].id == "ray-memory-monitor-kill");
  CHECK(causes[1].reasons_against.size() == 1);
}

TEST_CASE("a cause that nothing speaks for never stands before one that something does") {
  Knowledge knowledge;
  knowledge.causes.push_back({"likely", "", {"crash"}, 0.6, {}, {}, "", "", ""});
  const auto causes =
      rank_causes(incident_with("crash", "x"), {{"seen", 0.2, "it"}, {"less", 0.1, "it"}}, {}, {}, knowledge);
  REQUIRE(causes.size() == 3);
  CHECK(causes[0].id == "seen");
  CHECK(causes[1].id == "likely");
}

TEST_CASE("a wrapper does not lead where something else was seen") {
  const auto causes =
      rank_causes(incident_with("crash", "x"),
                  {{"torchelastic-child-failed", 0.8, "seen"}, {"type-error", 0.5, "seen"}}, {}, {}, {});
  CHECK(causes[0].id == "type-error");
}

TEST_CASE("what only passes on a failure leads alone, and never before one that was seen beside it") {
  for (const char* echo :
       {"exit-status", "unhandled-exception", "ray-task-error-wrapper", "torchelastic-child-failed",
        "deepspeed-subprocess-return-code", "ray-actor-init-failed", "vllm-engine-init-failed", "torchelastic-sigterm",
        "prime-rl-component-exit", "launcher-job-failed", "subprocess-failed", "worker-exited", "slurm-task-failed"}) {
    CAPTURE(std::string(echo));
    const Incident crash = incident_with("crash", "x");
    CHECK(rank_causes(crash, {{echo, 0.8, "seen"}, {"type-error", 0.5, "seen"}}, {}, {}, {})[0].id == "type-error");
    CHECK(rank_causes(crash, {{echo, 0.8, "seen"}, {"a-guess", 0.1, "seen"}}, {}, {}, {})[0].id == echo);
  }
}

TEST_CASE("a kill that the files explain is not unexplained") {
  for (const char* killer : {"oom-killer-host", "cgroup-oom-kill", "slurm-oom-kill", "ray-memory-monitor-kill"}) {
    CAPTURE(std::string(killer));
    State state;
    fold(state, {{}, {0, 1}, event::Matched{killer, "its words", 1, false}});
    const auto causes = rank_causes(incident_with("crash", "x"), {{"exit-137-unexplained", 0.6, "137"}}, {}, state, {});
    CHECK(causes[0].id == killer);
  }
}

TEST_CASE("the usual reaction to each kind, where its cause has no word of its own") {
  struct Usual {
    const char *kind, *reaction;
  };
  State state;
  state.checkpoints.push_back({{5, {}, {}, 0}, {5, "p", true}});
  const auto reaction = [&state](const char* kind, uint64_t times) {
    return reaction_for(incident_with(kind, "x"), times, state, {});
  };
  // "When each reaction is safe" of the failure catalogue: what passes by itself is left alone, what may pass is tried
  // again, what a restart would repeat needs another setting or a person.
  for (const Usual& usual : {Usual{"interrupted", "ignore"},
                             {"logging-gap", "ignore"},
                             {"gradient-spike", "ignore"},
                             {"loss-spike", "ignore"},
                             {"throughput-drop", "ignore"},
                             {"preempted", "restart-run-from-checkpoint"},
                             {"died-silently", "restart-run-from-checkpoint"},
                             {"stall", "restart-run-from-checkpoint"},
                             {"worker-lost", "restart-run-from-checkpoint"},
                             {"collective-timeout", "restart-run-from-checkpoint"},
                             {"engine-dead", "restart-component"},
                             {"network", "retry"},
                             {"disk-full", "free-space-then-resume"},
                             {"disk-pressure", "free-space-then-resume"},
                             {"config-error", "config-fix"},
                             {"gpu-out-of-memory", "config-fix"},
                             {"shm-exhausted", "config-fix"},
                             {"non-finite", "rollback-before-onset"},
                             {"zero-reward", "stop-and-notify"},
                             {"reward-collapse", "stop-and-notify"},
                             {"code-error", "stop-and-notify"}}) {
    CAPTURE(std::string(usual.kind));
    CHECK(reaction(usual.kind, 1) == usual.reaction);
  }
  for (const char* again : {"stall", "engine-dead", "network"}) {
    CAPTURE(std::string(again));
    CHECK(reaction(again, 2) == "stop-and-notify");
  }
  state.checkpoints.clear();
  CHECK(reaction("stall", 1) == "stop-and-notify");
  CHECK(reaction("non-finite", 1) == "stop-and-notify");
  CHECK(reaction("engine-dead", 1) == "restart-component");
}

TEST_CASE("zero reward after an engine's death is the engine's") {
  Incident dead = incident_with("engine-dead", "x");
  dead.onset.step = 8;
  const Incident zero = incident_with("zero-reward", "reward 0");
  const auto causes =
      rank_causes(zero, {{"reward-function-broken-all-zero", 0.6, "all zero"}, {"reward-sudden-zero", 0.5, "sudden"}},
                  {dead, zero}, {}, {});
  CHECK(causes[0].id == "reward-sudden-zero");
}

TEST_CASE("what raises at a NaN has it for a cause") {
  const auto first = [](const char* text, int64_t nan_at) {
    Incident nan = incident_with("non-finite", "loss is nan");
    nan.onset.step = nan_at;
    const Incident raised = incident_with("code-error", text);
    return rank_causes(raised, {{"dtype-mismatch", 0.6, "seen"}}, {nan, raised}, {}, {}).front().id;
  };
  const char* const norm = "vector_norm: Expected a floating point or complex tensor as input. Got Long";
  CHECK(first(norm, 10) == "nan-loss");
  CHECK(first(norm, 8) == "nan-loss");
  CHECK(first(norm, 11) == "dtype-mismatch");  // the NaN came later
  CHECK(first(norm, 2) == "dtype-mismatch");   // long before
  CHECK(first("KeyError: 'x'", 10) == "dtype-mismatch");
}

TEST_CASE("no reaction goes back to a checkpoint that is not known, none repeats what failed twice") {
  const Knowledge knowledge = with_reaction("a", "restart-run-from-checkpoint");
  Incident incident = incident_with("worker-lost", "x");
  incident.causes = {{"a", "", 0.8, {}, {}, "", ""}};
  State state;
  CHECK(reaction_for(incident, 1, state, knowledge) == "stop-and-notify");
  state.checkpoints.push_back({{5, {}, {}, 0}, {5, "p", false}});
  CHECK(reaction_for(incident, 1, state, knowledge) == "stop-and-notify");
  state.checkpoints.push_back({{8, {}, {}, 0}, {8, "p", true}});
  CHECK(reaction_for(incident, 1, state, knowledge) == "restart-run-from-checkpoint");
  CHECK(reaction_for(incident, 2, state, knowledge) == "stop-and-notify");
  incident.onset.step = 7;
  CHECK(reaction_for(incident, 1, state, knowledge) == "stop-and-notify");
}

TEST_CASE("exceptions by type, inside wrappers, with the reward's own file") {
  using detect::classify_exception;
  CHECK(classify_exception("ray.exceptions.RayTaskError(KeyError)", "'x'", "a.py:1 in f").cause == "key-error");
  CHECK(classify_exception("torch.OutOfMemoryError", "CUDA out of memory", "").kind == "gpu-out-of-memory");
  CHECK(
      classify_exception("ray.exceptions.OutOfMemoryError", "Task was killed due to the node running low on memory", "")
          .kind == "host-out-of-memory");
  CHECK(classify_exception("KeyError", "'x'", "/x/my_reward.py:3 in score").cause == "reward-function-exception");
  CHECK(classify_exception("BrokenPipeError", "", "").consequence);
  CHECK(classify_exception("some.NewError", "", "").kind == "crash");
  CHECK(classify_exception("", "", "").kind == "crash");
}

}  // namespace mw::diagnose
