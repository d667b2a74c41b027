#include "act/cleanup/cleanup_plan.h"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "act/cleanup/cleanup_task.h"
#include "act/cleanup/resource_ledger.h"
#include "act/keeper/record.h"
#include "base/text.h"
#include "journal/journal.h"
#include "platform/fake/fake_disk.h"
#include "platform/fake/fake_process.h"
#include "platform/real/posix_disk.h"
#include "sense/checkpoints/quarantine.h"
#include "sense/host/core_file.h"

namespace mw {
namespace {

template <typename Number>
std::string number(Number value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string safetensors() {
  const std::string header = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  return number(uint64_t{header.size()}) + header + "weights!";
}

/// A core dump of a process of that session.
std::string core(int32_t session) {
  std::string head("\x7f\x45\x4c\x46\x02\x01\x01", 7);
  head.resize(64 + 56 + 12 + 8 + 136);
  const auto put = [&head](size_t at, const std::string& bytes) { head.replace(at, bytes.size(), bytes); };
  put(16, number(uint16_t{4}));
  put(32, number(uint64_t{64}));
  put(54, number(uint16_t{56}));
  put(56, number(uint16_t{1}));
  put(64, number(uint32_t{4}));
  put(64 + 8, number(uint64_t{120}));
  put(64 + 32, number(uint64_t{156}));
  put(120, number(uint32_t{5}) + number(uint32_t{136}) + number(uint32_t{3}));
  put(140 + 24, number(int32_t{77}));
  put(140 + 36, number(session));
  put(140 + 40, "trainer");
  return head;
}

const std::vector<std::string> kAll = {"core-dumps", "broken-checkpoints", "quarantine", "old-checkpoints"};

struct Place {
  FakeDisk disk;
  FakeSystem system;
  FakeProcesses processes;
  CleanupScope scope{{"/data/run", "/data/work", {"/data/ck"}}, {"step_{step}", "latest", "{step}"}, {}};
  CleanupSettings settings{Mode::kAct, kAll, "", 2, 0};
  Place() {
    disk.set_time(Time::from_seconds(1500));
    scope.own.has_snapshot = true;
    scope.own.snapshot.folders["/data/ck"];
    scope.own.lives = {{Time::from_seconds(1000), Time::from_seconds(2000)}};
    scope.own.declared = {"/data/ck"};
    put("/data/run/attempts/1/record/journal", "");
    (void)disk.make_folders("/data/work").ok();
  }
  void put(const std::string& path, std::string content) {
    (void)disk.make_folders(path.substr(0, path.rfind('/'))).ok();
    disk.put(path, std::move(content));
  }
  void whole(int step) { put(cat("/data/ck/step_", step, "/model.safetensors"), safetensors()); }
  /// A save that never came to its end.
  void cut(int step) { put(cat("/data/ck/step_", step, "/model.safetensors"), ""); }
  void quarantine(const std::string& label, const std::string& run_folder) {
    QuarantineManifest of;
    of.run_folder = run_folder;
    put(cat("/data/ck/.midwatch-quarantine/", label, "/step_65/model.safetensors"), safetensors());
    put(cat("/data/ck/.midwatch-quarantine/", label, "/manifest.json"), manifest_text(of));
  }
  std::vector<std::string> plan() {
    std::vector<std::string> names;
    const CleanupDoors doors{system, processes, [](const auto&, const auto&, const auto&) { return false; }, 0};
    for (const CleanupItem& item : plan_cleanup(disk, doors, scope, settings).items) names.push_back(item.name);
    return names;
  }
};

using Names = std::vector<std::string>;

TEST_CASE(
    "what may be deleted, in the declared order; the newest whole checkpoint and the one that the pointer names stay") {
  Place p;
  for (const int step : {10, 20, 40, 50, 60}) p.whole(step);
  p.cut(30);
  p.cut(70);  // perhaps one that is just being written
  p.quarantine("attempt-2", "/data/run");
  p.quarantine("attempt-2-of-another", "/data/another");
  p.put("/data/ck/.midwatch-quarantine/by-hand/step_65/model.safetensors", safetensors());
  CHECK(p.plan() == Names{"step_30", ".midwatch-quarantine/attempt-2", "step_10", "step_20", "step_40"});
  p.settings.keep_every = 20;
  CHECK(p.plan() == Names{"step_30", ".midwatch-quarantine/attempt-2", "step_10"});
  p.put("/data/ck/latest", "10");
  CHECK(p.plan() == Names{"step_30", ".midwatch-quarantine/attempt-2"});
  p.settings.keep_last = 0;
  p.settings.what = {"old-checkpoints"};
  CHECK(p.plan().empty());
}

TEST_CASE("where no checkpoint is proven whole none is deleted; nothing is deleted outside of declared folders") {
  Place p;
  p.cut(10);
  p.cut(20);
  CHECK(p.plan().empty());
  p.whole(30);
  CHECK(p.plan() == Names{"step_10", "step_20"});
  p.scope.roots.clear();
  CHECK(p.plan().empty());
  p.scope.roots = {"/"};
  CHECK(p.plan().empty());
}

TEST_CASE("a step that is whole in one tree and broken in the other that belongs to it does not count as one to keep") {
  Place p;
  p.scope.roots.emplace_back("/data/weights");
  p.scope.own.snapshot.folders["/data/weights"];
  p.scope.own.declared.emplace("/data/weights");
  const auto weights = [&p](int step, const std::string& content) {
    p.put(cat("/data/weights/step_", step, "/model.safetensors"), content);
  };
  for (const int step : {10, 20, 30, 40, 50}) p.whole(step);
  for (const int step : {10, 20, 30}) weights(step, safetensors());
  weights(40, "");
  p.settings.what = {"old-checkpoints"};
  CHECK(p.plan() == Names{"step_10", "step_10"});  // 20 and 30 are the last whole ones; 40 and 50 lack weights
  p.settings.what = {"broken-checkpoints"};
  CHECK(p.plan().empty());  // step_40 may still be being written
  weights(50, safetensors());
  CHECK(p.plan() == Names{"step_40"});
}

TEST_CASE("a tree with no step of another does not belong to it") {
  Place p;
  p.scope.roots.emplace_back("/data/other");
  for (const int step : {10, 20, 30}) p.whole(step);
  p.put("/data/other/step_77/model.safetensors", safetensors());
  CHECK(p.plan() == Names{"step_10"});
}

TEST_CASE("what a process works in, has open or maps stays") {
  for (const auto& one :
       std::map<std::string, std::string>{{"/proc/7/cwd", "/data/ck/step_10"},
                                          {"/proc/7/fd/3", "/data/ck/step_10/model.safetensors"},
                                          {"/proc/7/maps", "0-1 r--s 0 8:1 5 /data/ck/step_10/model.safetensors"}}) {
    Place p;
    for (const int step : {10, 20, 30, 40}) p.whole(step);
    p.system.files["/proc/7/maps"] = "";
    p.system.files[one.first] = one.second;
    CHECK(p.plan() == Names{"step_20"});
  }
}

TEST_CASE("nothing is deleted that is not proven to be this run's own, or not proven to be broken") {
  Place p;
  for (const int step : {40, 50}) p.whole(step);
  p.put("/data/ck/step_10/config.json", "{}");  // with its weights elsewhere
  p.put("/data/ck/step_20/weights.pt.zst", "x");
  p.put("/data/ck/step_30/huggingface/model.safetensors", "");
  p.cut(15);
  p.scope.own.snapshot.folders["/data/ck"]["step_15"] = {};  // of a run before
  p.disk.set_time(Time::from_seconds(2500));
  p.cut(25);  // of somebody, when no attempt lived
  p.settings.what = {"broken-checkpoints"};
  CHECK(p.plan().empty());
  p.settings.what = {"old-checkpoints"};
  p.settings.keep_last = 1;
  CHECK(p.plan() == Names{"step_40"});
  p.scope.own = Ownership();
  CHECK(p.plan().empty());
}

TEST_CASE("only a core dump that says that this run's session left it") {
  Place p;
  p.put("/data/work/core.77", core(4711));
  p.put("/data/work/core.78", core(4712));
  p.put("/data/work/core.py", "print('core')");
  CHECK(p.plan().empty());  // no attempt had such a session
}

TEST_CASE("a core dump's header names its process; anything else is none") {
  const auto found = host::parse_core_head(core(4711));
  REQUIRE(found);
  CHECK(found->pid == 77);
  CHECK(found->session == 4711);
  CHECK(found->program == "trainer");
  const std::string whole = core(1);
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) CHECK_FALSE(host::parse_core_head(whole.substr(0, bytes)));
}

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
      return Removed{1000, 1};
    };
    scope.say = [](const auto&) {};
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

TEST_CASE("space is freed when a disk is full and the mode is act; each action is recorded before") {
  House house;
  house.open(Mode::kAct);
  house.turns();
  CHECK(house.paper.lines.empty());  // no trouble
  house.trouble();
  house.turns();
  CHECK(house.removed == std::vector<std::string>{"/data/ck/step_5"});
  CHECK(house.paper.lines == Names{"means to remove /data/ck/step_5", "done: 1.0 KB freed"});
  CHECK(house.keeper->made_room(house.state) == true);
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
  CHECK(house.keeper->made_room(house.state) == false);
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

TEST_CASE("old checkpoints go when a newer one is shipped, where there is a store; what stays is explained") {
  Place p;
  for (const int step : {5, 10, 20, 30}) p.whole(step);
  p.scope.own.snapshot.folders["/data/ck"]["step_5"];  // lay there before the run
  p.cut(40);                                           // is being written
  p.settings.what = {"old-checkpoints"};
  p.settings.keep_last = 1;
  CHECK(p.plan() == Names{"step_10", "step_20"});
  p.scope.facts.has_store = true;
  CHECK(p.plan().empty());
  p.scope.facts.shipped = {10};
  CHECK(p.plan() == Names{"step_10"});
  p.scope.facts.shipped = {30};
  p.scope.facts.sending = {20};
  CHECK(p.plan() == Names{"step_10"});
  p.settings.explain = true;
  const CleanupDoors doors{p.system, p.processes, [](const auto&, const auto&, const auto&) { return false; }, 0};
  std::map<std::string, std::string> left;
  for (const CleanupItem& item : plan_cleanup(p.disk, doors, p.scope, p.settings).left) left[item.name] = item.why;
  CHECK(left == std::map<std::string, std::string>{
                    {"step_5", "it was there before this run, or was written while no attempt of it lived"},
                    {"step_20", "it is in use"},
                    {"step_30", "it is the newest whole one here"},
                    {"step_40", "it is not proven to be whole"}});
}

TEST_CASE("a checkpoint is renamed before it is deleted, and another one of its name stays") {
  namespace fs = std::filesystem;
  std::string root = (fs::temp_directory_path() / "midwatch-prune-XXXXXX").string();
  REQUIRE(::mkdtemp(root.data()) != nullptr);
  root = fs::canonical(root).string();
  const auto make = [&root](const std::string& name) {
    fs::create_directories(root + "/" + name + "/sub");
    std::ofstream(root + "/" + name + "/sub/a.dat") << "bytes";
    const auto info = make_posix_disk()->info(root + "/" + name);
    REQUIRE(info.ok());
    return Identity{info->device, info->inode, 0, false};
  };
  FakeSystem system;
  CleanupItem item{"old-checkpoints", root, "step_10", 5, "", make("step_10")};
  make(".midwatch-removing/step_10");  // of one that was killed in the middle
  make("step_20");
  const auto removed = remove_item(system, item);
  REQUIRE_MESSAGE(removed.ok(), (removed.ok() ? "" : removed.error().what));
  CHECK_FALSE(fs::exists(root + "/step_10"));
  CHECK_FALSE(fs::exists(root + "/.midwatch-removing"));
  CHECK(fs::exists(root + "/step_20/sub/a.dat"));
  CHECK(remove_item(system, item).error().code == Error::Code::kNotFound);
  item.only = make("step_10");  // the number of the one that is gone may be given again
  item.only.inode += 1;
  CHECK(remove_item(system, item).error().code == Error::Code::kInvalid);
  CHECK(fs::exists(root + "/step_10/sub/a.dat"));
  fs::remove_all(root);
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

}  // namespace
}  // namespace mw
