#include "read/files/json_arrays.h"

#include <doctest/doctest.h>

#include "read/files/json_document.h"
#include "read/files/testing/recording_sink.h"
#include "read/testing/whole_log.h"

namespace mw {
namespace {

std::string document(std::string_view text) {
  return decode_log([] { return std::make_unique<JsonDocumentDecoder>(false); }, text, 0, 0);
}

/// "[0.1, 0.11, …]"
std::string list(size_t count, int first) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += cat(out.empty() ? "0." : ", 0.", first + static_cast<int>(i % 10));
  return cat("[", out, "]");
}

std::string counts(int first, int last, int by) {
  std::string out;
  for (int i = first; i <= last; i += by) out += cat(out.empty() ? "" : ", ", i);
  return cat("[", out, "]");
}

}  // namespace

TEST_CASE("json arrays: a name of many is the figure's name") {
  CHECK(name_of_one("rewards_per_episode") == "reward");
  CHECK(name_of_one("loss_history") == "loss");
  CHECK(name_of_one("train_losses") == "train_loss");
  CHECK(name_of_one("rewards/margins") == "rewards/margin");
  CHECK(name_of_one("loss") == "loss");
  CHECK(name_of_one("address") == "address");
  CHECK(name_of_one("_history") == "_history");
}

TEST_CASE("json arrays: the history within an object, and no scores of other policies") {
  const std::string log =
      document(cat(R"({"task_hard": {"history": {"train_rewards": )", list(60, 20), R"(, "eval_rewards": )",
                   list(6, 30), R"(, "episodes": )", counts(10, 60, 10), R"(}, "random_rewards": )", list(30, 10),
                   R"(, "trained_rewards": )", list(5, 50), R"(, "summary": {"episodes": 60}}})"));
  CHECK(contains(log, "row 1 step 1 at  train_reward=0.2\n"));
  CHECK(contains(log, "row 10 step 10 at  train_reward=0.29 eval_reward=0.3\n"));
  CHECK(contains(log, "row 60 step 60 at  train_reward=0.29 eval_reward=0.35\n"));
  CHECK_FALSE(contains(log, "random"));
  CHECK_FALSE(contains(log, "row 61"));
}

TEST_CASE("json arrays: several tasks below one figure are arms") {
  const std::string text = cat(R"({"rewards_per_episode": {"a": )", list(8, 20), R"(, "b": )", list(8, 40),
                               R"(}, "td_losses_per_episode": {"a": )", list(8, 60), R"(, "b": )", list(8, 70),
                               R"(}, "comparison": {"random": {"a": 0.25}, "trained": {"a": 0.5}}})");
  const std::string log = document(text);
  CHECK(contains(log, "row 1 step 1 at  reward=0.2 td_loss=0.6 arm='a'\n"));
  CHECK(contains(log, "row 9 step 1 at  reward=0.4 td_loss=0.7 arm='b'\n"));
  CHECK(contains(log, "row 16 step 8 at "));
  const std::string seeds = cat(R"({"seed_1": {"losses": )", list(6, 20), R"(, "rewards": )", list(6, 30),
                                R"(}, "seed_2": {"losses": )", list(6, 40), R"(, "rewards": )", list(6, 50), "}}");
  CHECK(contains(document(seeds), "row 7 step 1 at  loss=0.4 reward=0.5 arm='seed_2'\n"));
}

TEST_CASE("json arrays: parts of one training are figures of their own") {
  const std::string log =
      document(cat(R"({"train": {"loss": )", list(6, 20), R"(}, "val": {"loss": )", list(6, 30), "}}"));
  CHECK(contains(log, "row 6 step 6 at  train/loss=0.25 val/loss=0.35\n"));
  const std::string networks =
      document(cat(R"({"actor": {"loss": )", list(6, 20), R"(}, "critic": {"loss": )", list(6, 30), "}}"));
  CHECK(contains(networks, "actor/loss=0.25 critic/loss=0.35\n"));
}

TEST_CASE("json arrays: each list has the steps of its own part, and one more value than steps is the end's") {
  const std::string log =
      document(cat(R"({"train_loss": )", list(20, 20), R"(, "eval_loss": [0.7, 0.6], "rewards_chosen": )", list(21, 30),
                   R"(, "train_steps": )", counts(10, 200, 10), R"(, "eval_steps": [100, 200], "runtime": 5.5})"));
  CHECK(contains(log, "row 1 step 10 at  train_loss=0.2 rewards_chosen=0.3\n"));
  CHECK(contains(log, "row 10 step 100 at  train_loss=0.29 eval_loss=0.7 rewards_chosen=0.39\n"));
  CHECK(contains(log, "row 20 step 200 at "));
  CHECK_FALSE(contains(log, "row 21"));
  // Every second step was evaluated; seven values of twenty steps are of nobody knows which.
  const std::string spread = document(cat(R"({"step": )", counts(1, 20, 1), R"(, "loss": )", list(20, 20),
                                          R"(, "kl": )", list(10, 30), R"(, "entropy": )", list(7, 40), "}"));
  CHECK(contains(spread, "row 2 step 2 at  loss=0.21 kl=0.3\n"));
  CHECK_FALSE(contains(spread, "entropy"));
}

TEST_CASE("json arrays: two lists of one name keep their own") {
  CHECK(contains(document(R"({"rewards": [0.1, 0.2], "reward_history": [0.3, 0.4]})"),
                 "row 2 step 2 at  reward=0.2 reward_history=0.4\n"));
}

TEST_CASE("json arrays: scores of answers, settings and histograms are no course of a training") {
  for (const std::string& text :
       {cat(R"({"gsm8k": {"scores": )", list(50, 10), R"(, "rewards": )", list(50, 10), "}}"),
        cat(R"({"optimizer": {"betas": )", list(9, 10), R"(}, "lora": {"ranks": )", counts(8, 64, 8), "}}"),
        cat(R"({"train/reward": {"_type": "histogram", "values": )", list(9, 10), R"(, "bins": )", list(10, 10), "}}"),
        cat(R"({"training_set": {"lengths": )", counts(8, 64, 8), "}}")}) {
    CAPTURE(text);
    CHECK_FALSE(contains(document(text), "step 5"));
  }
}

TEST_CASE("json arrays: a document of tasks is read as arms of one run") {
  std::string a, b;
  for (int i = 0; i < 40; ++i) {
    a += cat(i == 0 ? "" : ", ", format_double(0.3 + 0.005 * i));
    b += cat(i == 0 ? "" : ", ", format_double(0.4 + 0.004 * i));
  }
  const State state =
      state_of(cat(R"({"rewards_per_episode": {"sort": [)", a, R"(], "merge": [)", b, "]}}"), "results.json");
  REQUIRE(state.find("reward.mean") != nullptr);
  CHECK(state.attempts.back().last_step == 40);
}

}  // namespace mw
