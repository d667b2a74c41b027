#include "read/known_rows.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "read/run_reader.h"
#include "read/testing/whole_log.h"

namespace mw {
namespace {

class StillClock final : public Clock {
 public:
  Time now() override { return {1'700'000'000'000'000'000}; }
  Duration steady() override { return steady_ = {steady_.ns + 1000}; }

 private:
  Duration steady_;
};

/// As transformers writes it, with a record for each tenth step; the rewards are those of the run `of`.
std::string state_file(int last, double of = 0) {
  std::string records;
  for (int step = 10; step <= last; step += 10) {
    records += cat(step > 10 ? "," : "", R"({"epoch": 0.)", step, R"(, "loss": 0.5, "reward": )", of + 0.001 * step,
                   R"(, "reward_std": 0.25, "step": )", step, "}");
  }
  return cat(R"({"best_metric": null, "epoch": 0.)", last, R"(, "global_step": )", last,
             R"(, "is_world_process_zero": true, "log_history": [)", records, R"(], "max_steps": 100})", "\n");
}

TEST_CASE("a history that its trainer writes anew at each save is one run's, and another run's is another attempt") {
  FakeDisk disk;
  StillClock clock;
  const std::string path = "/run/trainer_state.json";
  disk.put(path, state_file(10));
  RunReader reader(disk, built_in_knowledge(), Judge::kAtClose, nullptr, {}, &clock);
  REQUIRE(reader.open({path}, "").ok());
  const auto read = [&reader] {
    for (int i = 0; i < 20; ++i) (void)reader.turn();
  };
  read();
  for (int last = 20; last <= 60; last += 10) {
    disk.put(path, state_file(last));
    read();
  }
  const State& state = reader.state();
  CHECK(state.steps().last == 60);
  REQUIRE(state.find("reward.mean") != nullptr);
  CHECK(state.find("reward.mean")->count() == 6);
  CHECK(state.attempts.size() == 1);
  CHECK(state.sources.size() == 1);
  disk.put(path, state_file(30, 0.5));
  read();
  CHECK(state.attempts.size() == 2);
  CHECK(state.find("reward.mean")->count() == 9);
}

TEST_CASE("rows are known as long as each is the one that stood in its place") {
  KnownRows known;
  const auto row = [&known](double value) {
    const RowNumber number{"loss", value};
    Row one;
    one.step = 7;
    one.numbers = {&number, 1};
    return known.is_known(one);
  };
  CHECK_FALSE(row(1));
  CHECK_FALSE(row(2));
  CHECK_FALSE(row(3));
  known.begin_anew();
  CHECK(row(1));
  CHECK_FALSE(row(5));
  CHECK_FALSE(row(3));
  known.begin_anew();
  CHECK(row(1));
  CHECK(row(5));
  CHECK(row(3));
  CHECK_FALSE(row(4));
}

}  // namespace
}  // namespace mw
