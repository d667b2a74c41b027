"""More trainer logs: AReaL, prime-rl, SkyRL, slime and NeMo-RL."""
from trainer_logs import JsonLines, OpenRlhf, TrainerLog, Trl, Verl, plain, rounded, shapes


class AReaL(TrainerLog):
    name = "areal"
    shows = ("reward.mean", "entropy", "grad_norm", "lr", "loss.policy", "clip.frac", "response.length")
    names = shapes.NAMES["areal"]
    parts = "rollout/{}"
    judged = "eval-rollout/{}"
    unimportant = ("grpo_actor/update/vocab_max_logits/max", "timeperf/mfu")

    def say(self, text, level="INFO", who="StatsLogger"):
        colour = {"INFO": 92, "WARNING": 33}.get(level, 31)
        self.put(f"\x1b[{colour}m{self.stamp('%Y%m%d-%H:%M:%S', '.')} {who} {level}: {text}\x1b[0m")

    def start(self, total):
        self.total = total
        self.say("LocalLauncher: experiment_name=gsm8k-grpo, trial_name=trial0, fileroot=/data/areal, run_id=0, "
                 "is_recover_run=False", who="LocalLauncher")
        self.say("LLM inference server launched at: AREAL_LLM_SERVER_ADDRS=127.0.0.1:30417", who="LocalScheduler")
        self.say("Servers are all ready!", who="SGLangEngine")

    def step(self, step, row, extra):
        self.say(f"Epoch 1/1 Step {step}/{self.total} Train step {step}/{self.total} done.")
        self.say("Stats (1/1):")
        self.say("")
        cells = [(name, f"{value:10.4e}") for name, value in {**self.shown(row), **extra}.items()]
        cells += [("", "")] * (len(cells) % 2)
        rule = "═" * 44
        self.put(f"╒{rule}╤════════════╤{rule}╤════════════╕")
        for (a, x), (b, y) in zip(cells[::2], cells[1::2]):
            self.put(f"│ {a:42s} │ {x:>10s} │ {b:42s} │ {y:>10s} │")
        self.put(f"╘{rule}╧════════════╧{rule}╧════════════╛")

    def evaluated(self, step, name, value):
        self.say(f"{self.judged.format(name)}: {plain(value)}")

    def saved(self, step, seconds=1.0):
        self.wait(seconds)
        self.say(f"Saved recover checkpoint to /data/areal/globalstep{step}/recover_checkpoint (with_optim=True)",
                 who="Saver")

    def resumed(self, step):
        self.say(f"Recovering from StepInfo(epoch=0, epoch_step={step}, global_step={step}, steps_per_epoch={self.total})",
                 who="Recover")

    def sample(self, text):
        self.say("Sampled completion:", who="Workflow")
        self.raw(text)

    def finish(self):
        self.say(f"Training completes! Total time elapsed {self.took(self.t)}.")


class PrimeRl(TrainerLog):
    name = "prime-rl"
    shows = ("reward.mean", "entropy", "grad_norm", "lr", "loss.policy", "response.truncated")
    unimportant = ()
    parts = judged = None

    def say(self, text, level="INFO"):
        self.put(f"{self.stamp('%H:%M:%S')} {level:>7s} {text}")

    def start(self, total):
        self.total = total
        self.say("Starting orchestrator (algorithm: grpo)")
        self.say(f"Starting training loop (max_steps={total})")

    def ready(self, step):
        self.say(f"Starting orchestrator step {step}")

    def step(self, step, row, extra):
        took = self.took(row.get("time.step", 30.0))
        self.say(f"Step {step} | {took:>6s}s | Reward {row['reward.mean']:.4f} | Trainable 96/128 (75.0%) | Turns 1.0 | "
                 f"Branches 1.0 | Max Off-Policy 1 | Error 0.0% | Cancelled 0.0% | Truncation "
                 f"{100 * row.get('response.truncated', 0.02):.1f}%", "SUCCESS")
        self.say(f"Step {step} | {took:>6s}s | Loss {row.get('loss.policy', 0.001):.4f} | Entropy "
                 f"{row.get('entropy', 0.5):.4f} | Mismatch KL {row.get('mismatch.kl', 0.0011):.4f} | Grad. Norm "
                 f"{row.get('grad_norm', 0.2):.4f} | LR {row.get('lr', 1e-6):.2e} | Throughput 9120 tokens/s | MFU 31.2% | "
                 "Peak Mem. 61.3 GiB", "SUCCESS")

    def evaluated(self, step, name, value):
        self.say(f"Evaluated {name} (Step {step}) | Policy v{step} |    2.1s | Reward {value:.4f} | Turns 1.0 | Branches "
                 "1.0 | Error 0.0% | Truncation 0.0%", "SUCCESS")

    def saved(self, step, seconds=1.0):
        self.say(f"Saving checkpoint at step {step}")
        self.wait(seconds)
        self.say(f"Training checkpoint saved in {self.took(seconds)} seconds")

    def resumed(self, step):
        self.say(f"Resuming training from checkpoint step {step}")

    def sample(self, text):
        self.say("Example rollout:")
        self.put(text)

    def finish(self):
        self.say("RL trainer finished!", "SUCCESS")
        self.say("Orchestrator finished.", "SUCCESS")


