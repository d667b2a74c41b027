"""What trainers write to their console, framework by framework: a list of (seconds, text), from start to a good end.

A TrainerLog writes lines at the simulated time `t`. Time stamps in the text are `begin` + t x `pace`, and so are durations
that the trainer reports: with a small pace a run can be fed live at that speed, and what it says still agrees with the
clock. What each framework shows of a step is in NAMES of tests/curves/shapes.py, less what its console leaves out.
"""
import datetime
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "curves"))
import shapes  # noqa: E402

BEGIN = datetime.datetime(2026, 1, 15, 8, 0, 0, tzinfo=datetime.timezone.utc).timestamp()


def plain(value):
    """A number as Python prints it, shortened; what is not finite as `nan` and `inf`."""
    if not isinstance(value, float) or value != value or value in (float("inf"), float("-inf")):
        return str(value)
    return repr(float(f"{value:.{shapes.DIGITS}g}"))


def rounded(row):
    return {name: float(plain(value)) if isinstance(value, float) else value for name, value in row.items()}


class TrainerLog:
    """The common part; also the log of an unknown trainer (`key=value`)."""
    name = "key-value"
    shows = ("reward.mean", "reward.std", "loss.policy", "grad_norm", "entropy", "kl.ref", "lr", "clip.frac",
             "response.length", "response.truncated", "time.step")
    names = dict(shapes.NAMES["custom"])
    parts = "reward/{}"        # how it names a part of the reward
    judged = "eval/{}"         # a result of an evaluation
    unimportant = ("tokens_per_second_std", "eta_hours")

    def __init__(self, begin=BEGIN, pace=1.0):
        self.begin, self.pace, self.t, self.lines = begin, pace, 0.0, []
        self.total = self.done = 0

    # --- writing
    def put(self, text):
        for line in text.split("\n"):
            self.lines.append((round(self.t, 4), line))

    def wait(self, seconds):
        self.t += seconds

    def stamp(self, form="%Y-%m-%d %H:%M:%S", point="", digits=3):
        at = datetime.datetime.fromtimestamp(self.begin + self.t * self.pace, datetime.timezone.utc)
        return at.strftime(form) + (point + at.strftime("%f")[:digits] if point else "")

    def shown(self, row):
        """In the trainer's names; what is a time, at the pace of the clock."""
        return {self.names[signal]: value * self.pace if signal == "time.step" else value
                for signal, value in row.items() if signal in self.names}

    def took(self, seconds):
        return f"{seconds * self.pace:.2f}"

    # --- what happens in a run; `row` is signal -> value, `extra` the trainer's own name -> value
    def say(self, text, level="INFO"):
        self.put(f"[{self.stamp()}] {level} {text}")

    def raw(self, text):
        """A print() of somebody's, as the framework passes it on."""
        self.put(text)

    def start(self, total):
        self.total = total
        self.say(f"starting training for {total} steps")

    def ready(self, step):
        """Before the samples of a step are made."""

    def step(self, step, row, extra):
        body = {"step": step, **self.shown(row), **extra}
        self.raw(" ".join(f"{name}={plain(value)}" for name, value in body.items()))

    def evaluated(self, step, name, value):
        self.raw(f"step={step} {self.judged.format(name)}={plain(value)}")

    def saved(self, step, seconds=1.0):
        self.wait(seconds)
        self.say(f"saved checkpoint to checkpoints/step_{step}")

    def resumed(self, step):
        self.say(f"resumed from checkpoints/step_{step}")

    def sample(self, text):
        """A sample of what the policy was asked or answered, printed as this framework does."""
        self.say("sample completion:")
        self.raw(text)

    def finish(self):
        self.say("training finished")


