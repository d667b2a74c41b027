"""Ways in which home-made trainers print a step in several lines. A row: name, the lines of a step, the metrics, what is special."""

BLOCKS = [
    ("heading-indented", ["=== Step {s} ===", "  reward: {r:.4f}", "  loss: {l:.4f}"], "r l"),
    ("heading-total", ["=== Step {s}/{n} ===", "mean reward: {r:.4f}", "loss: {l:.4f}", ""], "r l total"),
    ("heading-dashes", ["--- step {s} ---", "reward/mean = {r:.4f}", "loss = {l:.4f}", "kl = {k:.5f}"], "r l k"),
    ("heading-plain", ["Step {s}", "    Reward: {r:.4f}", "    Loss: {l:.4f}", "    Grad norm: {g:.3f}"], "r l g"),
    ("heading-colon", ["Step {s}:", "  - reward: {r:.4f}", "  - loss: {l:.4f}"], "r l"),
    ("heading-markdown", ["## Step {s}", "* reward: {r:.4f}", "* loss: {l:.4f}"], "r l"),
    ("heading-iteration", ["Iteration {s}/{n}", "  Average reward: {r:.4f}", "  Policy loss:    {l:.4f}"], "r lp total"),
    ("heading-epoch-step", ["[epoch {e} | step {s}]", "reward={r:.4f}", "loss={l:.4f}"], "r l"),
    ("yaml-like", ["step: {s}", "reward: {r:.4f}", "loss: {l:.4f}", "---"], "r l"),
    ("yaml-nested", ["- step: {s}", "  metrics:", "    reward: {r:.4f}", "    loss: {l:.4f}"], "r l"),
    ("pprint", ["{{'kl': {k:.5f},", " 'loss': {l:.4f},", " 'reward': {r:.4f},", " 'step': {s}}}"], "r l k"),
    ("json-pretty", ["{{", '  "step": {s},', '  "reward": {r:.4f},', '  "loss": {l:.4f}', "}}"], "r l"),
    ("box", ["+----------+----------+", "| step     | {s:>8} |", "| reward   | {r:>8.4f} |", "| loss     | {l:>8.4f} |",
             "+----------+----------+"], "r l"),
    ("sb3-box", ["----------------------------", "| rollout/       |         |", "|    ep_rew_mean | {r:<7.4f} |", "| train/         |         |",
                 "|    loss        | {l:<7.4f} |", "|    iterations  | {s:<7} |", "----------------------------"], "r l"),
    ("rich-table", ["┏━━━━━━━━━━┳━━━━━━━━━━┓", "┃ metric   ┃ value    ┃", "┡━━━━━━━━━━╇━━━━━━━━━━┩", "│ step     │ {s:<8} │", "│ reward   │ {r:<8.4f} │",
                    "│ loss     │ {l:<8.4f} │", "└──────────┴──────────┘"], "r l"),
    ("rich-panel", ["╭──────── step {s} ────────╮", "│ reward: {r:<8.4f}         │", "│ loss: {l:<8.4f}           │", "╰──────────────────────────╯"], "r l"),
    ("two-lines", ["step {s} rollout: reward={r:.4f} len={len:.1f}", "step {s} update: loss={l:.4f} grad_norm={g:.3f}"], "r l g"),
    ("rollout-then-train", ["[rollout] step {s} mean_reward={r:.4f}", "[train]   step {s} policy_loss={l:.4f} lr={lr:.1e}"], "r lp lr"),
    ("noise-between", ["Generating rollouts for step {s}...", "Scored 64 samples", "step {s}: reward={r:.4f} loss={l:.4f}"], "r l"),
    ("sample-between", ["step {s}: reward={r:.4f} loss={l:.4f}", "sample: The answer is 42 because 6 * 7 = 42."], "r l"),
    ("prompt-between", ["step {s}: reward={r:.4f} loss={l:.4f}", "  prompt: What is the loss of energy? reward yourself.", "  response: x = 12, y = 3"], "r l"),
    ("tabs-below", ["step {s}", "\tloss\t{l:.4f}", "\treward\t{r:.4f}"], "r l"),
    ("starting", ["Starting step {s}", "reward={r:.4f}", "loss={l:.4f}", "step {s} took {t:.1f}s"], "r l"),
    ("ranks", ["[rank0] step {s} reward={r:.4f} loss={l:.4f}", "[rank1] step {s} reward={r:.4f} loss={l:.4f}"], "r l"),
    ("eval-between", ["step {s} reward={r:.4f} loss={l:.4f}", "eval step {s} accuracy=0.4000"], "r l"),
    ("val-dict", ["{{'step': {s}, 'reward': {r:.4f}, 'loss': {l:.4f}}}", "{{'eval_reward': 0.9000, 'eval_step': {s}}}"], "r l"),
    ("validation-line", ["step {s} | reward {r:.4f} | loss {l:.4f}", "validation | reward 0.9000 | loss 9.0000"], "r l"),
]

