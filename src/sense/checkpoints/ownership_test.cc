#include "sense/checkpoints/ownership.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "platform/fake/fake_disk.h"

namespace mw {
namespace {

const CheckpointLayout kVerl{"global_step_{step}", "latest_checkpointed_iteration.txt", "{step}"};
constexpr const char* kRoot = "/w/ck";

/// A run that began at 1000 s, in /w, its checkpoints declared to be in /w/ck, whose one attempt trained steps 1 to 20
/// until 2000 s. Before it lay global_step_3 there.
struct Run {
  FakeDisk disk;
  Ownership own;
  Run() {
    save(500, kRoot, 3);
    for (const char* folder : {"/w/other", "/elsewhere"}) (void)disk.make_folders(folder).ok();
    const auto snapshot = take_snapshot(disk, {kRoot, "/w"}, nullptr);
    REQUIRE(snapshot.ok());
    const auto read = parse_snapshot(snapshot_text(*snapshot));
    REQUIRE(read.ok());
    own.snapshot = *read;
    own.has_snapshot = true;
    own.lives = {{Time::from_seconds(1000), Time::from_seconds(2000)}};
    own.steps = {{1, 20}};
    own.declared = {kRoot};
    own.places = {kRoot, "/w"};
  }
  void save(double at, const std::string& root, int64_t step) {
    disk.set_time(Time::from_seconds(at));
    disk.put(cat(root, "/global_step_", step, "/model.pt"), "weights");
  }
  Whose whose(int64_t step, const std::string& root = kRoot) {
    const auto whose = whose_is(disk, own, root, kVerl, step);
    REQUIRE(whose.ok());
    return *whose;
  }
};

TEST_CASE("a save that the log does not name, out of step with those that it does, is somebody else's") {
  Run run;
  run.own.logged = run.own.said = {5, 10, 15, 20};
  run.own.steps = {{1, 24}};
  run.own.planned = 40;
  for (const int64_t step : {16, 24, 25, 41}) run.save(1500, kRoot, step);
  run.own.said.insert(24);  // by the disk alone
  CHECK(is_anothers(run.own, 16));
  CHECK(is_anothers(run.own, 24));
  CHECK(run.whose(24) == Whose::kUnknown);
  CHECK_FALSE(is_anothers(run.own, 25));  // its last line may be lost
  CHECK(run.whose(25) == Whose::kOwn);
  CHECK_FALSE(is_anothers(run.own, 20));
  CHECK_FALSE(is_anothers(run.own, 3));   // of before
  CHECK_FALSE(is_anothers(run.own, 40));  // the plan's end is saved out of turn
  run.own.resumed = {24};
  CHECK_FALSE(is_anothers(run.own, 24));
  Run short_one;  // 15 follows its saves, and it ended at 11: it never came there
  short_one.own.logged = {5, 10};
  short_one.own.beyond = 13;
  CHECK(is_anothers(short_one.own, 15));
  CHECK(is_anothers(short_one.own, 30));
  CHECK_FALSE(is_anothers(short_one.own, 10));
  short_one.own.resumed = {15};
  CHECK_FALSE(is_anothers(short_one.own, 15));
  short_one.own.beyond = kNoStep;  // it was killed
  CHECK_FALSE(is_anothers(short_one.own, 20));
  Run quiet;  // too little is known of its saves
  quiet.own.logged = {5};
  CHECK_FALSE(is_anothers(quiet.own, 24));
}

TEST_CASE("its own is what was not there before and was written while an attempt lived") {
  Run run;
  run.save(1500, kRoot, 5);
  CHECK(run.whose(5) == Whose::kOwn);
  CHECK(run.whose(3) == Whose::kForeign);
  CHECK(run.whose(4) == Whose::kUnknown);  // which is not there
  run.save(700, kRoot, 10);                // copied there, with its times
  CHECK(run.whose(10) == Whose::kForeign);
  run.save(2500, kRoot, 11);  // by somebody, afterwards
  CHECK(run.whose(11) == Whose::kForeign);
  run.own.said.insert(11);  // by the clock of another machine
  CHECK(run.whose(11) == Whose::kUnknown);
  run.own.lives.push_back({Time::from_seconds(2400), Time()});  // the attempt that goes on
  CHECK(run.whose(11) == Whose::kOwn);
  run.own.said.clear();
  CHECK(run.whose(11) == Whose::kOwn);
  run.save(2399, kRoot, 12);  // a moment before it began: by somebody else
  CHECK(run.whose(12) == Whose::kForeign);
  run.own.lives.back().ended = Time::from_seconds(2490);  // a moment after it ended
  CHECK(run.whose(11) == Whose::kUnknown);
  run.own.said.insert(11);
  run.own.last_said.insert(11);
  CHECK(run.whose(11) == Whose::kOwn);
}

TEST_CASE("a dead mount in the working directory is there and unknown, and keeps nothing else from being known") {
  Run run;
  run.save(500, "/w/dead/ck", 3);
  FakeDisk::Faults faults;
  faults.look = 1;
  faults.look_under = "/w/dead";
  run.disk.set_faults(faults);
  const auto snapshot = take_snapshot(run.disk, {kRoot, "/w"}, nullptr);
  REQUIRE(snapshot.ok());
  CHECK(snapshot->knows(kRoot));
  CHECK(snapshot->knows("/w/not-there"));
  CHECK(snapshot->had("/w", "dead", {1, 77}));  // whatever it turns out to be
  faults.other = 1;
  run.disk.set_faults(faults);
  CHECK_FALSE(take_snapshot(run.disk, {"/w"}, nullptr).ok());  // the place itself
}

TEST_CASE("of what was there before only what the run said it wrote over is its own") {
  Run run;
  run.save(1500, kRoot, 3);
  CHECK(run.whose(3) == Whose::kForeign);
  run.own.said.insert(3);
  CHECK(run.whose(3) == Whose::kOwn);
  run.save(500, kRoot, 4);
  run.own.snapshot.folders[kRoot]["global_step_4"] = {};
  run.own.said.insert(4);
  CHECK(run.whose(4) == Whose::kForeign);
}

TEST_CASE("a step of which the run never spoke, between saves of which it did, is somebody's copy") {
  Run run;
  for (const int step : {5, 7, 10, 15}) run.save(1500, kRoot, step);
  CHECK(run.whose(7) == Whose::kOwn);  // a trainer that speaks of no save
  run.own.said = {5};
  CHECK(run.whose(7) == Whose::kOwn);
  run.own.said = {5, 10};
  CHECK(run.whose(7) == Whose::kOwn);  // which the disk alone says: the watch saw two of three
  run.own.logged = {5, 10};
  CHECK(run.whose(7) == Whose::kUnknown);
  CHECK(run.whose(10) == Whose::kOwn);
  CHECK(run.whose(15) == Whose::kOwn);  // its line may be still to come
}

TEST_CASE("a line of a log is no licence") {
  Run run;
  run.save(1500, "/elsewhere", 5);
  run.own.named.insert("/elsewhere");
  run.own.said.insert(5);
  CHECK_FALSE(run.own.may_save_in("/elsewhere"));
  CHECK(run.whose(5, "/elsewhere") == Whose::kUnknown);
  run.save(1500, "/w/other", 5);
  CHECK(run.whose(5, "/w/other") == Whose::kUnknown);  // below where it works, and nothing says that it saves there
  run.own.named.insert("/w/other");
  CHECK(run.whose(5, "/w/other") == Whose::kOwn);
  run.own.named.insert("/w/../elsewhere");
  CHECK_FALSE(run.own.may_save_in("/w/../elsewhere"));
}

TEST_CASE("steps that it cannot have reached, a folder in which somebody else writes, and no snapshot prove nothing") {
  Run run;
  run.save(1500, kRoot, 400);
  CHECK(run.whose(400) == Whose::kUnknown);
  run.save(1500, kRoot, 25);  // it logs one step in ten
  CHECK(run.whose(25) == Whose::kOwn);
  run.own.strangers.insert(kRoot);
  CHECK(run.whose(25) == Whose::kUnknown);
  run.own.strangers.clear();
  run.own.has_snapshot = false;
  CHECK(run.whose(25) == Whose::kUnknown);
}

TEST_CASE("what lies beyond the plan of the run is not its own, though it was found on the disk") {
  Run run;
  for (const int step : {20, 21, 24}) run.save(1500, kRoot, step);
  run.own.said = {20, 21, 24};  // by the disk alone
  CHECK(run.whose(24) == Whose::kOwn);
  run.own.planned = 21;
  CHECK(run.whose(24) == Whose::kUnknown);
  CHECK(run.whose(21) == Whose::kOwn);
  run.own.logged = {24};  // its log names it
  CHECK(run.whose(24) == Whose::kOwn);
}

TEST_CASE("what was not looked into is not known, what was not there is") {
  Run run;
  CHECK(run.own.snapshot.knows("/w/ck"));
  CHECK(run.own.snapshot.knows("/w/new/folder"));
  CHECK_FALSE(run.own.snapshot.knows("/elsewhere"));
  Snapshot deep;
  deep.folders["/w"] = {{"deep", {}}};
  CHECK_FALSE(deep.knows("/w/deep"));
  CHECK_FALSE(deep.knows("/w/deep/er"));
  FakeDisk many;
  for (int i = 0; i < 3000; ++i) many.put(cat("/m/", i, "/x"), "");
  const auto snapshot = take_snapshot(many, {"/m"}, nullptr);
  REQUIRE(snapshot.ok());
  CHECK_FALSE(snapshot->knows("/m/7"));
  CHECK_FALSE(parse_snapshot("{}").ok());
  CHECK(plain_path("/a//b/./c/") == "/a/b/c");
  CHECK(plain_path("./a/../b") == "a/../b");
}

TEST_CASE("a checkpoint that is a file is its own by the same signs as a folder is") {
  const CheckpointLayout files{"ckpt_{step}.pt", "", ""};
  Run run;
  run.disk.set_time(Time::from_seconds(500));
  run.disk.put(cat(kRoot, "/ckpt_3.pt"), "weights");
  const auto snapshot = take_snapshot(run.disk, {kRoot}, nullptr);
  REQUIRE(snapshot.ok());
  run.own.snapshot = *snapshot;
  const auto whose = [&](int64_t step) { return *whose_is(run.disk, run.own, kRoot, files, step); };
  run.disk.set_time(Time::from_seconds(1500));
  run.disk.put(cat(kRoot, "/ckpt_5.pt"), "weights");
  CHECK(whose(5) == Whose::kOwn);
  CHECK(whose(3) == Whose::kForeign);
  run.disk.put(cat(kRoot, "/ckpt_3.pt"), "anew");  // over what lay there: by whom, only the run's own word says
  CHECK(whose(3) == Whose::kForeign);
  run.own.said.insert(3);
  CHECK(whose(3) == Whose::kOwn);
}

TEST_CASE("what was written while another run lived that saves there, too, is not known to be this one's") {
  Run run;
  run.own.said = run.own.logged = {5, 10};
  for (const int step : {5, 10}) run.save(step == 5 ? 1200 : 1500, kRoot, step);
  run.own.others = {{"other", {"/elsewhere"}, {{Time::from_seconds(1000), Time()}}}};
  CHECK(run.whose(10) == Whose::kOwn);
  CHECK(run.own.lived_beside(kRoot) == nullptr);
  run.own.others[0].roots = {kRoot};
  run.own.others[0].lives = {{Time::from_seconds(1400), Time()}};
  CHECK(run.whose(10) == Whose::kUnknown);
  CHECK(run.whose(5) == Whose::kOwn);  // before it began
  REQUIRE(run.own.lived_beside(kRoot) != nullptr);
  run.own.others[0].lives = {{Time::from_seconds(1400), Time::from_seconds(1499)}};
  CHECK(run.whose(10) == Whose::kOwn);
  run.own.others[0].lives = {{Time::from_seconds(2001), Time()}};
  CHECK(run.own.lived_beside(kRoot) == nullptr);
}

TEST_CASE("what lies there since right after an attempt is its own only where it was what that one saved last") {
  Run run;
  run.own.said = run.own.logged = {5, 10, 15};
  run.own.last_said = {15};
  for (const int step : {5, 15}) run.save(2010, kRoot, step);
  CHECK(run.whose(5) == Whose::kUnknown);
  CHECK(run.whose(15) == Whose::kOwn);
}

TEST_CASE("what was written long after the run had saved twice more is another's") {
  Run run;
  run.own.said = run.own.logged = {5, 10, 15};
  run.own.passed = {{5, Time::from_seconds(1300)}};
  run.save(1310, kRoot, 5);  // a slow save
  CHECK(run.whose(5) == Whose::kOwn);
  run.save(1900, kRoot, 5);
  CHECK(run.whose(5) == Whose::kUnknown);
}

}  // namespace
}  // namespace mw