class JsonLines(TrainerLog):
    name = "json-lines"
    names = {**shapes.NAMES["custom"], "reward.mean": "reward"}

    def line(self, **what):
        self.put(json.dumps(what))

    def say(self, text, level="INFO"):
        self.line(time=self.stamp("%Y-%m-%dT%H:%M:%S", ".") + "Z", level=level.lower(), message=text)

    def raw(self, text):
        self.say(text)

    def step(self, step, row, extra):
        self.line(time=self.stamp("%Y-%m-%dT%H:%M:%S", ".") + "Z", step=step, **rounded(self.shown(row)), **extra)

    def evaluated(self, step, name, value):
        self.line(step=step, **{self.judged.format(name): value})

    def sample(self, text):
        self.line(time=self.stamp("%Y-%m-%dT%H:%M:%S", ".") + "Z", event="sample", prompt="Solve it.", completion=text)


class Verl(TrainerLog):
    name = "verl"
    shows = TrainerLog.shows
    names = shapes.NAMES["verl"]
    parts = "reward/{}/mean"
    judged = "val-core/{}/acc/mean@1"
    unimportant = ("perf/mfu/actor_infer", "critic/rewards/std", "timing_per_token_ms/gen")

    def put_task(self, text):
        self.put("\n".join("(TaskRunner pid=3977) " + line for line in text.split("\n")))

    def say(self, text, level="INFO"):
        self.put_task(text if level == "INFO" else f"{level}:{self.stamp('%m-%d %H:%M:%S')}:{text}")

    def raw(self, text):
        self.put_task(text)

    def start(self, total):
        self.total = total
        self.put(f"{self.stamp(point=',')}\tINFO worker.py:1907 -- Started a local Ray instance.")
        self.put_task(f"Total training steps: {total}")
        self.put(f"(WorkerDict pid=4123) INFO {self.stamp('%m-%d %H:%M:%S')} [__init__.py:38] Available plugins for "
                 "group vllm.general_plugins:")
        self.put_task("Checkpoint tracker file does not exist: /data/ckpts/latest_checkpointed_iteration.txt")
        self.put_task("Training from scratch")

    def step(self, step, row, extra):
        shown = {**self.shown(row), "critic/rewards/mean": row.get("reward.mean"), **extra}
        self.put_task(" - ".join([f"step:{step}"] + [f"{n}:{plain(v)}" for n, v in shown.items() if v is not None]))
        self.put_task(f"Training Progress: {100 * step // max(1, self.total):3d}%|███       | {step}/{self.total} "
                      f"[{self.stamp('%M:%S')}<10:00, {self.took(row.get('time.step', 30))}s/it]")

    def evaluated(self, step, name, value):
        self.put_task(f"step:{step} - {self.judged.format(name)}:{plain(value)}")

    def saved(self, step, seconds=1.0):
        self.put_task(f"local_global_step_folder: /data/ckpts/global_step_{step}")
        self.wait(seconds)
        self.put_task(f"Update latest_checkpointed_iteration.txt to step {step}")

    def resumed(self, step):
        self.put_task(f"Load from checkpoint folder: /data/ckpts/global_step_{step}")
        self.put_task(f"Setting global step to {step}")
        self.put_task(f"Resuming from /data/ckpts/global_step_{step}")

    def sample(self, text):
        self.put_task(f"[prompt] user\nSolve it.\nassistant\n[response] {text}\n[ground_truth] 42\n[score] 0.0")

    def finish(self):
        self.put_task("'Final validation metrics: None'")


