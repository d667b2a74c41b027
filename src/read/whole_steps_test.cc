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

}  // namespace mw
