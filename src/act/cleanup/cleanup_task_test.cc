#include "act/cleanup/cleanup_task.h"

#include <doctest/doctest.h>

#include <map>

#include "act/cleanup/place_for_test.h"
#include "act/cleanup/resource_ledger.h"
#include "base/text.h"
#include "platform/fake/fake_disk.h"

namespace mw {
namespace {

/// Keeps what is recorded, in order.
struct Paper final : EventWriter {
  State& state;
  std::vector<std::string> lines;
  bool full = false;
  explicit Paper(State& of) : state(of) {}
  Result<uint32_t> intend(event::Intended intent) override {
    if (full) return Error{Error::Code::kFull, "no space left", ""};
    intent.id = state.last_action + 1;
    lines.push_back(cat("means to remove ", intent.target));
    fold(state, {Time::from_seconds(1), {}, intent});
    return intent.id;
  }
  void acted(event::Acted outcome) override {
    lines.push_back(cat(outcome.ok ? "done: " : "not done: ", outcome.text));
    fold(state, {Time::from_seconds(1), {}, std::move(outcome)});
  }
  Result<void> record(SupervisionEvent, Time) override { return {}; }
  Result<void> note(event::Note words, Time) override {
    lines.push_back(cat("note: ", words.text));
    return {};
  }
};

struct House {
  Place place;
  State state;
  Paper paper{state};
  FakeClock clock;
  std::vector<std::string> removed;
  std::map<std::string, std::string> written;
  std::function<bool()> holds = [] { return true; };
  bool has_store = false, fails = false;
  std::vector<std::string> said;
  FakeSystem* system = nullptr;
  FakeDisk* disk = nullptr;
  std::unique_ptr<CleanupTask> keeper;

