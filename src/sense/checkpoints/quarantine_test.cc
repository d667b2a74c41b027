#include "sense/checkpoints/quarantine.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "platform/passing_disk.h"
#include "platform/real/posix_disk.h"

namespace mw {
namespace {

const CheckpointLayout kVerl{"global_step_{step}", "latest_checkpointed_iteration.txt", "{step}"};

struct Folder {
  std::unique_ptr<Disk> disk = make_posix_disk();
  std::string root;
  Folder() {
    char name[] = "/tmp/midwatch-aside-XXXXXX";
    REQUIRE(mkdtemp(name) != nullptr);
    root = name;
  }
  ~Folder() { (void)system(cat("rm -rf ", root).c_str()); }
  void put(const std::string& path, std::string_view text) {
    auto file = disk->open_append(cat(root, "/", path));
    REQUIRE(file.ok());
    REQUIRE((*file)->append(text).ok());
  }
  void checkpoint(const std::string& name) {
    REQUIRE(disk->make_folders(cat(root, "/", name)).ok());
    put(name + "/model", name);
  }
  std::string content(const std::string& path) {
    auto file = disk->open_read(cat(root, "/", path));
    std::string text;
    return file.ok() && (*file)->read_at(0, 1000, text).ok() ? text : "-";
  }
};

TEST_CASE("patterns of names hold one step, and only names that they would make") {
  CHECK(with_step("iter_{step:07}", 42) == "iter_0000042");
  CHECK(step_in("iter_{step:07}", "iter_0000042") == 42);
  CHECK(step_in("iter_{step:07}", "iter_12345678") == 12345678);
  CHECK_FALSE(step_in("iter_{step:07}", "iter_42"));
  CHECK(step_in("global_step_{step}", "global_step_0") == 0);
  for (const char* wrong : {"global_step_", "global_step_x", "global_step_-1", "global_step_042", "global_step_42.tmp",
                            "a_global_step_42", "global_step_99999999999999999999"}) {
    CAPTURE(wrong);
    CHECK_FALSE(step_in("global_step_{step}", wrong));
  }
  for (const char* wrong :
       {"", "step", "{step}{step}", "a/{step}", "{step:0}", "{step:99}", "{stepx}", "{step", "..{step}"}) {
    CAPTURE(wrong);
    CHECK_FALSE(is_step_pattern(wrong));
  }
}

TEST_CASE("a checkpoint that is a file is moved out of the way, and nothing else of that name") {
  Folder f;
  const CheckpointLayout files{"ckpt_{step}.pt", "", ""};
  f.put("ckpt_5.pt", "five");
  f.put("ckpt_10.pt", "ten");
  REQUIRE(f.disk->make_folders(cat(f.root, "/ckpt_15.pt")).ok());
  CHECK(*checkpoint_steps(*f.disk, f.root, files) == std::vector<int64_t>{5, 10});
  const auto info = f.disk->info(cat(f.root, "/ckpt_10.pt"));
  REQUIRE(info.ok());
  QuarantinePlan plan{f.root, "attempt-1-of-a", {{10, {info->device, info->inode}}}, 5, false};
  REQUIRE(quarantine(*f.disk, files, plan, QuarantineManifest()).ok());
  CHECK(*checkpoint_steps(*f.disk, f.root, files) == std::vector<int64_t>{5});
  CHECK(f.content(".midwatch-quarantine/attempt-1-of-a/ckpt_10.pt") == "ten");
}

/// The checkpoints of these steps, with the pointer set to `keep`.
QuarantinePlan plan_of(Folder& f, const std::vector<int64_t>& steps, int64_t keep,
                       const CheckpointLayout& layout = kVerl) {
  QuarantinePlan plan{f.root, "attempt-1-of-a", {}, keep, true};
  for (const int64_t step : steps) {
    const auto info = f.disk->info(cat(f.root, "/", with_step(layout.folder, step)));
    plan.items.push_back({step, info.ok() ? Snapshot::Thing{info->device, info->inode} : Snapshot::Thing()});
  }
  return plan;
}

QuarantineManifest of_run(const std::string& run_folder) {
  QuarantineManifest of;
  of.run_folder = run_folder;
  of.attempt = 1;
  of.why = "They were saved after the data had turned to poison.";
  return of;
}

constexpr const char* kPointer = "latest_checkpointed_iteration.txt";

TEST_CASE("what is planned is moved and nothing else, and the pointer names what is to be resumed from") {
  Folder f;
  for (const char* name : {"global_step_5", "global_step_10", "global_step_15", "global_step_40", "global_step_100"})
    f.checkpoint(name);
  f.put(kPointer, "100\n");
  const QuarantinePlan plan = plan_of(f, {15, 100}, 10);
  const auto done = quarantine(*f.disk, kVerl, plan, of_run("/runs/a"));
  REQUIRE(done.ok());
  CHECK(done->kept == 10);
  CHECK(done->moved == std::vector<int64_t>{15, 100});
  CHECK(f.content(kPointer) == "10");
  CHECK(f.content(".midwatch-quarantine/attempt-1-of-a/global_step_100/model") == "global_step_100");
  CHECK(f.content("global_step_40/model") == "global_step_40");
  const auto manifest = parse_manifest(f.content(".midwatch-quarantine/attempt-1-of-a/manifest.json"));
  REQUIRE(manifest.ok());
  CHECK(manifest->pointer_before == "100\n");  // to the letter
  CHECK(manifest->pointer_after == "10");
  REQUIRE(manifest->items.size() == 2);
  CHECK(manifest->items[0].name == "global_step_15");
  const auto again = quarantine(*f.disk, kVerl, plan, of_run("/runs/a"));
  REQUIRE(again.ok());
  CHECK(again->moved.empty());
  CHECK(f.content(kPointer) == "10");
}

TEST_CASE("cut short at any change it is finished by the next call, and the manifest was there before anything moved") {
  for (uint64_t changes = 1; changes < 40; ++changes) {
    FakeDisk disk;
    for (const char* step : {"5", "10", "15"}) disk.put(cat("/ck/global_step_", step, "/model"), step);
    disk.put(cat("/ck/", kPointer), "15");
    const QuarantinePlan plan{"/ck", "attempt-1-of-a", {{10, {}}, {15, {}}}, 5, true};
    disk.die_after(changes);
    const bool first = quarantine(disk, kVerl, plan, of_run("/runs/a")).ok();
    disk.process_died();
    const bool touched = disk.content(cat("/ck/", kPointer)) != "15" || !disk.exists("/ck/global_step_15/model");
    CHECK((!touched || parse_manifest(disk.content("/ck/.midwatch-quarantine/attempt-1-of-a/manifest.json")).ok()));
    REQUIRE(quarantine(disk, kVerl, plan, of_run("/runs/a")).ok());
    CHECK(disk.content(cat("/ck/", kPointer)) == "5");
    CHECK(disk.exists("/ck/.midwatch-quarantine/attempt-1-of-a/global_step_10/model"));
    CHECK_FALSE(disk.exists("/ck/global_step_15/model"));
    const auto manifest = parse_manifest(disk.content("/ck/.midwatch-quarantine/attempt-1-of-a/manifest.json"));
    REQUIRE(manifest.ok());
    CHECK(manifest->pointer_before == "15");
    CHECK(manifest->items.size() == 2);
    if (first) break;
  }
}

TEST_CASE("a full disk takes no manifest: it is kept with the run's record, where it is found again") {
  FakeDisk disk;
  for (const char* step : {"5", "10", "15"}) disk.put(cat("/ck/checkpoint-", step, "/model"), step);
  const CheckpointLayout trl{"checkpoint-{step}", "", ""};
  const QuarantinePlan plan{"/ck", "attempt-1-of-a", {{10, {}}, {15, {}}}, 5, false};
  FakeDisk::Faults faults;
  faults.capacity = disk.used() + 20;
  disk.set_faults(faults);
  const auto refused = quarantine(disk, trl, plan, of_run("/runs/a"));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == Error::Code::kFull);
  CHECK(disk.exists("/ck/checkpoint-15/model"));
  const auto keep = [&disk](const std::string& path, std::string_view text) -> Result<void> {
    disk.put(path, std::string(text));  // on another disk
    return {};
  };
  const auto done = quarantine(disk, trl, plan, of_run("/runs/a"), keep);
  REQUIRE(done.ok());
  CHECK(done->moved == std::vector<int64_t>{10, 15});
  CHECK(done->manifest == manifest_elsewhere("/runs/a", "/ck/.midwatch-quarantine/attempt-1-of-a"));
  CHECK_FALSE(disk.exists("/ck/checkpoint-15/model"));
  CHECK_FALSE(disk.exists("/ck/.midwatch-quarantine/attempt-1-of-a/manifest.json.part"));
  const auto found = find_manifest(disk, "/ck/.midwatch-quarantine/attempt-1-of-a", "/runs/a");
  REQUIRE(found.ok());
  CHECK(found->items.size() == 2);
  CHECK(find_manifest(disk, "/ck/.midwatch-quarantine/attempt-1-of-a", "/runs/b").error().code ==
        Error::Code::kNotFound);
  const auto again = quarantine(disk, trl, plan, of_run("/runs/a"), keep);
  REQUIRE(again.ok());
  CHECK(again->moved.empty());

