#include "sense/checkpoints/nearer_step.h"

#include <doctest/doctest.h>

#include <cstring>

#include "base/prng.h"
#include "platform/fake/fake_disk.h"
#include "sense/checkpoints/deep_read.h"
#include "sense/checkpoints/verdict_text_for_test.h"

namespace mw {
namespace {

using State = CheckpointVerdict::State;

std::string safetensors(const std::vector<float>& numbers) {
  const std::string header = cat(R"({"w)", "\":{\"dtype\":\"F32\",\"shape\":[", numbers.size() / 64,
                                 ",64],\"data_offsets\":[0,", numbers.size() * 4, "]}}");
  std::string out(8 + header.size() + numbers.size() * 4, '\0');
  const uint64_t size = header.size();
  std::memcpy(out.data(), &size, 8);
  std::memcpy(out.data() + 8, header.data(), header.size());
  std::memcpy(out.data() + 8 + header.size(), numbers.data(), numbers.size() * 4);
  return out;
}

/// Checkpoints of steps 10 to 50, each of three shards, all of one time. `decay`: how much less each stretch changes.
struct Walk {
  FakeDisk disk;
  static std::string path(int step, int shard) {
    return cat("/ck/checkpoint-", step, "/layers_", shard, ".safetensors");
  }
  explicit Walk(double decay = 1, bool first_frozen = false) {
    Prng random(7);
    disk.set_time(Time::from_seconds(1768465800));
    double change = 0.01;
    std::vector<std::vector<float>> shards(3, std::vector<float>(8192));
    const auto move = [&](double by) {
      for (size_t shard = 0; shard < shards.size(); ++shard) {
        for (float& one : shards[shard]) {
          const double draw = static_cast<double>(random.below(2001)) / 1000 - 1;
          if (shard > 0 || !first_frozen || by == 1) one += static_cast<float>(draw * by);
        }
      }
    };
    move(1);
    for (int step = 10; step <= 50; step += 10, change *= decay) {
      move(change);
      for (int shard = 1; shard <= 3; ++shard)
        disk.put(path(step, shard), safetensors(shards[static_cast<size_t>(shard) - 1]));
    }
  }
  void exchange(int a, int b, int shard) {
    const std::string one = disk.content(path(a, shard));
    disk.put(path(a, shard), disk.content(path(b, shard)));
    disk.put(path(b, shard), one);
  }
  CheckpointVerdict verdict(int step) {
    VerifyOptions options;
    options.now = Time::from_seconds(4e9);
    options.deep = true;
    const std::string folder = cat("/ck/checkpoint-", step);
    options.beside = nearest_beside(disk, folder, 2);
    return *verify_checkpoint(disk, folder, options);
  }
};

TEST_CASE("shards of two steps that changed places lie in the wrong order, whatever their times") {
  for (const auto& [a, b] : {std::pair(20, 30), {30, 40}}) {
    Walk walk;
    for (const int step : {10, 20, 30, 40, 50}) CHECK_MESSAGE(walk.verdict(step).state == State::kWhole, step);
    walk.exchange(a, b, 2);
    for (const int step : {10, 20, 30, 40, 50}) {
      const CheckpointVerdict verdict = walk.verdict(step);
      CAPTURE(step);
      CAPTURE(text_of(verdict));
      const bool exchanged = step == a || step == b;
      CHECK((verdict.state == State::kSuspect) == exchanged);
      if (exchanged)
        CHECK(contains(text_of(verdict),
                       cat("layers_2.safetensors: its weights lie as if it had changed places with that "
                           "of checkpoint-",
                           step == a ? b : a)));
    }
  }
}

TEST_CASE("what hardly moves any more, whole checkpoints that changed places, and two shards of three say nothing") {
  Walk slow(0.3);
  slow.exchange(30, 40, 2);
  Walk all;
  for (const int shard : {1, 2, 3}) all.exchange(20, 30, shard);
  Walk two;
  for (const int shard : {1, 2}) two.exchange(20, 30, shard);
  for (Walk* const walk : {&slow, &all, &two}) {
    for (const int step : {10, 20, 30, 40, 50}) CHECK(walk->verdict(step).state == State::kWhole);
  }
  Walk frozen(1, true);
  for (const int step : {10, 20, 30, 40, 50}) CHECK(frozen.verdict(step).state == State::kWhole);
}

}  // namespace
}  // namespace mw
