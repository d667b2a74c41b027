#!/usr/bin/env python3
"""The same with curves of real runs as a basis: their noise, their drift, their oddities.

real.py PROGRAM RUN... [--seed N] [--runs N] [--verbose]

Each RUN is a folder or file of a healthy run of at least 40 records. Its curves are read by `midwatch attach` (out of the
journal), cut to a piece, thinned out and moved to another scale of reward; that must stay silent. Then one failure is
put in, which must be found.
"""
import argparse
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

import curves
import runs
import shapes
from faults import FALLS, Case, blend, onset_of, speed_of

SIGNALS = ("reward.mean", "entropy", "grad_norm", "kl.ref", "lr", "loss.policy", "clip.frac", "response.length",
           "response.truncated", "time.step", "mismatch.logp_diff")
SCALES = ((1, 0), (2, -1), (1.5, -0.5), (10, 0), (1, -1), (5, -3))  # factor and shift of the reward
IDLE_S = 1


def read(program, path):
    """signal -> {step: value} as midwatch reads the files."""
    out = {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        subprocess.run([program, "attach", "--home", home, "--exit-after-idle", str(IDLE_S), str(path)],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300, check=False)
        for journal in sorted(pathlib.Path(home).rglob("*.journal")):
            for line in journal.read_text(encoding="utf-8", errors="replace").splitlines():
                at = line.find('{"e":"measured"')
                if at < 0:
                    continue
                event = json.loads(line[at:])
                if event.get("eval") or event.get("step") is None:
                    continue
                for signal, _, value in event["readings"]:
                    if signal in SIGNALS and isinstance(value, (int, float)):
                        out.setdefault(signal, {})[event["step"]] = float(value)
    return out


def piece(rng, base):
    """A stretch of the run, perhaps every second or fifth record, with the reward on another scale."""
    steps = sorted(base["reward.mean"])
    thin = rng.choice([t for t in (1, 1, 2, 5) if len(steps) // t >= 40] or [1])
    steps = steps[::thin]
    length = rng.randint(min(40, len(steps)), len(steps))
    steps = steps[:length]
    run = runs.Run(rng)
    run.steps, run.algorithm, run.family, run.batch, run.high = steps, "grpo", "binary", 8, 1.0
    run.skill = [0.5] * length  # not known
    factor, shift = rng.choice(SCALES)
    for signal, values in base.items():
        column = [values.get(step) for step in steps]
        if sum(v is None for v in column) > length // 10:
            continue
        run.series[signal] = [v * factor + shift if v is not None and signal == "reward.mean" else v for v in column]
    run.low = min(0.0, *(v for v in run.series["reward.mean"] if v is not None))
    return run


def fall(rng, run, at, speed, share):
    """Keeps `share` of the reward's height above its floor, and of its noise."""
    rewards = run.series["reward.mean"]
    for i in range(at, len(run)):
        if rewards[i] is not None:
            rewards[i] = run.low + (rewards[i] - run.low) * blend(1.0, share, i, at, speed)


def spoilt(rng, base):
    run = piece(rng, base)
    n = len(run)
    at = onset_of(rng, n, least_before=22)
    speed = speed_of(rng, n, at)
    kinds = ["reward-collapse", "zero-reward"] + [s for s in ("entropy", "grad_norm", "response.length",
                                                            "response.truncated") if s in run.series]
    kind = rng.choice(kinds)
    before = [v for v in run.series["reward.mean"][max(0, at - 10):at] if v is not None]
    after = [v for v in run.series["reward.mean"][at:] if v is not None]
    height = sum(before) / len(before) - run.low
    noise = math.sqrt(sum((v - sum(after) / len(after)) ** 2 for v in after) / len(after))
    if n - at - speed < 6 or height * math.sqrt(n - at - speed) < 10 * noise or height <= 0:
        return None
    if kind == "reward-collapse":
        fall(rng, run, at, speed, rng.uniform(0.0, 0.3))
        return Case(run, ("reward-collapse", "zero-reward"), at, at + round(0.6 * speed), allowed=FALLS)
    if kind == "zero-reward":
        fall(rng, run, at, 1, 0.0)
        return Case(run, ("zero-reward", "reward-collapse"), at, at, allowed=FALLS)
    series = run.series[kind]
    if kind == "grad_norm":
        usual = sorted(v for v in series[:at] if v is not None)[-max(1, at // 10)]
        if usual <= 0:
            return None
        series[at] = 200 * usual
        return Case(run, ("gradient-spike",), at, at, needed=("grad_norm",))
    fall(rng, run, at, speed, rng.uniform(0.0, 0.5))
    top = rng.uniform(3, 8)
    for i in range(at, n):
        if series[i] is None:
            continue
        if kind == "entropy":
            series[i] = series[i] * blend(1, top, i, at, speed) + blend(0, 1, i, at, speed)
        elif kind == "response.length":
            series[i] /= blend(1, top, i, at, speed)
        else:
            series[i] = min(1.0, blend(series[i], 0.9, i, at, speed))
    names = {"entropy": ("entropy-explosion",), "response.length": ("length-collapse",),
             "response.truncated": ("truncation",)}[kind]
    return Case(run, names, at, at + speed, needed=(kind,), allowed=FALLS)


def tried(program, name, base, number, seed, sick):
    rng = random.Random(f"{seed}/{name}/{number}/{sick}")
    for _ in range(curves.TRIES):
        case = spoilt(rng, base) if sick else Case(piece(rng, base), (), 0, 0)
        if case:
            break
    else:
        return None
    case.allowed.add("no-learning")  # a piece may be too short to show what the whole run learned
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        needed = ["reward.mean", *case.needed]
        framework, shape, _ = shapes.write(case.run, pathlib.Path(folder), rng, needed)
        found, error, false = curves.judged(case, curves.answer_of(program, folder))
    kind = sorted(case.kinds)[0] if sick else "piece of a healthy run"
    return {"row": kind, "failure": sick, "found": found, "error": error, "false": false, "unread": False,
            "window": case.window, "facts": f"{name} {number}, {framework} {shape}, {len(case.run)} records"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("run", nargs="+")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--verbose", action="store_true")
    asked = parser.parse_args()
    results = []
    for path in asked.run:
        base = read(asked.program, path)
        if len(base.get("reward.mean", {})) < 40:
            sys.exit(f"real: {path} shows fewer than 40 rewards")
        for number in range(asked.runs):
            for sick in (False, True):
                result = tried(asked.program, pathlib.Path(path).name, base, number, asked.seed, sick)
                if result:
                    results.append(result)
    if asked.verbose:
        for r in results:
            if r["false"] or (r["failure"] and not r["found"]):
                print(r["row"], r["facts"], "missed" if r["failure"] and not r["found"] else "", r["window"], r["false"])
    curves.table(results)


if __name__ == "__main__":
    main()
