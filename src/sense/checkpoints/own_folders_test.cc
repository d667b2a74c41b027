// Of a trainer that takes every folder among its checkpoints for one of them.
#include "sense/checkpoints/own_folders.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "sense/checkpoints/last_whole.h"
#include "sense/checkpoints/quarantine.h"
#include "sense/checkpoints/quarantine_for_test.h"

namespace mw {
namespace {

CheckpointLayout any_folder() {
  CheckpointLayout layout{"global_step{step}", "latest", "global_step{step}"};
  layout.takes_any_folder = true;
  return layout;
}

const CheckpointLayout kAny = any_folder();

struct Trainer {
  FakeDisk disk;
  Trainer() {
    for (const char* root : {"/run/ck/_actor", "/run/ck/_critic"}) {
      for (const char* step : {"5", "10", "15"}) disk.put(cat(root, "/global_step", step, "/model"), cat(root, step));
      disk.put(cat(root, "/latest"), "global_step15");
    }
  }
  Result<Quarantined> move(const std::string& root = "/run/ck/_actor") {
    return quarantine(disk, kAny, {root, "attempt-1-of-a", {{10, {}}, {15, {}}}, 5, true}, of_run("/runs/a"));
  }
  std::vector<std::string> in(const std::string& root) { return *disk.list(root); }
};

TEST_CASE("what is moved lies beside the folder of the checkpoints, and nothing of midwatch's in it") {
  Trainer one;
  for (const std::string own : {"_actor", "_critic"}) {
    const auto done = one.move(cat("/run/ck/", own));
    REQUIRE(done.ok());
    CHECK(done->moved == std::vector<int64_t>{10, 15});
    CHECK(done->folder == cat("/run/ck/.midwatch-quarantine/", own, "/attempt-1-of-a"));
    CHECK(done->exposed.empty());
    CHECK(one.in(cat("/run/ck/", own)) == std::vector<std::string>{"global_step5", "latest"});
    CHECK(one.disk.content(cat(done->folder, "/global_step15/model")) == cat("/run/ck/", own, "15"));
    CHECK(one.in(done->folder) == std::vector<std::string>{"global_step10", "global_step15", "manifest.json"});
    const auto manifest = find_manifest(one.disk, done->folder, "/runs/a");
    REQUIRE(manifest.ok());
    CHECK(path_seen_from(manifest->root, manifest->items.at(0).to) == cat(done->folder, "/global_step10"));
  }
  CHECK(one.in("/run/ck") == std::vector<std::string>{".midwatch-quarantine", "_actor", "_critic"});
  const auto again = one.move();
  REQUIRE(again.ok());
  CHECK(again->moved.empty());
}

TEST_CASE("cut short at any change, a move to beside the folder is finished by the next call") {
  for (uint64_t changes = 1; changes < 60; ++changes) {
    Trainer one;
    one.disk.die_after(changes);
    const bool first = one.move().ok();
    one.disk.process_died();
    const std::string folder = "/run/ck/.midwatch-quarantine/_actor/attempt-1-of-a";
    const bool touched = one.disk.content("/run/ck/_actor/latest") != "global_step15" ||
                         !one.disk.exists("/run/ck/_actor/global_step15/model");
    CHECK((!touched || parse_manifest(one.disk.content(cat(folder, "/manifest.json"))).ok()));
    REQUIRE(one.move().ok());
    CAPTURE(changes);
    CHECK(one.in("/run/ck/_actor") == std::vector<std::string>{"global_step5", "latest"});
    CHECK(one.disk.content(cat(folder, "/global_step10/model")) == "/run/ck/_actor10");
    CHECK(one.disk.content(cat(folder, "/global_step15/model")) == "/run/ck/_actor15");
    CHECK(one.disk.content("/run/ck/_actor/latest") == "global_step5");
    CHECK(find_manifest(one.disk, folder, "/runs/a")->pointer_before == "global_step15");
    if (first) {
      CHECK(changes > 8);
      break;
    }
  }
}

/// Between some folder and all others lies a mount that no number of a device shows.
class Mounted final : public Disk {
 public:
  Mounted(Disk& disk, std::string below) : disk_(disk), below_(std::move(below)) {}
  Result<std::unique_ptr<ReadFile>> open_read(const std::string& path) override { return disk_.open_read(path); }
  Result<std::unique_ptr<AppendFile>> open_append(const std::string& path) override { return disk_.open_append(path); }
  Result<FileInfo> info(const std::string& path) override { return disk_.info(path); }
  Result<std::vector<std::string>> list(const std::string& folder) override { return disk_.list(folder); }
  Result<void> make_folders(const std::string& path) override { return disk_.make_folders(path); }
  Result<void> rename(const std::string& from, const std::string& to) override {
    if (from.starts_with(below_) == to.starts_with(below_)) return disk_.rename(from, to);
    return Error{Error::Code::kUnsupported, "cannot rename: Invalid cross-device link", ""};
  }
  Result<void> remove(const std::string& path) override { return disk_.remove(path); }

