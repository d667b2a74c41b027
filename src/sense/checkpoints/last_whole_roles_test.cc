// Actor and critic are resumed each by its own pointer: both must come to one step.
#include <doctest/doctest.h>

#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "sense/checkpoints/last_whole.h"

namespace mw {
namespace {

const CheckpointLayout kRoles{"global_step{step}", "latest", "global_step{step}"};
const std::vector<std::string> kBoth{"/ck/_actor", "/ck/_critic"};

struct Roles {
  FakeDisk disk;
  void save(const std::string& role, int step, bool pointed = true) {
    const std::string header = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
    const std::string size{static_cast<char>(header.size()), 0, 0, 0, 0, 0, 0, 0};
    disk.put(cat("/ck/", role, "/global_step", step, "/model.safetensors"), size + header + "weights.");
    if (pointed) point(role, cat("global_step", step));
  }
  void both(int step) {
    save("_actor", step);
    save("_critic", step);
  }
  void point(const std::string& role, const std::string& text) { disk.put(cat("/ck/", role, "/latest"), text); }
  LastWhole find(int64_t before = kNoStep) { return find_last_whole(disk, kBoth, kRoles, before); }
};

void check(const LastWhole& found, int64_t from, int64_t kept) {
  CAPTURE(found.why);
  CHECK(found.from == from);
  CHECK(found.kept == kept);
}

TEST_CASE("a save that was cut between two roles is none to resume from, and both go back") {
  for (const bool written : {false, true}) {
    Roles roles;
    for (const int step : {20, 30}) roles.both(step);
    check(roles.find(), kNoStep, 30);
    roles.save("_actor", 40);
    if (written) roles.save("_critic", 40, false);  // all of it, but for the pointer
    check(roles.find(), 40, 30);
    CHECK(contains(roles.find().why, "each role is resumed by its own pointer"));
    roles.both(40);
    check(roles.find(), kNoStep, 40);
    if (!written) continue;
    roles.disk.put("/ck/_critic/global_step40/model.safetensors", "");
    check(roles.find(), 40, 30);
  }
}

TEST_CASE("the critic may be the one that is further, and a pointer may name what only one role has") {
  Roles roles;
  for (const int step : {20, 30}) roles.both(step);
  roles.save("_critic", 40);
  check(roles.find(), 40, 30);
  roles.point("_actor", "global_step40");
  const LastWhole found = roles.find();
  check(found, 40, 30);
  CHECK(found.halves == std::set<int64_t>{40});
  roles.save("_actor", 50);
  roles.point("_critic", "global_step50");
  check(roles.find(), 40, 30);
}

TEST_CASE("the first save was cut: there is no step that both roles have") {
  Roles roles;
  roles.save("_actor", 10);
  roles.disk.put("/ck/_critic/global_step10/model.safetensors", "");
  check(roles.find(), 10, kNoStep);
}

TEST_CASE("of what is left before a rollback a step counts that both roles have") {
  Roles roles;
  roles.both(20);
  roles.save("_actor", 30);
  roles.both(40);
  check(roles.find(40), 30, 20);
  Roles none;
  none.save("_actor", 30);
  none.both(40);
  const LastWhole found = none.find(40);
  check(found, 30, kNoStep);
  CHECK(found.halves == std::set<int64_t>{30});
}

TEST_CASE("a pointer of one role that was cut while it was written is set again") {
  Roles roles;
  for (const int step : {20, 30}) roles.both(step);
  roles.point("_critic", "");
  check(roles.find(), 31, 30);
}

TEST_CASE("a critic that the run trains no more holds nothing back, nor do folders that are no roles") {
  Roles roles;
  roles.both(10);
  for (const int step : {20, 30, 40, 50}) roles.save("_actor", step);
  check(roles.find(), kNoStep, 50);
  roles.disk.put("/ck/_actor/global_step50/model.safetensors", "");
  check(roles.find(), 50, 40);
  Roles alone;
  alone.save("_actor", 20);
  check(alone.find(), kNoStep, 20);
  Roles other;
  other.save("_actor", 20);
  other.save("export", 10);
  check(find_last_whole(other.disk, {"/ck/_actor", "/ck/export"}, kRoles, kNoStep), kNoStep, 10);
}

}  // namespace
}  // namespace mw
