#include <doctest/doctest.h>

#include "core/advance.h"
#include "core/state.h"

namespace mw {
namespace {

using How = event::CheckpointSeen::How;

struct Run {
  Knowledge knowledge;
  State state;
  uint64_t line = 0;

  template <typename Body>
  void say(Body body, uint32_t source = 0) {
    Event event{Time::from_seconds(1'700'000'000.0 + static_cast<double>(++line)), {source, line}, std::move(body)};
    std::vector<Event> decided;
    advance(state, event, knowledge, Judge::kAlways, decided);
  }
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
