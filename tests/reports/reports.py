#!/usr/bin/env python3
"""Checks the tables of `midwatch report` against figures that this script computes from the raw files of real runs.

reports.py PROGRAM [DATA]

It shares no code with the program: each reader below takes the figures out of the trainer's own file. Checked are the
last steps (which they are, every cell of the rows named here, the clock), the steps of the head, the split of a step's
time, and the checkpoints; of a made-up run with a crash also attempts, tools, format rules by step, and what --since
counts. DATA is a folder with the real runs; without it (default: ../shared/data) only the made-up run is checked, and
the exit code is 77.
"""
import datetime
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import raw_files

ROOT = pathlib.Path(__file__).resolve().parents[2]
COLUMNS = 5  # steps that the report shows
problems = []
checked = 0
reports = 0


# ---- the report -----------------------------------------------------------------------------------------------------
def report(program, paths, *options):
    global reports
    reports += 1
    done = subprocess.run([program, "report", *map(str, paths), *options], capture_output=True, timeout=300, check=False)
    if done.returncode not in (0, 3):
        sys.exit(f"reports: midwatch report {paths[0]} ended with {done.returncode}\n{done.stderr.decode()}")
    return done.stdout.decode()


def table(text, heading):
    """The first table below a heading: list of rows of cells, the head first."""
    found = re.search(rf"^#+ {heading}.*\n", text, re.M)
    if not found:
        return []
    rows = []
    for line in text[found.end():].split("\n"):
        if line.startswith("| "):
            rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
        elif line.startswith("#") or (rows and not line.startswith("|")):
            break
    return rows


def number(cell):
    """A cell's value and by how much the cell may be off: it shows four digits, or a duration."""
    cell = cell.replace("\\", "")
    if match := re.fullmatch(r"(\d+)h (\d+)m", cell):
        return int(match[1]) * 3600 + int(match[2]) * 60, 60
    if match := re.fullmatch(r"(\d+)m (\d+)s", cell):
        return int(match[1]) * 60 + int(match[2]), 1
    if match := re.fullmatch(r"([\d.]+) s", cell):
        return float(match[1]), 0.06
    if match := re.fullmatch(r"([\d.]+) ms", cell):
        return float(match[1]) / 1000, 0.0006
    value = float(cell)
    return value, max(abs(value) * 6e-4, 1e-12) if abs(value) < 1000 else 0.51


def check(what, cell, expected):
    global checked
    checked += 1
    if expected is None:
        if cell != "":
            problems.append(f"{what}: {cell!r}, and the file says nothing")
        return
    try:
        value, off = number(cell)
    except ValueError:
        problems.append(f"{what}: {cell!r} is no figure; the file says {expected:g}")
        return
    if abs(value - expected) > off:
        problems.append(f"{what}: {cell}, and the file says {expected:g}")


def check_steps(name, text, figures, rows, clock=None, span=True):
    """`figures`: step -> {raw name: value}; `rows`: signal -> raw name."""
    global checked
    shown = table(text, "The last")
    if not shown:
        problems.append(f"{name}: there is no table of the last steps")
        return
    steps = sorted(figures)[-COLUMNS:]
    checked += 1
    if shown[0][1:-2] != [str(step) for step in steps]:
        problems.append(f"{name}: the steps {shown[0][1:-2]}, and the file ends with {steps}")
        return
    by_name = {row[0].replace("\\", ""): row[1:-2] for row in shown}
    constant = re.search(r"^Constant: (.*)\.$", text, re.M)
    for signal, raw in rows.items():
        if signal in by_name:
            for step, cell in zip(steps, by_name[signal]):
                check(f"{name}: {signal} at step {step}", cell, figures[step].get(raw))
        elif not constant or signal not in constant[1].replace("\\", ""):
            problems.append(f"{name}: {signal} is not shown")
    if clock:
        checked += 1
        done = next((cells for head, cells in by_name.items() if head.startswith("Done at")), [""])
        if done[-1] != clock:
            problems.append(f"{name}: done at {done}, and the file says {clock}")
    if span:
        check_span(name, text, figures)


def check_span(name, text, figures):
    global checked
    checked += 1
    found = re.search(r"^\| Steps \| (\d+) to (\d+) \((\d+) seen", text, re.M)
    wanted = (min(figures), max(figures), len(figures))
    if not found or tuple(map(int, found.groups())) != wanted:
        problems.append(f"{name}: steps {found and found.groups()}, and the file has {wanted}")


