#include "sense/checkpoints/walk_files.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "platform/real/posix_disk.h"

namespace mw {
namespace {

struct Scratch {
  Scratch() {
    root = (std::filesystem::temp_directory_path() / "midwatch-walk-XXXXXX").string();
    REQUIRE(::mkdtemp(root.data()) != nullptr);
  }
  ~Scratch() { std::filesystem::remove_all(root); }
  void file(const std::string& path) const {
    std::filesystem::create_directories(std::filesystem::path(root + "/" + path).parent_path());
    std::ofstream(root + "/" + path) << "x";
  }
  std::string root;
};

/// What a walk of `most` files and `depth` folders says.
std::string walked(const std::string& folder, size_t most, int depth) {
  const auto disk = make_posix_disk();
  std::string out;
  FileWalk walk{most, depth};
  walk.passes_over = [](const std::string& path, const FileInfo&) { return basename(path) == "skipped"; };
  walk.file = [&out](std::string path, const FileInfo& info) {
    out += cat(path, "=", info.size, " ");
    return Result<void>();
  };
  walk.unseen = [&out](Unseen why, const std::string& path, const Error&) {
    out += cat(path, "!", static_cast<int>(why), " ");
    return Result<void>();
  };
  CHECK(walk_files(*disk, folder, walk).ok());
  return out;
}

TEST_CASE("all files are walked in the order of names, links followed, and what is not seen is said") {
  const Scratch scratch;
  for (const char* path : {"b.pt", "a/z.pt", "a/deep/er.pt", "skipped/x.pt"}) scratch.file(path);
  std::filesystem::create_symlink("b.pt", scratch.root + "/link");
  std::filesystem::create_symlink("nowhere", scratch.root + "/lost");
  REQUIRE(::mkfifo((scratch.root + "/pipe").c_str(), 0600) == 0);
  CHECK(walked(scratch.root, 10, 2) == "a/deep/er.pt=1 a/z.pt=1 b.pt=1 link=1 lost!1 pipe!4 ");
  CHECK(walked(scratch.root, 10, 1) == "a/deep!2 a/z.pt=1 b.pt=1 link=1 lost!1 pipe!4 ");
  CHECK(walked(scratch.root, 2, 2) == "a/deep/er.pt=1 a/z.pt=1 b.pt!3 link!3 lost!1 pipe!4 ");
  CHECK(walked(scratch.root + "/none", 2, 2) == "!0 ");
}

TEST_CASE("a link that leads upwards ends at the depth that was asked for") {
  const Scratch scratch;
  scratch.file("a/b.pt");
  std::filesystem::create_symlink("..", scratch.root + "/a/up");
  CHECK(walked(scratch.root, 100, 3) == "a/b.pt=1 a/up/a/b.pt=1 a/up/a/up!2 ");
}

TEST_CASE("an error of whoever walks ends the walk") {
  const Scratch scratch;
  for (const char* path : {"a.pt", "b.pt"}) scratch.file(path);
  const auto disk = make_posix_disk();
  int seen = 0;
  FileWalk walk{10, 2};
  walk.file = [&seen](std::string, const FileInfo&) -> Result<void> {
    ++seen;
    return Error{Error::Code::kInvalid, "enough", ""};
  };
  walk.unseen = [](Unseen, const std::string&, const Error&) { return Result<void>(); };
  CHECK_FALSE(walk_files(*disk, scratch.root, walk).ok());
  CHECK(seen == 1);
}

}  // namespace
}  // namespace mw
