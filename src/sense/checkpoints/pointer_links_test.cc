#include "sense/checkpoints/pointer_links.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "platform/passing_disk.h"
#include "sense/checkpoints/quarantine_for_test.h"

namespace mw {
namespace {

TEST_CASE("a link that leads to what is moved leads to the newest that stays; others stay as they are") {
  QuarantineFolder f;
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
    QuarantineFolder f;
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
  QuarantineFolder f;
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
  QuarantineFolder f;
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
  QuarantineFolder f;
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
  QuarantineFolder f;
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
  QuarantineFolder f;
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

}  // namespace
}  // namespace mw