def check_split(name, text, figures, phases):
    """Mean seconds of each phase over all steps. `phases`: phase -> raw name."""
    rows = {row[0]: row[1] for row in table(text, "Where a step's time goes")}
    for phase, raw in phases.items():
        mean = sum(one.get(raw, 0) for one in figures.values()) / len(figures)
        if phase not in rows:
            problems.append(f"{name}: the phase {phase} is not in the split of the time")
        else:
            check(f"{name}: {phase} per step", rows[phase], mean)


def check_evaluations(name, text, figures, rows):
    """The last columns of the table of held-out evaluations. `figures`: step -> {raw name: value}."""
    shown = table(text, "Held-out evaluation") or [[]]
    steps = [cell for cell in shown[0][1:] if cell.isdigit()]
    if not steps or int(steps[-1]) != max(figures):
        problems.append(f"{name}: evaluations of steps {steps}, and the file ends with {max(figures)}")
        return
    by_name = {row[0].replace("\\", ""): row[1:] for row in shown[1:]}
    for raw in rows:
        if raw not in by_name:
            problems.append(f"{name}: the evaluation {raw} is not shown")
            continue
        for step, cell in zip(steps, by_name[raw]):
            check(f"{name}: {raw} at step {step}", cell, figures[int(step)].get(raw))


def check_machine(name, text, samples):
    """The table of GPUs, of every sample that the file has of the machine."""
    for row in table(text, "Machine")[1:]:
        def of(what, gpu=row[0]):
            return [sample[f"gpu.{gpu}.{what}"] for sample in samples if f"gpu.{gpu}.{what}" in sample]

        busy, watts, heat, taken = of("gpu"), of("powerWatts"), of("temp"), of("memoryAllocatedBytes")
        wanted = [(sum(busy) / len(busy), "busy"), (100 * sum(one < 5 for one in busy) / len(busy), "idle"),
                  (max(taken) / 1e9, "memory"), (sum(watts) / len(watts), "power"), (max(heat), "hottest")]
        for (value, what), cell in zip(wanted, row[1:]):
            check_rounded(f"{name}: GPU {row[0]}, {what}", cell, value)


def check_rounded(what, cell, expected):
    """A cell of three digits and a unit."""
    global checked
    checked += 1
    shown = float(cell.split()[0])
    if abs(shown - expected) > max(abs(expected) * 6e-3, 1e-3):
        problems.append(f"{what}: {cell}, and the file says {expected:g}")


# ---- a made-up run --------------------------------------------------------------------------------------------------
class MadeUp:
    """An agent's run in SkyRL's manner: two attempts, the second resumed from the save of step 2."""

    SAMPLES = 5

    def __init__(self):
        self.at = datetime.datetime(2026, 2, 19, 9, 8, 0)
        self.lines, self.figures, self.calls, self.passed, self.began, self.last = [], {}, {}, {}, [], []

    def say(self, message, after=0.0, level="INFO", place="skyrl_train.trainer:train:237"):
        self.at += datetime.timedelta(seconds=after)
        self.lines.append(f"(skyrl_entrypoint pid=66570) {self.at:%Y-%m-%d %H:%M:%S}.000 | {level:8} | "
                          f"{place} - {message}")

    def attempt(self, first, last):
        self.began.append(self.at)
        self.say("InferenceEngineClient initialized with 2 engines.")
        self.say("Total steps: 212")
        self.say("No checkpoint found, starting training from scratch" if first == 1
                 else f"Resuming from global_step: {first - 1}")
        for step in range(first, last + 1):
            self.step(step)
        self.last.append(self.at)

    def step(self, step):
        self.say("Started: 'step'")
        self.say("Started: 'generate'")
        generate, train = 600 + 10 * step, 50 + step
        self.passed[step] = (2 + step) % (self.SAMPLES + 1)
        self.calls[step] = [200 + 10 * step, 250 + 10 * step]
        for seconds in self.calls[step]:
            self.say(f"Code execution took {seconds:.2f} seconds. Code:", generate / 4, "WARNING")
            self.lines += ["advanced_web_search('x')", "Output:"]
        for sample in range(self.SAMPLES):
            self.say(f"ft_reward: {float(sample < self.passed[step])}",
                     place="skyrl_agent.tasks.some_adapter:compute_rewards:520")
        self.say(f"Finished: 'generate', time cost: {generate:.2f}s", generate / 2)
        self.figures[step] = {"reward": 5 + step / 8, "length": 15000 + 100 * step, "generate": generate,
                              "train": train}
        self.say(f"reward/avg_pass_at_5: 1.0, reward/avg_raw_reward: {self.figures[step]['reward']}")
        self.say(f"avg_final_rewards: {self.figures[step]['reward']}, avg_response_length: {self.figures[step]['length']}")
        self.say(f"Finished: 'train_critic_and_policy', time cost: {train:.2f}s", train)
        self.say(f"Finished: 'step', time cost: {generate + train:.2f}s")
        if step == 2:
            self.say("Successfully saved checkpoint for global_step_2 to: /nfs/ckpt/global_step_2", 30)


