#include "read/files/cell_code.h"

#include <doctest/doctest.h>

namespace mw {

TEST_CASE("a cell trains where it calls a trainer, and not where it defines, sets a mode or draws") {
  CHECK(code_trains("torch.cuda.empty_cache()\ntrainer.train()\n"));
  CHECK(code_trains("stats = ppo_trainer.step(queries, answers, rewards)"));
  CHECK(code_trains("history = run_training(model)"));
  CHECK(code_trains("dirs[start] = mod.run_ppo(\n    model_name=path)"));
  CHECK(code_trains("!accelerate launch scripts/train_grpo.py --config a.yaml"));
  CHECK(code_trains("model.learn(total_timesteps=1000)"));
  CHECK(code_trains("for batch in loader:\n    loss = model(batch)\n    loss.backward()"));
  CHECK_FALSE(code_trains("model.train()"));
  CHECK_FALSE(code_trains("def train_step(batch):\n    return batch"));
  CHECK_FALSE(code_trains("# trainer.train()"));
  CHECK_FALSE(code_trains("rows = load_sft_rows('a')\nplot_train_loss(rows)\nconfig = PPOConfig(steps=10)"));
  CHECK_FALSE(code_trains("trainer.save_model('out')"));
  CHECK_FALSE(code_trains("a, b = train_test_split(rows)"));
  CHECK_FALSE(code_trains("!pip install trl"));
  CHECK_FALSE(code_trains(""));
}

}  // namespace mw
