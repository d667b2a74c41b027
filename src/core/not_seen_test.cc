#include "core/not_seen.h"

#include <doctest/doctest.h>

#include <string>

namespace mw {
namespace {

State run_with(const std::vector<std::pair<std::string, std::string>>& signals, int steps = 20) {
  State state;
  fold(state, {{}, {0, 0}, event::SourceOpened{0, "train.log", "text", 0, 0, 0}});
  for (int step = 1; step <= steps; ++step) {
    event::Measured measured{step, false, {}};
    for (const auto& [signal, raw] : signals) measured.readings.push_back({signal, raw, 0.5});
    fold(state, {{}, {0, static_cast<uint64_t>(step)}, std::move(measured)});
  }
  return state;
}

TEST_CASE("figures of the machine and of the engine are no candidates for the reward") {
  CHECK(not_seen(run_with({{"loss.total", "loss"}, {"", "system/memory_percent"}, {"", "vllm/prompt_throughput"}}))
            .empty());
  const auto said = not_seen(run_with({{"loss.total", "loss"}, {"", "system/memory_percent"}, {"", "J"}}));
  REQUIRE(said.size() == 1);
  CHECK(said[0].find("system/") == std::string::npos);
}

TEST_CASE("a training without a known reward gets a sentence on how to name it") {
  const auto said = not_seen(run_with({{"loss.total", "loss"}, {"", "J"}, {"", "H"}, {"", "epoch_Time"}}));
  REQUIRE(said.size() == 1);
  CHECK(said[0] ==
        "No reward was recognised. Other figures: J, H. If one is the reward, name it in midwatch.toml: [signals] "
        "reward = \"J\"");
}

TEST_CASE("the share of valid rewards is no reward, and what is named like one comes first") {
  const auto said = not_seen(run_with({{"loss.total", "loss"},
                                       {"reward.component.valid_rate", "reward_valid_rate"},
                                       {"", "J"},
                                       {"", "terminal_reward"}}));
  REQUIRE(said.size() == 1);
  CHECK(said[0].find("figures: terminal_reward, J.") != std::string::npos);
}

TEST_CASE("where a reward is known, nothing else is logged, or hardly anything, nothing is said") {
  CHECK(not_seen(run_with({{"loss.total", "loss"}, {"reward.mean", "r"}, {"", "J"}})).empty());
  CHECK(not_seen(run_with({{"loss.total", "loss"}, {"lr", "lr"}})).empty());
  CHECK(not_seen(run_with({{"loss.total", "loss"}, {"", "J"}}, 5)).empty());
  CHECK(not_seen(State()).empty());
  State few = run_with({{"loss.total", "loss"}, {"", "J"}});
  fold(few, {{}, {0, 21}, event::Measured{20, false, {{"reward.mean", "r", 0.5}}}});  // once for many steps
  CHECK(not_seen(few).empty());
}

}  // namespace
}  // namespace mw
