// A real folder as the store, real files, and several threads: what the simulation, which has one, cannot try.
#include "act/vault/push.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "act/vault/catalogue.h"
#include "act/vault/pull.h"
#include "base/prng.h"
#include "base/text.h"
#include "platform/real/posix_disk.h"

namespace mw::vault {
namespace {

struct Scratch {
  Scratch() {
    root = (std::filesystem::temp_directory_path() / "midwatch-vault-XXXXXX").string();
    REQUIRE(::mkdtemp(root.data()) != nullptr);
  }
  ~Scratch() { std::filesystem::remove_all(root); }
  std::string text(const std::string& path) const {
    std::ifstream file(root + path, std::ios::binary);
    std::ostringstream out;
    out << file.rdbuf();
    return out.str();
  }
  void write(const std::string& path, size_t bytes, uint64_t seed) const {
    std::filesystem::create_directories(std::filesystem::path(root + path).parent_path());
    Prng dice(seed);
    std::string content(bytes, ' ');
    for (char& c : content) c = static_cast<char>(dice.next());
    std::ofstream(root + path, std::ios::binary) << content;
  }
  std::string root;
};

TEST_CASE("several threads send and receive the same bytes as one") {
  const Scratch scratch;
  for (int i = 0; i < 30; ++i) scratch.write(cat("/step_7/small/", i, ".dat"), static_cast<size_t>(i) * 40, 100 + i);
  scratch.write("/step_7/large.dat", 300'001, 1);
  scratch.write("/step_7/other.dat", 81'920, 2);
  const auto disk = make_posix_disk();
  const auto store = make_folder_store(scratch.root + "/bucket");
  const auto clock = make_posix_clock();
  std::atomic<int64_t> done{0};
  const VaultDoors doors{*disk,
                         *store,
                         *clock,
                         [](Duration) {},
                         [](const std::string&) -> Result<int64_t> { return int64_t{1} << 40; },
                         [&](const Progress& now) { done = now.bytes; }};
  PushOptions options;
  options.prefix = "run";
  options.folder = scratch.root + "/step_7";
  options.step = 7;
  options.owner = "me";
  options.settle = {};
  options.part_bytes = 4096;
  const auto pushed = push(doors, options);
  REQUIRE_MESSAGE(pushed.ok(), (pushed.ok() ? "" : pushed.error().what));
  CHECK(pushed->latest == Moved::kMoved);
  CHECK(pushed->promise == Promise::kSwap);
  CHECK(pushed->manifest.files.size() == 32);
  CHECK(pushed->manifest.verified == "checksums");
  CHECK(done == pushed->manifest.bytes());
  CHECK(pushed->moved.moved == pushed->manifest.bytes());
  const auto again = push(doors, options);
  REQUIRE(again.ok());
  CHECK(again->there);
  CHECK(again->moved.moved == 0);
  PullOptions back;
  back.prefix = "run";
  back.folder = scratch.root + "/back";
  const auto pulled = pull(doors, back);
  REQUIRE_MESSAGE(pulled.ok(), (pulled.ok() ? "" : pulled.error().what));
  CHECK(pulled->latest);
  for (const ManifestFile& file : pulled->manifest.files) {
    CAPTURE(file.path);
    CHECK(scratch.text("/back/" + file.path) == scratch.text("/step_7/" + file.path));
  }
  const auto found = read_catalogue(doors, {"run"}, true);
  REQUIRE(found.ok());
  REQUIRE(found->checkpoints.size() == 1);
  CHECK(found->checkpoints[0].latest);
  CHECK(found->checkpoints[0].trouble.empty());
  CHECK(found->notes.empty());
}

TEST_CASE("a checkpoint without room for it is not begun") {
  const Scratch scratch;
  scratch.write("/step_7/large.dat", 10'000, 1);
  const auto disk = make_posix_disk();
  const auto store = make_folder_store(scratch.root + "/bucket");
  const auto clock = make_posix_clock();
  int64_t free = 9'999;
  const VaultDoors doors{
      *disk, *store, *clock, [](Duration) {}, [&](const std::string&) -> Result<int64_t> { return free; }, nullptr};
  PushOptions options;
  options.folder = scratch.root + "/step_7";
  options.step = 7;
  options.owner = "me";
  options.settle = {};
  REQUIRE(push(doors, options).ok());
  PullOptions back;
  back.folder = scratch.root + "/back";
  const auto refused = pull(doors, back);
  CHECK(refused.error().code == Error::Code::kFull);
  CHECK_FALSE(std::filesystem::exists(back.folder));
  free = 10'000;
  CHECK(pull(doors, back).ok());
}

}  // namespace
}  // namespace mw::vault
