#include "checkpoints/set_aside.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include "base/text.h"
#include "platform/posix_disk.h"

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

TEST_CASE("what was saved from a step on is moved, and the pointer names the newest that stays") {
  Folder f;
  for (const char* name : {"global_step_5", "global_step_10", "global_step_15", "global_step_100", "other_20"})
    f.checkpoint(name);
  f.put("latest_checkpointed_iteration.txt", "100");
  f.put("global_step_30", "a file, not a folder");
  const auto done = set_aside(*f.disk, f.root, kVerl, 12, "attempt-1");
  REQUIRE(done.ok());
  CHECK(done->kept == 10);
  CHECK(done->moved == std::vector<int64_t>{15, 100});
  CHECK(f.content("latest_checkpointed_iteration.txt") == "10");
  CHECK(f.content("set-aside-by-midwatch/attempt-1/global_step_100/model") == "global_step_100");
  CHECK(f.content("global_step_30") == "a file, not a folder");
  CHECK(f.content("other_20/model") == "other_20");
  const auto again = set_aside(*f.disk, f.root, kVerl, 12, "attempt-1");
  REQUIRE(again.ok());
  CHECK(again->moved.empty());
  CHECK(again->kept == 10);
}

TEST_CASE("cut short between two moves it is finished by the next call") {
  Folder f;
  for (const char* name : {"global_step_5", "global_step_10", "global_step_15"}) f.checkpoint(name);
  REQUIRE(f.disk->make_folders(f.root + "/set-aside-by-midwatch/attempt-1").ok());
  REQUIRE(f.disk->rename(f.root + "/global_step_15", f.root + "/set-aside-by-midwatch/attempt-1/global_step_15").ok());
  f.put("latest_checkpointed_iteration.txt.part", "torn");
  const auto done = set_aside(*f.disk, f.root, kVerl, 10, "attempt-1");
  REQUIRE(done.ok());
  CHECK(done->moved == std::vector<int64_t>{10});
  CHECK(f.content("latest_checkpointed_iteration.txt") == "5");
}

TEST_CASE("when none stays the pointer goes, too; without pointers only folders move") {
  Folder f;
  f.checkpoint("global_step_5");
  f.put("latest_checkpointed_iteration.txt", "5");
  const auto done = set_aside(*f.disk, f.root, kVerl, 1, "attempt-2");
  REQUIRE(done.ok());
  CHECK(done->kept == kNoStep);
  CHECK(f.content("latest_checkpointed_iteration.txt") == "-");
  f.checkpoint("checkpoint-7");
  f.checkpoint("checkpoint-9");
  const auto other = set_aside(*f.disk, f.root, {"checkpoint-{step}", "", ""}, 8, "attempt-2");
  REQUIRE(other.ok());
  CHECK(other->kept == 7);
}

TEST_CASE("no root of the whole disk, and no folder that is not there") {
  Folder f;
  for (const char* root : {"", "/", "//", ".", "..", "../..", "/./"}) {
    CAPTURE(root);
    CHECK_FALSE(set_aside(*f.disk, root, kVerl, 0, "x").ok());
  }
  CHECK_FALSE(set_aside(*f.disk, f.root + "/none", kVerl, 0, "x").ok());
  CHECK_FALSE(set_aside(*f.disk, f.root, {}, 0, "x").ok());
}

}  // namespace
}  // namespace mw
