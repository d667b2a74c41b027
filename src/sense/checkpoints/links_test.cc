// Links within a checkpoint: those that lead nowhere, and those that lead out of it.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/text.h"
#include "platform/real/posix_disk.h"
#include "sense/checkpoints/find.h"
#include "sense/checkpoints/samples_for_test.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

namespace fs = std::filesystem;
using State = CheckpointVerdict::State;

struct Folder {
  std::string root = (fs::temp_directory_path() / "midwatch-links-XXXXXX").string();
  std::shared_ptr<Disk> disk = make_posix_disk();
  Folder() {
    REQUIRE(::mkdtemp(root.data()) != nullptr);
    fs::copy(testing::samples_folder() + "/trl", root + "/trl", fs::copy_options::recursive);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(root); }
  std::string path() const { return root + "/trl/checkpoint-20"; }
  void link(const std::string& text, const std::string& name) const {
    fs::remove_all(path() + "/" + name);
    fs::create_symlink(text, path() + "/" + name);
  }
  CheckpointVerdict verified() const {
    VerifyOptions options;
    options.now = Time::from_seconds(4e9);
    auto verdict = verify_checkpoint(*disk, path(), options);
    REQUIRE(verdict.ok());
    return std::move(*verdict);
  }
};

TEST_CASE("links upwards are not followed, and say so") {
  const Folder on;
  const CheckpointVerdict before = on.verified();
  CHECK(before.state == State::kWhole);
  on.link("../..", "up");
  on.link(".", "self");
  const CheckpointVerdict verdict = on.verified();
  CHECK(verdict.state == State::kWhole);
  CHECK(verdict.files == before.files);
  REQUIRE(verdict.notes.size() >= 2);
  CHECK(contains(verdict.notes[0], "self is a link to a folder that it lies in"));
}

TEST_CASE("two names of one folder are two, and links that lead round in circles end") {
  const Folder on;
  fs::create_directory(on.path() + "/parts");
  fs::copy(on.path() + "/config.json", on.path() + "/parts/config.json");
  const auto files = on.verified().files;
  on.link("parts", "a-name");
  CHECK(on.verified().files == files + 1);
  fs::create_directory(on.path() + "/other");
  fs::create_symlink("../parts", on.path() + "/other/parts");
  fs::create_symlink("../other", on.path() + "/parts/other");
  const CheckpointVerdict verdict = on.verified();
  CHECK(verdict.state == State::kWhole);
  CHECK(verdict.files < files + 10);
}

TEST_CASE("files and folders that lie elsewhere behind a link belong to it") {
  const Folder on;
  const CheckpointVerdict before = on.verified();
  fs::create_directory(on.root + "/blobs");
  fs::rename(on.path() + "/model.safetensors", on.root + "/blobs/0123");
  on.link("../../blobs/0123", "model.safetensors");
  CHECK(on.verified().state == State::kWhole);
  CHECK(on.verified().files == before.files);
  fs::rename(on.path(), on.root + "/blobs/real20");
  fs::create_symlink("../blobs/real20", on.path());
  CHECK(on.verified().state == State::kWhole);
}

TEST_CASE("a link that leads nowhere breaks what a trainer needs, and nothing else") {
  const Folder on;
  on.link("/nonexistent/q", "notes.md");
  CHECK(on.verified().state == State::kWhole);
  CHECK(contains(on.verified().problems[0].what, "and nothing needs it"));
  on.link("/nonexistent/q", "config.json");
  CHECK(on.verified().state == State::kPartial);
}

TEST_CASE("a folder that leads nowhere breaks it where a trainer loads it, or where it was to lie in a checkpoint") {
  const auto state = [](const std::string& text, const std::string& name) {
    const Folder on;
    on.link(text, name);
    return on.verified().state;
  };
  CHECK(state("/nonexistent/critic", "critic") == State::kPartial);
  CHECK(state("../checkpoint-5/base", "base") == State::kPartial);
  CHECK(state("../global_step_5", "frozen") == State::kPartial);
  CHECK(state("../checkpoint-5/logs", "logs") == State::kWhole);
  CHECK(state("../checkpoint-5/huggingface", "huggingface") == State::kWhole);
  CHECK(state("../../wandb/run-a", "wandb") == State::kWhole);
  CHECK(state("../../elsewhere", "curves") == State::kWhole);
  CHECK(state("../checkpoint-5/notes.md", "notes.md") == State::kWhole);
}

TEST_CASE("a step that may not be listed is among the others") {
  if (::geteuid() == 0) return;  // who may list all
  const Folder on;
  fs::permissions(on.path(), fs::perms::none);
  const auto found = find_checkpoints(*on.disk, on.root + "/trl");
  fs::permissions(on.path(), fs::perms::owner_all);
  REQUIRE(found.ok());
  CHECK(found->size() == 2);
}

TEST_CASE("shards beside a whole model without an index are worth knowing") {
  const Folder on;
  fs::copy(on.path() + "/model.safetensors", on.path() + "/model-00001-of-00003.safetensors");
  const CheckpointVerdict verdict = on.verified();
  CHECK(verdict.state == State::kWhole);
  CHECK(verdict.resumable == CheckpointVerdict::Resumable::kYes);
  REQUIRE_FALSE(verdict.problems.empty());
  CHECK(contains(verdict.problems[0].what, "1 of 3 shards are beside model.safetensors, which is whole"));
  fs::remove(on.path() + "/model.safetensors");
  CHECK(on.verified().state == State::kPartial);
}

TEST_CASE("a link from elsewhere stands for the checkpoint that it leads to") {
  const Folder on;
  fs::create_symlink("trl/checkpoint-20", on.root + "/latest");
  fs::create_symlink("latest", on.root + "/newest");
  fs::create_symlink("trl", on.root + "/all");
  for (const char* const name : {"/latest", "/newest"}) CHECK(behind_link(*on.disk, on.root + name) == on.path());
  CHECK(behind_link(*on.disk, on.root + "/all") == on.root + "/all");
  CHECK(behind_link(*on.disk, on.path()) == on.path());
}

}  // namespace
}  // namespace mw
