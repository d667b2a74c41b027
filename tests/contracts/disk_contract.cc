// What every Disk promises, whatever is behind the door: run over the real one and over the fake.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "platform/fake/fake_disk.h"
#include "platform/real/posix_disk.h"

namespace mw {
namespace {

std::string read_all(Disk& disk, const std::string& path) {
  auto file = disk.open_read(path);
  REQUIRE(file.ok());
  std::string bytes;
  REQUIRE((*file)->read_at(0, 1 << 20, bytes).ok());
  return bytes;
}

void append_to(Disk& disk, const std::string& path, std::string_view bytes) {
  auto file = disk.open_append(path);
  REQUIRE(file.ok());
  REQUIRE((*file)->append(bytes).ok());
}

void missing_things(Disk& disk, const std::string& root) {
  const auto code = [](const auto& result) { return result.error().code; };
  const std::string path = root + "/none";
  CHECK(code(disk.open_read(path)) == Error::Code::kNotFound);
  CHECK(code(disk.open_append(path + "/deeper")) == Error::Code::kNotFound);
  CHECK(code(disk.info(path)) == Error::Code::kNotFound);
  CHECK(code(disk.list(path)) == Error::Code::kNotFound);
  CHECK(code(disk.rename(path, root + "/other")) == Error::Code::kNotFound);
  CHECK(code(disk.remove(path)) == Error::Code::kNotFound);
  CHECK_FALSE(disk.open_read(root).ok());  // a folder is no file
  CHECK_FALSE(disk.open_append(root).ok());
}

void reading_and_appending(Disk& disk, const std::string& root) {
  const std::string path = root + "/file";
  append_to(disk, path, "hello ");
  append_to(disk, path, "");
  append_to(disk, path, std::string_view("wor\0ld", 6));
  CHECK(read_all(disk, path) == std::string("hello wor\0ld", 12));
  auto file = disk.open_read(path);
  REQUIRE(file.ok());
  std::string bytes = "rubbish";
  REQUIRE((*file)->read_at(6, 3, bytes).ok());
  CHECK(bytes == "wor");
  REQUIRE((*file)->read_at(10, 100, bytes).ok());
  CHECK(bytes == "ld");
  REQUIRE((*file)->read_at(12, 100, bytes).ok());
  CHECK(bytes.empty());
  REQUIRE((*file)->read_at(1 << 30, 100, bytes).ok());
  CHECK(bytes.empty());
  append_to(disk, path, "!");  // an open file sees what is appended later
  REQUIRE((*file)->read_at(12, 100, bytes).ok());
  CHECK(bytes == "!");
  CHECK((*file)->info()->size == 13);
  CHECK(disk.info(path)->size == 13);
  CHECK(disk.info(path)->kind == FileInfo::Kind::kFile);
  CHECK(disk.info(root)->kind == FileInfo::Kind::kFolder);
}

void cutting(Disk& disk, const std::string& root) {
  const std::string path = root + "/cut";
  auto file = disk.open_append(path);
  REQUIRE(file.ok());
  REQUIRE((*file)->append("0123456789").ok());
  REQUIRE((*file)->truncate(4).ok());
  REQUIRE((*file)->append("x").ok());
  REQUIRE((*file)->sync().ok());
  CHECK(read_all(disk, path) == "0123x");
}

void names(Disk& disk, const std::string& root) {
  REQUIRE(disk.make_folders(root + "/a/b/c").ok());
  REQUIRE(disk.make_folders(root + "/a/b/c").ok());
  append_to(disk, root + "/a/z", "z");
  append_to(disk, root + "/a/k", "k");
  auto listed = disk.list(root + "/a");
  REQUIRE(listed.ok());
  CHECK(*listed == std::vector<std::string>{"b", "k", "z"});
  CHECK_FALSE(disk.make_folders(root + "/a/k").ok());

  const FileInfo before = *disk.info(root + "/a/z");
  auto open = disk.open_read(root + "/a/z");
  REQUIRE(open.ok());
  REQUIRE(disk.rename(root + "/a/z", root + "/a/k").ok());
  CHECK(read_all(disk, root + "/a/k") == "z");
  CHECK(disk.info(root + "/a/k")->inode == before.inode);
  CHECK_FALSE(disk.info(root + "/a/z").ok());

  REQUIRE(disk.remove(root + "/a/k").ok());
  std::string bytes;
  REQUIRE((*open)->read_at(0, 10, bytes).ok());  // what is open stays readable
  CHECK(bytes == "z");
  append_to(disk, root + "/a/k", "new");
  CHECK((*open)->info()->inode == before.inode);
  CHECK(disk.info(root + "/a/k")->inode != before.inode);
}

void run_contract(Disk& disk, const std::string& root) {
  REQUIRE(disk.make_folders(root).ok());
  SUBCASE("missing things") { missing_things(disk, root); }
  SUBCASE("reading and appending") { reading_and_appending(disk, root); }
  SUBCASE("cutting") { cutting(disk, root); }
  SUBCASE("names") { names(disk, root); }
}

TEST_CASE("disk contract: fake") {
  FakeDisk disk;
  run_contract(disk, "/root");
}

TEST_CASE("disk contract: posix") {
  std::string root = (std::filesystem::temp_directory_path() / "midwatch-disk-XXXXXX").string();
  REQUIRE(::mkdtemp(root.data()) != nullptr);
  {
    const auto disk = make_posix_disk();
    run_contract(*disk, root);
  }
  std::filesystem::remove_all(root);
}

TEST_CASE("the fake forgets at a power loss what was not synced") {
  int kept = 0, lost = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    FakeDisk disk(seed);
    REQUIRE(disk.make_folders("/d").ok());
    auto file = disk.open_append("/d/f");
    REQUIRE(file.ok());
    REQUIRE((*file)->append("synced").ok());
    REQUIRE((*file)->sync().ok());
    REQUIRE((*file)->append("maybe").ok());
    disk.power_lost();
    const std::string now = disk.content("/d/f");
    REQUIRE(now.starts_with("synced"));
    (now == "syncedmaybe" ? kept : lost) += 1;
  }
  CHECK(kept > 0);
  CHECK(lost > 0);
}

TEST_CASE("the fake is as unforgiving about a failed sync as Linux") {
  FakeDisk disk(1);
  REQUIRE(disk.make_folders("/d").ok());
  auto file = disk.open_append("/d/f");
  REQUIRE(file.ok());
  REQUIRE((*file)->append("bytes").ok());
  disk.set_faults({0, 1.0, 0, UINT64_MAX});
  CHECK_FALSE((*file)->sync().ok());
  disk.set_faults({});
  CHECK((*file)->sync().ok());
  bool lost = false;
  for (int i = 0; i < 20 && !lost; ++i) {
    disk.power_lost();
    lost = disk.content("/d/f") != "bytes";
  }
  CHECK(lost);
}

}  // namespace
}  // namespace mw
