#include "sense/checkpoints/lost_part.h"

#include <doctest/doctest.h>

#include "sense/checkpoints/samples_for_test.h"
#include "sense/checkpoints/scan.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

using State = CheckpointVerdict::State;
using Resumable = CheckpointVerdict::Resumable;

/// Copies of a sample as checkpoints of several steps of one tree; which have what else differs.
struct Tree {
  FakeDisk disk;
  std::string sample, root;
  Tree(const std::string& sample_of, const std::string& root_of) : sample(sample_of), root(root_of) {
    testing::put_samples(disk);
  }
  std::string path(int64_t step) const { return cat(root, "/global_step_", step); }
  void copy(int64_t step, const std::string& to = "") {
    std::vector<std::pair<std::string, std::string>> files;
    for (const std::string& folder : {std::string(), std::string("/actor"), std::string("/policy")}) {
      const auto names = disk.list(cat(sample, folder));
      for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
        const auto info = disk.info(cat(sample, folder, "/", name));
        if (info.ok() && info->kind == FileInfo::Kind::kFile && name != "trainer_state.pt")
          files.emplace_back(cat(folder, "/", name), disk.content(cat(sample, folder, "/", name)));
      }
    }
    for (const auto& [name, content] : files) {
      if (to.empty()) disk.put(cat(path(step), name), content);
      if (!to.empty() && name.starts_with("/actor/")) disk.put(cat(path(step), "/", to, name.substr(6)), content);
    }
  }
  void with_critic(int64_t step) {
    copy(step);
    copy(step, "critic");
  }
  CheckpointVerdict look(int64_t step, const std::vector<int64_t>& beside) {
    VerifyOptions options;
    options.now = Time::from_seconds(4e9);
    for (const int64_t other : beside) options.beside.push_back(path(other));
    auto verdict = verify_checkpoint(disk, path(step), options);
    REQUIRE(verdict.ok());
    return std::move(*verdict);
  }
};

bool misses(const CheckpointVerdict& verdict, std::string_view path) {
  return std::any_of(verdict.problems.begin(), verdict.problems.end(), [&](const CheckpointProblem& one) {
    return one.path == path && one.trouble == Trouble::kMissing && one.breaks;
  });
}
bool notes(const CheckpointVerdict& verdict, std::string_view begin) {
  return std::any_of(verdict.notes.begin(), verdict.notes.end(),
                     [&](const std::string& note) { return note.starts_with(begin); });
}

TEST_CASE("a critic that the step before has, and the newest has not, is missing") {
  Tree tree("/ck/verl/global_step_20", "/out");
  tree.with_critic(10);
  tree.with_critic(20);
  tree.copy(30);
  const CheckpointVerdict newest = tree.look(30, {20, 10});
  CHECK(newest.state == State::kPartial);
  CHECK(misses(newest, "critic"));
  CHECK_FALSE(misses(tree.look(20, {30, 10}), "critic"));
  // Also for a scan, which knows the one before only.
  const CheckpointScan before = scan_checkpoint(tree.disk, tree.path(20), 20, nullptr);
  CHECK(before.verified);
  const CheckpointScan scan = scan_checkpoint(tree.disk, tree.path(30), 30, &before);
  CHECK(scan.seen.how != event::CheckpointSeen::How::kWhole);
  tree.with_critic(30);
  CHECK_FALSE(misses(tree.look(30, {20, 10}), "critic"));
}

TEST_CASE("a step without the critic that later ones have is whole, and is not resumed from with a critic") {
  Tree tree("/ck/verl/global_step_20", "/out");
  for (const int64_t step : {10, 20, 30, 40}) tree.copy(step);
  tree.with_critic(50);
  for (const int64_t step : {10, 40}) {  // far from it, too
    const CheckpointVerdict old =
        tree.look(step, step == 10 ? std::vector<int64_t>{20, 30} : std::vector<int64_t>{50, 30});
    CHECK(old.state == State::kWhole);
    CHECK(old.resumable == Resumable::kNo);
    CHECK(lacks_of(old) == "critic");
    CHECK(notes(old, "critic is not in it, and is in global_step_50"));
  }
  CHECK(tree.look(50, {40, 30}).resumable == tree.look(50, {}).resumable);
}

