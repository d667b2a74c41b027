"""Writes runs down as trainers do: the names of a framework, the shape of one of its files."""
import json
import struct

# canonical signal -> name, per framework. What is missing there, that trainer does not write.
NAMES = {
    "verl": {
        "reward.mean": "critic/score/mean", "entropy": "actor/entropy", "grad_norm": "actor/grad_norm",
        "kl.ref": "actor/kl_loss", "lr": "actor/lr", "loss.policy": "actor/pg_loss", "clip.frac": "actor/pg_clipfrac",
        "response.length": "response_length/mean", "response.truncated": "response_length/clip_ratio",
        "time.step": "timing_s/step", "mismatch.logp_diff": "rollout_corr/log_ppl_abs_diff",
        "staleness": "training/off_policy/trajectory_staleness/mean", "reward.std": "critic/score/std",
        "mismatch.kl": "rollout_corr/kl", "throughput.tokens": "perf/throughput", "eval": "val-core/math/acc/mean@1",
    },
    "trl": {
        "reward.mean": "reward", "reward.std": "reward_std", "reward.zero_std_groups": "frac_reward_zero_std",
        "entropy": "entropy", "grad_norm": "grad_norm", "kl.ref": "kl", "lr": "learning_rate", "loss.total": "loss",
        "loss.policy": "loss", "clip.frac": "clip_ratio/region_mean", "response.length": "completions/mean_length",
        "response.truncated": "completions/clipped_ratio", "time.step": "step_time",
        "mismatch.logp_diff": "sampling/sampling_logp_difference/mean", "eval": "eval_accuracy",
        "reward.component.correct": "rewards/correctness_reward/mean",
        "mismatch.ratio": "sampling/importance_sampling_ratio/mean",
    },
    "openrlhf": {
        "reward.mean": "train/reward", "entropy": "train/entropy_loss", "grad_norm": "train/actor_grad_norm",
        "kl.ref": "train/kl", "lr": "train/actor_lr", "loss.policy": "train/policy_loss",
        "clip.frac": "train/ppo_clip_ratio", "response.length": "train/response_length",
        "response.truncated": "train/response_clip_ratio", "time.step": "train/timing/step_total",
        "mismatch.kl": "train/vllm_kl", "reward.std": "train/group_reward_std", "eval": "eval/math_pass1",
    },
    "slime": {
        "reward.mean": "rollout/raw_reward", "entropy": "train/entropy_loss", "grad_norm": "train/grad_norm",
        "kl.ref": "train/kl_loss", "lr": "train/lr-pg_0", "loss.policy": "train/pg_loss",
        "clip.frac": "train/pg_clipfrac", "response.length": "rollout/response_len/mean",
        "response.truncated": "rollout/truncated_ratio", "time.step": "perf/step_time",
        "mismatch.logp_diff": "train/train_rollout_logprob_abs_diff", "response.repetition": "rollout/repetition_frac",
        "mismatch.kl": "train/train_rollout_kl", "eval": "eval/math",
    },
    "skyrl": {
        "reward.mean": "reward/avg_raw_reward", "reward.pass_rate": "reward/avg_pass_at_8",
        "entropy": "policy/policy_entropy", "grad_norm": "policy/raw_grad_norm", "kl.ref": "policy/policy_kl",
        "lr": "policy/policy_lr", "loss.policy": "policy/policy_loss", "clip.frac": "policy/ppo_clip_ratio",
        "response.length": "generate/avg_num_tokens", "time.step": "timing/step",
        "mismatch.logp_diff": "policy/rollout_train_logprobs_abs_diff_mean", "staleness": "async/staleness_mean",
        "eval": "eval/all/pass_at_1",
    },
    "nemo-rl": {
        "reward.mean": "train/reward", "reward.pass_rate": "train/accuracy", "entropy": "train/approx_entropy",
        "grad_norm": "train/grad_norm", "kl.ref": "train/kl_penalty", "lr": "train/lr", "loss.total": "train/loss",
        "loss.policy": "train/loss", "response.length": "train/mean_gen_tokens_per_sample",
        "response.truncated": "train/truncation_rate", "time.step": "timing/train/total_step_time",
        "mismatch.kl": "train/gen_kl_error", "mismatch.ratio": "train/token_mult_prob_error",
        "staleness": "train/avg_trajectory_age", "eval": "validation/accuracy",
    },
    "prime-rl": {
        "reward.mean": "reward/all/mean", "entropy": "entropy/all/mean", "grad_norm": "optim/grad_norm",
        "lr": "optim/lr", "loss.policy": "loss/mean", "response.length": "decode_len/all/mean",
        "response.truncated": "is_truncated/all/mean", "time.step": "time/step", "mismatch.kl": "mismatch_kl/all/mean",
        "staleness": "off_policy_level/all/mean", "teacher.kl": "teacher_kl/mean",
        "eval": "eval/math/avg@4",
    },
    "areal": {
        "reward.mean": "grpo_actor/task_reward/avg", "entropy": "grpo_actor/update/entropy/avg",
        "grad_norm": "grpo_actor/update/grad_norm", "lr": "grpo_actor/update/lr",
        "loss.policy": "grpo_actor/update/actor_loss/avg", "clip.frac": "grpo_actor/update/clip_ratio/avg",
        "response.length": "grpo_actor/seq_len/avg", "mismatch.kl": "grpo_actor/update/behave_approx_kl/avg",
        "staleness": "grpo_actor/update/version_stats/sample_staleness_theta_avg", "eval": "eval-rollout/reward",
    },
    "custom": {
        "reward.mean": "mean_reward", "reward.std": "reward_std", "reward.zero_std_groups": "frac_zero_std",
        "reward.pass_rate": "accuracy", "entropy": "entropy", "grad_norm": "grad_norm", "kl.ref": "kl", "lr": "lr",
        "loss.total": "loss", "loss.policy": "policy_loss", "clip.frac": "clip_frac",
        "response.length": "mean_completion_length", "response.truncated": "truncation_rate",
        "time.step": "step_time", "format.pass_rate": "format_rate", "throughput.tokens": "tokens_per_second",
        "reward.component.correct": "reward/correctness", "eval": "eval_accuracy", "teacher.kl": "teacher_kl",
    },
}
SHAPES = ("jsonl", "jsonl", "csv", "dict-lines", "nested", "state", "tfevents")
DIGITS = 6


