#include "sense/checkpoints/deep_watch.h"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "base/text.h"

namespace mw {
namespace {

using How = event::CheckpointRead::How;

class Hears final : public EventWriter {
 public:
  explicit Hears(State& state, FakeClock& clock) : state_(state), clock_(clock) {}
  Result<uint32_t> intend(event::Intended) override { return 1U; }
  void acted(event::Acted) override {}
  Result<void> record(SupervisionEvent, Time) override { return {}; }
  Result<void> note(event::Note, Time) override { return {}; }
  using EventWriter::observed;
  void observed(const std::string&, event::CheckpointRead&& read) override {
    reads.push_back(read);
    fold(state_, {clock_.now(), {1, 100 + reads.size()}, std::move(read)});
  }
  std::vector<event::CheckpointRead> reads;

 private:
  State& state_;
  FakeClock& clock_;
};

/// A run that saves each ten steps, and what is read of it.
class World {
 public:
  explicit World(double share = 1) : share_(share) {
    begin_anew();
    say(event::SourceOpened{0, "train.log", "text", 0});
    say(event::SourceOpened{1, "host:checkpoints", std::string(kHostKind), 0}, 1);
  }
  /// As another midwatch that watches the same run.
  void begin_anew() {
    DeepScope scope;
    scope.home = "/home";
    scope.share = share_;
    scope.read = [this](const DeepJob& job, const std::atomic<bool>& stop) {
      asked.push_back(job.step);
      trained = job.trained;
      while (lasts && !stop.load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      DeepRead read;
      read.how = stop.load() ? DeepRead::How::kStopped : busy ? DeepRead::How::kBusy : DeepRead::How::kRead;
      read.read.how = How::kSane;
      read.read.step = job.step;
      read.read.path = job.path;
      read.read.bytes = 1000;
      read.read.seconds = 1;
      return read;
    };
    watch_ = std::make_unique<DeepWatch>(clock, std::move(scope));
  }
  template <typename Body>
  void say(Body body, uint32_t source = 0) {
    fold(state, {clock.now(), {source, ++line_}, std::move(body)});
  }
  void seen(int64_t step, int64_t bytes = 1000, event::CheckpointSeen::How how = event::CheckpointSeen::How::kWhole) {
    say(event::CheckpointSeen{step, cat("/ck/step_", step), how, "", "", bytes, 1, ""}, 1);
  }
  /// So many seconds of turns, with time for the call on its thread.
  void pass(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      (void)watch_->turn(state, true, hears);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      clock.pass(Duration::seconds(1));
    }
  }
  void over() { watch_->over(state, hears); }
  FakeClock clock;
  State state;
  Hears hears{state, clock};
  std::vector<int64_t> asked, trained;
  std::atomic<bool> lasts{false}, busy{false};

