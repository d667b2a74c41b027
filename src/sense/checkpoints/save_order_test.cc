// A save over an earlier one of the same step that was cut: times that contradict the order in which a framework
// writes, what an earlier --deep recorded, and the attempt that ended meanwhile.
#include "sense/checkpoints/save_order.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/prng.h"
#include "sense/checkpoints/last_whole.h"
#include "sense/checkpoints/samples_for_test.h"
#include "sense/checkpoints/scan.h"
#include "sense/checkpoints/verdict_text_for_test.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

using State = CheckpointVerdict::State;

constexpr double kFirst = 1768465800, kAgain = kFirst + 2400;

/// A checkpoint of the samples, and its files in an order in which its trainer may write them.
struct Case {
  const char* path;
  std::vector<const char*> order;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> kAll = {
      {"/ck/verl/global_step_20",
       {"actor/model_world_size_2_rank_0.pt", "actor/model_world_size_2_rank_1.pt",
        "actor/optim_world_size_2_rank_0.pt", "actor/optim_world_size_2_rank_1.pt",
        "actor/extra_state_world_size_2_rank_0.pt", "actor/extra_state_world_size_2_rank_1.pt", "data.pt"}},
      {"/ck/skyrl/global_step_20",
       {"policy/model_world_size_2_rank_0.pt", "policy/model_world_size_2_rank_1.pt",
        "policy/optim_world_size_2_rank_0.pt", "policy/optim_world_size_2_rank_1.pt",
        "policy/extra_state_world_size_2_rank_0.pt", "policy/extra_state_world_size_2_rank_1.pt", "data.pt",
        "trainer_state.pt"}},
      {"/ck/trl/checkpoint-20", {"model.safetensors", "optimizer.pt", "scheduler.pt", "trainer_state.json"}},
      {"/ck/trl-lora/checkpoint-20",
       {"adapter_model.safetensors", "optimizer.pt", "scheduler.pt", "trainer_state.json"}},
      {"/ck/verl-megatron/global_step_20",
       {"actor/model/dist_ckpt/__0_0.distcp", "actor/model/dist_ckpt/.metadata", "actor/model/dist_ckpt/metadata.json",
        "actor/optimizer/dist_ckpt/__0_0.distcp", "actor/optimizer/dist_ckpt/.metadata",
        "actor/optimizer/dist_ckpt/metadata.json", "actor/ckpt_contents.json"}},
      {"/ck/slime/iter_0000020", {"__0_0.distcp", "__0_1.distcp", ".metadata", "metadata.json"}},
      {"/ck/openrlhf/_actor/global_step20",
       {"mp_rank_00_model_states.pt", "bf16_zero_pp_rank_0_mp_rank_00_optim_states.pt",
        "bf16_zero_pp_rank_1_mp_rank_00_optim_states.pt", "metric.json"}},
      {"/ck/prime-rl/checkpoints/step_20", {"trainer/__0_0.distcp", "trainer/.metadata"}}};
  return kAll;
}

struct World {
  FakeDisk disk;
  World() { testing::put_samples(disk); }

  void write(const std::string& path, double at, const std::string& content) {
    REQUIRE(disk.exists(path));
    disk.set_time(Time::from_seconds(at));
    disk.put(path, content);
  }
  void touch(const std::string& path, double at) { write(path, at, disk.content(path)); }
  void begin(const Case& one) {
    double at = kFirst;
    for (const char* file : one.order) touch(cat(one.path, "/", file), at += 5);
  }
  void again(const Case& one, size_t files) {
    double at = kAgain;
    for (size_t i = 0; i < files; ++i) touch(cat(one.path, "/", one.order[i]), at += 5);
  }

  CheckpointVerdict look(const std::string& path, const std::vector<EndedAttempt>& attempts = {}) {
    VerifyOptions options;
    options.now = Time::from_seconds(kAgain + 36000);
    options.attempts = attempts;
    auto verdict = verify_checkpoint(disk, path, options);
    REQUIRE(verdict.ok());
    return std::move(*verdict);
  }
};

