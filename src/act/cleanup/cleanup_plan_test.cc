#include "act/cleanup/cleanup_plan.h"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "act/cleanup/place_for_test.h"
#include "act/cleanup/remove_item.h"
#include "base/text.h"
#include "journal/journal.h"
#include "platform/fake/fake_disk.h"
#include "platform/fake/fake_process.h"
#include "platform/passing_disk.h"
#include "platform/real/posix_disk.h"
#include "sense/checkpoints/quarantine.h"
#include "sense/host/core_file.h"

namespace mw {
namespace {

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

TEST_CASE("where names count saves, or name files, nothing goes by a rule") {
  for (const bool counted : {true, false}) {
    Place p;
    p.scope.layout.counts_saves = counted;
    for (const int number : {0, 1, 2, 3}) p.whole(number);
    if (!counted) p.scope.layout.folder = "step_{step}.pt";
    p.settings.what = {"old-checkpoints", "broken-checkpoints"};
    const CleanupPlan plan = p.all();
    CHECK(plan.items.empty());
    if (!counted) continue;  // folders are none of those
    REQUIRE(plan.notes.size() == 1);
    CHECK(plan.notes[0].starts_with("None of the checkpoints step_{step} goes by a rule: their numbers count saves"));
  }
}

TEST_CASE("a tree with no step of another does not belong to it") {
  Place p;
  p.scope.roots.emplace_back("/data/other");
  for (const int step : {10, 20, 30}) p.whole(step);
  p.put("/data/other/step_77/model.safetensors", safetensors());
  CHECK(p.plan() == Names{"step_10"});
}

TEST_CASE("what a process works in, has open, maps or names in its command line stays") {
  for (const auto& one :
       std::map<std::string, std::string>{{"/proc/7/cwd", "/data/ck/step_10"},
                                          {"/proc/7/fd/3", "/data/ck/step_10/model.safetensors"},
                                          {"/proc/7/cmdline", "vllm serve /data/ck/step_10"},
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
                    {"step_20", "it is being shipped"},
                    {"step_30", "it is the newest whole one here"},
                    {"step_40", "it is not proven to be whole"}});
}

TEST_CASE("before a checkpoint goes, the store is asked what it still has of what was shipped") {
  Place p;
  for (const int step : {10, 20, 30, 40}) p.whole(step);
  p.settings.what = {"old-checkpoints"};
  p.settings.keep_last = 2;
  p.scope.facts.has_store = true;
  p.scope.facts.shipped = {10, 20, 30};
  int asked = 0;
  StoreSteps there{{10, 20, 30}, {}};
  p.scope.in_store = [&]() -> Result<StoreSteps> {
    ++asked;
    return there;
  };
  CHECK(p.plan() == Names{"step_10", "step_20"});
  CHECK(asked == 1);
  there = {{10}, {}};  // somebody removed the later ones there
  CleanupPlan plan = p.all();
  REQUIRE(plan.items.size() == 1);
  CHECK(plan.items[0].name == "step_10");
  CHECK(plan.notes == Names{"2 checkpoints that had been shipped are not in the store any more, or not whole"});
  there = {{10}, {20, 30}};  // its pointer was moved back
  plan = p.all();
  CHECK(plan.items.size() == 1);
  CHECK(plan.notes.empty());
  there = {};
  CHECK(p.plan().empty());
  p.scope.facts.shipped = {50, 60};  // the newest ones lay there alone
  CHECK(p.plan().empty());
  p.scope.facts.shipped = {10, 20, 30};
  p.scope.in_store = []() -> Result<StoreSteps> { return Error{Error::Code::kIo, "no answer", ""}; };
  plan = p.all();
  CHECK(plan.items.size() == 2);
  CHECK(plan.notes == Names{"What was shipped counts as it was recorded, as the store cannot be asked: no answer"});
  asked = 0;
  p.settings.keep_last = 4;  // nothing would go
  CHECK(p.plan().empty());
  CHECK(asked == 0);
}

TEST_CASE("the best is found by the last value before each save, also where nothing was recorded of it") {
  Place p;
  for (const int step : {10, 20, 30, 40}) p.whole(step);
  p.settings.what = {"old-checkpoints"};
  p.settings.keep_last = 1;
  p.settings.keep_best = "reward.mean";
  CHECK(p.plan().empty());  // no value is known
  p.scope.facts.scores = {{8, .1}, {19, .9}, {29, .3}, {39, .2}};
  CHECK(p.plan() == Names{"step_10", "step_30"});
}

TEST_CASE("a broken one that was touched after the newest whole one may be being written: it stays for a while") {
  Place p;
  for (const int step : {10, 20, 40}) p.whole(step);
  p.settings.what = {"broken-checkpoints"};
  p.settings.keep_last = 0;
  p.disk.set_time(Time::from_seconds(1600));
  p.cut(30);  // another machine of the run writes it anew
  p.scope.now = Time::from_seconds(1700);
  CHECK(p.plan().empty());
  p.scope.now = Time::from_seconds(2300);
  CHECK(p.plan() == Names{"step_30"});
}

/// Fails to answer one kind of question.
struct Deaf final : PassingDisk {
  explicit Deaf(Disk& disk) : PassingDisk(disk) {}
  std::string silent;  ///< path that cannot be read or listed
  Result<std::unique_ptr<ReadFile>> open_read(const std::string& path) override {
    if (path == silent) return Error{Error::Code::kIo, "no answer", ""};
    return disk_.open_read(path);
  }
  Result<std::vector<std::string>> list(const std::string& folder) override {
    if (folder == silent) return Error{Error::Code::kIo, "no answer", ""};
    return disk_.list(folder);
  }
};

TEST_CASE("no checkpoint goes while the disk does not say what the pointer, a link or a tree beside it holds") {
  Place p;
  p.scope.roots.emplace_back("/data/weights");
  p.scope.own.snapshot.folders["/data/weights"];
  p.scope.own.declared.emplace("/data/weights");
  for (const int step : {10, 20, 30, 40}) {
    p.whole(step);
    p.put(cat("/data/weights/step_", step, "/model.safetensors"), step > 20 ? "" : safetensors());
  }
  p.settings.what = {"old-checkpoints", "broken-checkpoints"};
  p.settings.keep_last = 1;
  CHECK(p.plan() == Names{"step_10", "step_10"});  // 30 and 40 lack weights
  const CleanupDoors doors{p.system, p.processes, [](const auto&, const auto&, const auto&) { return false; }, 0};
  for (const char* silent : {"/data/ck/latest", "/data", "/data/weights"}) {
    CAPTURE(silent);
    Deaf deaf(p.disk);
    deaf.silent = silent;
    const CleanupPlan plan = plan_cleanup(deaf, doors, p.scope, p.settings);
    CHECK(plan.items.empty());
    REQUIRE(plan.notes.size() == 1);
    CHECK(plan.notes[0] == "No checkpoint goes while the disk does not answer: no answer");
  }
}

TEST_CASE("one of which not all can be read stays, and so does what belongs to it in another tree") {
  Place p;
  p.scope.roots.emplace_back("/data/weights");
  p.scope.own.snapshot.folders["/data/weights"];
  p.scope.own.declared.emplace("/data/weights");
  for (const int step : {10, 20}) {
    p.whole(step);
    p.put(cat("/data/weights/step_", step, "/model.safetensors"), safetensors());
  }
  p.scope.facts.has_store = true;
  p.scope.facts.shipped = {30};
  p.settings.what = {"old-checkpoints"};
  p.settings.keep_last = 1;
  CHECK(p.plan() == Names{"step_10", "step_10"});
  const CleanupDoors doors{p.system, p.processes, [](const auto&, const auto&, const auto&) { return false; }, 0};
  Deaf deaf(p.disk);
  deaf.silent = "/data/weights/step_20/model.safetensors";  // so that 20 is proven whole nowhere
  for (const CleanupItem& item : plan_cleanup(deaf, doors, p.scope, p.settings).items) CHECK(item.name != "step_20");
}

TEST_CASE("what holds a checkpoint in one tree holds what belongs to it in another") {
  Place p;
  p.scope.roots.emplace_back("/data/weights");
  p.scope.own.snapshot.folders["/data/weights"];
  p.scope.own.declared.emplace("/data/weights");
  for (const int step : {10, 20, 30}) {
    p.whole(step);
    p.put(cat("/data/weights/step_", step, "/model.safetensors"), safetensors());
  }
  p.settings.what = {"old-checkpoints"};
  p.settings.keep_last = 1;
  p.put("/data/ck/latest", "10");
  CHECK(p.plan() == Names{"step_20", "step_20"});
}

TEST_CASE("what goes, as the store has another one that counts, is none of those that have to stay for the others") {
  Place p;
  for (const int step : {10, 20, 50, 60}) p.whole(step);
  p.scope.facts.has_store = true;
  p.scope.facts.shipped = {10, 20, 30, 50, 60};
  p.scope.facts.unsound[50] = "reading all its bytes found that w is NaN";
  p.settings.what = {"old-checkpoints"};
  const CleanupPlan plan = p.all();
  REQUIRE(plan.items.size() == 2);
  for (const CleanupItem& item : plan.items) {
    REQUIRE(item.grounds);
    for (const CleanupGrounds::Counted& one : item.grounds->counted) {
      CHECK(one.path != "/data/ck/step_10");
      CHECK(one.path != "/data/ck/step_20");
    }
  }
}

/// Deletes on the disk of a Place.
TEST_CASE("what spoke for a deletion is checked again right before") {
  const auto refused = [](const std::function<void(Remover&)>& meanwhile) {
    Remover p;
    const CleanupPlan plan = p.all();
    REQUIRE(plan.items.size() == 1);
    CHECK(plan.items[0].name == "step_10");
    meanwhile(p);
    const auto removed = p.remove(plan.items[0]);
    REQUIRE_FALSE(removed.ok());
    CHECK(p.disk.exists("/data/ck/step_10/model.safetensors"));
    return removed.error().what;
  };
  CHECK(refused([](Remover& p) { p.disk.unlink_folder("/data/ck/step_20"); }) ==
        "/data/ck/step_20, which is to stay, has changed since, or is gone");
  CHECK(contains(refused([](Remover& p) { p.disk.put("/data/ck/step_30/model.safetensors", ""); }), "step_30"));
  CHECK(contains(refused([](Remover& p) { p.disk.put("/data/ck/latest", "10"); }), "pointer"));
  CHECK(contains(refused([](Remover& p) { p.disk.put("/data/ck/step_10/more.json", "{}"); }), "step_10 has changed"));
  CHECK(contains(refused([](Remover& p) {
                   p.system.files["/proc/7/maps"] = "";
                   p.system.files["/proc/7/fd/3"] = "/data/ck/step_10/model.safetensors";
                 }),
                 "process 7 has a file of it open"));
  Remover p;
  CHECK(p.remove(p.all().items.at(0)).ok());
  CHECK_FALSE(p.disk.has_folder("/data/ck/step_10"));
}

TEST_CASE("a removal that is cut short at any change is finished by a later plan, and no part of it has its old name") {
  for (uint64_t changes = 0; changes < 6; ++changes) {
    CAPTURE(changes);
    Remover p;
    p.put("/data/ck/step_10/sub/optimizer.json", "{}");
    const CleanupItem item = p.all().items.at(0);
    p.disk.die_after(changes);
    const auto removed = p.remove(item);
    p.disk.process_died();
    if (removed.ok()) {
      CHECK(changes > 4);
      continue;
    }
    const bool whole =
        p.disk.exists("/data/ck/step_10/model.safetensors") && p.disk.exists("/data/ck/step_10/sub/optimizer.json");
    CHECK(whole == p.disk.has_folder("/data/ck/step_10"));
    p.settings.what = {std::string(kUnfinished)};
    CHECK(p.plan().empty());  // perhaps another run's
    p.scope.removals = {"/data/ck/step_10"};
    for (const CleanupItem& rest : p.all().items) {
      CHECK(rest.unfinished);
      CHECK(p.remove(rest).ok());
    }
    CHECK(p.disk.has_folder("/data/ck/step_10") == whole);
    if (!whole) CHECK_FALSE(p.disk.has_folder("/data/ck/.midwatch-removing"));
  }
}

TEST_CASE("a plan of what was left in the middle says when the disk did not say what that is") {
  Remover p;
  const CleanupItem item = p.all().items.at(0);
  p.disk.die_after(2);
  CHECK_FALSE(p.remove(item).ok());
  p.disk.process_died();
  p.settings.what = {std::string(kUnfinished)};
  p.scope.removals = {"/data/ck/step_10"};
  bool missed = false;
  for (uint64_t call = 0; call < 12; ++call) {
    p.disk.fail_at(p.disk.calls() + call, false);
    const CleanupPlan plan = p.all();
    p.disk.heal();
    CAPTURE(call);
    CHECK((plan.unsure || plan.items.size() == 1));
    missed = missed || plan.items.empty();
  }
  CHECK(missed);
  const CleanupPlan sure = p.all();
  CHECK_FALSE(sure.unsure);
  CHECK(sure.items.size() == 1);
}

TEST_CASE("of a removal that was cut short another thing than was meant gets its name back") {
  Remover p;
  const CleanupItem item = p.all().items.at(0);
  p.disk.before_change = [&p](std::string_view what, const std::string& path, const std::string&) {
    if (what != "rename" || path != "/data/ck/step_10") return;
    p.disk.unlink_folder(path);
    p.disk.put("/data/ck/step_10/theirs", "1");
    p.disk.die_after(1);  // right after it
  };
  CHECK_FALSE(p.remove(item).ok());
  p.disk.before_change = nullptr;
  p.disk.process_died();
  p.scope.removals = {"/data/ck/step_10"};
  const CleanupPlan rest = p.all();
  for (const CleanupItem& one : rest.items) CHECK_FALSE(p.remove(one).ok());
  CHECK(p.disk.content("/data/ck/step_10/theirs") == "1");
}

TEST_CASE("what was quarantined gets another name before it is deleted, too: half of it cannot be restored") {
  Remover p;
  p.quarantine("attempt-2", "/data/run");
  p.settings.what = {"quarantine"};
  const CleanupItem item = p.all().items.at(0);
  p.disk.die_after(2);
  CHECK_FALSE(p.remove(item).ok());
  p.disk.process_died();
  CHECK_FALSE(p.disk.has_folder("/data/ck/.midwatch-quarantine/attempt-2"));
  p.scope.removals = {"/data/ck/.midwatch-quarantine/attempt-2"};
  REQUIRE(p.all().items.size() == 1);
  CHECK(p.remove(p.all().items[0]).ok());
  CHECK(p.all().items.empty());
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

TEST_CASE("declared may be the folder above the one in which a trainer puts all of its checkpoints") {
  for (const char* declared : {"/data/ck", "/data/ck/checkpoints"}) {
    CAPTURE(declared);
    Place p;
    p.scope.layout = {"checkpoint_{step}", "", ""};
    p.scope.layout.below = "checkpoints";
    p.scope.layout.counts_saves = true;
    p.scope.roots = {declared};
    p.scope.own.declared = {declared, "/data/ck/checkpoints"};
    p.scope.own.snapshot.folders["/data/ck/checkpoints"];
    p.put("/data/ck/checkpoints/checkpoint_3/model.safetensors", safetensors());
    QuarantineManifest of;
    of.run_folder = "/data/run";
    const std::string place = "/data/ck/checkpoints/.midwatch-quarantine/attempt-1-of-run";
    p.put(place + "/checkpoint_4/model.safetensors", safetensors());
    p.put(place + "/manifest.json", manifest_text(of));
    CHECK(p.plan() == Names{".midwatch-quarantine/attempt-1-of-run"});
    CHECK(p.all().notes.size() == 1);  // by rules none goes
  }
}

}  // namespace
}  // namespace mw