TEST_CASE("a run that went on without a critic is whole") {
  Tree tree("/ck/verl/global_step_20", "/out");
  tree.with_critic(10);
  for (const int64_t step : {20, 30, 40}) tree.copy(step);
  for (const int64_t step : {20, 30, 40}) {
    const CheckpointVerdict verdict = tree.look(step, step == 20   ? std::vector<int64_t>{10, 30}
                                                      : step == 30 ? std::vector<int64_t>{20, 40}
                                                                   : std::vector<int64_t>{30, 20});
    CAPTURE(step);
    CHECK(verdict.state == State::kWhole);
    CHECK(lacks_of(verdict).empty());
  }
}

TEST_CASE("a rank of Megatron's that the step beside it has is missing, whatever the arguments say") {
  FakeDisk disk;
  testing::put_samples(disk);
  const std::string from = "/ck/megatron-legacy/iter_0000020/mp_rank_00/model_optim_rng.pt";
  const std::string content = disk.content(from);
  const auto put = [&](int step, int rank, const std::string& bytes) {
    disk.put(cat("/out/iter_00000", step, "/mp_rank_0", rank, "/model_optim_rng.pt"), bytes);
  };
  const auto look = [&](int step, const std::vector<std::string>& beside, const std::string& before = "") {
    VerifyOptions options;
    options.now = Time::from_seconds(4e9);
    options.beside = beside;
    options.before = before;
    auto verdict = verify_checkpoint(disk, cat("/out/iter_00000", step), options);
    REQUIRE(verdict.ok());
    return std::move(*verdict);
  };
  for (const int step : {10, 20}) {
    put(step, 0, content);
    put(step, 1, content);
    put(step, 2, content);
  }
  put(30, 0, content);
  put(30, 1, content);  // as many as its arguments say, and one fewer than before
  CHECK_FALSE(misses(look(30, {}), "mp_rank_02"));
  CHECK(misses(look(30, {"/out/iter_0000020", "/out/iter_0000010"}), "mp_rank_02"));
  CHECK(misses(look(30, {}, "/out/iter_0000020"), "mp_rank_02"));
  CHECK_FALSE(misses(look(20, {"/out/iter_0000010", "/out/iter_0000030"}), "mp_rank_02"));
  // On fewer machines each rank holds more.
  const std::string larger = disk.content("/ck/trl/checkpoint-20/optimizer.pt");
  put(30, 0, larger);
  put(30, 1, larger);
  CHECK_FALSE(misses(look(30, {"/out/iter_0000020", "/out/iter_0000010"}), "mp_rank_02"));
}

TEST_CASE("no run has a critic: nothing is said") {
  Tree tree("/ck/verl/global_step_20", "/out");
  for (const int64_t step : {10, 20, 30}) tree.copy(step);
  const CheckpointVerdict verdict = tree.look(30, {20, 10});
  CHECK(verdict.state == State::kWhole);
  CHECK_FALSE(notes(verdict, "critic"));
}

TEST_CASE("what both before it have and the newest has not is a note") {
  Tree tree("/ck/verl/global_step_20", "/out");
  for (const int64_t step : {10, 20, 30}) tree.copy(step);
  tree.disk.put("/out/global_step_10/replay_buffer.dat", "x");
  tree.disk.put("/out/global_step_20/replay_buffer.dat", "x");
  CHECK(notes(tree.look(30, {20, 10}), "replay_buffer.dat is not in it, and is in global_step_20 and global_step_10"));
  CHECK_FALSE(notes(tree.look(30, {20}), "replay_buffer.dat"));
  CHECK_FALSE(notes(tree.look(20, {30, 10}), "replay_buffer.dat"));
}

TEST_CASE("SkyRL's state of asynchronous training is missing where the step before has it") {
  FakeDisk disk;
  testing::put_samples(disk);
  disk.put("/ck/skyrl/global_step_10/fully_async_state.pt", disk.content("/ck/skyrl/global_step_10/trainer_state.pt"));
  VerifyOptions options;
  options.now = Time::from_seconds(4e9);
  options.beside = {"/ck/skyrl/global_step_10"};
  const auto verdict = verify_checkpoint(disk, "/ck/skyrl/global_step_20", options);
  REQUIRE(verdict.ok());
  CHECK(verdict->state == State::kPartial);
  CHECK(misses(*verdict, "fully_async_state.pt"));
}

}  // namespace
}  // namespace mw
