#include "app/start_local.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/start_fence.h"
#include "base/text.h"
#include "core/supervise/run_spec.h"
#include "platform/fake/fake_disk.h"
#include "platform/fake/fake_process.h"
#include "sense/checkpoints/samples_for_test.h"

namespace mw {
namespace {

using How = LocalCheckpoint::How;

const CheckpointLayout kVerl{"global_step_{step}", "latest_checkpointed_iteration.txt", "{step}"};
const CheckpointLayout kTrl{"checkpoint-{step}", "", ""};

/// As verl saved it, under another number.
void save_verl(FakeDisk& disk, int step) {
  namespace fs = std::filesystem;
  disk.set_time(Time::from_seconds(1000 + step));
  const std::string from = testing::samples_folder() + "/verl/global_step_20";
  for (const auto& entry : fs::recursive_directory_iterator(from)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    std::stringstream content;
    content << file.rdbuf();
    disk.put(cat("/ck/global_step_", step, entry.path().string().substr(from.size())), content.str());
  }
  disk.put("/ck/latest_checkpointed_iteration.txt", std::to_string(step));
}

LocalScope scope_of(const CheckpointLayout& layout, int64_t after) {
  LocalScope scope;
  scope.root = "/ck";
  scope.layout = layout;
  scope.home = "/home";
  scope.place = "/share/run";
  scope.after = after;
  return scope;
}

TEST_CASE("a whole checkpoint that is further than the store's is found, and no older one is looked at") {
  FakeDisk disk;
  for (const int step : {20, 30, 40}) save_verl(disk, step);
  auto found = look_at_local(disk, scope_of(kVerl, 20));
  REQUIRE(found.ok());
  REQUIRE(found->size() == 1);
  CHECK(found->front().step == 40);
  CHECK_MESSAGE(found->front().usable(), found->front().why);
  CHECK_FALSE(found->front().own);
  found = look_at_local(disk, scope_of(kVerl, 40));
  REQUIRE(found.ok());
  CHECK(found->empty());
}

TEST_CASE("what the pointer does not name yet is not gone on from, nor what is broken") {
  FakeDisk disk;
  for (const int step : {20, 30, 40, 50}) save_verl(disk, step);
  disk.put("/ck/latest_checkpointed_iteration.txt", "40");
  const std::string cut = "/ck/global_step_40/actor/optim_world_size_2_rank_0.pt";
  REQUIRE(disk.exists(cut));
  disk.put(cut, disk.content(cut).substr(0, 200));
  const auto found = look_at_local(disk, scope_of(kVerl, 20));
  REQUIRE(found.ok());
  REQUIRE(found->size() == 3);
  CHECK_FALSE((*found)[0].named);
  CHECK_FALSE((*found)[0].usable());
  CHECK((*found)[1].how == How::kBroken);
  CHECK_FALSE((*found)[1].why.empty());
  CHECK((*found)[2].step == 30);
  CHECK((*found)[2].usable());
}

TEST_CASE("where somebody led the store back, only what was saved since counts") {
  FakeDisk disk;
  for (const int step : {20, 30}) save_verl(disk, step);
  LocalScope scope = scope_of(kVerl, 20);
  scope.since = Time::from_seconds(2000);
  auto found = look_at_local(disk, scope);
  REQUIRE(found.ok());
  REQUIRE(found->size() == 1);
  CHECK_FALSE(found->front().usable());
  scope.since = Time::from_seconds(1001);
  found = look_at_local(disk, scope);
  REQUIRE(found.ok());
  CHECK(found->front().usable());
}

/// As OpenRLHF saved it, under another number, for a role.
void save_role(FakeDisk& disk, const std::string& role, int step) {
  namespace fs = std::filesystem;
  const std::string from = testing::samples_folder() + "/openrlhf/_actor/global_step20";
  for (const auto& entry : fs::recursive_directory_iterator(from)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    std::stringstream content;
    content << file.rdbuf();
    disk.put(cat("/ck/", role, "/global_step", step, entry.path().string().substr(from.size())), content.str());
  }
  disk.put(cat("/ck/", role, "/latest"), cat("global_step", step));
}

TEST_CASE("of a training with roles only a step is gone on from that all of them have whole") {
  LocalScope scope = scope_of({"global_step{step}", "latest", "global_step{step}"}, 20);
  scope.root = "/ck/_actor";
  FakeDisk disk;
  for (const int step : {20, 30}) {
    save_role(disk, "_actor", step);
    save_role(disk, "_critic", step);
  }
  const auto newest = [&] {
    const auto found = look_at_local(disk, scope);
    REQUIRE(found.ok());
    REQUIRE_FALSE(found->empty());
    return *found;
  };
  CHECK_MESSAGE(newest().front().usable(), newest().front().why);
  CHECK(newest().front().roles == std::vector<std::string>{"/ck/_critic/global_step30"});
  save_role(disk, "_actor", 40);  // the machine was lost before the critic's
  auto found = newest();
  REQUIRE(found.size() == 2);
  CHECK(contains(found[0].why, "_critic has no step 40"));
  CHECK_FALSE(found[0].usable());
  CHECK(found[1].step == 30);
  CHECK(found[1].usable());
  save_role(disk, "_critic", 40);
  disk.put("/ck/_critic/latest", "global_step30");  // all of it is there, and it was not named yet
  CHECK_FALSE(newest()[0].named);
  CHECK(newest()[1].usable());
  disk.put("/ck/_critic/latest", "global_step40");
  CHECK(newest().front().usable());
  disk.put("/ck/_critic/global_step40/mp_rank_00_model_states.pt", "");
  CHECK(contains(newest()[0].why, "/ck/_critic/global_step40"));
  CHECK(newest()[1].usable());
  for (const int step : {50, 60, 70, 80}) save_role(disk, "_actor", step);  // it trains no critic any more
  CHECK(newest().front().step == 80);
  CHECK_MESSAGE(newest().front().usable(), newest().front().why);
  CHECK(newest().front().roles.empty());
}

TEST_CASE("a checkpoint of which nothing is proven is not gone on from") {
  FakeDisk disk;
  disk.put("/ck/checkpoint-30/weights.xyz", "weights");
  const auto found = look_at_local(disk, scope_of(kTrl, 20));
  REQUIRE(found.ok());
  REQUIRE(found->size() == 1);
  CHECK(found->front().how == How::kUnproven);
  CHECK_FALSE(found->front().usable());
}

struct HeldLocks final : Locks {
  bool held = true;
  Result<std::unique_ptr<Lock>> take(const std::string& path) override {
    if (held) return Error{Error::Code::kDenied, path, ""};
    return std::make_unique<Lock>();
  }
};

TEST_CASE("of a folder of checkpoints that another start has it is said who that is") {
  FakeDisk disk;
  FakeProcesses processes;
  HeldLocks locks;
  locks.held = false;
  const Time now = Time::from_seconds(1'700'000'000);
  StartFence fence = fence_start(disk, locks, processes, now, "/home", "/no/such/ck");
  CHECK_MESSAGE(fence.by.empty(), fence.by);
  CHECK(fence.lock != nullptr);
  locks.held = true;
  fence = fence_start(disk, locks, processes, now, "/home", "/no/such/ck");
  CHECK(fence.by.find("a midwatch onstart of 2023-11-14T22:13:20") != std::string::npos);
  CHECK(fence.by.find("/no/such/ck") != std::string::npos);
  CHECK(fence.lock == nullptr);
  locks.held = false;  // it died
  CHECK(fence_start(disk, locks, processes, now, "/home", "/no/such/ck").by.empty());
}

TEST_CASE("what starts leave of folders in which nothing lives any more goes after a month, but for the last twenty") {
  FakeDisk disk;
  FakeProcesses processes;
  HeldLocks locks;
  locks.held = false;
  const Time first = Time::from_seconds(1'700'000'000);
  const auto begin = [&](int number, double days) {
    const Time now = first + Duration::seconds(days * 86400);
    disk.set_time(now);
    CHECK(fence_start(disk, locks, processes, now, "/home", cat("/no/such/ck", number)).by.empty());
  };
  begin(0, 0);
  std::string folder;
  for (const std::string& path : disk.paths()) {
    if (contains(path, "/starts/")) folder = path.substr(0, path.find("/starts/") + 7);
  }
  REQUIRE_FALSE(folder.empty());
  const auto left = [&] { return disk.list(folder)->size(); };
  const size_t each = left();
  RunSpec spec;  // it lives in the first folder
  spec.command = {"train"};
  spec.folder = "/no/such";
  spec.checkpoints = {"/no/such/ck0"};
  disk.put("/home/runs/one/run.json", run_spec_text(spec));
  disk.put("/home/runs/one/journal/000001.mwj", "");
  const ProcessId watcher = processes.add(77, 1, 77);
  disk.put("/home/runs/one/watcher.json",
           cat(R"({"version":1,"pid":77,"start":)", watcher.start, R"(,"boot":")", processes.boot(), R"("})"));
  for (int i = 1; i < 30; ++i) begin(i, 1 + i * 0.1);
  CHECK(left() == 30 * each);
  begin(30, 31.55);  // 31 are there, of which the last twenty stay, and six are old: one has a run that lives
  CHECK(left() == (31 - 5) * each);
  begin(31, 90);
  CHECK(left() == 21 * each);
  locks.held = true;
  CHECK_FALSE(fence_start(disk, locks, processes, first + Duration::seconds(1e9), "/home", "/no/such/ck0").by.empty());
  CHECK(left() == 21 * each);
}

TEST_CASE("a folder in which a recorded run lives is not begun in again") {
  FakeDisk disk;
  FakeProcesses processes;
  HeldLocks locks;
  locks.held = false;
  RunSpec spec;
  spec.command = {"train"};
  spec.folder = "/no/such";
  spec.checkpoints = {"/no/such/ck"};
  disk.put("/home/runs/one/run.json", run_spec_text(spec));
  disk.put("/home/runs/one/journal/000001.mwj", "");
  const ProcessId watcher = processes.add(77, 1, 77);
  disk.put("/home/runs/one/watcher.json",
           cat(R"({"version":1,"pid":77,"start":)", watcher.start, R"(,"boot":")", processes.boot(), R"("})"));
  const Time now = Time::from_seconds(1'700'000'000);
  StartFence fence = fence_start(disk, locks, processes, now, "/home", "/no/such/ck");
  CHECK(fence.by == "run one lives and keeps its checkpoints in /no/such/ck");
  CHECK(fence.lock == nullptr);
  CHECK(fence_start(disk, locks, processes, now, "/home", "/no/such/other").by.empty());
  processes.boot_now = "another";  // the machine was started anew
  CHECK(fence_start(disk, locks, processes, now, "/home", "/no/such/ck").by.empty());
}

}  // namespace
}  // namespace mw