  // Of each root one, under whatever label: what a second one moves is not written over what the first one moved.
  disk.put("/opt/checkpoint-10/optimizer", "10");
  faults.capacity = disk.used() + 20;
  disk.set_faults(faults);
  const QuarantinePlan beside{"/opt", "attempt-1-of-a", {{10, {}}}, kNoStep, false};
  const auto second = quarantine(disk, trl, beside, of_run("/runs/a"), keep);
  REQUIRE(second.ok());
  CHECK(second->moved == std::vector<int64_t>{10});
  CHECK(find_manifest(disk, "/ck/.midwatch-quarantine/attempt-1-of-a", "/runs/a")->items.size() == 2);
  CHECK(find_manifest(disk, "/opt/.midwatch-quarantine/attempt-1-of-a", "/runs/a")->items.size() == 1);
}

TEST_CASE("the manifest that an earlier midwatch kept with the run's record is found by its own root alone") {
  FakeDisk disk;
  QuarantineManifest of = of_run("/runs/a");
  of.root = "/ck";
  disk.put("/runs/a/quarantine-attempt-1-of-a.json", manifest_text(of));
  std::string place;
  CHECK(find_manifest(disk, "/ck/.midwatch-quarantine/attempt-1-of-a", "/runs/a", &place).ok());
  CHECK(place == "/runs/a/quarantine-attempt-1-of-a.json");
  CHECK_FALSE(find_manifest(disk, "/opt/.midwatch-quarantine/attempt-1-of-a", "/runs/a").ok());
}

TEST_CASE("a pointer that names something else by then, and a folder that is another by then, stay") {
  Folder f;
  for (const char* name : {"global_step_5", "global_step_10", "global_step_15"}) f.checkpoint(name);
  f.put(kPointer, "15");
  QuarantinePlan plan = plan_of(f, {10}, 5);
  REQUIRE(quarantine(*f.disk, kVerl, plan, of_run("/runs/a")).ok());
  CHECK(f.content(kPointer) == "15");
  plan = plan_of(f, {15}, 5);
  plan.label = "attempt-2-of-a";
  plan.items[0].identity.inode += 1;
  const auto done = quarantine(*f.disk, kVerl, plan, of_run("/runs/a"));
  REQUIRE(done.ok());
  CHECK(done->moved.empty());
  CHECK(f.content("global_step_15/model") == "global_step_15");
}

TEST_CASE("a label of another run is left alone, and one that is saved anew collides with nothing") {
  Folder f;
  f.checkpoint("global_step_5");
  f.checkpoint("global_step_10");
  REQUIRE(quarantine(*f.disk, kVerl, plan_of(f, {10}, 5), of_run("/runs/a")).ok());
  f.checkpoint("global_step_10");
  const auto other = quarantine(*f.disk, kVerl, plan_of(f, {10}, 5), of_run("/runs/b"));
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().code == Error::Code::kInvalid);
  CHECK(f.content("global_step_10/model") == "global_step_10");
  REQUIRE(quarantine(*f.disk, kVerl, plan_of(f, {10}, 5), of_run("/runs/a")).ok());
  CHECK(f.content(".midwatch-quarantine/attempt-1-of-a/global_step_10/model") == "global_step_10");
  CHECK(f.content(".midwatch-quarantine/attempt-1-of-a/global_step_10.2/model") == "global_step_10");
}

