#include "core/save_forecast.h"

#include <doctest/doctest.h>

#include "base/text.h"

namespace mw {
namespace {

/// A step every 60 s, a save every ten steps, each of which takes 300 s and passes 200 GB through /dev/shm.
class Run {
 public:
  Run() {
    say(event::SourceOpened{0, "train.log", "text", 0});
    say(event::SourceOpened{1, "host:machine", std::string(kHostKind), 0});
    host("disk.size", "/dev/shm", 512e9);
    host("disk.free", "/dev/shm", 500e9);
    host("disk.free", "/ck", 300e9);
  }
  template <typename Body>
  void say(Body body, uint32_t source = 0) {
    fold(state, {Time::from_seconds(at), {source, ++line}, std::move(body)});
  }
  void host(const char* figure, const char* thing, double value) {
    say(event::Measured{kNoStep, false, {{figure, thing, value}}}, 1);
  }
  void steps(int64_t count) {
    for (int64_t i = 0; i < count; ++i, at += 60) say(event::Measured{++step, false, {{said, "s/step", 60.0}}});
  }
  void save(double before, double after) {
    at += 100;
    host("disk.free", "/dev/shm", before - 200e9);
    at += 200;
    host("disk.free", "/dev/shm", after);
    say(event::Measured{step, false, {{"time.save", "s/save", 300.0}}});
    say(event::CheckpointSaved{step, "/ck/global_step", true});
    at += 60;
    host("checkpoint.bytes", "/ck", 47e9);
  }
  State state;
  const char* said = "time.step";
  double at = 1'000'000;
  uint64_t line = 0;
  int64_t step = 0;
};

TEST_CASE("the next save by the last ones: when, how long, what it writes, and what it takes of shared memory") {
  Run run;
  run.steps(10);
  CHECK_FALSE(save_forecast(run.state).has_value());  // nothing was saved
  run.save(500e9, 400e9);
  run.steps(10);
  CHECK_FALSE(save_forecast(run.state).has_value());  // one save is no rhythm
  run.save(400e9, 350e9);
  run.steps(4);
  const auto next = save_forecast(run.state);
  REQUIRE(next.has_value());
  CHECK(next->step == 30);
  CHECK(next->in_s == 360);
  CHECK(next->takes_s == 300);
  CHECK(next->bytes == 47e9);
  CHECK(next->disk == "/ck");
  CHECK(next->free == 300e9);
  CHECK(next->shared == 200e9);
  CHECK(next->shared_free == 350e9);
  CHECK(next->fits());
  CHECK(save_forecast_text(save_forecast(run.state)) ==
        "at step 30, in about 6m 00s; takes about 5m 00s; writes 47.0 GB to /ck (300 GB free); passes 200 GB through "
        "/dev/shm (350 GB free)");
}

TEST_CASE("a save whose step lies behind is no next one") {
  Run run;
  run.steps(10);
  run.save(500e9, 400e9);
  run.steps(10);
  run.save(400e9, 350e9);
  run.steps(4);
  REQUIRE(save_forecast(run.state).has_value());
  run.steps(9);
  CHECK_FALSE(save_forecast(run.state).has_value());
}

TEST_CASE("where the trainer does not say how long a step takes, its clock does") {
  Run run;
  run.said = "loss.total";
  run.steps(10);
  run.save(500e9, 400e9);
  run.steps(10);
  run.save(400e9, 350e9);
  run.steps(4);
  CHECK(save_forecast(run.state)->in_s == 360);
}

TEST_CASE("a save that will not fit says so, on the disk and in shared memory") {
  Run run;
  run.steps(10);
  run.save(500e9, 400e9);
  run.steps(10);
  run.save(400e9, 150e9);
  run.steps(2);
  CHECK_FALSE(save_forecast(run.state)->fits());
  CHECK(save_forecast_text(save_forecast(run.state)).starts_with("WILL NOT FIT: at step 30"));
  run.host("disk.free", "/dev/shm", 500e9);
  CHECK(save_forecast(run.state)->fits());
  run.host("disk.free", "/ck", 46e9);
  CHECK_FALSE(save_forecast(run.state)->fits());
}

TEST_CASE(
    "what data loaders take of shared memory meanwhile is no need of the save, and an ended run has no next one") {
  Run run;
  run.steps(10);
  run.save(212e9, 495e9);
  run.steps(10);
  run.host("disk.size", "/dev/shm", 20e12);
  run.save(212e9, 495e9);
  run.steps(2);
  CHECK(save_forecast(run.state)->shared == 0);
  run.say(event::Planned{25});
  CHECK_FALSE(save_forecast(run.state).has_value());  // it ends before
}

}  // namespace
}  // namespace mw