class SkyRl(TrainerLog):
    name = "skyrl"
    shows = ("reward.mean", "entropy", "grad_norm", "kl.ref", "lr", "loss.policy", "clip.frac", "response.length",
             "time.step")
    names = {k: v.removeprefix("policy/") for k, v in shapes.NAMES["skyrl"].items()}
    parts = "environment/{}"
    judged = "eval/{}/pass_at_1"
    unimportant = ("is_ratio_std", "vllm/prefix_hit_rate")

    def say(self, text, level="INFO", place="skyrl.train.trainer:train:330"):
        self.put(f"(skyrl_entrypoint pid=3310) {self.stamp(point='.')} | {level:8s} | {place} - {text}")

    def raw(self, text):
        self.put("\n".join("(skyrl_entrypoint pid=3310) " + line for line in text.split("\n")))

    def phase(self, name, seconds):
        self.say(f"Started: '{name}'", place="skyrl.train.utils.utils:__enter__:51")
        self.say(f"Finished: '{name}', time cost: {self.took(seconds)}s", place="skyrl.train.utils.utils:__exit__:57")

    def start(self, total):
        self.total = total
        self.say("init policy/ref/critic models done", place="skyrl.train.trainer:build_models:402")
        self.say(f"Total steps: {total}", place="skyrl.train.trainer:train:201")

    def ready(self, step):
        self.say("Started: 'step'", place="skyrl.train.utils.utils:__enter__:51")
        self.phase("generate", 10)

    def step(self, step, row, extra):
        shown = rounded(self.shown(row))
        reward = shown.pop("reward/avg_raw_reward", 0.0)
        self.say(f"reward/avg_pass_at_8: 0.5, reward/avg_raw_reward: {plain(reward)}, reward/mean_positive_reward: 0.5",
                 place="skyrl.train.trainer:postprocess_generator_output:655")
        self.phase("train_critic_and_policy", 10)
        first = {"final_loss": shown.get("policy_loss", 0.0)}
        self.say(repr({**first, **shown, **extra}))
        self.say(f"Finished: 'step', time cost: {self.took(row.get('time.step', 30.0))}s",
                 place="skyrl.train.utils.utils:__exit__:57")

    def evaluated(self, step, name, value):
        self.say("Started: 'eval'", place="skyrl.train.utils.utils:__enter__:51")
        self.say(repr({"eval/all/avg_score": value, self.judged.format(name): value}),
                 place="skyrl.train.evaluate:evaluate:130")
        self.say("Finished: 'eval', time cost: 2.00s", place="skyrl.train.utils.utils:__exit__:57")

    def saved(self, step, seconds=1.0):
        self.say("Started: 'save_checkpoints'", place="skyrl.train.utils.utils:__enter__:51")
        self.wait(seconds)
        self.say(f"Successfully saved checkpoint for global_step_{step} to: /data/ckpts/global_step_{step}",
                 place="skyrl.train.trainer:save_checkpoints:1214")
        self.say(f"Finished: 'save_checkpoints', time cost: {self.took(seconds)}s",
                 place="skyrl.train.utils.utils:__exit__:57")

    def resumed(self, step):
        self.say(f"Resuming from global_step: {step}", place="skyrl.train.trainer:load_checkpoints:1340")

    def sample(self, text):
        self.say(f"output preview: {text}", "DEBUG", "skyrl_agent.agents.base:run:201")

    def finish(self):
        self.say("Training done!", place="skyrl.train.trainer:train:370")


