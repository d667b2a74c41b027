#include "sense/checkpoints/below_declared.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>

#include "core/state.h"
#include "platform/fake/fake_disk.h"
#include "platform/real/posix_disk.h"
#include "sense/checkpoints/roots.h"

namespace mw {
namespace {

CheckpointLayout verl() {
  CheckpointLayout layout;
  layout.folder = "global_step_{step}";
  layout.pointer = "latest_checkpointed_iteration.txt";
  layout.pointer_text = "{step}";
  return layout;
}

State saved_in(const std::string& folder) {
  State state;
  fold(state, {{}, {}, event::AttemptBegan{"banner"}});
  event::CheckpointSaved saved;
  saved.step = 10;
  saved.path = folder + "/global_step_10";
  fold(state, {{}, {}, std::move(saved)});
  return state;
}

using Folders = std::vector<std::string>;

}  // namespace

TEST_CASE("the folder that the log names below a declared one holds the run's checkpoints, and no other there does") {
  FakeDisk disk;
  disk.put("/w/ck/p/e/global_step_10/model.pt", "x");
  disk.put("/w/ck/p/other/global_step_10/model.pt", "x");
  disk.put("/w/else/global_step_10/model.pt", "x");
  const CheckpointLayout layout = verl();
  CHECK(*checkpoint_roots(disk, saved_in("/w/ck/p/e"), layout, {"/w/ck"}, "/w", {}) == Folders{"/w/ck/p/e"});
  CHECK(*checkpoint_roots(disk, saved_in("ck/p/e"), layout, {"/w/ck"}, "/w", {}) == Folders{"/w/ck/p/e"});
  CHECK(checkpoint_roots(disk, saved_in("/w/else"), layout, {"/w/ck"}, "/w", {})->empty());
  CHECK(checkpoint_roots(disk, State(), layout, {"/w/ck"}, "/w", {})->empty());
  State says;  // once, for all of its saves
  says.config["checkpoint_folder"] = "ck/p/e";
  CHECK(*checkpoint_roots(disk, says, layout, {"/w/ck"}, "/w", {}) == Folders{"/w/ck/p/e"});
  CHECK(*checkpoint_roots(disk, State(), layout, {"/w/ck"}, "/w", {"t", "--output_dir", "ck/p/e"}) ==
        Folders{"/w/ck/p/e"});
  disk.put("/w/ck/global_step_5/model.pt", "x");  // it holds some itself
  CHECK(*checkpoint_roots(disk, saved_in("/w/ck"), layout, {"/w/ck"}, "/w", {}) == Folders{"/w/ck"});
}

TEST_CASE("what lies below a declared folder, and not by way of a folder above") {
  FakeDisk disk;
  disk.put("/w/ck/p/e/global_step_10/model.pt", "x");
  CHECK(*below_declared(disk, {"/w/ck"}, "/w/ck/p/e") == "/w/ck/p/e");
  CHECK(below_declared(disk, {"/w/ck"}, "/w/ck/p/../../far")->empty());
  CHECK(below_declared(disk, {"/w/ck"}, "/w/ck")->empty());
  CHECK(below_declared(disk, {"/w/ck"}, "/w/ckpt/e")->empty());
  CHECK(below_declared(disk, {"/w/ck"}, "p/e")->empty());
}

TEST_CASE("a folder that is called by a link counts by what it is, and a link below the declared one leads away") {
  namespace fs = std::filesystem;
  std::string root = (fs::temp_directory_path() / "midwatch-below-XXXXXX").string();
  REQUIRE(::mkdtemp(root.data()) != nullptr);
  fs::create_directories(root + "/scratch/ck/p/e");
  fs::create_directories(root + "/far/e");
  fs::create_directory_symlink(root + "/scratch", root + "/home");
  fs::create_directory_symlink(root + "/far", root + "/scratch/ck/link");
  const auto disk = make_posix_disk();
  const Folders declared = {root + "/scratch/ck"};
  CHECK(*below_declared(*disk, declared, root + "/home/ck/p/e") == root + "/scratch/ck/p/e");
  CHECK(below_declared(*disk, declared, root + "/home/ck")->empty());
  CHECK(below_declared(*disk, declared, root + "/scratch/ck/link/e")->empty());
  CHECK(below_declared(*disk, declared, root + "/home/ck/link/e")->empty());
  CHECK(below_declared(*disk, declared, root + "/far/e")->empty());
  fs::remove_all(root);
}

TEST_CASE(
    "of the folders below a declared one those count that the run names, where there is one those with a pointer") {
  FakeDisk disk;
  disk.put("/ck/p/e/global_step_10/model.pt", "x");
  disk.put("/ck/p/exports/global_step_10/model.pt", "x");
  disk.put("/ck/p/strange/global_step_10/model.pt", "x");
  Ownership of;
  of.declared = {"/ck"};
  of.places = {"/ck"};
  const CheckpointLayout layout = verl();
  CHECK(own_roots_below(disk, of, layout)->empty());
  of.seen = {"/ck/p/exports", "/ck/p/e"};
  CHECK(*own_roots_below(disk, of, layout) == Folders{"/ck/p/e", "/ck/p/exports"});
  of.named = {"/ck/p/e", "/elsewhere"};
  CHECK(*own_roots_below(disk, of, layout) == Folders{"/ck/p/e"});
  of.named.insert("/ck/p/exports");
  disk.put("/ck/p/e/latest_checkpointed_iteration.txt", "10");
  CHECK(*own_roots_below(disk, of, layout) == Folders{"/ck/p/e"});
  of.named.insert("/ck/p/strange");
  of.strangers = {"/ck/p/e", "/ck/p/strange"};
  CHECK(*own_roots_below(disk, of, layout) == Folders{"/ck/p/exports"});
}

}  // namespace mw