def records_of(run, framework):
    """(step, {name: value}) in the order of writing, a resume's repeated steps included."""
    names = NAMES[framework]
    order = list(range(len(run)))
    if run.resumed is not None:
        at, back = run.resumed
        order = order[:at] + order[at - back:]
    out, seen = [], set()
    for i in order:
        row = {}
        for signal in sorted(run.series):
            value = run.series[signal][i]
            if signal not in names or value is None:
                continue
            if i in seen or not isinstance(value, float):
                row[names[signal]] = value
            else:
                row[names[signal]] = value if value != value else float(f"{value:.{DIGITS}g}")
        out.append((run.steps[i], row))
        for evaluated in run.evals.values():
            if i in evaluated:
                out.append((run.steps[i], {names["eval"]: round(evaluated[i], 4)}))
        seen.add(i)
    return out


def as_json(value):
    return json.dumps(value)  # writes NaN and Infinity bare, as trainers do


def write_jsonl(path, records, nested=False):
    with open(path, "w", encoding="utf-8") as out:
        for step, row in records:
            out.write(as_json({"step": step, "data": row} if nested else {"step": step, **row}) + "\n")


def write_csv(path, records):
    names = sorted({name for _, row in records for name in row})
    with open(path, "w", encoding="utf-8") as out:
        out.write(",".join(["step"] + names) + "\n")
        for step, row in records:
            out.write(",".join([str(step)] + [repr(row[name]) if name in row else "" for name in names]) + "\n")


def write_dicts(path, records):
    with open(path, "w", encoding="utf-8") as out:
        out.write("starting\n")
        for step, row in records:
            out.write(repr({"step": step, **row}) + "\n")


def write_state(path, records):
    """trainer_state.json of the transformers Trainer."""
    history = [{"epoch": 0.01 * step, "step": step, **row} for step, row in records]
    with open(path, "w", encoding="utf-8") as out:
        json.dump({"epoch": 1.0, "global_step": records[-1][0], "is_world_process_zero": True, "log_history": history,
                   "max_steps": records[-1][0]}, out, indent=2)


def crc32c(data, table=[]):
    if not table:
        for byte in range(256):
            for _ in range(8):
                byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
            table.append(byte)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17 & 0xFFFFFFFF) + 0xA282EAD8) & 0xFFFFFFFF


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def write_tfevents(path, records):
    """TFRecord frames of tensorflow.Event with one Summary.Value (tag, simple_value) per metric."""
    with open(path, "wb") as out:
        for step, row in records:
            summary = b"".join(field(1, field(1, name.encode()) + varint(2 << 3 | 5) + struct.pack("<f", value))
                               for name, value in row.items())
            event = (varint(1 << 3 | 1) + struct.pack("<d", 1.7e9 + 10.0 * step) + varint(2 << 3) + varint(step) +
                     field(5, summary))
            head = struct.pack("<Q", len(event))
            out.write(head + struct.pack("<I", crc32c(head)) + event + struct.pack("<I", crc32c(event)))


def write(run, folder, rng, needed):
    """Writes the run as a framework that can show what the case needs; returns framework, shape and path."""
    able = [name for name in sorted(NAMES) if all(signal in NAMES[name] for signal in needed)]
    framework = rng.choice(able)
    shape = rng.choice([s for s in SHAPES if (s != "nested" or framework == "verl") and
                        (s != "dict-lines" or framework == "custom") and
                        (s != "state" or framework == "trl") and (s != "tfevents" or len(run) <= 200)])
    records = records_of(run, framework)
    path = folder / {"csv": "metrics.csv", "dict-lines": "train.log", "state": "trainer_state.json",
                     "tfevents": "events.out.tfevents.1700000000.host"}.get(shape, "metrics.jsonl")
    {"jsonl": write_jsonl, "csv": write_csv, "dict-lines": write_dicts, "state": write_state,
     "tfevents": write_tfevents, "nested": lambda p, r: write_jsonl(p, r, nested=True)}[shape](path, records)
    if run.algorithm == "gspo":
        (folder / "config.json").write_text(as_json({"algorithm": "gspo"}), encoding="utf-8")
    return framework, shape, path