EndedAttempt attempt_of(double began, double ended, int64_t last_step, int64_t first_step = 11) {
  return {Time::from_seconds(began), Time::from_seconds(ended), first_step, last_step};
}

bool says_cut(const CheckpointVerdict& verdict) {
  return std::any_of(verdict.problems.begin(), verdict.problems.end(),
                     [](const CheckpointProblem& one) { return contains(one.what, "was cut"); });
}

TEST_CASE("a save over an earlier one of its step that was cut anywhere is worth knowing") {
  for (const Case& one : cases()) {
    for (size_t cut = 0; cut <= one.order.size(); ++cut) {
      World world;
      world.begin(one);
      world.again(one, cut);
      const CheckpointVerdict verdict = world.look(one.path);
      INFO(one.path, " ", cut, " ", text_of(verdict));
      CHECK(verdict.state == State::kWhole);
      CHECK(says_cut(verdict) == (cut != 0 && cut != one.order.size()));
    }
  }
}

TEST_CASE("it is suspect where the attempt that wrote it was at that step and ended, and the rest is older") {
  for (const Case& one : cases()) {
    for (size_t cut = 1; cut <= one.order.size(); ++cut) {
      World world;
      world.begin(one);
      world.again(one, cut);
      const auto look = [&](const EndedAttempt& attempt) { return world.look(one.path, {attempt}); };
      const bool whole = cut == one.order.size();
      const CheckpointVerdict verdict = look(attempt_of(kAgain - 1200, kAgain + 60, 20));
      INFO(one.path, " ", cut, " ", text_of(verdict));
      CHECK(verdict.state == (whole ? State::kWhole : State::kSuspect));
      CHECK(verdict.half_saved_over == !whole);
      // It went on with the run for ten steps more, was not there yet, began earlier, or wrote none of it.
      CHECK(look(attempt_of(kAgain - 1200, kAgain + 60, 30)).state == State::kWhole);
      CHECK(look(attempt_of(kAgain - 1200, kAgain + 60, 12)).state == State::kWhole);
      CHECK(look(attempt_of(kFirst - 60, kAgain + 60, 20)).state == State::kWhole);
      CHECK(look(attempt_of(kAgain + 600, kAgain + 1200, 20)).state == State::kWhole);
      CHECK(look(attempt_of(kAgain - 1200, kAgain + 60, kNoStep)).state == State::kWhole);
      // It resumed from here, and may have put files into it that no save writes.
      CHECK(look(attempt_of(kAgain - 1200, kAgain + 60, 21, 21)).state == State::kWhole);
    }
  }
}

TEST_CASE("what a copy leaves is no save that was cut") {
  for (const Case& one : cases()) {
    const size_t count = one.order.size();
    // Backwards, in any order within a minute, all at the time of one, or long after the save.
    for (const double step : {-3.0, -1.0, 0.0, 600.0}) {
      World world;
      for (size_t i = 0; i < count; ++i)
        world.touch(cat(one.path, "/", one.order[i]), kAgain + step * static_cast<double>(i));
      const CheckpointVerdict verdict = world.look(one.path, {attempt_of(kAgain - 5, kAgain + 36000, 20)});
      INFO(one.path, " ", step, " ", text_of(verdict));
      CHECK(verdict.state == State::kWhole);
      CHECK_FALSE(says_cut(verdict));
    }
  }
}

TEST_CASE("a large file may come long after the small ones that a copy takes at the same time") {
  std::vector<TreeFile> files(4);
  files[3].path = "data.pt";
  for (size_t i = 0; i < 3; ++i) files[i].bytes = int64_t{5} << 30;
  const auto cut = [&](double seconds) {
    SaveOrder order;
    for (size_t i = 0; i < 4; ++i) {
      files[i].changed = Time::from_seconds(i == 3 ? kFirst : kFirst + seconds);
      order.push_back({&files[i], i == 3 ? 2 : 0});
    }
    return cut_save(order).has_value();
  };
  CHECK_FALSE(cut(800));  // three at once, at 20 MB/s together
  CHECK(cut(900));
}

