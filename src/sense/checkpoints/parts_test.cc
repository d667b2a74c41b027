#include "sense/checkpoints/parts.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "sense/checkpoints/ownership.h"
#include "sense/checkpoints/recover_slot.h"
#include "sense/checkpoints/roots.h"

namespace mw {
namespace {

void put(FakeDisk& disk, const std::string& path) {
  REQUIRE(disk.make_folders(path.substr(0, path.rfind('/'))).ok());
  disk.write(path, "bytes");
}

TEST_CASE("the roles of one step belong together, whichever of them is asked for") {
  FakeDisk disk{1};
  for (const char* role : {"_actor", "_critic"})
    put(disk, cat("/ck/", role, "/global_step10/mp_rank_00_model_states.pt"));
  put(disk, "/ck/_actor/global_step20/mp_rank_00_model_states.pt");
  for (const char* role : {"_actor", "_critic"}) {
    const CheckpointParts parts = parts_of(disk, cat("/ck/", role, "/global_step10"));
    CHECK(parts.path == "/ck/_actor/global_step10");
    CHECK(parts.own == "_actor/global_step10");
    CHECK(parts.beside == std::vector<std::string>{"_critic/global_step10"});
    CHECK(parts.missing.empty());
  }
  CHECK(parts_of(disk, "/ck/_actor/global_step20").missing == "_critic/global_step20");
  put(disk, "/alone/_actor/global_step10/mp_rank_00_model_states.pt");
  CHECK(parts_of(disk, "/alone/_actor/global_step10").own.empty());
}

TEST_CASE("slime's place in the data belongs to the checkpoint of its step") {
  FakeDisk disk{1};
  put(disk, "/ck/iter_0000030/common.pt");
  CHECK(parts_of(disk, "/ck/iter_0000030").own.empty());
  put(disk, "/ck/rollout/global_dataset_state_dict_20.pt");
  CHECK(parts_of(disk, "/ck/iter_0000030").missing == "rollout/global_dataset_state_dict_30.pt");
  put(disk, "/ck/rollout/global_dataset_state_dict_30.pt");
  const CheckpointParts parts = parts_of(disk, "/ck/iter_0000030");
  CHECK(parts.own == "iter_0000030");
  CHECK(parts.beside == std::vector<std::string>{"rollout/global_dataset_state_dict_30.pt"});
  CHECK(parts.missing.empty());
}

TEST_CASE("of a run that declared the folder of its roles, each role's folder is its own") {
  Ownership of;
  of.declared = {"/ck"};
  of.places = {"/ck"};
  CHECK(of.may_save_in("/ck/_actor"));
  CHECK(of.may_save_in("/ck/_critic"));
  CHECK_FALSE(of.may_save_in("/ck/other"));
  CHECK_FALSE(of.may_save_in("/elsewhere/_critic"));
  of.declared.clear();
  of.named = {"/ck/_actor"};
  CHECK(of.may_save_in("/ck/_critic"));
  of.strangers = {"/ck/_critic"};
  CHECK_FALSE(of.may_save_in("/ck/_critic"));
}

TEST_CASE("a log that names one role's folder leads to the other's") {
  FakeDisk disk{1};
  for (const char* role : {"_actor", "_critic"})
    put(disk, cat("/ck/", role, "/global_step10/mp_rank_00_model_states.pt"));
  State state;
  event::CheckpointSaved saved;
  saved.step = 10;
  saved.path = "/ck/_actor/global_step10";
  state.checkpoints.emplace_back(Moment(), saved);
  const CheckpointLayout layout{"global_step{step}", "latest", "global_step{step}", {}};
  const auto roots = checkpoint_roots(disk, state, layout, {}, "/", {});
  REQUIRE(roots.ok());
  CHECK(*roots == std::vector<std::string>{"/ck/_actor", "/ck/_critic"});
}

TEST_CASE("the step of a recover slot is the one in it, whatever its trial is called") {
  FakeDisk disk{1};
  REQUIRE(disk.make_folders("/exp/trial0/recover_info").ok());
  disk.write("/exp/trial0/recover_info/step_info.json", R"({"epoch": 0, "global_step": 29})");
  CHECK(is_recover_slot(disk, "/exp/trial0"));
  CHECK_FALSE(is_recover_slot(disk, "/exp"));
  CHECK(step_of_slot(disk, "/exp/trial0") == 29);
  for (const char* damaged : {"", "[]", "{", R"({"global_step": "29"})", R"({"global_step": -3})"}) {
    CAPTURE(damaged);
    disk.put("/exp/trial0/recover_info/step_info.json", damaged);
    CHECK(step_of_slot(disk, "/exp/trial0") == kNoStep);
  }
}

TEST_CASE("a slot between its weights and its recover_info is not complete") {
  FakeDisk disk{1};
  const std::string trial = "/exp/trial0";
  const auto write = [&](int64_t at, const std::string& name) {
    disk.set_time(Time{at});
    put(disk, cat(trial, "/", name));
  };
  write(100, "default/recover_checkpoint/__0_0.distcp");
  CHECK_FALSE(is_slot_complete(disk, trial));
  write(110, "recover_info/step_info.json");
  CHECK(is_slot_complete(disk, trial));
  write(111, "recover_info/dataloader_info.pkl");
  CHECK(is_slot_complete(disk, trial));
  write(200, "critic/recover_checkpoint/__0_0.distcp");  // the next save has begun
  CHECK_FALSE(is_slot_complete(disk, trial));
  write(210, "recover_info/step_info.json");
  CHECK_FALSE(is_slot_complete(disk, trial));
  write(211, "recover_info/dataloader_info.pkl");
  CHECK(is_slot_complete(disk, trial));
  write(300, "default/epoch0epochstep29globalstep29/model.safetensors");  // an export
  CHECK(is_slot_complete(disk, trial));
}

TEST_CASE("whoever declares the folder of one role declares both") {
  std::vector<std::string> declared{"/ck/_critic", "/other"};
  add_other_roles(declared);
  CHECK(declared == std::vector<std::string>{"/ck/_critic", "/other", "/ck/_actor"});
  add_other_roles(declared);
  CHECK(declared.size() == 3);
}

}  // namespace
}  // namespace mw