 private:
  Disk& disk_;
  std::string below_;
};

TEST_CASE("where no rename leads out of the folder it is moved within it, and that is said") {
  Trainer one;
  Mounted disk(one.disk, "/run/ck/_actor/");
  const QuarantinePlan plan{"/run/ck/_actor", "attempt-1-of-a", {{15, {}}}, 10, true};
  const auto done = quarantine(disk, kAny, plan, of_run("/runs/a"));
  REQUIRE(done.ok());
  CHECK(done->folder == "/run/ck/_actor/.midwatch-quarantine/attempt-1-of-a");
  CHECK(contains(done->exposed, "cross-device"));
  CHECK(one.disk.content(cat(done->folder, "/global_step15/model")) == "/run/ck/_actor15");
  CHECK(one.in("/run/ck/_actor") ==
        std::vector<std::string>{".midwatch-quarantine", "global_step10", "global_step5", "latest"});
}

TEST_CASE("a folder directly in a place of everybody's has none of midwatch's beside it") {
  for (const char* root : {"/ck", "/tmp/ck", "/var/tmp/ck", "/dev/shm/ck", "ck", "", "/", "/a/.."}) {
    CAPTURE(root);
    CHECK_FALSE(own_folder_beside(root, kQuarantineFolder).has_value());
  }
  QuarantineFolder f;
  f.checkpoint("global_step5");
  f.checkpoint("global_step10");
  const auto done = quarantine(*f.disk, kAny, plan_of(f, {10}, 5, kAny), of_run("/runs/a"));
  REQUIRE(done.ok());
  CHECK(contains(done->exposed, "everybody's"));
  CHECK(f.content(".midwatch-quarantine/attempt-1-of-a/global_step10/model") == "global_step10");
}

TEST_CASE("a move that an earlier midwatch began among the checkpoints is finished there") {
  Trainer one;
  CheckpointLayout before = kAny;
  before.takes_any_folder = false;
  const QuarantinePlan plan{"/run/ck/_actor", "attempt-1-of-a", {{15, {}}}, 10, true};
  REQUIRE(quarantine(one.disk, before, plan, of_run("/runs/a")).ok());
  one.disk.put("/run/ck/_actor/global_step15/model", "anew");
  const auto done = quarantine(one.disk, kAny, plan, of_run("/runs/a"));
  REQUIRE(done.ok());
  CHECK(done->folder == "/run/ck/_actor/.midwatch-quarantine/attempt-1-of-a");
  CHECK(one.disk.content(cat(done->folder, "/global_step15/model")) == "/run/ck/_actor15");
  CHECK(one.disk.content(cat(done->folder, "/global_step15.2/model")) == "anew");
  CHECK_FALSE(done->exposed.empty());
}

TEST_CASE("a manifest leads to no other place outside of its folder than the one beside it") {
  const auto leads = [](const std::string& to) {
    return parse_manifest(
               cat(R"({"root":"/run/ck/_actor","items":[{"name":"global_step5","to":")", to, R"("}],"links":[]})"))
        .ok();
  };
  CHECK(leads("../.midwatch-quarantine/_actor/attempt-1-of-a/global_step5"));
  CHECK(leads(".midwatch-quarantine/attempt-1-of-a/global_step5"));
  for (const char* wrong : {"../.midwatch-quarantine/_critic/x/global_step5", "../global_step5", "../_critic/x",
                            "../.midwatch-quarantine/_actor/../../x", "../.midwatch-quarantine/_actor/",
                            "../.midwatch-quarantine/_actor//etc", "../../.midwatch-quarantine/_actor/x"}) {
    CAPTURE(wrong);
    CHECK_FALSE(leads(wrong));
  }
  // Nor by the root that it says, where another's is meant.
  FakeDisk disk;
  QuarantineManifest of = of_run("/runs/a");
  of.root = "/run/ck/_critic";
  of.items = {{"global_step5", "../.midwatch-quarantine/_critic/x/global_step5", {}}};
  disk.put("/run/ck/.midwatch-quarantine/_actor/x/manifest.json", manifest_text(of));
  CHECK_FALSE(find_manifest(disk, "/run/ck/.midwatch-quarantine/_actor/x", "/runs/a").ok());
}

}  // namespace
}  // namespace mw