TEST_CASE("when none is to be resumed from the pointer goes, too; without pointers only folders move") {
  Folder f;
  f.checkpoint("global_step_5");
  f.put(kPointer, "5");
  REQUIRE(quarantine(*f.disk, kVerl, plan_of(f, {5}, kNoStep), of_run("/runs/a")).ok());
  CHECK(f.content(kPointer) == "-");
  const CheckpointLayout trl{"checkpoint-{step}", "", ""};
  f.checkpoint("checkpoint-7");
  f.checkpoint("checkpoint-9");
  QuarantinePlan plan = plan_of(f, {9}, 7, trl);
  plan.label = "attempt-2-of-a";
  const auto other = quarantine(*f.disk, trl, plan, of_run("/runs/a"));
  REQUIRE(other.ok());
  CHECK(other->moved == std::vector<int64_t>{9});
}

TEST_CASE("a link that leads to what is moved leads to the newest that stays; others stay as they are") {
  Folder f;
  const CheckpointLayout files{"ckpt_{step}.pt", "", ""};
  const std::string root = cat(f.root, "/ck");
  REQUIRE(f.disk->make_folders(root).ok());
  for (const char* step : {"5", "10", "15"}) f.put(cat("ck/ckpt_", step, ".pt"), step);
  const auto link = [&](const std::string& text, const char* name) {
    REQUIRE(::symlink(text.c_str(), cat(root, "/", name).c_str()) == 0);
  };
  link("ckpt_15.pt", "latest.pt");
  link(cat(root, "/ckpt_15.pt"), "last.pt");
  link("ck/ckpt_15.pt", "../newest.pt");
  link("ckpt_15.pt", "best.pt");     // which one is the best is for its writer to say
  link("ckpt_15.pt", "step_15.pt");  // so is this name
  link("ckpt_10.pt", "previous.pt");
  link("ckpt_20.pt", "gone.pt");               // dangled before
  link("elsewhere/ckpt_15.pt", "foreign.pt");  // of that name, in another folder
  const auto info = f.disk->info(cat(root, "/ckpt_15.pt"));
  QuarantinePlan plan{root, "attempt-1-of-a", {{15, {info->device, info->inode}}}, 10, false};
  const auto done = quarantine(*f.disk, files, plan, of_run("/runs/a"));
  REQUIRE(done.ok());
  const auto says = [&](const char* name) { return *f.disk->read_link(cat(root, "/", name)); };
  CHECK(says("latest.pt") == "ckpt_10.pt");
  CHECK(says("last.pt") == cat(root, "/ckpt_10.pt"));
  CHECK(says("../newest.pt") == "ck/ckpt_10.pt");
  for (const char* same : {"best.pt", "step_15.pt"}) CHECK(says(same) == "ckpt_15.pt");
  CHECK(says("previous.pt") == "ckpt_10.pt");
  CHECK(says("gone.pt") == "ckpt_20.pt");
  CHECK(says("foreign.pt") == "elsewhere/ckpt_15.pt");
  REQUIRE(done->links.size() == 5);
  for (const Quarantined::Link& one : done->links)
    CHECK(one.trouble.empty() == (one.path.find("best") == std::string::npos && one.path.find("15.pt") > 1000));
  const auto manifest = parse_manifest(f.content("ck/.midwatch-quarantine/attempt-1-of-a/manifest.json"));
  REQUIRE(manifest.ok());
  REQUIRE(manifest->links.size() == 5);
  CHECK(manifest->links[0].before.ends_with("ckpt_15.pt"));
  REQUIRE(::unlink(cat(root, "/latest.pt").c_str()) == 0);
  link("ckpt_5.pt", "latest.pt");  // the trainer's, since
  REQUIRE(quarantine(*f.disk, files, plan, of_run("/runs/a")).ok());
  CHECK(says("latest.pt") == "ckpt_5.pt");
  for (const char* bad : {R"({"items":[],"links":[{"name":"../../x"}]})", R"({"items":[],"links":[{"name":"/x"}]})"}) {
    CHECK_FALSE(parse_manifest(bad).ok());
  }
}