 private:
  uint64_t line_ = 0;
  double share_;
  std::unique_ptr<DeepWatch> watch_;
};

TEST_CASE("each checkpoint that is found whole is read once, the newest of a folder only") {
  World world;
  world.seen(10);
  world.seen(20);
  world.seen(30, 1000, event::CheckpointSeen::How::kBroken);
  world.pass(30);
  CHECK(world.asked == std::vector<int64_t>{20});
  REQUIRE(world.hears.reads.size() == 2);
  CHECK(world.hears.reads[0].how == How::kSkipped);
  CHECK(world.hears.reads[0].step == 10);
  CHECK(world.hears.reads[0].what == "step 20 was saved before it was its turn, 10.0 s after it was found whole");
  CHECK(world.hears.reads[1].how == How::kSane);
  world.seen(40);
  world.pass(30);
  CHECK(world.asked == std::vector<int64_t>{20, 40});
  world.seen(40);  // saved anew
  world.pass(30);
  CHECK(world.asked == std::vector<int64_t>{20, 40, 40});
}

TEST_CASE("what is not read as the watch ends has a reason, and the next watch reads it") {
  World world;
  world.seen(10);
  world.pass(30);
  world.over();
  CHECK(world.hears.reads.size() == 1);  // it was read
  world.seen(20);
  world.pass(5);
  world.over();
  REQUIRE(world.hears.reads.size() == 2);
  CHECK(world.hears.reads[1].step == 20);
  CHECK(world.hears.reads[1].how == How::kSkipped);
  CHECK(world.hears.reads[1].what == "the watch ended before it was its turn, 10.0 s after it was found whole");
  world.over();
  CHECK(world.hears.reads.size() == 2);
  world.clock.pass(Duration::seconds(1));
  world.begin_anew();
  world.pass(30);
  CHECK(world.asked == std::vector<int64_t>{10, 20});

  World reading;
  reading.lasts = true;
  reading.seen(10);
  reading.pass(15);
  reading.over();
  REQUIRE(reading.hears.reads.size() == 1);
  CHECK(reading.hears.reads[0].what == "the watch ended while it was read");

  World busy;
  busy.busy = true;
  busy.seen(10);
  busy.pass(30);
  busy.over();
  REQUIRE(busy.hears.reads.size() == 1);
  CHECK(busy.hears.reads[0].what == "it was written to when it was its turn, and the watch ended");
}

TEST_CASE("it is known at which steps the learning rate was above 0") {
  World world;
  for (int64_t step = 1; step <= 6; ++step)
    world.say(event::Measured{step, false, {{"lr", "actor/lr", step <= 2 ? 0.0 : 1e-6}}});
  world.seen(6);
  world.pass(30);
  CHECK(world.trained == std::vector<int64_t>{3, 4, 5, 6});
}

TEST_CASE("nothing is read while the trainer saves, and a save that begins ends the reading with that reason") {
  World world;
  world.seen(10);
  world.say(event::PhaseBegan{"save"});
  world.pass(60);
  CHECK(world.asked.empty());
  world.say(event::PhaseBegan{"train"});
  world.lasts = true;
  world.pass(30);
  CHECK(world.asked.size() == 1);
  CHECK(world.hears.reads.empty());
  world.say(event::PhaseBegan{"save"});
  world.pass(5);
  REQUIRE(world.hears.reads.size() == 1);
  CHECK(world.hears.reads[0].how == How::kSkipped);
  CHECK(contains(world.hears.reads[0].what, "a save began"));
}

TEST_CASE("what would not be read before the next save is skipped, and why is said") {
  World world(0.01);
  auto steps = [&world, step = int64_t{0}](int64_t count) mutable {
    for (int64_t i = 0; i < count; ++i) {
      world.clock.pass(Duration::seconds(60));
      world.say(event::Measured{++step, false, {{"time.step", "s/step", 60.0}}});
    }
    return step;
  };
  for (int i = 0; i < 3; ++i) world.say(event::CheckpointSaved{steps(10), "/ck/step", true});
  world.seen(30, 47'000'000'000);
  world.pass(20);
  CHECK(world.asked.empty());
  REQUIRE(world.hears.reads.size() == 1);
  CHECK(world.hears.reads[0].how == How::kSkipped);
  CHECK(contains(world.hears.reads[0].what, "deep_share"));
  CHECK(contains(world.hears.reads[0].what, "1 % of the time takes about 1h"));
  world.say(event::CheckpointSaved{steps(10), "/ck/step", true});
  world.seen(40, 1'000'000'000);
  world.pass(20);
  CHECK(world.asked == std::vector<int64_t>{40});
}

TEST_CASE("while a newer one is written it is asked again later, not for ever") {
  World world;
  world.busy = true;
  world.seen(10);
  world.pass(30);
  CHECK(world.asked.size() == 1);
  world.pass(60);
  CHECK(world.asked.size() == 2);
  world.pass(1200);
  CHECK(world.asked.size() == DeepWatch::kTries);
  CHECK(world.hears.reads.empty());
}

}  // namespace
}  // namespace mw