def check_made_up(program):
    global checked
    run = MadeUp()
    run.attempt(1, 4)
    run.lines.append("RuntimeError: the judge answered HTTP 502")
    run.at += datetime.timedelta(seconds=60)
    run.attempt(3, 6)
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder, "train.log")
        log.write_text("\n".join(run.lines) + "\n")
        whole, later = report(program, [log]), report(program, [log], "--since", "5")
    # Of the last attempt alone: steps 3 to 6.
    shown = {step: one for step, one in run.figures.items() if step >= 3}
    check_steps("made-up run", whole, shown, {"reward.mean": "reward", "response.length": "length",
                                              "time.rollout": "generate", "time.train": "train"},
                f"{run.at:%H:%M:%S}", span=False)
    attempts = table(whole, "Attempts")[1:]
    checked += 3
    if [row[3] for row in attempts] != ["1 to 4", "3 to 6"] or [row[4] for row in attempts] != ["", "2"]:
        problems.append(f"made-up run: attempts {attempts}")
    if not attempts or not attempts[0][7].startswith("2 steps"):
        problems.append(f"made-up run: steps 3 and 4 of the first attempt are lost; the report says {attempts}")
    for text, steps, name in ((whole, [1, 2, 3, 4, 3, 4, 5, 6], "whole run"), (later, [5, 6], "--since 5")):
        calls = sorted(seconds for step in steps for seconds in run.calls[step])
        rows = [row for row in table(text, "Tools")[1:]]
        checked += 1
        if len(rows) != 1 or rows[0][:2] != ["advanced_web_search", str(len(calls))]:
            problems.append(f"made-up run, {name}: {len(calls)} slow calls of advanced_web_search, and the report says {rows}")
            continue
        cell = dict(zip(table(text, "Tools")[0], rows[0]))
        check(f"made-up run, {name}: median", cell["Median"], calls[(len(calls) + 1) // 2 - 1])
        check(f"made-up run, {name}: longest", cell["Longest"], calls[-1])
        checked += 1
        if cell["Over 1m 00s"] != str(sum(seconds > 60 for seconds in calls)):
            problems.append(f"made-up run, {name}: calls over a minute: {cell}")
    for text, steps, column in ((later, [5, 6], "In this cycle"), (later, [1, 2, 3, 4, 3, 4, 5, 6], "In the whole run")):
        parts = table(text, "Reward parts, rollout by rollout") or [[], []]
        cell = dict(zip(parts[0], parts[1])).get(column, "")
        share = f"({sum(run.passed[step] for step in steps)}/{len(steps) * MadeUp.SAMPLES})"
        checked += 1
        if share not in cell:
            problems.append(f"made-up run, {column}: ft_reward {cell}, and the log says {share}")
    rules = table(whole, "Format compliance, by step") or [[], []]
    cells = dict(zip(rules[0][1:], rules[1][1:]))
    for step in (3, 4, 5, 6):
        checked += 1
        share = f"({run.passed[step]}/{MadeUp.SAMPLES})"
        if share not in cells.get(str(step), ""):
            problems.append(f"made-up run: format rule at step {step}: {cells.get(str(step))}, and the log says {share}")


def check_two_files(program):
    """prime-rl's manner: trainer and orchestrator write a file each, and only the trainer says that it resumed."""
    global checked
    at, trainer, orchestrator = datetime.datetime(2026, 1, 6, 2, 30), [], []
    for first, last in ((0, 6), (5, 12)):
        trainer.append(f"{at:%H:%M:%S}    INFO Starting training loop (max_steps=1000)")
        if first:
            trainer.append(f"{at:%H:%M:%S}    INFO Resuming training from checkpoint step {first}")
        for step in range(first, last + 1):
            orchestrator.append(f"{at:%H:%M:%S}    INFO Starting orchestrator step {step}")
            at += datetime.timedelta(seconds=150)
            orchestrator.append(f"{at:%H:%M:%S} SUCCESS Step {step} | Time: 150.00s | Reward: {0.3 + step / 100:.4f} | "
                                "Throughput: 2050.5 tokens/s | Seq. Length: 331.2 tokens/sample | Async Level: 1 | "
                                "Max. Off-Policy Level: 2")
            at += datetime.timedelta(seconds=40)
            trainer.append(f"{at:%H:%M:%S} SUCCESS Step {step} | Time: 190.40s | Loss: 0.0023 | Entropy: 0.5120 | "
                           "Mismatch KL: 0.0011 | Grad. Norm: 0.2031 | LR: 1.00e-05 | Throughput: 9120 tokens/s | "
                           "MFU: 25.0% | Peak Mem.: 60.0 GiB")
        at += datetime.timedelta(minutes=20)
    with tempfile.TemporaryDirectory() as folder:
        for name, lines in (("trainer.log", trainer), ("orchestrator.log", orchestrator)):
            pathlib.Path(folder, name).write_text("\n".join(lines) + "\n")
        attempts = table(report(program, [folder]), "Attempts")[1:]
    checked += 1
    if [(row[3], row[4]) for row in attempts] != [("0 to 6", ""), ("5 to 12", "5")]:
        problems.append(f"made-up run in two files: attempts {attempts}")


# ---- the runs -------------------------------------------------------------------------------------------------------
VERL = {"reward.mean": "critic/score/mean", "entropy": "actor/entropy", "grad_norm": "actor/grad_norm",
        "loss.policy": "actor/pg_loss", "lr": "actor/lr", "response.length": "response_length/mean",
        "response.truncated": "response_length/clip_ratio", "time.step": "timing_s/step", "time.rollout": "timing_s/gen",
        "throughput.tokens": "perf/throughput"}


def summed(figures, name, parts):
    for one in figures.values():
        one[name] = sum(one.get(part, 0) for part in parts)


def check_verl(program, data):
    run = data / "verl/econ-grpo-v6-stopped-192"
    figures, text = raw_files.verl_lines((run / "train_v6_reward.log").read_text(errors="replace")), report(program, [run])
    check_steps(run.name, text, figures, {**VERL, "time.train": "timing_s/update_actor"})
    check_split(run.name, text, figures, {"rollout": "timing_s/gen", "train": "timing_s/update_actor",
                                          "logprob": "timing_s/old_log_prob", "save": "timing_s/save_checkpoint"})

    # With a critic: its update and its values are parts of the step as the actor's are.
    run = data / "verl-slurm/gsm8k-ppo-216steps"
    figures, text = raw_files.verl_lines((run / "slurm-6231820.out").read_text(errors="replace")), report(program, [run])
    evaluated = {step: one for step, one in figures.items() if any(name.startswith("val-") for name in one)}
    figures = {step: one for step, one in figures.items() if "timing_s/step" in one}
    summed(figures, "train", ("timing_s/update_actor", "timing_s/update_critic"))
    summed(figures, "logprob", ("timing_s/old_log_prob", "timing_s/values"))
    check_steps(run.name, text, figures, {**VERL, "time.train": "train", "time.logprob": "logprob",
                                          "time.sync": "timing_s/update_weights"})
    check_split(run.name, text, figures, {"rollout": "timing_s/gen", "train": "train", "logprob": "logprob",
                                          "eval": "timing_s/testing", "sync": "timing_s/update_weights"})
    check_evaluations(run.name, text, evaluated, ["val-core/openai/gsm8k/acc/mean@1"])


def check_rollouts(program, data):
    """Single rollouts: what the slowest of a step and the mean one take, and where the slowest spends its time."""
    global checked
    loop = "timing_s/agent_loop"
    for name in ("opd-healthy-51steps/run-f6sves9c", "opd-length-growth-48steps/run-bd2o9c4a",
                 "opd-length-collapse/run-gjvwlq13"):
        run = data / "verl" / f"{name}.wandb"
        figures, _ = raw_files.wandb(run, "_step")
        figures = {**raw_files.verl_lines(raw_files.console(run)), **figures}  # the console may be a step ahead
        steps = [one for one in figures.values() if f"{loop}/slowest/tool_calls" in one]
        mean = [one[f"{loop}/generate_sequences/mean"] + one[f"{loop}/tool_calls/mean"] for one in steps]
        slowest = [one[f"{loop}/slowest/generate_sequences"] + one[f"{loop}/slowest/tool_calls"] for one in steps]
        text = report(program, [run])
        rows = {row[0]: row[1:] for row in table(text, "Single rollouts")}
        for what, cell, values in (("mean", 0, mean), ("slowest", 2, slowest)):
            check(f"{name}: {what} rollout", rows["from prompt to reward"][cell], sum(values) / len(values))
        check(f"{name}: slowest of all", rows["from prompt to reward"][3], max(slowest))
        tools = [one[f"{loop}/tool_calls/mean"] for one in steps]
        check(f"{name}: tools", rows["in tools or the environment"][0], sum(tools) / len(tools))
        held = sum(1 for one, whole in zip(steps, slowest) if one[f"{loop}/slowest/tool_calls"] > whole / 2)
        said = re.search(r"^In (\d+) of (\d+) steps the slowest rollout", text, re.M)
        checked += 1
        wanted = (str(held), str(len(steps))) if held >= len(steps) / 10 else None
        if (said and said.groups()) != wanted:
            problems.append(f"{name}: held by tools in {said and said[0]}, and the file says {held} of {len(steps)}")


def check_wandb(program, data):
    run = data / "reasoning360/wandb-47bzde4v/run-47bzde4v.wandb"
    figures, samples = raw_files.wandb(run, "_step")
    figures = {**raw_files.verl_lines(raw_files.console(run)), **figures}  # the console is a step ahead
    figures = {step: one for step, one in figures.items() if "timing_s/step" in one}
    summed(figures, "logprob", ("timing_s/old_log_prob", "timing_s/ref", "timing_s/values"))
    text = report(program, [run.parent])
    check_steps(run.name, text, figures, {**VERL, "entropy": "actor/entropy_loss", "time.train": "timing_s/update_actor",
                                          "time.logprob": "logprob"})
    check_machine(run.name, text, samples)
    for name in ("skyrl/taubench-kl-gradnorm-spike/run-j22ktkix", "skyrl/taubench-no-learning-parsefail/run-33wkpvan",
                 "oat/online-dpo/run-9f2itpyc"):
        run = data / f"{name}.wandb"
        _, samples = raw_files.wandb(run, "_step")
        check_machine(run.name, report(program, [run]), samples)


def check_trl(program, data):
    run = data / "trl/wordle-stage2-trainer-state"
    (trained, judged), text = raw_files.trainer_state(run / "trainer_state.json"), report(program, [run])
    check_steps(run.name, text, trained, {"reward.mean": "reward", "kl.ref": "kl", "grad_norm": "grad_norm",
                                          "entropy": "entropy", "loss.total": "loss", "lr": "learning_rate",
                                          "response.length": "completions/mean_length",
                                          "response.truncated": "completions/clipped_ratio",
                                          "time.step": "step_time"})
    check_evaluations(run.name, text, judged, ["eval_reward", "eval_kl", "eval_entropy"])

    run = data / "trl/hotpotqa-grpo"
    figures = raw_files.dict_lines(run / "grpo.log", every=20, last=1875)
    check_steps(run.name, report(program, [run]), figures,
                {"reward.mean": "reward", "kl.ref": "kl", "grad_norm": "grad_norm", "lr": "learning_rate",
                 "response.length": "completion_length"})


def check_more(program, data):
    check_verl(program, data)
    check_wandb(program, data)
    check_rollouts(program, data)
    check_trl(program, data)

    run = data / "nemo-rl/grpo-qwen25-7b-sglang-metrics"
    figures, text = raw_files.by_name(run / "metrics.json"), report(program, [run])
    figures = {step: one for step, one in figures.items() if "train/reward" in one}
    summed(figures, "train", ("timing/train/policy_training", "timing/train/training_prep"))
    summed(figures, "logprob", ("timing/train/policy_and_reference_logprobs", "timing/train/logprob_inference_prep"))
    check_steps(run.name, text, figures, {"reward.mean": "train/reward", "entropy": "train/approx_entropy",
                                          "kl.ref": "train/kl_penalty", "grad_norm": "train/grad_norm",
                                          "mismatch.kl": "train/gen_kl_error", "time.step": "timing/train/total_step_time",
                                          "response.length": "train/mean_gen_tokens_per_sample"})
    check_split(run.name, text, figures, {"train": "train", "logprob": "logprob", "rollout": "timing/train/generation",
                                          "sync": "timing/train/prepare_for_generation/total",
                                          "save": "timing/train/checkpointing"})

    run = data / "roll/rdan-grpo-metrics"
    figures = raw_files.jsonl(run / "metrics.jsonl", count=True)
    check_steps(run.name, report(program, [run]), figures,
                {"reward.mean": "reward/selected_mean", "entropy": "actor/entropy", "kl.ref": "actor/kl_loss",
                 "kl.step": "actor/approxkl", "grad_norm": "actor_train/grad_norm", "clip.frac": "actor/clipfrac",
                 "loss.policy": "actor/pg_loss", "lr": "actor/lr"})


def main():
    program = os.path.abspath(sys.argv[1])
    data = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT.parent / "shared" / "data"
    check_made_up(program)
    check_two_files(program)
    if not (data / "labels.json").exists():
        print("\n".join(problems + [f"SKIPPED: there are no real runs in {data}: only the made-up run was checked"]))
        sys.exit(1 if problems else 77)

    run = data / "skyrl/tinker-smoke-rl_loop_d"
    check_steps(run.name, report(program, [run]), raw_files.jsonl(run / "metrics.jsonl"),
                {"reward.mean": "reward/total", "time.step": "time/total", "lr": "optim/lr"})

    run = data / "custom/gsm8k-dapo-csv/train_log_dapo.csv"
    figures = raw_files.comma_separated(run)
    # Only some of its steps have a reward: those are shown, and the last step of all.
    shown = sorted(step for step, one in figures.items() if "reward_mean" in one or step == max(figures))[-COLUMNS:]
    text = report(program, [run])
    check_steps(run.name, text, {step: figures[step] for step in shown},
                {"reward.mean": "reward_mean", "loss.total": "loss", "entropy": "entropy"}, span=False)
    check_span(run.name, text, figures)

    run = data / "areal/gsm8k-h200"
    figures, clock = raw_files.areal_tables(run / "logs_h200.txt")
    for one in figures.values():
        one["answer"] = one["grpo_actor/seq_len/avg"] - one["grpo_actor/prompt_len/avg"]
    text = report(program, [run])
    check_steps(run.name, text, figures,
                {"reward.mean": "grpo_actor/task_reward/avg", "entropy": "grpo_actor/entropy/avg",
                 "grad_norm": "grpo_actor/grad_norm", "loss.policy": "grpo_actor/actor_loss/avg",
                 "response.length": "answer", "time.rollout": "timeperf/rollout",
                 "time.train": "timeperf/train_step", "time.sync": "timeperf/update_weights"}, clock)
    check_split(run.name, text, figures, {"sync": "timeperf/update_weights", "train": "timeperf/train_step",
                                          "rollout": "timeperf/rollout"})

    run = data / "skyrl/taubench-stopped-step4"
    figures = raw_files.skyrl_phases(run / "output.log")
    check_steps(run.name, report(program, [run]), {step: figures[step] for step in range(1, 6)},
                {"time.rollout": "generate", "time.train": "train_critic_and_policy",
                 "time.logprob": "fwd_logprobs_values_reward", "time.step": "step"}, span=False)

    run = data / "custom/gsm8k-grpo-ablation/baseline__step_stat_history.json"
    check_steps(run.name, report(program, [run]), raw_files.json_list(run), {"reward.mean": "reward_mean", "grad_norm": "grad_norm"})

    run = data / "custom/minimind-grpo-no-learning"
    check_steps(run.name, report(program, [run]), raw_files.minimind(run / "grpo.log"),
                {"reward.mean": "reward", "kl.ref": "kl", "response.length": "length", "lr": "lr"},
                span=False)  # 101 records behind a printed sample are not read yet

    run = data / "custom/gemma2-mps-grpo/train_grpo_gemma2_3.log"
    saved = re.findall(r"Saved checkpoint to \S*step(\d+)\.pt", run.read_text(errors="replace"))
    shown = [row for row in table(report(program, [run]), "Checkpoints")[1:] if row[0]]
    global checked
    checked += 1
    if [row[0] for row in shown] != saved[-12:]:
        problems.append(f"{run.name}: checkpoints of steps {[row[0] for row in shown]}, and the file has {saved[-12:]}")

    check_more(program, data)
    for problem in problems:
        print(problem)
    print(f"{checked} figures of {reports} reports were checked, {len(problems)} are wrong")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