/// Fails after some calls that change something, as if the process were killed.
class Dying final : public PassingDisk {
 public:
  Dying(Disk& disk, int changes) : PassingDisk(disk), left_(changes) {}
  Result<void> rename(const std::string& from, const std::string& to) override {
    return dead() ? Result<void>(gone()) : disk_.rename(from, to);
  }
  Result<void> make_link(const std::string& text, const std::string& path) override {
    return dead() ? Result<void>(gone()) : disk_.make_link(text, path);
  }
  bool died() const { return left_ < 0; }

 private:
  bool dead() { return --left_ < 0; }
  static Error gone() { return {Error::Code::kIo, "dead", ""}; }
  int left_;
};

TEST_CASE("cut short anywhere, no link leads to nothing for good") {
  const CheckpointLayout folders{"checkpoint-{step}", "", ""};
  for (int changes = 0; changes < 20; ++changes) {
    Folder f;
    for (const char* name : {"checkpoint-5", "checkpoint-10", "checkpoint-15"}) f.checkpoint(name);
    REQUIRE(::symlink("checkpoint-15/", cat(f.root, "/latest").c_str()) == 0);
    const QuarantinePlan plan = plan_of(f, {10, 15}, 5, folders);
    Dying dying(*f.disk, changes);
    (void)quarantine(dying, folders, plan, of_run("/runs/a")).ok();
    REQUIRE(quarantine(*f.disk, folders, plan, of_run("/runs/a")).ok());
    CHECK(*f.disk->read_link(cat(f.root, "/latest")) == "checkpoint-5");
    CHECK(f.content("latest/model") == "checkpoint-5");
    CHECK(f.disk->list(f.root)->size() == 3);  // no half-made link is left
    if (!dying.died()) break;
  }
}

