#include "sense/checkpoints/quarantine.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "sense/checkpoints/quarantine_for_test.h"

namespace mw {
namespace {

constexpr const char* kPointer = "latest_checkpointed_iteration.txt";

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
  QuarantineFolder f;
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

TEST_CASE("a pointer with a path in it that leads nowhere names nothing, as one without") {
  QuarantineFolder f;
  f.checkpoint("global_step_8");
  const CheckpointLayout tags{"global_step{step}", kPointer, "global_step{step}"};
  const auto dangles = [&f](const std::string& text, const CheckpointLayout& layout) {
    (void)f.disk->remove(cat(f.root, "/", kPointer)).ok();
    f.put(kPointer, text);
    return pointer_dangles(*f.disk, f.root, layout);
  };
  for (const char* const text : {"99", "a/b", "../x/../global_step_8", "<html>503 Service Unavailable</html>",
                                 "/nowhere/8", "somewhere/global_step_8"}) {
    CAPTURE(text);
    CHECK(dangles(text, kVerl));
  }
  CHECK_FALSE(dangles("8", kVerl));
  const std::string below(basename(f.root));
  for (const std::string& text : {cat(below, "/global_step_8"), std::string("./global_step_8"),
                                  f.root + "/global_step_8", std::string("../") + below + "/global_step_8"}) {
    CAPTURE(text);
    CHECK_FALSE(dangles(text, kVerl));
    CHECK_FALSE(dangles(text, tags));
  }
  CHECK(dangles("a/b", tags));
  CHECK_FALSE(dangles("somewhere/global_step_8", tags));  // from where its trainer works
}

TEST_CASE("what is planned is moved and nothing else, and the pointer names what is to be resumed from") {
  QuarantineFolder f;
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
  QuarantineFolder f;
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
  QuarantineFolder f;
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
  QuarantineFolder f;
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

TEST_CASE("no root of the whole disk, no folder that is not there, no label that leads elsewhere") {
  QuarantineFolder f;
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