/// As a tool copies files in some order, so many at once, at so many bytes a second together.
void copy_at(std::vector<TreeFile>& files, size_t at_once, double rate, bool dated_at_begin) {
  std::vector<double> left;
  std::vector<size_t> running;
  double now = kFirst;
  size_t next = 0;
  for (const TreeFile& file : files) left.push_back(static_cast<double>(file.bytes));
  while (next < files.size() || !running.empty()) {
    while (next < files.size() && running.size() < at_once) {
      if (dated_at_begin) files[next].changed = Time::from_seconds(now);
      running.push_back(next++);
    }
    const auto first =
        std::min_element(running.begin(), running.end(), [&](size_t a, size_t b) { return left[a] < left[b]; });
    const double each = left[*first];
    now += each * static_cast<double>(running.size()) / rate;
    for (const size_t one : running) left[one] -= each;
    if (!dated_at_begin) files[*first].changed = Time::from_seconds(now);
    running.erase(first);
  }
}

TEST_CASE("no copy in one go looks like a save that was cut, whatever its order, at 20 MB/s or more") {
  Prng random(11);
  for (int run = 0; run < 2000; ++run) {
    std::vector<TreeFile> files(2 + random.below(30));
    for (TreeFile& file : files) file.bytes = random.chance(0.5) ? 2000 : static_cast<int64_t>(random.below(20) << 30);
    const bool dated_at_begin = random.chance(0.3);  // then one after the other
    const double rate = 20e6 * (1.01 + static_cast<double>(random.below(50)));
    copy_at(files, dated_at_begin ? 1 : 1 + random.below(16), rate, dated_at_begin);
    SaveOrder order;
    for (const TreeFile& file : files) order.push_back({&file, static_cast<int>(random.below(4))});
    CAPTURE(run);
    CHECK_FALSE(cut_save(order).has_value());
  }
}

TEST_CASE("a trainer goes back behind what its last attempt saved over and left half done") {
  CheckpointLayout layout;
  layout.folder = "checkpoint-{step}";
  World world;
  const Case& trl = cases()[2];
  world.begin(trl);
  world.again(trl, 2);
  const auto find = [&](const EndedAttempt& attempt) {
    EarlierFindings earlier;
    earlier.attempts = {attempt};
    return find_last_whole(world.disk, {"/ck/trl"}, layout, kNoStep, {}, earlier);
  };
  CHECK(find(attempt_of(kFirst - 60, kAgain + 60, 20)).from == kNoStep);
  const LastWhole found = find(attempt_of(kAgain - 1200, kAgain + 60, 20));
  CHECK(found.from == 20);
  CHECK(found.kept == 10);
  CHECK(contains(found.why, "trainer_state.json"));
}

TEST_CASE("of a supervised run the attempts that ended are known, each until the next one began") {
  mw::State state;
  state.attempts.resize(3);
  state.supervision.attempts.resize(3);
  for (size_t i = 0; i < 3; ++i) {
    SupervisedAttempt& life = state.supervision.attempts[i];
    life.started_at = Time::from_seconds(1000.0 * static_cast<double>(i + 1));
    life.exited_at = life.started_at + Duration::seconds(i == 0 ? 990 : 500);
    life.exited = i < 2;
    state.attempts[i].first_step = static_cast<int64_t>(10 * i) - 5;
    state.attempts[i].last_step = static_cast<int64_t>(10 * i);
  }
  const std::vector<EndedAttempt> ended = ended_attempts(state);
  REQUIRE(ended.size() == 2);
  CHECK(ended[0].until == Time::from_seconds(2000));
  CHECK(ended[1].began == Time::from_seconds(2000));
  CHECK(ended[1].until == Time::from_seconds(2560));
  CHECK(ended[1].first_step == 5);
  CHECK(ended[1].last_step == 10);
  state.attempts.resize(4);  // the log shows one more
  CHECK(ended_attempts(state).empty());
}