TEST_CASE("where none is left a link is moved with what it led to, but for one of a certain checkpoint") {
  Folder f;
  const std::string root = cat(f.root, "/ck");
  REQUIRE(f.disk->make_folders(root).ok());
  f.checkpoint("ck/checkpoint-5");
  const auto link = [&root](const char* text, const char* name) {
    REQUIRE(::symlink(text, cat(root, "/", name).c_str()) == 0);
  };
  link("checkpoint-5", "latest");
  link("ck/checkpoint-5", "../latest");
  link("checkpoint-5", "best");
  const CheckpointLayout folders{"checkpoint-{step}", "", ""};
  const auto info = f.disk->info(cat(root, "/checkpoint-5"));
  const QuarantinePlan plan{root, "attempt-1-of-a", {{5, {info->device, info->inode}}}, kNoStep, false};
  const auto done = quarantine(*f.disk, folders, plan, of_run("/runs/a"));
  REQUIRE(done.ok());
  REQUIRE(done->links.size() == 3);
  CHECK_FALSE(f.disk->read_link(cat(root, "/latest")).ok());
  CHECK_FALSE(f.disk->read_link(cat(root, "/../latest")).ok());
  CHECK(*f.disk->read_link(cat(root, "/best")) == "checkpoint-5");
  const std::string below = cat(root, "/.midwatch-quarantine/attempt-1-of-a/");
  CHECK(*f.disk->read_link(cat(below, "link-latest")) == "checkpoint-5");
  CHECK(*f.disk->read_link(cat(below, "link-above-latest")) == "ck/checkpoint-5");
  for (const Quarantined::Link& one : done->links) {
    CHECK(one.to.empty() == one.path.ends_with("best"));
    CHECK(one.trouble.empty() == !one.path.ends_with("best"));
  }
  const auto manifest = parse_manifest(f.content("ck/.midwatch-quarantine/attempt-1-of-a/manifest.json"));
  REQUIRE(manifest.ok());
  REQUIRE(manifest->links.size() == 3);
  CHECK(quarantine(*f.disk, folders, plan, of_run("/runs/a")).ok());  // done again
  CHECK_FALSE(parse_manifest(R"({"items":[],"links":[{"name":"x","to":"../y"}]})").ok());
}

