// Which steps a whole log is of, where its records do not say so.
#include "read/testing/whole_log.h"

namespace mw {

TEST_CASE("a Trainer's log without a record of a step says by its last one how far it came") {
  const std::string closing =
      "{'train_runtime': 800.5, 'train_samples_per_second': 10.25, 'train_steps_per_second': 1.25, 'train_loss': 0.75, "
      "'epoch': 3.0}\n";
  const State bars =
      state_of(cat("  8% 80/1000 [00:41<09:34,  2.11it/s]\n", "100% 1000/1000 [13:20<00:00,  1.25it/s]\n",
                   "from transformers import Seq2SeqTrainer\n", closing));
  CHECK(bars.total_steps == 1000);
  const State bare =
      state_of(cat("/site-packages/transformers/trainer.py: Seq2SeqTrainer, TrainingArguments\n", closing));
  REQUIRE_FALSE(bare.attempts.empty());
  CHECK(bare.attempts.back().last_step == 1001);
}

TEST_CASE("a line that names the run's settings is no record of a step") {
  std::string log =
      "Starting training with the following configuration: model=Qwen2.5-7B batch=64 lr=1e-6 kl=0.03 group=8\n";
  for (int step = 1; step <= 40; ++step)
    log += cat("step=", step, " reward_mean=0.3", step, " loss=0.02", step, " kl=0.03", step, "\n");
  const State state = state_of(log);
  CHECK(state.attempts.size() == 1);
  CHECK(state.steps().last == 40);
}

TEST_CASE("a log that was copied from a terminal of 80 columns has the steps and the error of the log itself") {
  std::string log;
  for (int step = 1; step <= 40; ++step) {
    log += cat("(TaskRunner pid=81234) step:", step, " - global_seqlen/min:8123.0 - actor/entropy:0.4", step * step,
               " - actor/pg_loss:0.0", step * 7, " - critic/rewards/mean:0.3", step % 9,
               " - actor/grad_norm:0.2 - response_length/mean:812.25 - timing_s/step:60.5\n");
  }
  log +=
      "Traceback (most recent call last):\n"
      "  File \"/home/user/projects/rl/training/very_long_directory_name/train_grpo.py\", line 377, in main\n"
      "    batch = self.prepare_batch(prompts, completions, rewards, advantages, masks, log_probs)\n"
      "KeyError: 'the configuration has no key named actor_rollout_ref.rollout.multi_turn.tool_config_path'\n";
  std::string copy;
  for (std::string_view rest = log; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), size_t{80});
    copy += cat(rest.substr(0, end), "\n");
    rest.remove_prefix(rest[end] == '\n' ? end + 1 : end);
  }
  const State whole = state_of(log), broken = state_of(copy);
  REQUIRE(whole.find("entropy") != nullptr);
  REQUIRE(broken.find("entropy") != nullptr);
  CHECK(broken.find("entropy")->count() == 40);
  CHECK(broken.steps().last == whole.steps().last);
  REQUIRE(broken.traces.size() == 1);
  REQUIRE(whole.traces.size() == 1);
  CHECK(broken.traces[0].trace.exception == whole.traces[0].trace.exception);
  CHECK(broken.traces[0].trace.message == whole.traces[0].trace.message);
}

TEST_CASE("records of whole epochs have steps where the trainer saves by steps") {
  std::string log, other;
  for (int epoch = 1; epoch <= 5; ++epoch) {
    const std::string bar = cat("Epoch ", epoch, "/5:  50%|#####     | 40/80 [00:40<00:40,  1.00it/s]\n");
    const std::string record = cat("Epoch ", epoch, "/5 - Train Loss: 0.", 90 - epoch, " - Val Loss: 0.9", epoch, "\n");
    log += cat(bar, "Saved checkpoint to out/checkpoint-step-", epoch * 80 - 30, "\n", record);
    other += cat(bar, record);
  }
  const State steps = state_of(log), epochs = state_of(other);
  REQUIRE_FALSE(steps.attempts.empty());
  CHECK(steps.attempts.back().last_step == 400);
  REQUIRE_FALSE(epochs.attempts.empty());
  CHECK(epochs.attempts.back().last_step == 5);
}

/// W&B's history as its API hands it out: TRL sends each profile of its own as a row, before the step's record.
std::string exported_history(bool csv, int each) {
  std::string rows =
      csv ? "_step,_timestamp,train/global_step,train/reward,train/loss,profiling/Time taken: generate\n" : "";
  int row = 0;
  for (int step = each; step <= 40 * each; step += each) {
    for (int profile = 0; profile < each; ++profile, ++row) {
      const int at = 1'795'168'800 + 60 * (step - each + profile);
      rows += csv ? cat(row, ",", at, ",,,,30.5\n")
                  : cat(R"({"_step": )", row, R"(, "_timestamp": )", at, R"(, "profiling/Time taken: generate": 30.5})",
                        "\n");
    }
    const int at = 1'795'168'800 + 60 * step;
    const std::string reward = cat("0.", 300 + step);
    rows += csv ? cat(row, ",", at, ",", step, ",", reward, ",0.01,\n")
                : cat(R"({"_step": )", row, R"(, "_timestamp": )", at, R"(, "train/global_step": )", step,
                      R"(, "train/reward": )", reward, R"(, "train/loss": 0.01})", "\n");
    ++row;
  }
  return rows;
}

TEST_CASE("a history of W&B counts the trainer's steps, not the rows that it was sent") {
  for (const bool csv : {false, true}) {
    for (const int each : {1, 5}) {
      CAPTURE(csv);
      CAPTURE(each);
      const State state = state_of(exported_history(csv, each), csv ? "history.csv" : "history.jsonl");
      CHECK(state.attempts.size() == 1);
      REQUIRE(state.find("reward.mean") != nullptr);
      CHECK(state.find("reward.mean")->count() == 40);
      CHECK(state.steps().last == 40 * each);
      CHECK(state.steps().count <= 40 + static_cast<size_t>(each));
    }
  }
}

}  // namespace mw