// ---- what an earlier --deep recorded

CheckpointVerdict deep(FakeDisk& disk, const std::string& path, const CheckpointManifest* earlier,
                       const CheckpointManifest* other = nullptr, bool reads = true) {
  VerifyOptions options;
  options.deep = reads;
  options.now = Time::from_seconds(kAgain + 36000);
  options.earlier = earlier;
  if (other != nullptr) options.others.push_back(other);
  auto verdict = verify_checkpoint(disk, path, options);
  REQUIRE(verdict.ok());
  return std::move(*verdict);
}

TEST_CASE("a save that wrote most files anew and not the last ones contradicts what was recorded") {
  const Case& trl = cases()[2];
  World world;
  world.begin(trl);
  const std::string path = trl.path;
  const CheckpointManifest then = manifest_of(deep(world.disk, path, nullptr), Time::from_seconds(kFirst + 100));
  // All but the trainer's state: without a place in the order, and within seconds.
  for (const ManifestFile& file : then.files) {
    if (file.path != "trainer_state.json") world.touch(cat(path, "/", file.path), kFirst + 130);
  }
  CHECK(deep(world.disk, path, &then).state == State::kWhole);  // a copy of the same bytes
  world.write(cat(path, "/scheduler.pt"), kFirst + 130, world.disk.content("/ck/trl/checkpoint-10/scheduler.pt"));
  const CheckpointVerdict cut = deep(world.disk, path, &then);
  INFO(text_of(cut));
  CHECK(cut.state == State::kCorrupt);
  CHECK(cut.problems.front().path == "scheduler.pt");
  CHECK(cut.compared);
  const CheckpointVerdict unread = deep(world.disk, path, &then, nullptr, false);
  CHECK(unread.state == State::kWhole);
  CHECK(std::any_of(unread.problems.begin(), unread.problems.end(),
                    [](const CheckpointProblem& one) { return contains(one.what, "was cut, or --deep finds"); }));
  world.touch(cat(path, "/trainer_state.json"), kFirst + 140);  // and so that save is done
  const CheckpointVerdict done = deep(world.disk, path, &then);
  CHECK(done.state == State::kWhole);
  CHECK_FALSE(done.compared);
}

TEST_CASE("a checkpoint of one file that became another step's is corrupt where both were recorded") {
  World world;
  const std::string ten = world.disk.content("/ck/torch-legacy/step-10/model.pt"),
                    twenty = world.disk.content("/ck/torch-legacy/step-20/model.pt");
  for (const char* name : {"step_20", "model"}) {
    FakeDisk disk;
    disk.set_time(Time::from_seconds(kFirst));
    const std::string own = cat("/one/", name, ".pt");
    disk.put("/one/step_10.pt", ten);
    disk.put(own, twenty);
    const CheckpointManifest then = manifest_of(deep(disk, own, nullptr), Time::from_seconds(kFirst + 100));
    CheckpointManifest other = manifest_of(deep(disk, "/one/step_10.pt", nullptr), Time::from_seconds(kFirst + 100));
    other.step = 10;
    other.files.front().path = basename(own);
    disk.set_time(Time::from_seconds(kAgain));
    disk.put(own, ten);
    const CheckpointVerdict verdict = deep(disk, own, &then, &other);
    INFO(text_of(verdict));
    CHECK((verdict.state == State::kCorrupt) == (std::string(name) == "step_20"));
    // Saved anew, with bytes of its own.
    disk.put(own, twenty + std::string(1, '\0'));
    CHECK_FALSE(contains(text_of(deep(disk, own, &then, &other)), "are those of"));
    // Both always were the same.
    CheckpointManifest same = then;
    same.step = 10;
    disk.put(own, twenty);
    CHECK(deep(disk, own, &then, &same).state != State::kCorrupt);
  }
}

}  // namespace
}  // namespace mw
