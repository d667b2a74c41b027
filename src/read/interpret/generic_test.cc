#include "read/interpret/generic.h"

#include <doctest/doctest.h>

#include <map>
#include <string>

#include "base/text.h"

namespace mw {
namespace {

struct Read {
  GenericReader::Found found;
  std::map<std::string, double> signals;
};

Read read(GenericReader& reader, const DialectBook& book, std::string_view text, uint64_t number = 1) {
  MetricLine line;
  Read out;
  out.found = reader.read(text, number, line);
  for (const RowNumber& reading : line.numbers()) {
    const Meaning means = book.generic_meaning(reading.key);
    if (!means.signal.empty()) out.signals[means.signal] = reading.value;
  }
  return out;
}

TEST_CASE("lines of trainers that nobody described") {
  const auto book = DialectBook::built_in();
  REQUIRE(book.ok());
  struct Case {
    std::string_view text;
    int64_t step, total;
    std::map<std::string, double> signals;
  };
  const Case cases[] = {
      {"Step 12 | loss 0.5 | reward: 0.25", 12, 0, {{"loss.total", 0.5}, {"reward.mean", 0.25}}},
      {"step.12 train.loss=0.5 train.lr=0.01", 12, 0, {{"loss.total", 0.5}, {"lr", 0.01}}},
      {"s=12 loss=0.5 reward=0.25 t=3.1s", 12, 0, {{"loss.total", 0.5}, {"reward.mean", 0.25}}},
      {"Step 12: PolicyLoss=0.5 RewardMean=0.25", 12, 0, {{"loss.policy", 0.5}, {"reward.mean", 0.25}}},
      {"Step 12: gradNorm=0.5 meanReward=0.25", 12, 0, {{"grad_norm", 0.5}, {"reward.mean", 0.25}}},
      {"s=12/40 loss=0.5 reward=0.25", 12, 40, {{"loss.total", 0.5}, {"reward.mean", 0.25}}},
      {"s=1.5 loss=0.5 reward=0.25", kNoStep, 0, {{"loss.total", 0.5}, {"reward.mean", 0.25}}},
      {"[step 3/100] loss=0.5 mean_reward=0.25 kl=0.1",
       3,
       100,
       {{"loss.total", 0.5}, {"reward.mean", 0.25}, {"kl.ref", 0.1}}},
      {"iter 10: loss 4.5, time 30ms, mfu 3%", 10, 0, {{"loss.total", 4.5}, {"throughput.mfu", 3}}},
      {"Epoch:[1/1](7/9000), Reward: -2.5, Actor Loss: 0.5, Avg Response Len: 27.5",
       7,
       9000,
       {{"reward.mean", -2.5}, {"loss.policy", 0.5}, {"response.length", 27.5}}},
      {"GRPO step 10/500 | loss: 0.5 | mean_reward: -1.0 | KL: 0.25 | clip_frac: 0.0",
       10,
       500,
       {{"loss.total", 0.5}, {"reward.mean", -1}, {"kl.ref", 0.25}, {"clip.frac", 0}}},
      {"{'step': 4, 'train/reward': 0.5, 'train/loss': 0.25}",
       kNoStep,
       0,
       {{"reward.mean", 0.5}, {"loss.total", 0.25}}},
      {"{\"global_step\": 4, \"reward/mean\": 0.5, \"entropy\": 1.5}",
       kNoStep,
       0,
       {{"reward.mean", 0.5}, {"entropy", 1.5}}},
      {" 12%|#2   | 12/100 [00:10<01:20, 1.10it/s, loss=0.5, reward=0.25]",
       12,
       100,
       {{"loss.total", 0.5}, {"reward.mean", 0.25}}},
      {"update 5 reward 0.5 entropy 1.5 grad_norm 0.25",
       5,
       0,
       {{"reward.mean", 0.5}, {"entropy", 1.5}, {"grad_norm", 0.25}}},
      {R"({"time": "2026-05-01T10:00:00Z", "level": "INFO", "message": "step 3: loss=0.5 reward=0.25"})",
       3,
       0,
       {{"loss.total", 0.5}, {"reward.mean", 0.25}}},
      {R"({"ts": 1767323045.5, "pid": 71, "msg": "{\"step\": 3, \"loss\": 0.5, \"reward\": 0.25}"})",
       kNoStep,
       0,
       {{"loss.total", 0.5}, {"reward.mean", 0.25}}},
      {"global_step=3442, episodic_return=[15.5]", 3442, 0, {{"reward.mean", 15.5}}},
      {"global_step=3442, charts/episodic_return=15.5, losses/entropy=0.5",
       3442,
       0,
       {{"reward.mean", 15.5}, {"entropy", 0.5}}},
      {"Epoch(train) [1][20/735]  lr: 0.01  eta: 2:46:39  loss: 2.5  grad_norm: 0.5",
       20,
       735,
       {{"loss.total", 2.5}, {"grad_norm", 0.5}}},
      {"3916/5000: episode: 56, episode steps: 13, episode reward: 13.0, loss: 78.5",
       3916,
       5000,
       {{"reward.mean", 13}, {"loss.total", 78.5}}},
      {"episode: 12, episode steps: 130, reward: 0.5, loss: 78.5", 12, 0, {{"reward.mean", 0.5}, {"loss.total", 78.5}}},
      {"[GRPO] step 3/400 R=0.5 L=0.25 kl=0.1", 3, 400, {{"loss.total", 0.25}, {"reward.mean", 0.5}, {"kl.ref", 0.1}}},
      {"步骤 3/400 损失: 0.5 奖励: 0.25", 3, 400, {{"loss.total", 0.5}, {"reward.mean", 0.25}}},
      {"[base_lr] Step   3/30 | loss=-1.5 | reward=0.25", 3, 30, {{"loss.total", -1.5}, {"reward.mean", 0.25}}},
      {"[math100]   9/100 | loss=-0.5 | reward=0.25", 9, 100, {{"loss.total", -0.5}, {"reward.mean", 0.25}}},
      {"Iteration 7: avg reward = 0.5, policy loss = 0.25", 7, 0, {{"reward.mean", 0.5}, {"loss.policy", 0.25}}},
      {"step12: reward=0.25 loss=0.5", 12, 0, {{"loss.total", 0.5}, {"reward.mean", 0.25}}},
      {"Step12/60, Reward:0.25, Loss:0.5", 12, 60, {{"loss.total", 0.5}, {"reward.mean", 0.25}}},
      {"Step=0012/0400 reward=0.25 loss=0.5", 12, 400, {{"loss.total", 0.5}, {"reward.mean", 0.25}}},
      {"[iter000012] loss: 0.5, reward: 0.25", 12, 0, {{"loss.total", 0.5}, {"reward.mean", 0.25}}},
      {"train_step_12: loss=0.5, reward=0.25", 12, 0, {{"loss.total", 0.5}, {"reward.mean", 0.25}}},
      {"it 3k | loss 0.5 | reward 0.25", 3000, 0, {{"loss.total", 0.5}, {"reward.mean", 0.25}}},
      {"step 1.25k/10k loss 0.5 reward 0.25", 1250, 10000, {{"loss.total", 0.5}, {"reward.mean", 0.25}}},
      {"loaded /ckpt/step12: loss=0.5, reward=0.25", kNoStep, 0, {{"loss.total", 0.5}, {"reward.mean", 0.25}}},
      {"step12.pt: loss=0.5, reward=0.25", kNoStep, 0, {{"loss.total", 0.5}, {"reward.mean", 0.25}}},
  };
  for (const Case& c : cases) {
    GenericReader reader(*book);
    const Read got = read(reader, *book, c.text);
    CHECK_MESSAGE(got.found.record, c.text);
    CHECK_MESSAGE(got.found.step == c.step, c.text);
    CHECK_MESSAGE(got.found.total == c.total, c.text);
    for (const auto& expected : c.signals) {
      const auto found = got.signals.find(expected.first);
      const bool there = found != got.signals.end() && found->second == doctest::Approx(expected.second);
      CHECK_MESSAGE(there, expected.first, " in ", c.text);
    }
  }
}

TEST_CASE("what is no metric record is left alone") {
  const auto book = DialectBook::built_in();
  REQUIRE(book.ok());
  const std::string_view lines[] = {
      "{'learning_rate': 1e-06, 'batch_size': 8, 'num_epochs': 3, 'beta': 0.1, 'seed': 42}",
      "Namespace(lr=1e-06, batch_size=8, epochs=3, seed=42)",
      "Loading checkpoint shards: 100%|####| 4/4 [00:10<00:00, 2.6s/it]",
      "**Step 2: multiply** 3 * 14 = 42 apples",
      "The loss of 5 apples: 3 = 2, and the reward is 7.",
      "2026-01-02 10:20:30 connected to 10.0.0.1:8000",
      "Downloading: 35%|###   | 35/100 [00:01<00:02, 30.00MB/s]",
  };
  for (const std::string_view text : lines) {
    GenericReader reader(*book);
    CHECK_MESSAGE(!read(reader, *book, text).found.record, text);
  }
}

TEST_CASE("steps that begin again in every epoch go on counting") {
  const auto book = DialectBook::built_in();
  REQUIRE(book.ok());
  GenericReader reader(*book);
  CHECK(read(reader, *book, "Epoch 1/2, Step 99/100, loss: 0.5").found.step == 99);
  const Read next = read(reader, *book, "Epoch 2/2, Step 1/100, loss: 0.5");
  CHECK(next.found.step == 101);
  CHECK(next.found.total == 200);
}

TEST_CASE("the epoch may stand in a heading of its own") {
  const auto book = DialectBook::built_in();
  REQUIRE(book.ok());
  GenericReader reader(*book);
  const auto step = [&](int64_t number) {
    return read(reader, *book, cat("step ", number, "/40 reward 0.5 loss 0.25")).found;
  };
  (void)read(reader, *book, "===== Epoch 1/3 =====");
  CHECK(step(1).step == 1);
  CHECK(step(40).step == 40);
  (void)read(reader, *book, "===== Epoch 2/3 =====");
  CHECK(step(1).step == 41);
  CHECK(step(1).total == 120);
  CHECK(step(15).step == 55);
  (void)read(reader, *book, "===== Epoch 2/3 =====");  // it is killed, and begins the epoch anew
  CHECK(step(1).step == 41);
  CHECK(step(40).step == 80);
  (void)read(reader, *book, "Starting epoch 3");
  (void)read(reader, *book, "epoch time: 12.5, reward 0.5 loss 0.25");
  CHECK(step(2).step == 82);
}

TEST_CASE("below the heading of an epoch steps may count over the whole run") {
  const auto book = DialectBook::built_in();
  REQUIRE(book.ok());
  GenericReader reader(*book);
  int64_t number = 0;
  for (int epoch = 1; epoch <= 3; ++epoch) {
    (void)read(reader, *book, cat("--- epoch ", epoch, " ---"));
    for (int i = 0; i < 20; ++i) {
      ++number;
      const auto found = read(reader, *book, cat("step ", number, "/60 reward 0.5 loss 0.25")).found;
      CHECK(found.step == number);
      CHECK(found.total == 60);
    }
  }
}

TEST_CASE("epochs without a length are as long as they were, whether steps count from 0 or from 1") {
  const auto book = DialectBook::built_in();
  REQUIRE(book.ok());
  for (const int64_t first : {0, 1}) {
    CAPTURE(first);
    GenericReader reader(*book);
    int64_t last = 0;
    for (int epoch = 1; epoch <= 3; ++epoch) {
      for (int64_t i = first; i < first + 20; ++i)
        last = read(reader, *book, cat("[epoch ", epoch, "] step ", i, ": reward=0.5 loss=0.25")).found.step;
    }
    CHECK(last == 59 + first);
  }
}

TEST_CASE("a progress bar inside a step, inside an epoch, over held-out questions") {
  const auto book = DialectBook::built_in();
  REQUIRE(book.ok());
  GenericReader reader(*book);
  const std::string_view inner = "Iter 7 groups:  20%|##   | 4/20 [00:31<02:06,  7.9s/q, loss=0.25, mean_reward=0.5]";
  CHECK(read(reader, *book, inner).found.step == 7);
  CHECK(!read(reader, *book, "GSM eval:  20%|##   | 4/20 [00:31<02:06,  7.9s/q, score=0.5, acc=0.5]").found.record);
  GenericReader epochs(*book);
  CHECK(read(epochs, *book, "Epoch 1: 90%|####| 90/100 [00:31<02:06, 7.9s/it, loss=0.5, reward=0.5]").found.step == 90);
  CHECK(read(epochs, *book, "Epoch 2:  1%|    | 1/100 [00:31<02:06, 7.9s/it, loss=0.5, reward=0.5]").found.step == 101);
}

TEST_CASE("a count before the values is the step, and a line of values that says it is one of a known trainer") {
  const auto book = DialectBook::built_in();
  REQUIRE(book.ok());
  GenericReader reader(*book);
  const Read got = read(reader, *book, "[run-a]  12/50 | loss=-0.5 | reward=0.25 | acc=25.0%");
  CHECK(got.found.step == 12);
  CHECK(got.found.total == 50);
  CHECK(got.found.numbered);
  CHECK(read(reader, *book, "[13/50] loss: 0.5, reward: 0.25").found.step == 13);
  CHECK(read(reader, *book, "2026/01/02 loss: 0.5, reward: 0.25").found.step != 2026);
  CHECK(!read(reader, *book, "reward: 0.25, loss: 0.5").found.numbered);
}

TEST_CASE("a heading names the step of the values below it") {
  const auto book = DialectBook::built_in();
  REQUIRE(book.ok());
  GenericReader reader(*book);
  const Read heading = read(reader, *book, "=== Step 10 ===", 1);
  CHECK(heading.found.heading);
  CHECK(heading.found.step == 10);
  CHECK(read(reader, *book, "  mean_reward: 0.5", 2).found.record);
  CHECK(!read(reader, *book, "  mean_reward: 0.5", 500).found.record);

  const Read epoch = read(reader, *book, "host:0\tmodel.train:979\tINFO\t[step=11/2500,epoch=1]", 501);
  CHECK(epoch.found.heading);
  CHECK(epoch.found.step == 11);
  const Read loss = read(reader, *book, "    train/CrossEntropyLoss=3.674", 502);
  CHECK(loss.found.record);
  CHECK(loss.signals == std::map<std::string, double>{{"loss.total", 3.674}});
  CHECK(!read(reader, *book, "Args(step=11,epoch=1,lr=3)", 503).found.heading);
}

TEST_CASE("a figure below a heading that is no number is one all the same, though it has no digit") {
  const auto book = DialectBook::built_in();
  REQUIRE(book.ok());
  GenericReader reader(*book);
  CHECK(!read(reader, *book, "policy loss : nan", 1).found.record);
  CHECK(read(reader, *book, "=== Step 10/300 ===", 2).found.heading);
  for (const std::string_view text : {"  policy loss : nan", "loss = NaN", "  loss: -inf", "* loss\tnan"}) {
    CAPTURE(text);
    const Read figure = read(reader, *book, text, 3);
    CHECK(figure.found.record);
    CHECK(figure.signals.size() == 1);
  }
  CHECK(!read(reader, *book, "some banana", 4).found.record);
  CHECK(!read(reader, *book, "INFO: more info", 5).found.record);
}

TEST_CASE("a heading that another reader took is one, too; compound words count steps") {
  const auto book = DialectBook::built_in();
  REQUIRE(book.ok());
  GenericReader reader(*book);
  CHECK(!read(reader, *book, "mean_reward: 0.5", 2).found.record);
  reader.heading_at(7);
  CHECK(read(reader, *book, "mean_reward: 0.5", 8).found.record);
  CHECK(read(reader, *book, "train_step 12 took 41.5s: loss=0.5 mean_reward=0.25").found.step == 12);
  CHECK(read(reader, *book, "training_iteration: 4 policy_loss: 0.5 mean_reward: 0.25").found.step == 4);
}

TEST_CASE("what says the step is no part of a name, in whatever language") {
  const auto book = DialectBook::built_in();
  REQUIRE(book.ok());
  const std::string_view lines[] = {"step 12/40 reward=0.25 loss=0.5",
                                    "Epoch 1 Batch 12/40 - avg_reward: 0.25 - loss: 0.5",
                                    "第 12 步，奖励=0.25，损失=0.5",
                                    "训练步 12/40 平均奖励: 0.25 损失: 0.5",
                                    "Schritt 12: Belohnung=0.25 Verlust=0.5",
                                    "Шаг 12: награда=0.25 потери=0.5",
                                    "[12] mean batch reward 0.25, loss 0.5",
                                    "step     12 | 🎯 reward: mean=0.25 std=0.1 | loss 0.5",
                                    "step 12: the mean reward was 0.25 (loss: 0.5)"};
  for (const std::string_view text : lines) {
    CAPTURE(text);
    GenericReader reader(*book);
    const Read got = read(reader, *book, text);
    CHECK(got.found.record);
    CHECK(got.found.step == 12);
    CHECK(got.signals.count("reward.mean") == 1);
    CHECK(got.signals.at("reward.mean") == doctest::Approx(0.25));
    CHECK(got.signals.at("loss.total") == doctest::Approx(0.5));
  }
}

TEST_CASE("settings and announcements are no step; a plan is one where nothing else is said") {
  const auto book = DialectBook::built_in();
  REQUIRE(book.ok());
  for (const std::string_view text :
       {"config: lr=1e-6 batch=64", "Namespace(steps=60, lr=1e-06, batch_size=64)", "steps: 60",
        "Next checkpoint at step 20", "Skipping save at step 5", "Resuming from step 40", "eval at step 10"}) {
    CAPTURE(text);
    GenericReader reader(*book);
    CHECK(read(reader, *book, text).found.step == kNoStep);
  }
  GenericReader reader(*book);
  CHECK(read(reader, *book, "Total steps: 60").found.total == 60);
  CHECK(read(reader, *book, "num_steps = 1,000").found.total == 1000);
  CHECK(read(reader, *book, "step 1,234 reward 0.5 loss 0.5").found.step == 1234);
}

TEST_CASE("a number in brackets that does not only grow is no step") {
  const auto book = DialectBook::built_in();
  REQUIRE(book.ok());
  GenericReader reader(*book);
  CHECK(read(reader, *book, "[0] loss: 0.5, reward: 0.25").found.step == 0);
  CHECK(read(reader, *book, "[0] loss: 0.5, reward: 0.25").found.step == kNoStep);
  CHECK(read(reader, *book, "[1] loss: 0.5, reward: 0.25").found.step == kNoStep);
}

TEST_CASE("values in columns, bullets and behind dots belong to the heading above; other words do not") {
  const auto book = DialectBook::built_in();
  REQUIRE(book.ok());
  GenericReader reader(*book);
  CHECK(read(reader, *book, "reward\t0.5").signals.empty());  // under no heading
  CHECK(read(reader, *book, "Step 3 results:", 2).found.heading);
  CHECK(read(reader, *book, "reward\t0.5", 3).signals["reward.mean"] == 0.5);
  CHECK(read(reader, *book, "* loss 0.25", 4).signals["loss.total"] == 0.25);
  CHECK(read(reader, *book, "reward ......... 0.5", 5).signals["reward.mean"] == 0.5);
  CHECK_FALSE(read(reader, *book, "Will save every 10 steps", 6).found.record);
}

TEST_CASE("numbers before their names, a tag before the step, a plan in words, a logger that writes JSON") {
  const auto book = DialectBook::built_in();
  REQUIRE(book.ok());
  GenericReader reader(*book);
  const Read first = read(reader, *book, "0.5 reward, 0.25 grad_norm at step 3");
  CHECK(first.found.step == 3);
  CHECK(first.signals.at("reward.mean") == 0.5);
  CHECK(read(reader, *book, "[train][4] loss 0.5 reward 0.25").found.step == 4);
  CHECK(read(reader, *book, "iteration 5 of 60: reward 0.5, loss 0.25").found.total == 60);
  const Read json = read(reader, *book,
                         R"({"asctime": "a", "levelname": "INFO", "name": "b", "message": "c", "step": 6, )"
                         R"("reward": 0.5, "loss": 0.25})");
  CHECK(json.found.record);
  CHECK(json.signals.at("loss.total") == 0.25);
}

TEST_CASE("rounds of a few updates go on counting, a plan that is begun again does not") {
  const auto book = DialectBook::built_in();
  REQUIRE(book.ok());
  GenericReader reader(*book);
  for (int64_t i = 0; i < 12; ++i) {
    const Read update = read(reader, *book, cat("[Update ", i % 4 + 1, "/4] PolicyLoss=0.5 Entropy=0.25 KL=0.01"));
    CHECK(update.found.step == i + 1);
    CHECK(update.found.total == 4 * (i / 4) + 4);
  }
  CHECK(read(reader, *book, "[Update 2/4] PolicyLoss=0.5 Entropy=0.25 KL=0.01").found.step == 10);  // it was cut
  GenericReader other(*book);
  CHECK(read(other, *book, "Step 40/40 loss: 0.5 reward: 0.25").found.step == 40);
  CHECK(read(other, *book, "Step 1/40 loss: 0.5 reward: 0.25").found.step == 1);
}

}  // namespace
}  // namespace mw
