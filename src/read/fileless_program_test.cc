// Code that lies in no file ("<string>", "<stdin>") or in one of a folder for what is temporary: a model's answer that
// a tool runs, or the run's own program.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/text.h"
#include "read/testing/whole_log.h"

namespace mw {
namespace {

std::string trained(const std::string& between) {
  std::string log = "from trl import GRPOTrainer\n";
  for (int step = 1; step <= 20; ++step) {
    log += cat("{'loss': 0.5, 'reward': 0.25, 'step': ", step, "}\n");
    if (step == 10) log += between;
  }
  return log;
}

std::string traceback(std::string_view file, std::string_view exception) {
  return cat("Traceback (most recent call last):\n  File \"", file, "\", line 2, in <module>\n", exception, "\n");
}

constexpr std::string_view kBegan =
    "=== midwatch: attempt 1 began 2026-11-29T15:21:04.752Z (7d293c20bd7c1743), process 9633 ===\n";
std::string ended(int status) {
  return cat("=== midwatch: attempt 1 ended 2026-11-29T15:21:05.183Z (7d293c20bd7c1743), exit status ", status,
             " ===\n");
}

bool in_trouble(const State& state) {
  return std::any_of(state.incidents.begin(), state.incidents.end(),
                     [](const Incident& incident) { return incident.severity > Severity::kInfo; });
}

std::string first_kind(const State& state) { return state.incidents.empty() ? "" : state.incidents.front().kind; }

}  // namespace

TEST_CASE("a program without a file that ends with an error status ended of its last traceback") {
  const std::string missing = traceback("<stdin>", "ModuleNotFoundError: No module named 'verl'");
  CHECK(first_kind(state_of(cat(kBegan, "start\n", missing, ended(1)))) == "dependency-broken");
  const std::string answer = traceback("<string>", "ZeroDivisionError: division by zero");
  CHECK(contains(state_of(cat(kBegan, trained(""), answer, ended(1))).verdict, "crashed"));
  CHECK(first_kind(state_of(cat(kBegan, trained(""), answer, ended(1)))) != "");
  // Killed, in order, or after it went on: the code of a model it was.
  for (const std::string& end : {ended(137), ended(0)}) {
    const State state = state_of(cat(kBegan, trained(""), answer, end));
    for (const Incident& incident : state.incidents) CHECK_FALSE(contains(incident.summary, "ZeroDivisionError"));
  }
  const State went_on = state_of(cat(kBegan, trained(answer), ended(1)));
  for (const Incident& incident : went_on.incidents) CHECK_FALSE(contains(incident.summary, "ZeroDivisionError"));
}

TEST_CASE("a log that ends so without a word of an end is believed where a run ends by such an exception") {
  const std::string nccl = traceback(
      "<string>", "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1970, unhandled cuda error");
  CHECK(in_trouble(state_of(cat(trained(""), nccl))));
  CHECK_FALSE(in_trouble(state_of(trained(nccl))));
  CHECK(in_trouble(state_of(traceback("<stdin>", "ModuleNotFoundError: No module named 'verl'"))));
  for (const char* const exception : {"ZeroDivisionError: division by zero", "NameError: name 'x' is not defined"}) {
    CHECK_FALSE(in_trouble(state_of(cat(trained(""), traceback("<string>", exception)))));
  }
}

TEST_CASE("a long log that ends with the traceback of a program in a temporary folder ends of it") {
  const auto trace = [](std::string_view file, std::string_view error) {
    return cat("Traceback (most recent call last):\n  File \"", file, "\", line 10, in <module>\n    go()\n  File \"",
               file, "\", line 4, in go\n    take(batch)\n", error, "\n");
  };
  const auto steps = [&](int tools) {
    std::string log = "from trl import GRPOTrainer\n";
    for (int step = 1; step <= 300; ++step) {
      log += cat("{'loss': 0.", 900 - step, ", 'reward': 0.", 200 + step + step % 7, ", 'step': ", step, "}\n");
      if (step % 40 == 0 && step / 40 <= tools)
        log += cat(trace("/tmp/tmpq3/answer.py", "NameError: name 'x'"), "a\nb\nc\n");
    }
    return log;
  };
  const std::string end = trace("/tmp/slurm_job_7/repo/train.py", "IndexError: list index out of range");
  CHECK(state_of(cat(steps(0), end)).verdict == "crashed");
  CHECK(
      state_of(cat(steps(0), end, "wandb: \nwandb: Run history:\nwandb: loss ###\nwandb: Find logs at: w\n")).verdict ==
      "crashed");
  const std::string memory = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.31 GiB. GPU 0 has 1 GiB";
  const State full = state_of(cat(steps(0), trace("/var/tmp/x/train.py", memory)));
  REQUIRE_FALSE(full.incidents.empty());
  CHECK(full.incidents.front().kind == "gpu-out-of-memory");
  // Where a sandbox's programs failed before and the run went on, so it may have gone on after this one.
  CHECK_FALSE(in_trouble(state_of(cat(steps(6), trace("/tmp/tmpq9/answer.py", "NameError: name 'y'")))));
  CHECK_FALSE(in_trouble(state_of(cat(steps(0), end, "a\nb\nc\nd\ne\n"))));
}

TEST_CASE("an attempt that ends with the traceback of a program in a temporary folder ended of it") {
  const auto trace = [](std::string_view file, std::string_view error) {
    return cat("Traceback (most recent call last):\n  File \"", file, "\", line 10, in <module>\n    go()\n  File \"",
               file, "\", line 4, in go\n    take(batch)\n", error, "\n");
  };
  const auto steps = [](int from, int to) {
    std::string log;
    for (int step = from; step <= to; ++step) {
      log += cat("(TaskRunner pid=812) step:", step, " - actor/entropy:0.4", step, " - actor/grad_norm:0.3", step,
                 " - critic/rewards/mean:0.3", step, " - response_length/mean:21", step % 10, "\n");
    }
    return log;
  };
  const std::string start = "INFO starting the trainer\nINFO loading the model of the run\nINFO using 8 GPUs\n";
  const std::string resumed = "Load from checkpoint folder: /data/ck/global_step_15\nSetting global step to 15\n";
  const std::string memory = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.31 GiB. GPU 0 has 1 GiB";
  const auto has = [](const State& state, std::string_view kind) {
    return std::any_of(state.incidents.begin(), state.incidents.end(),
                       [kind](const Incident& incident) { return incident.kind == kind; });
  };
  for (const std::string_view place : {"/tmp/job.4711/verl/train.py", "/var/tmp/clone/train.py"}) {
    const std::string end = cat(trace(place, memory), "retrying in 10 s\n");
    const State loop = state_of(cat(steps(1, 15), end, resumed, steps(16, 25)));
    CHECK(loop.attempts.size() == 2);
    CHECK(has(loop, "gpu-out-of-memory"));
    for (const Incident& incident : loop.incidents) CHECK_FALSE(contains(incident.summary, "another one begins"));
    const State banner = state_of(cat(start, steps(1, 15), end, start, "a\nb\nc\nd\n", resumed, steps(16, 25)));
    CHECK(has(banner, "gpu-out-of-memory"));
  }
  // A tool's program, and the run went on before it was started again; and those of a sandbox.
  const std::string tool = trace("/tmp/tmpq3/answer.py", "NameError: name 'x'");
  std::string sandbox;
  for (int i = 0; i < 4; ++i) sandbox += cat(tool, "a\nb\nc\nd\n", steps(1 + i, 1 + i));
  for (const std::string& log : {cat(steps(1, 14), tool, "a\nb\nc\nd\n", steps(15, 15), resumed, steps(16, 25)),
                                 cat(steps(1, 10), tool, steps(11, 15), resumed, steps(16, 25)),
                                 cat(sandbox, steps(5, 15), tool, resumed, steps(16, 25))}) {
    for (const Incident& incident : state_of(log).incidents) CHECK_FALSE(contains(incident.summary, "NameError"));
  }
}

}  // namespace mw
