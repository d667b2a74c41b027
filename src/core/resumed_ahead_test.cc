// A resume from a step that the run never reached.
#include <doctest/doctest.h>

#include "core/detect/detector.h"
#include "core/judge_memory.h"
#include "core/state.h"

namespace mw {
namespace {

/// Attempt 1 logged steps 1 to 16 and ended by itself; attempt 2 resumed from `from`, which lay on the disk.
struct Run {
  State state;
  explicit Run(int64_t from, int64_t stride = 1) {
    uint64_t line = 0;
    const auto say = [&](Event::Body body, uint32_t source = 0) {
      fold(state, {Time::from_seconds(static_cast<double>(++line)), {source, line}, std::move(body)});
    };
    say(event::SourceOpened{0, "train.log", "text", 0});
    say(event::SourceOpened{1, "host:checkpoints", std::string(kHostKind), 0}, 1);
    for (int64_t step = stride; step <= 16; step += stride)
      say(event::Measured{step, false, {{"reward.mean", "r", 0.5}}});
    say(event::TraceSeen{"RuntimeError", "shape mismatch", "", line});
    say(event::CheckpointSeen{from, "/c/step", event::CheckpointSeen::How::kWhole, "", "", 100, 2, ""}, 1);
    state.supervision.attempts.push_back({});
    SupervisedAttempt& first = state.supervision.attempts.back();
    first.number = 1;
    first.started = first.exited = first.known = true;
    first.code = 1;
    AttemptState next;
    next.resumed_at = from;
    next.first_step = next.last_step = from + 1;
    state.attempts.push_back(next);
  }
  std::vector<Finding> found() const {
    std::vector<Finding> findings;
    JudgeMemory memory;
    for (const Detector* one : all_detectors()) {
      if (one->name == "resumed-ahead") one->judge(state, {}, memory, findings);
    }
    return findings;
  }
};

TEST_CASE("a resume from a step that the run never reached is a warning that names the checkpoint") {
  const auto found = Run(24).found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].severity == Severity::kWarning);
  CHECK(found[0].summary ==
        "Attempt 2 resumed from step 24, and no attempt before had come further than step 16: /c/step may be another "
        "run's");
}

TEST_CASE("where the log names its saves, one further than the run came is another run's for sure") {
  Run run(24);
  run.state.checkpoint_scans.clear();  // nobody scanned it
  CHECK(run.found().empty());
  run.state.checkpoints.push_back({{10, {}, {}, 0}, {10, "/c/step", true}});
  const auto found = run.found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].severity == Severity::kCritical);
  CHECK(found[0].summary ==
        "Attempt 2 resumed from step 24, and no attempt before had come further than step 16, or saved that step: that "
        "checkpoint may be another run's");
  run.state.checkpoints.push_back({{15, {}, {}, 0}, {20, "/c/step", true}});  // its saves are counted otherwise
  CHECK(run.found().empty());
  run.state.checkpoints.pop_back();
  run.state.attempts.back().first_step = 1;  // so are its steps
  CHECK(run.found().empty());
}

TEST_CASE("a resume from what the run may have saved behind its last record is none") {
  CHECK(Run(16).found().empty());
  CHECK(Run(17).found().empty());     // it saves before it logs
  CHECK(Run(24, 4).found().empty());  // it logs one step in four
  Run killed(24);
  killed.state.supervision.attempts[0].signal = 9;  // what it had not written is lost
  CHECK(killed.found().empty());
  Run by_shell(24);
  by_shell.state.supervision.attempts[0].code = 137;
  CHECK(by_shell.found().empty());
  Run silent(24);  // a rank was killed, or what it said last was lost with the pipe
  silent.state.traces.clear();
  CHECK(silent.found().empty());
  Run launched(24);
  launched.state.traces[0].trace.exception = "torch.distributed.elastic.multiprocessing.errors.ChildFailedError";
  CHECK(launched.found().empty());
  Run counted(24);
  counted.state.framework = "trl";  // its records name no steps
  CHECK(counted.found().empty());
  Run logged(24);
  logged.state.supervision.attempts.clear();  // a file, of which the middle may be missing
  CHECK(logged.found().empty());
}

}  // namespace
}  // namespace mw
