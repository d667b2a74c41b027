// Deleting where the trainer takes every folder among its checkpoints for one of them: nothing of midwatch's is seen
// there, not for a moment.
#include <doctest/doctest.h>

#include <set>

#include "act/cleanup/place_for_test.h"
#include "act/cleanup/quarantine_room.h"
#include "act/cleanup/remove_item.h"

namespace mw {
namespace {

struct Beside : Remover {
  Beside() { scope.layout.takes_any_folder = true; }
  void quarantine_beside(const std::string& label) {
    QuarantineManifest of;
    of.run_folder = "/data/run";
    of.root = "/data/ck";
    of.items = {{"step_65", cat("../.midwatch-quarantine/ck/", label, "/step_65"), {}}};
    const std::string folder = cat("/data/.midwatch-quarantine/ck/", label);
    put(cat(folder, "/step_65/model.safetensors"), safetensors());
    put(cat(folder, "/manifest.json"), manifest_text(of));
  }
};

TEST_CASE("an old checkpoint goes by way of a folder beside that of the checkpoints") {
  Beside p;
  const CleanupPlan plan = p.all();
  REQUIRE(plan.items.size() == 1);
  std::set<std::string> names;
  p.disk.before_change = [&](std::string_view, const std::string&, const std::string& to) { names.insert(to); };
  REQUIRE(p.remove(plan.items[0]).ok());
  CHECK_FALSE(p.disk.has_folder("/data/ck/step_10"));
  CHECK(names.count(cat("/data/.midwatch-removing/ck/step_10~", plan.items[0].only.device, "-",
                        plan.items[0].only.inode)) == 1);
  CHECK_FALSE(p.disk.has_folder("/data/.midwatch-removing"));
  for (const std::string& name : names) CHECK_FALSE(contains(name, "/data/ck/.midwatch"));
}

TEST_CASE("such a removal that was cut short anywhere is finished, and by nobody who did not begin it") {
  for (uint64_t changes = 1; changes < 8; ++changes) {
    CAPTURE(changes);
    Beside p;
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
    CHECK(p.plan().empty());
    p.scope.removals = {"/data/ck/step_10"};
    for (const CleanupItem& rest : p.all().items) CHECK(p.remove(rest).ok());
    CHECK(p.all().items.empty());
    if (!whole) CHECK_FALSE(p.disk.has_folder("/data/.midwatch-removing"));
  }
}

TEST_CASE("another thing than was to go gets its name back from beside, too") {
  Beside p;
  const CleanupItem item = p.all().items.at(0);
  p.disk.before_change = [&p](std::string_view what, const std::string& path, const std::string&) {
    if (what != "rename" || path != "/data/ck/step_10") return;
    p.disk.unlink_folder(path);
    p.disk.put("/data/ck/step_10/theirs", "1");
    p.disk.die_after(1);
  };
  CHECK_FALSE(p.remove(item).ok());
  p.disk.before_change = nullptr;
  p.disk.process_died();
  p.scope.removals = {"/data/ck/step_10"};
  for (const CleanupItem& one : p.all().items) CHECK_FALSE(p.remove(one).ok());
  CHECK(p.disk.content("/data/ck/step_10/theirs") == "1");
}

TEST_CASE("without a place beside it nothing goes: a trainer that deletes there at the same time would end") {
  Beside p;
  CleanupItem item = p.all().items.at(0);
  item.root = "/ck";
  p.put("/ck/step_10/model.safetensors", safetensors());
  const auto removed = p.remove(item);
  REQUIRE_FALSE(removed.ok());
  CHECK(removed.error().what ==
        "its trainer takes every folder in /ck for a checkpoint, and there is no place beside it");
  CHECK(p.disk.exists("/ck/step_10/model.safetensors"));
}

TEST_CASE("what was quarantined beside is found, weighed, waited for and removed like any other") {
  Beside p;
  p.quarantine_beside("attempt-2");
  p.settings.what = {"quarantine"};
  p.scope.asks = CleanupFor::kSpace;
  CHECK(p.plan().empty());  // it is sound, and the run has not come as far again
  p.scope.asks = CleanupFor::kPerson;
  REQUIRE(p.plan() == Names{".midwatch-quarantine/ck/attempt-2"});
  const auto rooms = quarantine_room(p.disk, {"/data/ck"}, "/data/ck");
  REQUIRE(rooms.size() == 1);
  CHECK(rooms[0].folder == "/data/.midwatch-quarantine/ck");
  CHECK(rooms[0].bytes > 0);
  const CleanupItem item = p.all().items.at(0);
  CHECK(item.root == "/data");
  p.disk.die_after(2);
  CHECK_FALSE(p.remove(item).ok());
  p.disk.process_died();
  CHECK_FALSE(p.disk.has_folder("/data/.midwatch-quarantine/ck/attempt-2"));
  p.scope.removals = {"/data/.midwatch-quarantine/ck/attempt-2"};
  REQUIRE(p.all().items.size() == 1);
  CHECK(p.remove(p.all().items[0]).ok());
  CHECK(p.all().items.empty());
}

}  // namespace
}  // namespace mw
