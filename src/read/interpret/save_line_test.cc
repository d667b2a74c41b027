#include "read/interpret/save_line.h"

#include <doctest/doctest.h>

namespace mw {
namespace {

TEST_CASE("saves as people report them") {
  struct Case {
    std::string_view text, path;
    int64_t step;
  };
  const Case cases[] = {
      {"Saved model to out/step_5", "out/step_5", 5},
      {"[ckpt] saved out/ckpt_5.pt", "out/ckpt_5.pt", 5},
      {"Checkpoint saved to /data/x", "/data/x", kNoStep},
      {"Model saved: runs/a/model-000040.safetensors.", "runs/a/model-000040.safetensors", 40},
      {"Saved checkpoint: out/latest.pt (step 5)", "out/latest.pt", 5},
      {"torch.save ok: ckpt-7.pth", "ckpt-7.pth", 7},
      {"checkpoint @ step 30", "", 30},
      {"Saved state to out/checkpoints/checkpoint_3", "out/checkpoints/checkpoint_3", kNoStep},
      {"Saved checkpoint out/checkpoints/checkpoint_3 at step 40", "out/checkpoints/checkpoint_3", 40},
      {"Random states saved in o/checkpoints/checkpoint_3/random_states_0.pkl",
       "o/checkpoints/checkpoint_3/random_states_0.pkl", kNoStep},
      {"Saved checkpoint to out/checkpoint_3", "out/checkpoint_3", 3},
      {"at step 40 the best so far, save model to out/best", "out/best", 40},
      {"模型已保存到 out/step_20", "out/step_20", 20},
      {"saving checkpoint at step 10... done", "", 10},
      {"  -> Checkpoint step_30", "", 30},
      {"[run_a]   -> Checkpoint step_40", "", 40},
      {"Model saved to /model/gpt2 Successfully", "/model/gpt2", kNoStep},
      {"model saved to out/llama-3", "out/llama-3", kNoStep},
      {"model saved to out/qwen2.5-7b-dpo", "out/qwen2.5-7b-dpo", kNoStep},
      {"Saved checkpoint to out/checkpoint-epoch-2", "out/checkpoint-epoch-2", kNoStep},
      {"epoch 3: saved model to out/ep3.pt", "out/ep3.pt", kNoStep},
      {"model saved to out/run3", "out/run3", kNoStep},
      {"model saved to out/policy-120", "out/policy-120", 120},
      {"model saved to out/iter12.pt", "out/iter12.pt", 12}};
  for (const Case& one : cases) {
    CAPTURE(one.text);
    const auto found = read_save(one.text);
    REQUIRE(found.has_value());
    CHECK(found->path == one.path);
    CHECK(found->step == one.step);
    CHECK(found->complete);
  }
  const auto begins = read_save("Saving model state to out/step_5/");
  REQUIRE(begins.has_value());
  CHECK_FALSE(begins->complete);
}

TEST_CASE("what is no save of a checkpoint") {
  for (const char* text :
       {"Will save model every 10 steps", "Skipping save of model at step 5", "failed to save model out/step_5: denied",
        "Loaded checkpoint out/step_5", "Saved 128 rollouts to rollouts/step_5.jsonl",
        "saved model config to out/c.json", "Saved tokenizer to out/tokenizer", "Next checkpoint at step 15",
        "checkpoint step size 4", "The model saved 5 dollars.", "", "Saved!", "save model to disk: every 10 steps"}) {
    CAPTURE(std::string(text));
    CHECK_FALSE(read_save(text).has_value());
  }
}

TEST_CASE("a trainer that nobody described says which checkpoint it deletes") {
  struct Case {
    const char* text;
    int64_t step;
  };
  for (const Case& one :
       std::vector<Case>{{"INFO deleted old checkpoint /out/step_55", 55},
                         {"Removing old checkpoint: out/ckpt_40.pt", 40},
                         {"Cleaned up checkpoint at step 20", 20},
                         {"Removing checkpoint results/grpo/step_30 due to being outside top-3", 30}}) {
    CAPTURE(std::string(one.text));
    const auto found = read_removal(one.text);
    REQUIRE(found.has_value());
    CHECK(found->step == one.step);
  }
  for (const char* text :
       {"failed to delete checkpoint out/step_5", "will be deleted: checkpoint out/step_5", "deleted 3 old checkpoints",
        "deleted old checkpoints, keeping step 55", "uploaded checkpoint step_5, removed local copy out/step_5",
        "Saved checkpoint to out/step_5", "removed 12 samples at step 5",
        "removed checkpoint hook from model step 3"}) {
    CAPTURE(std::string(text));
    CHECK_FALSE(read_removal(text).has_value());
  }
}

}  // namespace
}  // namespace mw