  void open(Mode mode) {
    for (const int step : {10, 20}) place.whole(step);
    place.cut(5);
    auto copy = std::make_unique<FakeDisk>();
    copy->set_time(Time::from_seconds(1500));
    for (const std::string& path : place.disk.paths()) {
      (void)copy->make_folders(path.substr(0, path.rfind('/'))).ok();
      copy->put(path, place.disk.content(path));
    }
    place.settings.mode = mode;
    place.settings.shared = "/dev/shm";
    CleanupTaskScope scope;
    disk = copy.get();
    scope.disk = std::move(copy);
    auto fake = std::make_unique<FakeSystem>();
    system = fake.get();
    scope.system = std::move(fake);
    scope.holds = holds;
    scope.user = 1000;
    scope.processes = std::make_unique<FakeProcesses>();
    scope.places = place.scope;
    scope.settings = place.settings;
    scope.layout = [this](const std::string&) { return place.scope.layout; };
    scope.unheld = [](const auto&, const auto&, const auto&) { return true; };
    scope.remove = [this](System&, const CleanupItem& item) -> Result<Removed> {
      removed.push_back(path_of(item));
      if (fails) return Error{Error::Code::kIo, "the disk does not answer", ""};
      return Removed{1000, 1};
    };
    scope.say = [this](const std::string& sentence) { said.push_back(sentence); };
    scope.has_store = has_store;
    scope.write = [this](const std::string& path, std::string_view text) -> Result<void> {
      written[path] = text;
      return {};
    };
    scope.own = [this](Disk&, const State&, const CheckpointLayout&) { return place.scope.own; };
    keeper = std::make_unique<CleanupTask>(clock, std::move(scope));
    fold(state, {Time::from_seconds(1), {}, event::AttemptBegan{"x"}});
  }
  /// One file that the first attempt, which has ended, was seen to hold.
  FakeSystem& shared_memory() {
    Entry entry;
    entry.file = true;
    entry.bytes = 4096;
    entry.device = 27;
    entry.inode = 5;
    entry.owner = 1000;
    system->files["/dev/shm/psm_0a1b2c3d"] = "x";
    system->entries["/dev/shm/psm_0a1b2c3d"] = entry;
    (void)disk->make_folders("/data/run/attempts/1/record").ok();
    auto journal = Journal::open(*disk, "/data/run/attempts/1/record", nullptr);
    REQUIRE(journal.ok());
    (void)(*journal)->append(record_done(Time::from_seconds(9)));
    REQUIRE((*journal)->sync().ok());
    disk->put("/data/run/resources.json", resource_ledger_text({{HeldResource::What::kShared, "/dev/shm",
                                                                 "psm_0a1b2c3d", 27, 5, 0, "attempts/1", "boot"}}));
    return *system;
  }
  void trouble() {
    Incident incident;
    incident.id = 1;
    incident.kind = "disk-full";
    state.incidents = {incident};
  }
  /// Until nothing more is done.
  void turns() {
    for (int i = 0; i < 400; ++i) {
      (void)keeper->turn(state, true, paper);
      clock.pass(Duration::millis(1));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
};

/// Two whole checkpoints of a run with a store, neither of them shipped; the second save filled the disk.
void fill_disk_before_shipping(House& house, int64_t keep_last) {
  house.has_store = true;
  house.place.settings.keep_last = keep_last;
  house.open(Mode::kAsk);
  for (const int64_t step : {10, 20}) {
    event::CheckpointSeen seen;
    seen.path = cat("/data/ck/step_", step);
    seen.step = step;
    seen.how = event::CheckpointSeen::How::kWhole;
    seen.bytes = 3000;
    fold(house.state, {Time::from_seconds(1), {}, seen});
  }
  house.trouble();
  house.turns();
}

/// What the shipper records when the newest is in the store.
void ship_newest(House& house) {
  const uint32_t id = house.state.last_action + 1;
  fold(house.state, {Time::from_seconds(2), {}, event::Intended{id, "ship", "/data/ck/step_20", 0, ""}});
  fold(house.state, {Time::from_seconds(3), {}, event::Acted{id, true, "done", 1, true}});
}

TEST_CASE("a restart waits for the store where old checkpoints go once newer ones are there") {
  House house;
  fill_disk_before_shipping(house, 1);
  CHECK(house.removed.empty());
  for (int i = 0; i < 20; ++i) {
    CHECK_FALSE(house.keeper->made_room(house.state, house.paper).has_value());
    house.turns();
  }
  REQUIRE(house.said.size() == 2);  // of the first, what cleanup could delete
  CHECK(contains(house.said[1], "waits for step 20 to be in the store, 10m"));
  CHECK(contains(house.said[1], "frees"));
  CHECK(house.paper.lines.back() == cat("note: ", house.said[1]));
  ship_newest(house);
  CHECK_FALSE(house.keeper->made_room(house.state, house.paper).has_value());
  house.turns();
  CHECK(house.removed == std::vector<std::string>{"/data/ck/step_10"});
  CHECK(house.keeper->made_room(house.state, house.paper) == true);
}

TEST_CASE("a restart does not wait for a store that would free nothing, nor for ever") {
  const auto settled = [](House& house) {
    std::optional<bool> room;
    for (int i = 0; i < 5 && !room; ++i) {
      room = house.keeper->made_room(house.state, house.paper);
      house.turns();
    }
    return room;
  };
  House keeps;
  fill_disk_before_shipping(keeps, 3);
  CHECK(settled(keeps) == false);
  CHECK(contains(keeps.said.back(), "free at least 3.0 KB"));

  House slow;
  fill_disk_before_shipping(slow, 1);
  CHECK_FALSE(settled(slow).has_value());
  slow.clock.pass(Duration::seconds(601));
  CHECK(settled(slow) == false);
  CHECK(contains(slow.said.back(), "on the disk of /data/ck"));
  CHECK(slow.removed.empty());
}

TEST_CASE("space is freed when a disk is full and the mode is act; each action is recorded before") {
  House house;
  house.open(Mode::kAct);
  house.turns();
  CHECK(house.paper.lines.empty());  // no trouble
  house.trouble();
  house.turns();
  CHECK(house.removed == std::vector<std::string>{"/data/ck/step_5"});
  CHECK(house.paper.lines == Names{"means to remove /data/ck/step_5", "done: 1.0 KB freed"});
  CHECK(house.keeper->made_room(house.state, house.paper) == true);
}

TEST_CASE("in mode ask it only reports what could be deleted, once; nothing is removed that could not be recorded") {
  House house;
  house.open(Mode::kAsk);
  house.trouble();
  house.turns();
  house.clock.pass(Duration::seconds(100));
  house.turns();
  CHECK(house.removed.empty());
  REQUIRE(house.paper.lines.size() == 1);
  CHECK(contains(house.paper.lines[0], "/data/ck/step_5"));
  CHECK(house.keeper->made_room(house.state, house.paper) == false);
  House full;
  full.open(Mode::kAct);
  full.paper.full = true;
  full.trouble();
  full.turns();
  CHECK(full.removed.empty());
  full.paper.full = false;
  full.turns();
  CHECK(full.removed.size() == 1);
}

TEST_CASE("who has to make room hears of what midwatch itself quarantined there, and how to be rid of it") {
  const auto said = [](int64_t save, bool quarantined) {
    House house;
    if (quarantined) house.place.quarantine("attempt-1-of-run", "/data/run");
    house.open(Mode::kAsk);
    event::CheckpointSeen seen;
    seen.path = "/data/ck/step_10";
    seen.step = 10;
    seen.how = event::CheckpointSeen::How::kWhole;
    seen.bytes = save;
    fold(house.state, {Time::from_seconds(1), {}, seen});
    house.trouble();
    CHECK(house.keeper->made_room(house.state, house.paper) == false);
    REQUIRE(house.said.size() == 1);
    return house.said[0];
  };
  const std::string own = said(200, true);
  CHECK(contains(own, "free at least 200 B"));
  CHECK(contains(own, "; what midwatch quarantined takes room there, /data/ck/.midwatch-quarantine ("));
  CHECK(own.ends_with("midwatch cleanup --run run --what quarantine frees it"));
  CHECK_FALSE(contains(said(3'000'000, true), "quarantine"));  // no relevant part of what is wanted
  CHECK_FALSE(contains(said(200, false), "quarantine"));
}

void found_whole(House& house, int64_t step) {
  event::CheckpointSeen seen;
  seen.path = cat("/data/ck/step_", step);
  seen.step = step;
  seen.how = event::CheckpointSeen::How::kWhole;
  fold(house.state, {Time::from_seconds(1), {}, seen});
}

TEST_CASE("a run that is over waits for what its rules delete once its last save is found whole, not for ever") {
  House house;
  house.place.settings.keep_last = 1;
  house.open(Mode::kAsk);
  found_whole(house, 10);
  house.turns();
  CHECK(house.removed.size() == 1);  // by the disk step_20 is the newest
  CHECK(house.keeper->may_end(house.state, 0));
  found_whole(house, 20);
  CHECK_FALSE(house.keeper->may_end(house.state, 0));
  CHECK(house.keeper->may_end(house.state, 2));  // somebody asked twice to stop
  house.turns();
  CHECK(house.keeper->may_end(house.state, 0));
  found_whole(house, 30);
  CHECK_FALSE(house.keeper->may_end(house.state, 0));
  house.clock.pass(CleanupTask::kAtEnd);
  CHECK(house.keeper->may_end(house.state, 0));
}

TEST_CASE("above the share of the disk what may go goes, or what could is said once; below it nothing is planned") {
  const auto run = [](Mode mode, int64_t free) {
    House house;
    house.place.settings.keep_last = 1;
    house.place.settings.disk_share = 0.85;
    house.open(mode);
    house.system->spaces["/data"] = {free, 500, 0, 0};
    house.turns();
    house.clock.pass(CleanupTask::kFutile);
    house.turns();
    return std::pair{house.removed, house.said};
  };
  CHECK(run(Mode::kAct, 400).first.empty());
  // Twice, as here nothing really goes.
  CHECK(run(Mode::kAct, 60).first ==
        Names{"/data/ck/step_5", "/data/ck/step_10", "/data/ck/step_5", "/data/ck/step_10"});
  CHECK(run(Mode::kAct, 0).first.empty());  // 75 bytes must go, and only so many may
  CHECK(run(Mode::kWatch, 60).second.empty());
  const auto [removed, said] = run(Mode::kAsk, 60);
  CHECK(removed.empty());
  REQUIRE(said.size() == 2);
  CHECK(contains(said[0], "more than the 85 % of disk_share"));
  CHECK(contains(said[1], "could be freed"));
}

TEST_CASE("what a person requests is deleted whatever the mode, and the result is reported") {
  House house;
  house.open(Mode::kWatch);
  house.trouble();
  house.turns();
  CHECK(house.removed.empty());
  RunAsk ask;
  ask.what = RunAsk::What::kCleanup;
  ask.text = cleanup_ask_text({{"core-dumps"}, {"/data/ck/step_5"}});
  ask.at = Time::from_seconds(77);
  house.keeper->cleanup_now(ask);
  ask.text = cleanup_ask_text({{}, {"/data/ck/step_10"}});  // which must stay
  house.keeper->cleanup_now(ask);
  house.turns();
  CHECK(house.removed.empty());
  ask.text = cleanup_ask_text({{}, {"/data/ck/step_10", "/data/ck/step_5"}});
  ask.at = Time::from_seconds(78);
  house.keeper->cleanup_now(ask);
  house.turns();
  CHECK(house.removed == Names{"/data/ck/step_5"});
  const auto result = parse_cleanup_result(house.written["/data/run/cleanup.json"]);
  REQUIRE(result.ok());
  CHECK(result->asked == ask.at);
  REQUIRE(result->items.size() == 1);
  CHECK(result->items[0].path == "/data/ck/step_5");
  CHECK(result->items[0].bytes == 1000);
  CHECK(result->items[0].ok);
}

TEST_CASE("a person's rules for old checkpoints hold in place of the settings', for that request alone") {
  House house;
  house.open(Mode::kWatch);
  RunAsk ask;
  ask.what = RunAsk::What::kCleanup;
  const std::vector<std::string> paths = {"/data/ck/step_5", "/data/ck/step_10", "/data/ck/step_20"};
  ask.text = cleanup_ask_text({{"old-checkpoints"}, paths});  // by the settings both whole ones stay
  house.keeper->cleanup_now(ask);
  house.turns();
  CHECK(house.removed.empty());
  const RetentionRules rules{1, 7, "reward.mean"};
  ask.text = cleanup_ask_text({{"old-checkpoints"}, paths, rules});
  const CleanupAsk read = parse_cleanup_ask(ask.text);
  CHECK(read.words == Names{"old-checkpoints"});
  CHECK(read.paths == paths);
  REQUIRE(read.retention.has_value());
  CHECK(read.retention->keep_every == 7);
  CHECK(read.retention->keep_best == "reward.mean");
  ask.text = cleanup_ask_text({{"old-checkpoints"}, paths, RetentionRules{1, 0, ""}});
  house.keeper->cleanup_now(ask);
  house.turns();
  CHECK(house.removed == Names{"/data/ck/step_10"});  // neither the newest whole one nor one that is being written
}

TEST_CASE("a full disk is not full shared memory") {
  House house;
  house.open(Mode::kAct);
  Incident incident;
  incident.id = 1;
  incident.kind = "shm-exhausted";
  house.state.incidents = {incident};
  house.turns();
  CHECK(house.removed.empty());  // a checkpoint less gives no shared memory
}

TEST_CASE("shared memory of an ended attempt is freed before anything fails, where the mode is act") {
  for (const bool may : {true, false}) {
    CAPTURE(may);
    House house;
    bool holds = true;
    house.holds = [&holds] { return holds; };
    house.place.settings.what = {"shared-memory", "broken-checkpoints"};
    house.open(may ? Mode::kAct : Mode::kAsk);
    auto& system = house.shared_memory();
    house.turns();
    CHECK(house.removed.empty());  // the attempt is running
    holds = false;
    house.turns();
    CHECK(house.removed == (may ? Names{"/dev/shm/psm_0a1b2c3d"} : Names{}));
    system.files.erase("/dev/shm/psm_0a1b2c3d");
    system.entries.clear();
    house.turns();
    CHECK(house.removed.size() == (may ? 1 : 0));  // once
  }
}

TEST_CASE("a deletion in doubt is settled by whether the file is there, and done again where it is") {
  House house;
  house.open(Mode::kAct);
  for (const char* path : {"/data/ck/gone", "/data/ck/step_5"}) {
    (void)house.paper.intend({0, "cleanup", path, 0, ""}).ok();
  }
  house.paper.lines.clear();
  house.trouble();
  house.turns();
  CHECK(house.paper.lines == Names{"done: it is gone", "not done: not done, or not all of it",
                                   "means to remove /data/ck/step_5", "done: 1.0 KB freed"});
}

TEST_CASE("what an earlier midwatch left in the middle of a deletion is finished first, whatever the mode") {
  House house;
  house.open(Mode::kWatch);
  (void)house.disk->make_folders("/data/ck/.midwatch-removing").ok();
  (void)house.disk->rename("/data/ck/step_10", "/data/ck/.midwatch-removing/step_10").ok();
  (void)house.paper.intend({0, "cleanup", "/data/ck/step_10", 0, ""}).ok();
  house.turns();
  CHECK(house.removed == Names{"/data/ck/.midwatch-removing/step_10"});
}

TEST_CASE("what a deletion that failed left is gone on with after a while, ever more rarely") {
  House house;
  house.fails = true;
  house.open(Mode::kAct);
  house.trouble();
  house.turns();
  CHECK(house.removed == Names{"/data/ck/step_5"});
  (void)house.disk->make_folders("/data/ck/.midwatch-removing").ok();
  (void)house.disk->rename("/data/ck/step_5", "/data/ck/.midwatch-removing/step_5").ok();
  house.state.incidents.clear();
  for (const size_t tries : {1, 2, 2, 3, 3, 3, 3, 4}) {
    house.turns();
    CHECK(house.removed.size() == tries);
    house.clock.pass(CleanupTask::kAgain);
  }
  CHECK(house.removed.back() == "/data/ck/.midwatch-removing/step_5");
}

}  // namespace
}  // namespace mw
