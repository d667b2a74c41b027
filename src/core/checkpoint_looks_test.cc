#include <doctest/doctest.h>

#include "base/text.h"
#include "core/checkpoint_trust.h"
#include "core/resume_advice.h"
#include "core/said_run_for_test.h"
#include "core/state.h"

namespace mw {
namespace {

using How = event::CheckpointSeen::How;

struct Run : SaidRun {
  void seen(int64_t step, How how, const char* path) {
    say(event::CheckpointSeen{step, path, how, how == How::kBroken ? "no weights" : "", "ckpt-metadata-only", 100, 2,
                              ""},
        1);
  }
  Run() {
    say(event::SourceOpened{0, "train.log", "text", 0});
    say(event::SourceOpened{1, "host:checkpoints", std::string(kHostKind), 0}, 1);
    for (int64_t step = 1; step <= 12; ++step) say(event::Measured{step, false, {{"reward.mean", "r", 0.5}}});
  }
  const Incident* incomplete() const {
    for (const Incident& incident : state.incidents) {
      if (incident.kind == "checkpoint-incomplete") return &incident;
    }
    return nullptr;
  }
};

TEST_CASE("a checkpoint that is not whole is a critical incident until it is, or a later one is whole") {
  Run run;
  run.seen(5, How::kWhole, "/c/step_5");
  CHECK(run.incomplete() == nullptr);
  run.seen(10, How::kBroken, "/c/step_10");
  REQUIRE(run.incomplete() != nullptr);
  CHECK(run.incomplete()->severity == Severity::kCritical);
  CHECK(run.incomplete()->open);
  CHECK(run.incomplete()->onset.step == 10);
  run.seen(10, How::kBroken, "/c/step_10");  // looked at again
  run.seen(15, How::kWhole, "/other/step_15");
  CHECK(run.incomplete()->open);
  run.seen(15, How::kWhole, "/c/step_15");
  CHECK_FALSE(run.incomplete()->open);
  CHECK(run.state.incidents.size() == 1);
}

TEST_CASE("a run whose every save holds no weights has nothing to go back to") {
  Run run;
  const auto doubted = [&run](int64_t step, const char* path) {
    run.say(event::CheckpointSeen{step, path, How::kUnknown, "400 KB", "", 100, 2, "", "there are no weights in it"},
            1);
  };
  run.say(event::CheckpointSaved{4, "/c/step_4", true});
  run.say(event::CheckpointSaved{8, "/c/step_8", true});
  doubted(4, "/c/step_4");
  CHECK(run.incomplete() == nullptr);  // its save may have been cut short
  CHECK(doubted_text(run.state) ==
        "the one checkpoint on the disk is not proved whole (step 4: there are no weights in it)");
  doubted(8, "/c/step_8");
  REQUIRE(run.incomplete() != nullptr);
  CHECK(run.incomplete()->severity == Severity::kWarning);
  CHECK(contains(run.incomplete()->summary, "there are no weights in it (/c/step_8)"));
  run.say(event::Ended{event::Ended::How::kExit, 1, ""});
  const auto advice = resume_advice(run.state);
  REQUIRE(advice);
  CHECK(advice->step == kNoStep);
  CHECK(contains(to_sentence(*advice), "No checkpoint to resume from was seen"));
  CHECK(contains(to_sentence(*advice), "none of the 2 checkpoints on the disk is proved whole (step 8: there are no"));
}

TEST_CASE("what is found wrong in a save is no trouble of a run that saves whole ones, or saves so") {
  Run run;
  const auto seen = [&run](int64_t step, const char* path, How how, const char* doubt) {
    run.say(event::CheckpointSeen{step, path, how, "400 KB", "", 100, 2, "", doubt}, 1);
  };
  seen(2, "/c/step_2", How::kUnknown, "");  // nothing speaks against it
  seen(4, "/c/step_4", How::kUnknown, "there are no weights in it");
  seen(8, "/c/step_8", How::kUnknown, "there are no weights in it");
  CHECK(run.incomplete() == nullptr);
  Run late;
  late.say(event::CheckpointSeen{4, "/c/step_4", How::kUnknown, "", "", 100, 2, "", "no weights"}, 1);
  late.say(event::CheckpointSeen{8, "/c/step_8", How::kUnknown, "", "", 100, 2, "", "no weights"}, 1);
  late.say(event::CheckpointSeen{8, "/c/step_8", How::kWhole, "", "", 900, 3, "", ""}, 1);
  REQUIRE(late.incomplete() != nullptr);
  CHECK_FALSE(late.incomplete()->open);
  CHECK(doubted_text(late.state).empty());
}

TEST_CASE("one that is found broken behind a whole one is a warning: nothing would resume from it") {
  Run run;
  run.seen(5, How::kWhole, "/c/step_5");
  run.seen(15, How::kWhole, "/c/step_15");
  run.seen(10, How::kBroken, "/c/step_10");
  REQUIRE(run.incomplete() != nullptr);
  CHECK(run.incomplete()->severity == Severity::kWarning);
  CHECK(run.incomplete()->onset.step == 10);
  CHECK(run.incomplete()->open);
  run.seen(20, How::kWhole, "/c/step_20");
  CHECK_FALSE(run.incomplete()->open);
}

TEST_CASE("a slow save that was taken for broken heals; what is not known is no incident") {
  Run run;
  run.seen(5, How::kUnknown, "/c/step_5");
  CHECK(run.incomplete() == nullptr);
  run.seen(10, How::kBroken, "/c/step_10");
  run.seen(10, How::kWhole, "/c/step_10");
  REQUIRE(run.incomplete() != nullptr);
  CHECK_FALSE(run.incomplete()->open);
}

/// A save began, and the attempt that midwatch started ended right then.
struct Ended : Run {
  Ended() {
    say(event::AttemptStarted{1, 77, "boot"});
    say(event::CheckpointSaved{12, "/c/step_12", false});
    say(event::TraceSeen{"RuntimeError", "CUDA error: an illegal memory access", "train.py:9 in step", 15});
    say(event::Ended{event::Ended::How::kExit, 1, ""});
    CHECK(incomplete() == nullptr);
    say(event::AttemptExited{1, true, 1, 0, ""});
  }
};

TEST_CASE("whether the last save of an attempt was finished is for the scan after its end to say") {
  Ended whole;
  CHECK(whole.incomplete() == nullptr);
  whole.seen(12, How::kWhole, "/c/step_12");
  for (int i = 0; i < 60; ++i) whole.say(event::Ticked{});
  CHECK(whole.incomplete() == nullptr);
  Ended cut;
  for (int i = 0; i < 60; ++i) cut.say(event::Ticked{});
  REQUIRE(cut.incomplete() != nullptr);
  Ended closed;  // the run is over, and no scan found it
  closed.say(event::Closed{true});
  REQUIRE(closed.incomplete() != nullptr);
}

TEST_CASE("looks at the disk are no sign of life and no step of the trainer") {
  Run run;
  const auto last = run.state.attempts.back().last;
  run.seen(500, How::kWhole, "/c/step_500");
  CHECK(run.state.attempts.back().last.at == last.at);
  CHECK(run.state.attempts.back().last_step == 12);
  CHECK(run.state.checkpoint_scans.size() == 1);
}

}  // namespace
}  // namespace mw