class Slime(TrainerLog):
    name = "slime"
    shows = ("reward.mean", "entropy", "grad_norm", "kl.ref", "lr", "loss.policy", "clip.frac", "response.length",
             "response.truncated", "time.step")
    names = shapes.NAMES["slime"]
    parts = "rollout/{}"
    judged = "eval/{}"
    unimportant = ("train/tis_abs_std", "rollout/repetition_std")

    def say(self, text, level="INFO", place="train_async.py:88"):
        mark = "" if level == "INFO" else level + " "
        self.put(f"(MegatronTrainRayActor pid=901) [{self.stamp()}] {place} - {mark}{text}")

    def raw(self, text):
        self.put("\n".join("(RolloutManager pid=77) " + line for line in text.split("\n")))

    def start(self, total):
        self.total = total
        self.put(f"  num_rollout ..................................... {total}")
        self.put("  advantage_estimator ............................. grpo")

    def ready(self, step):
        self.say("Timer train_wait start", place="timer.py:24")

    def step(self, step, row, extra):
        shown = rounded(self.shown(row))
        self.say(f"Timer train_wait end (elapsed: {self.took(12)}s)", place="timer.py:32")
        self.say(f"rollout {step}: { {k: v for k, v in shown.items() if k.startswith('rollout/')} | extra!r}",
                 place="train_metric_utils.py:135")
        self.say("Timer actor_train start", place="timer.py:24")
        self.say(f"Timer actor_train end (elapsed: {self.took(9)}s)", place="timer.py:32")
        trained = {k: v for k, v in shown.items() if k.startswith("train/")}
        self.say(f"step {step}: { {**trained, 'train/step': step}!r}", place="model.py:918")
        if "perf/step_time" in shown:
            self.say(f"perf {step}: { {'perf/step_time': shown['perf/step_time']}!r}", place="train_metric_utils.py:180")
        self.say("Timer update_weights start", place="timer.py:24")
        self.say(f"Timer update_weights end (elapsed: {self.took(3)}s)", place="timer.py:32")

    def evaluated(self, step, name, value):
        self.say(f"eval {step}: { {self.judged.format(name): value}!r}", place="rollout_metrics.py:247")

    def saved(self, step, seconds=1.0):
        self.say("Timer save_model start", place="timer.py:24")
        self.wait(seconds)
        self.say(f"Timer save_model end (elapsed: {self.took(seconds)}s)", place="timer.py:32")

    def resumed(self, step):
        self.say(f"loaded checkpoint from /data/ckpts at iteration {step}", place="checkpoint.py:60")

    def sample(self, text):
        self.put(f"(RolloutManager pid=77) [{self.stamp()}] rollout.py:210 - First rollout sample: {[text]!r}, label: 42, "
                 "reward: 0")

    def finish(self):
        self.say("training finished, all rollouts done")


class NemoRl(TrainerLog):
    name = "nemo-rl"
    shows = ("reward.mean", "loss.policy", "response.length", "time.step")
    parts = judged = None
    unimportant = ()

    def say(self, text, level="INFO"):
        self.put(text if level == "INFO" else f"{level}: {text}")

    def start(self, total):
        self.total = total
        self.put("Loaded configuration from: examples/configs/grpo_math_1B.yaml")
        self.put("▶ Setting up compute cluster...\n  ✓ Ray cluster for policy initialized with 1 nodes")

    def ready(self, step):
        self.put(f"\n========================= Step {step}/{self.total} =========================")
        self.put("▶ Preparing batch...\n▶ Generating responses for batch of size 256...")

    def step(self, step, row, extra):
        self.put("▶ Processing rewards...\n▶ Computing advantages...\n▶ Computing logprobs...\n▶ Training policy...")
        self.put("\n📊 Training Results:")
        self.put(f"  • Loss: {row.get('loss.policy', 0.01):.4f}")
        self.put(f"  • Generation KL Error: {row.get('mismatch.kl', 0.0021):.4f}")
        self.put(f"  • Avg Reward: {row['reward.mean']:.4f}")
        self.put(f"  • Mean Generation Length: {row.get('response.length', 400):.4f}")
        for name, value in extra.items():
            self.put(f"  • {name}: {plain(value)}")
        took = row.get("time.step", 30.0) * self.pace
        self.put(f"\n⏱️  Timing:\n  • Total step time: {took:.2f}s\n  • generation: {took / 2:.2f}s (50.0%)")
        self.put(f"  • policy_training: {took / 3:.2f}s (33.3%)")

    def evaluated(self, step, name, value):
        self.put(f"▶ Starting validation at step {step}...\n📊 Validation Results:\n    • Accuracy: {value:.4f}")
        self.put("    • Average response length: 402.1 tokens")
        self.put("  ⏱️  Validation Timing:\n    • Total validation time: 2.10s")

    def saved(self, step, seconds=1.0):
        self.put(f"Saving checkpoint for step {step}...")
        self.wait(seconds)

    def resumed(self, step):
        self.put(f"Loading checkpoint from results/grpo/step_{step}")

    def sample(self, text):
        self.put(" Sample Conversations ".center(80))
        self.put(f"user: Solve it.\nassistant: {text}\nenvironment: incorrect")
        self.put(" End of Samples ".center(80))

    def finish(self):
        self.put("Max number of steps has been reached, stopping training early")


LOGS = {kind.name: kind for kind in (Verl, Trl, OpenRlhf, AReaL, PrimeRl, SkyRl, Slime, NemoRl, TrainerLog, JsonLines)}
