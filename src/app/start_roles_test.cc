#include "app/start_roles.h"

#include <doctest/doctest.h>

#include "base/digest.h"
#include "base/text.h"
#include "platform/fake/fake_disk.h"

namespace mw {

TEST_CASE("whichever folder of a training with roles is named, the actor's comes into the actor's") {
  vault::CheckpointManifest manifest;
  CHECK(role_folder(manifest, "/ck") == "/ck");
  manifest.own = "iter_0000030";
  manifest.beside = {"rollout/global_dataset_state_dict_30.pt"};
  CHECK(role_folder(manifest, "/ck") == "/ck");
  manifest.own = "_actor/global_step30";
  manifest.beside = {"_critic/global_step30"};
  CHECK(role_folder(manifest, "/ck") == "/ck/_actor");
  CHECK(role_folder(manifest, "/ck/_actor") == "/ck/_actor");
  CHECK(role_folder(manifest, "/ck/_critic") == "/ck/_actor");
}

TEST_CASE("a trial that is declared itself, or a folder in it, holds no second one") {
  vault::CheckpointManifest manifest;
  manifest.name = "trial0";
  CHECK(trial_holder(manifest, "/ck/exp/trial0") == "/ck/exp/trial0");
  vault::ManifestFile file;
  file.path = "recover_info/step_info.json";
  manifest.files = {file};
  CHECK(trial_holder(manifest, "/ck/exp/trial0") == "/ck/exp");
  CHECK(trial_holder(manifest, "/ck/exp/trial0/default") == "/ck/exp");
  CHECK(trial_holder(manifest, "/ck/exp") == "/ck/exp");
  CHECK(trial_holder(manifest, "/trial0") == "/trial0");
}

TEST_CASE("what lay below the declared folder comes to the same place below the one that is declared here") {
  vault::CheckpointManifest manifest;
  CHECK(folder_below(manifest, "/ck", {}) == "/ck");
  CHECK(folder_below(manifest, "/ck", {"/ck/p/e", "/log"}) == "/ck/p/e");  // as the command names it
  CHECK(folder_below(manifest, "/ck", {"/ck"}) == "/ck");
  CHECK(folder_below(manifest, "/ck", {"/ck/final", "/ck/p/e"}) == "/ck");  // which of them is not known
  manifest.run = {{"below", "p/e"}};
  CHECK(folder_below(manifest, "/ck", {"/ck/final"}) == "/ck/p/e");
  CHECK(folder_below(manifest, "/new/p", {}) == "/new/p/e");
  CHECK(folder_below(manifest, "/new/p/e", {}) == "/new/p/e");
  CHECK(folder_below(manifest, "/new/e", {}) == "/new/e/p/e");
  manifest.run = {{"below", "."}};
  CHECK(folder_below(manifest, "/ck", {"/ck/p/e"}) == "/ck");
  manifest.run = {{"below", "../other"}};
  CHECK(folder_below(manifest, "/ck", {}) == "/ck");
}

TEST_CASE("a file in the place of a part leaves it where it is something else, and only where that is allowed") {
  vault::CheckpointManifest manifest;
  manifest.step = 30;
  manifest.name = manifest.own = "iter_0000030";
  manifest.beside = {"rollout/global_dataset_state_dict_30.pt"};
  vault::ManifestFile file;
  file.path = cat(vault::kBeside, manifest.beside.front());
  file.size = 5;
  file.hash = content_hash("bytes");
  manifest.files = {file};
  const std::string place = cat("/ck/", manifest.beside.front());
  for (const std::string now : {"bytes", "other"}) {
    for (const bool may : {true, false}) {
      CAPTURE(now);
      CAPTURE(may);
      FakeDisk disk{1};
      REQUIRE(disk.make_folders("/ck/rollout").ok());
      disk.write(place, now);
      StartRequest request;
      request.may_move = may;
      StartAnswer answer;
      answer.root = "/ck";
      answer.name = "again";
      REQUIRE(make_way_for_parts(disk, request, {}, manifest, answer).ok());
      const bool moves = may && now == "other";
      CHECK(disk.exists(place) == !moves);
      CHECK(disk.exists(place + ".replaced-again") == moves);
      CHECK(answer.pulled.notes.size() == (moves ? 1 : 0));
    }
  }
}

}  // namespace mw