class Trl(TrainerLog):
    name = "trl"
    shows = tuple(s for s in TrainerLog.shows if s != "time.step")
    names = {k: v for k, v in shapes.NAMES["trl"].items() if k != "time.step"}
    parts = "rewards/{}/mean"
    judged = "eval_{}"
    unimportant = ("completions/mean_terminated_length", "sampling/importance_sampling_ratio/min")

    def bar(self):
        self.put(f"\r{100 * self.done // max(1, self.total):3d}%|███       | {self.done}/{self.total} "
                 f"[{self.stamp('%M:%S')}<10:00, {self.took(30)}s/it]")

    def say(self, text, level="INFO"):
        self.put(text if level == "INFO" else f"[{self.stamp(point=',')}] [{level}] [trainer.py:2213] {text}")

    def start(self, total):
        self.total, self.done = total, 0
        self.put(f"[{self.stamp(point=',')}] [INFO] [real_accelerator.py:254:get_accelerator] Setting ds_accelerator to "
                 "cuda (auto detect)")
        self.bar()

    def step(self, step, row, extra):
        self.done = step
        self.bar()
        shown = rounded(self.shown(row))
        first = {"loss": shown.pop("loss", 0.0), "grad_norm": shown.pop("grad_norm", 0.1)}
        self.put(repr({**first, **shown, "completions/min_length": 11.0, **extra, "epoch": round(step / 100, 3)}))

    def evaluated(self, step, name, value):
        self.put(repr({"eval_loss": 0.0, self.judged.format(name): value, "epoch": round(step / 100, 3)}))

    def saved(self, step, seconds=1.0):
        self.put(f"Saving model checkpoint to /data/out/checkpoint-{step}")
        self.wait(seconds)

    def resumed(self, step):
        self.put(f"  Continuing training from global step {step}")

    def sample(self, text):
        wide = max([len(line) for line in text.split("\n")] + [20])
        rule = "─" * (wide + 2)
        self.put(f"╭{rule} Step {self.done} {rule}╮")
        self.put(f"│ ┃ Prompt               ┃ {'Completion'.ljust(wide)} ┃ Reward ┃ │")
        for line in text.split("\n"):
            self.put(f"│ │ Solve it.            │ {line.ljust(wide)} │   0.00 │ │")
        self.put(f"╰{rule}────────{rule}╯")

    def finish(self):
        self.put(repr({"train_runtime": round(self.t * self.pace, 4), "train_samples_per_second": 2.1,
                       "train_steps_per_second": 0.02, "train_loss": 0.001, "epoch": 1.0}))
        self.put("100%|██████████| " + f"{self.total}/{self.total} [10:00<00:00, {self.took(30)}s/it]")


class OpenRlhf(TrainerLog):
    name = "openrlhf"
    shows = tuple(s for s in TrainerLog.shows)
    names = {k: v.removeprefix("train/") for k, v in shapes.NAMES["openrlhf"].items()} | {
        "response.truncated": "truncated"}
    parts = "reward_{}"
    judged = "eval_{}_pass1"
    unimportant = ("advantages_std", "critic_lr")

    def say(self, text, level="INFO"):
        self.put(f"(PPOTrainer pid=5201) {level} {self.stamp('%m-%d %H:%M:%S')} ppo_trainer.py:101] {text}")

    def raw(self, text):
        self.put("\n".join("(PPOTrainer pid=5201) " + line for line in text.split("\n")))

    def start(self, total):
        self.total = total
        self.say("openrlhf.trainer.ppo_trainer: PPO training begins")

    def ready(self, step):
        self.say("🚀 Starting experience making with 512 samples")

    def step(self, step, row, extra):
        self.say("✨ Experience making completed in 00:00:20")
        self.say(f"✨ Global step {step}: {({**rounded(self.shown(row)), **extra})!r}")

    def evaluated(self, step, name, value):
        self.say(f"✨ Evaluation completed in 0:01:47, global_step {step}, eval_metrics: "
                 f"{ {self.judged.format(name): value}!r}")

    def saved(self, step, seconds=1.0):
        self.put(f"[{self.stamp(point=',')}] [INFO] [logging.py:107:log_dist] [Rank 0] [Torch] Checkpoint "
                 f"global_step{step} is about to be saved!")
        self.wait(seconds)
        self.put(f"[{self.stamp(point=',')}] [INFO] [torch_checkpoint_engine.py:33:commit] [Torch] Checkpoint "
                 f"global_step{step} is ready now!")

    def resumed(self, step):
        self.say(f"Loading the checkpoint: /data/ckpt, checkpoint_states: {{'episode': 0, 'global_step': {step}}}")

    def sample(self, text):
        self.say(f"Sample: {[text, 0.0]!r}")

    def finish(self):
        self.say("Training finished")
