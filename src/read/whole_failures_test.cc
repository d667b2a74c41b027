// What a whole log comes to where something fails time and again, or to its last line.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "read/testing/whole_log.h"

namespace mw {
namespace {

std::vector<const Incident*> of_kind(const State& state, std::string_view kind) {
  std::vector<const Incident*> found;
  for (const Incident& incident : state.incidents) {
    if (incident.kind == kind) found.push_back(&incident);
  }
  return found;
}

TEST_CASE("a loss that is NaN to the last record is one incident, which began where the figures did") {
  std::string log;
  for (int i = 1; i <= 60; ++i) {
    const std::string_view loss = i < 31 ? "0.0012" : "nan";
    log += cat("{'loss': ", loss, ", 'grad_norm': ", i < 31 ? "0.2" : "nan",
               ", 'learning_rate': 1e-06, 'completions/mean_length': ", 200 + i % 7,
               ".5, 'reward': 0.3, 'reward_std': 0.3, 'epoch': ", i, "}\n");
  }
  const State state = state_of(log);
  const auto found = of_kind(state, "non-finite");
  REQUIRE(found.size() == 1);
  CHECK(found[0]->onset.step == 31);
  CHECK(found[0]->onset.where.line == 31);
  CHECK(found[0]->severity == Severity::kCritical);
  CHECK(contains(found[0]->summary, "from step 31 on, 30 records"));
}

TEST_CASE("a GPU that is full for the inference engine is not full for the trainer") {
  std::string log;
  for (int i = 1; i <= 20; ++i) log += cat("step:", i, " - actor/pg_loss:0.01 - critic/rewards/mean:0.", 300 + i, "\n");
  const std::string error =
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.31 GiB. GPU 0 has a total capacity of 79.11 GiB "
      "of which 1.02 GiB is free.\n";
  const std::string trace = "Traceback (most recent call last):\n  File \"/opt/x/scheduler.py\", line 9, in run\n";
  const auto cause = [](const State& state, std::string_view kind) {
    const auto found = of_kind(state, kind);
    return found.empty() || found[0]->causes.empty() ? std::string() : found[0]->causes[0].id;
  };
  const State engine = state_of(cat(log, "[2026-03-01 08:33:21 TP0] Scheduler hit an exception: ", trace, error,
                                    "[2026-03-01 08:33:22] Received sigquit from a child process. It usually means "
                                    "the child failed.\n"));
  CHECK(cause(engine, "engine-dead") == "cuda-oom-engine");
  CHECK(cause(state_of(cat(log, trace, error)), "gpu-out-of-memory") == "cuda-oom-trainer");
}

}  // namespace
}  // namespace mw
