#include "act/supervise/run_ownership.h"

#include <doctest/doctest.h>

#include "act/keeper/launch.h"
#include "act/keeper/record.h"
#include "base/text.h"
#include "core/attempts.h"
#include "core/said_run_for_test.h"
#include "journal/journal.h"
#include "platform/fake/fake_disk.h"

namespace mw {
namespace {

const CheckpointLayout kSteps{"step_{step}", "latest", "{step}"};

/// Two runs of one home; each attempt's record is as its keeper writes it.
struct Home {
  FakeDisk disk;
  RunSpec spec;

  Home() { spec.checkpoints = {"/data/ck"}; }
  void run(const std::string& name, const std::string& root, double began, double ended) {
    RunSpec of;
    of.command = {"train"};
    of.folder = "/work";
    of.checkpoints = {root};
    const std::string folder = cat("/home/runs/", name), attempt = cat(folder, "/", kAttemptsFolder, "/1");
    (void)disk.make_folders(attempt).ok();
    disk.set_time(Time::from_seconds(began));
    disk.put(cat(folder, "/", kRunSpecFile), run_spec_text(of));
    auto record = Journal::open(disk, cat(attempt, "/", kRecordFolder), nullptr);
    REQUIRE(record.ok());
    (void)(*record)->append(record_keeping({70, 1}, "boot", Time::from_seconds(began)));
    (void)(*record)->append(record_started({71, 1}, Time::from_seconds(began)));
    Ending ending;
    ending.at = Time::from_seconds(ended);
    if (ended > 0) (void)(*record)->append(record_ended(ending));
    REQUIRE((*record)->sync().ok());
  }
  Ownership own(const State& state = State()) {
    auto found = ownership_of(disk, "/home/runs/one", spec, state, kSteps);
    REQUIRE(found.ok());
    return std::move(*found);
  }
};

TEST_CASE("another run of the same home that keeps its checkpoints there is known, and when it lived") {
  Home home;
  home.run("one", "/data/ck", 1000, 2000);
  home.run("elsewhere", "/data/other", 1000, 2000);
  CHECK(home.own().others.empty());
  home.run("two", "/data/ck", 2100, 0);
  (void)home.disk.make_folders("/home/runs/two/output").ok();
  home.disk.set_time(Time::from_seconds(2400));
  home.disk.put("/home/runs/two/output/train.log", "step 1");
  const Ownership own = home.own();
  REQUIRE(own.others.size() == 1);
  CHECK(own.others[0].name == "two");
  REQUIRE(own.other_at("/data/ck", Time::from_seconds(2401)) != nullptr);
  CHECK(own.other_at("/data/ck", Time::from_seconds(2050)) == nullptr);
  CHECK(own.other_at("/data/ck", Time::from_seconds(2500)) == nullptr);  // it was cut off: nobody recorded its end
  CHECK(own.lived_beside("/data/ck") == nullptr);
}

TEST_CASE("the folder of saves is one that was written since the command went on to another training") {
  SaidRun run;
  run.say(event::SourceOpened{0, "train.log", "text", 0});
  run.say(event::AttemptBegan{std::string(kKeeperBegan)});
  run.state.supervision.attempts.push_back({});
  run.state.supervision.attempts.back().number = 1;
  const Time began = run.state.last_at;
  run.state.supervision.attempts.back().started_at = began;
  FakeDisk disk;
  disk.date_folders();
  // Both save within a minute of the same step's save of the other.
  for (const std::string folder : {"/data/ck/A", "/data/ck/B"}) {
    for (int64_t step = 1; step <= 22; ++step) {
      run.say(event::Measured{step, false, {{"reward.mean", "r", 0.5}}});
      run.state.ticks.push_back({run.state.order, run.state.last_at, step, true});
      if (step % 10 != 0) continue;
      disk.set_time(run.state.last_at);
      disk.put(cat(folder, "/step_", step, "/weights"), "x");
      run.say(event::CheckpointSaved{step, "", true});
    }
  }
  RunSpec spec;
  spec.folder = "/work";
  spec.checkpoints = {"/data/ck"};
  CHECK(folder_of_saves(disk, spec, run.state, kSteps, began) == "/data/ck/B");
}

TEST_CASE("of what a run said that it saved the last of each attempt, and when it had saved twice more, are known") {
  Home home;
  home.run("one", "/data/ck", 1000, 0);
  State state;
  state.attempts.resize(2);
  const auto save = [&state](int64_t step, uint16_t attempt) {
    state.checkpoints.push_back({{step, {}, {}, attempt}, {step, cat("/data/ck/step_", step), true}});
  };
  for (const int64_t step : {10, 20, 30, 40}) save(step, 0);
  save(30, 1);
  for (int64_t i = 0; i < 8; ++i)
    state.ticks.push_back({0, Time::from_seconds(1000 + 10.0 * static_cast<double>(i)), 5 + 5 * i, true});
  Ownership own = home.own(state);
  CHECK(own.last_said == std::set<int64_t>{30, 40});
  // It was past step 30 at the seventh tick; from there on nobody saves step 10 any more.
  REQUIRE(own.passed.count(10) == 1);
  CHECK(own.passed.at(10) == Time::from_seconds(1060));
  CHECK(own.passed.count(20) == 0);  // at step 40 nothing is past it yet
  CHECK(own.passed.count(30) == 0);
  state.ticks.push_back({0, Time::from_seconds(1080), 12, true});  // another attempt begins
  own = home.own(state);
  CHECK(own.passed.empty());
}

}  // namespace
}  // namespace mw