TEST_CASE("where somebody else's checkpoint is left a link stays, and it is said that it leads to nothing") {
  Folder f;
  f.checkpoint("checkpoint-3");
  f.checkpoint("checkpoint-5");
  REQUIRE(::symlink("checkpoint-5", cat(f.root, "/latest").c_str()) == 0);
  const CheckpointLayout folders{"checkpoint-{step}", "", ""};
  const auto done = quarantine(*f.disk, folders, plan_of(f, {5}, kNoStep, folders), of_run("/runs/a"));
  REQUIRE(done.ok());
  REQUIRE(done->links.size() == 1);
  CHECK(contains(done->links[0].trouble, "none is left"));
  CHECK(*f.disk->read_link(cat(f.root, "/latest")) == "checkpoint-5");
}

TEST_CASE("a link to a file in what is moved leads to the same file of the newest, or it is said that it does not") {
  Folder f;
  for (const char* name : {"checkpoint-5", "checkpoint-10"}) f.checkpoint(name);
  f.put("checkpoint-10/extra", "10");
  const auto link = [&f](const char* text, const char* name) {
    REQUIRE(::symlink(text, cat(f.root, "/", name).c_str()) == 0);
  };
  link("checkpoint-10/model", "latest.model");
  link("./checkpoint-10/model", "best.model");
  link("checkpoint-10/extra", "latest.extra");
  link("checkpoint-10/../checkpoint-5/model", "other");  // elsewhere
  const CheckpointLayout folders{"checkpoint-{step}", "", ""};
  const auto done = quarantine(*f.disk, folders, plan_of(f, {10}, 5, folders), of_run("/runs/a"));
  REQUIRE(done.ok());
  REQUIRE(done->links.size() == 3);
  const auto of = [&](const char* name) {
    return *std::find_if(done->links.begin(), done->links.end(),
                         [name](const Quarantined::Link& one) { return one.path.ends_with(name); });
  };
  CHECK(of("latest.model").trouble.empty());
  CHECK(f.content("latest.model") == "checkpoint-5");
  CHECK(contains(of("best.model").trouble, "certain checkpoint"));
  CHECK(of("best.model").mend == "./checkpoint-5/model");
  CHECK(contains(of("latest.extra").trouble, "no such file"));
  CHECK(*f.disk->read_link(cat(f.root, "/other")) == "checkpoint-10/../checkpoint-5/model");
}

/// Links in `root`, each "NAME -> TEXT".
void link_all(const std::string& root, const std::vector<std::pair<const char*, const char*>>& links) {
  for (const auto& [name, text] : links) REQUIRE(::symlink(text, cat(root, "/", name).c_str()) == 0);
}

