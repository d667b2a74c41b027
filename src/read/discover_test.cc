#include "read/discover.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "platform/real/posix_disk.h"

namespace mw {
namespace {

TEST_CASE("a stream, a device and an empty path are refused with what to do instead") {
  const auto disk = make_posix_disk();
  const auto refused = [&disk](const std::string& path) {
    const auto found = discover(*disk, {path}, [](std::string_view, int64_t) { return true; });
    REQUIRE_FALSE(found.ok());
    return found.error();
  };
  CHECK(contains(refused("").what, "an empty path"));
  CHECK(contains(refused("-").hint, "save the stream first"));
  CHECK(contains(refused("/dev/null").what, "/dev/null is a pipe or a device"));
  CHECK(contains(refused("/dev/null").hint, "save the stream first"));
  CHECK(refused("/nowhere-at-all").code == Error::Code::kNotFound);
}

TEST_CASE("the notebooks of a folder are taken where it holds nothing else to read") {
  FakeDisk disk;
  const auto taken = [&disk] {
    const auto found = discover(
        disk, {"/w"}, [](std::string_view path, int64_t) { return path.ends_with(".log"); }, true);
    std::string out;
    if (!found.ok()) return found.error().what;
    for (const FoundFile& file : found->files) out += cat(file.path, file.named ? "! " : " ");
    for (const std::string& notebook : found->notebooks) out += cat("(", notebook, ") ");
    return cat(out, found->notes.size());
  };
  disk.put("/w/.ipynb_checkpoints/train-checkpoint.ipynb", "{}");
  disk.put("/w/notes.txt", "x");
  CHECK(taken() == "no log or metric file in /w");
  disk.put("/w/train.ipynb", "{}");
  CHECK(taken() == "/w/train.ipynb 1");
  CHECK_FALSE(discover(disk, {"/w"}, [](std::string_view, int64_t) { return false; }).ok());
  disk.put("/w/train.log", "step 1");
  CHECK(taken() == "/w/train.log (/w/train.ipynb) 0");
}

TEST_CASE("what a link leads to is found by its own name where that lies beside it") {
  std::string folder = "/tmp/midwatch-discover-XXXXXX";
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  const auto disk = make_posix_disk();
  for (const char* const run : {"run-1", "run-2"}) {
    REQUIRE(disk->make_folders(cat(folder, "/wandb/", run)).ok());
    auto file = disk->open_append(cat(folder, "/wandb/", run, "/output.log"));
    REQUIRE(file.ok());
    REQUIRE((*file)->append("step 1\n").ok());
  }
  REQUIRE(disk->make_link("run-2", cat(folder, "/wandb/latest-run")).ok());
  REQUIRE(disk->make_link("run-2/output.log", cat(folder, "/wandb/debug.log")).ok());
  const auto found = discover(*disk, {folder}, [](std::string_view, int64_t) { return true; });
  std::string names;
  for (const FoundFile& file : found->files) names += cat(file.path.substr(folder.size()), " ");
  CHECK(names == "/wandb/run-1/output.log /wandb/run-2/output.log ");
  std::filesystem::remove_all(folder);
}

TEST_CASE("numbered files are read in the order of their numbers, whatever order they were given in") {
  FakeDisk disk;
  const auto order = [&disk](const std::vector<std::string>& paths) {
    for (const std::string& path : paths) disk.put(path, "step 1");
    const auto found = discover(disk, paths, [](std::string_view, int64_t) { return true; });
    std::string out;
    for (const FoundFile& file : found->files) out += cat(basename(file.path), " ");
    return out;
  };
  CHECK(order({"/w/train_10.log", "/w/train_9.log"}) == "train_9.log train_10.log ");
  CHECK(order({"/w/j-2.out", "/w/j-2.err", "/w/j-1.out", "/w/j-1.err"}) == "j-1.out j-1.err j-2.out j-2.err ");
  CHECK(order({"/w/j-2.err", "/w/j-2.out", "/w/j-1.err", "/w/j-1.out"}) == "j-1.out j-1.err j-2.out j-2.err ");
  CHECK(order({"/w/b.log", "/w/a.log", "/v/x_1.log", "/w/x_0.log"}) == "b.log a.log x_1.log x_0.log ");
}

}  // namespace
}  // namespace mw