# Written while the reader was improved: none of them is for checking.
LEARNT_BLOCKS = [
    ("bracket-heading", ["[Step {s}]", "Reward: {r:.4f}", "Loss: {l:.4f}"], "r l"),
    ("results-stars", ["Step {s} results:", "* reward {r:.4f}", "* loss {l:.4f}"], "r l"),
    ("dotted-leaders", ["Step {s} summary", "reward ......... {r:.4f}", "loss ........... {l:.4f}"], "r l"),
    ("header-each", ["  step    reward      loss", "{s:>6} {r:>9.4f} {l:>9.4f}"], "r l"),
    ("json-pretty-nested", ["{{", '  "step": {s},', '  "metrics": {{', '    "reward": {r:.4f},', '    "loss": {l:.4f}', "  }}", "}}"], "r l"),
    ("time-then-values", ["step {s} finished in {t:.1f}s", "    mean reward: {r:.4f}, loss: {l:.4f}"], "r l"),
    ("three-phases", ["[{s}/{n}] rollout done, mean reward {r:.4f}", "[{s}/{n}] advantages done", "[{s}/{n}] update done, loss {l:.4f}"], "r l total"),
    ("equals-aligned", ["----- step {s} -----", "reward      = {r:.4f}", "loss        = {l:.4f}", "kl          = {k:.5f}"], "r l k"),
    ("md-table-step", ["### Step {s}", "| metric | value |", "|--------|-------|", "| reward | {r:.4f} |", "| loss | {l:.4f} |"], "r l"),
    ("tree", ["step {s}", "├── reward: {r:.4f}", "└── loss: {l:.4f}"], "r l"),
]

# Nothing names the step: records are counted.
UNNUMBERED = [
    ("bare-pairs", ["reward={r:.4f} loss={l:.4f}"], "r l"),
    ("bare-colons", ["mean reward: {r:.4f} | loss: {l:.4f} | kl: {k:.5f}"], "r l k"),
    ("bare-dict", ["{{'reward': {r:.4f}, 'loss': {l:.4f}, 'kl': {k:.5f}}}"], "r l k"),
    ("bare-json", ['{{"reward": {r:.4f}, "loss": {l:.4f}}}'], "r l"),
]

# How a save is reported, and what looks like it and is none. {s} is the step.
SAVES = [
    "Saved model to out/step_{s}", "[ckpt] saved out/ckpt_{s}.pt", "Checkpoint saved to out/step-{s}", "saved checkpoint to out/checkpoint_{s}",
    "Model saved: out/model-{s}.pt", "Saved checkpoint: out/latest.pt (step {s})", "Saving model checkpoint to out/checkpoint-{s}",
    "Saved state to out/step_{s}/", "-> wrote checkpoints/{s:06d}.safetensors", "💾 checkpoint @ step {s}", "torch.save ok: out/ckpt-{s}.pth",
    "dumped weights to out/weights_{s}.bin", "Checkpoint written: out/global_step_{s}", "model checkpoint saved at out/iter_{s}.pt",
    "[checkpoint] step {s} saved to out/ckpts/{s}", "saving checkpoint at step {s}... done", "Saved LoRA adapter to out/adapter-step-{s}",
    "模型已保存到 out/step_{s}", "保存检查点: out/checkpoint-{s}", "Saved policy weights @ out/policy_step{s}.safetensors",
]
NO_SAVES = [
    "Will save every 10 steps", "Skipping save at step {s}: disk quota", "failed to save out/step_{s}: Permission denied", "Loaded checkpoint out/step_{s}",
    "Saved 128 rollouts to rollouts/step_{s}.jsonl", "saved config to out/config_{s}.json", "Saved tokenizer to out/tokenizer", "Saved plot to out/reward_{s}.png",
    "Saving is disabled", "Next checkpoint at step {s}",
]

HEADS = [
    [], ["config: lr=1e-6 batch=64"], ["Namespace(steps=60, lr=1e-06, batch_size=64, seed=1)"], ["args: {'lr': 1e-06, 'steps': 60, 'batch_size': 64}"],
    ["Loading model from models/base ...", "Model has 1.54B parameters", "dataset: 7473 samples"], ["steps: 60", "lr: 1e-06", "group_size: 8", "kl_coef: 0.04"],
    ["=" * 40, "my grpo trainer v0.3", "=" * 40, "device = cuda:0", "num_steps = 60"], ["TrainConfig(model='base', lr=1e-06, steps=60, reward='math')"],
    ["$ python train.py --steps 60 --lr 1e-6", "seed 1"], ["Total steps: 60", "Warmup steps: 5"],
]