TEST_CASE("a link to a link goes with it to the newest, and where that one stays it is led there by itself") {
  Folder f;
  const std::string root = cat(f.root, "/ck");
  REQUIRE(f.disk->make_folders(root).ok());
  for (const char* name : {"ck/checkpoint-5", "ck/checkpoint-10"}) f.checkpoint(name);
  f.put("ck/checkpoint-10/extra", "10");
  link_all(root, {{"a-circle", "b-circle"},
                  {"b-circle", "a-circle"},
                  {"current", "latest"},
                  {"latest", "checkpoint-10"},
                  {"newest", "./current/"},
                  {"../live", "ck/newest"},
                  {"a.model", "../live/model"},
                  {"a.extra", "latest/extra"},
                  {"best", "checkpoint-10"},
                  {"resume", "best"},
                  {"../resume", "ck/resume"},
                  {"elsewhere", "none/latest"}});
  const CheckpointLayout folders{"checkpoint-{step}", "", ""};
  const auto info = f.disk->info(cat(root, "/checkpoint-10"));
  const QuarantinePlan plan{root, "attempt-1-of-a", {{10, {info->device, info->inode}}}, 5, false};
  for (int times = 0; times < 2; ++times) {
    const auto done = quarantine(*f.disk, folders, plan, of_run("/runs/a"));
    REQUIRE(done.ok());
    std::map<std::string, Quarantined::Link> of;
    for (const Quarantined::Link& one : done->links) of[one.path.substr(f.root.size() + 1)] = one;
    CHECK(of.size() == 9);
    CHECK(of["ck/latest"].after == "checkpoint-5");
    CHECK(of["ck/current"].through == cat(root, "/latest"));
    CHECK(of["ck/newest"].through == cat(root, "/current"));
    CHECK(of["live"].through == cat(root, "/newest"));
    CHECK(of["ck/a.model"].through == cat(f.root, "/live"));
    CHECK(contains(of["ck/a.extra"].trouble, "no such file"));
    CHECK(of["ck/a.extra"].mend.empty());
    CHECK(contains(of["ck/best"].trouble, "certain checkpoint"));
    CHECK(of["ck/resume"].after == "checkpoint-5");
    CHECK(of["resume"].through == cat(root, "/resume"));
  }
  for (const char* name : {"ck/current/model", "ck/newest/model", "live/model", "ck/a.model", "resume/model"})
    CHECK(f.content(name) == "ck/checkpoint-5");
  CHECK(*f.disk->read_link(cat(root, "/newest")) == "./current/");
  const auto manifest = find_manifest(*f.disk, cat(root, "/.midwatch-quarantine/attempt-1-of-a"), "/runs/a");
  REQUIRE(manifest.ok());
  CHECK(manifest->links.size() == 9);
  CHECK_FALSE(parse_manifest(R"({"items":[],"links":[{"name":"x","through":"../../y"}]})").ok());
}

TEST_CASE("where none is left all links of a chain are moved with what they led to") {
  Folder f;
  f.checkpoint("checkpoint-5");
  link_all(f.root, {{"latest", "checkpoint-5"}, {"current", "latest"}, {"best", "latest"}, {"last", "best"}});
  const CheckpointLayout folders{"checkpoint-{step}", "", ""};
  const auto done = quarantine(*f.disk, folders, plan_of(f, {5}, kNoStep, folders), of_run("/runs/a"));
  REQUIRE(done.ok());
  REQUIRE(done->links.size() == 4);
  for (const char* name : {"latest", "current", "last"}) CHECK_FALSE(f.disk->read_link(cat(f.root, "/", name)).ok());
  for (const Quarantined::Link& one : done->links) {
    CHECK(one.to.empty() == one.path.ends_with("best"));
    CHECK(one.trouble.empty() == !one.path.ends_with("best"));
  }
}

TEST_CASE("no root of the whole disk, no folder that is not there, no label that leads elsewhere") {
  Folder f;
  for (const char* root : {"", "/", "//", ".", "..", "../..", "/./"}) {
    CAPTURE(root);
    CHECK_FALSE(quarantine(*f.disk, kVerl, {root, "x", {}, kNoStep, false}, of_run("/r")).ok());
  }
  CHECK_FALSE(quarantine(*f.disk, kVerl, {f.root + "/none", "x", {}, kNoStep, false}, of_run("/r")).ok());
  CHECK_FALSE(quarantine(*f.disk, {}, {f.root, "x", {}, kNoStep, false}, of_run("/r")).ok());
  for (const char* label : {"", "..", "a/b", ".x"}) {
    CHECK_FALSE(quarantine(*f.disk, kVerl, {f.root, label, {}, kNoStep, false}, of_run("/r")).ok());
  }
  for (const char* bad : {R"({"items":[{"name":"../x","to":"y"}]})", R"({"items":[{"name":"x","to":"/y"}]})",
                          R"({"items":[],"pointer":"../../etc/passwd"})", "[]", "{}", ""}) {
    CHECK_FALSE(parse_manifest(bad).ok());
  }
}

}  // namespace
}  // namespace mw
