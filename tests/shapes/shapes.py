#!/usr/bin/env python3
"""Logs of home-made trainers, in some hundred made-up but common shapes: does midwatch find steps, rewards, losses and saves?

shapes.py PROGRAM [--half dev|check|all] [--only PART_OF_NAME] [--keep DIR] [--least SHARE] [--reveal] [-v]

Each shape is one way to print a step (lines.py, blocks.py) in surroundings that its name chooses: what stands before each line, a
banner, how saves are reported, lines that only look like saves; a third of them has rewards that collapse. Half of the shapes are
for checking only: of those figures are printed, and no names, so that nobody tunes the reader to them.
"""
import argparse
import collections
import concurrent.futures
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import zlib

from blocks import BLOCKS, HEADS, LEARNT_BLOCKS, NO_SAVES, SAVES, UNNUMBERED
from lines import LEARNT, LINES

STEPS, SAVE_EVERY, COLLAPSE = 60, 10, 37
SIGNALS = {"r": ["reward.mean"], "rp": ["reward.mean"], "ret": ["return.mean", "reward.mean"], "acc": ["reward.pass_rate", "reward.mean"],
           "accp": ["reward.pass_rate", "reward.mean"], "l": ["loss.total"], "lp": ["loss.policy"], "g": ["grad_norm"], "k": ["kl.ref", "kl.step"],
           "h": ["entropy"], "lr": ["lr"]}
WRAPPERS = {
    "plain": lambda line, f: line,
    "logging": lambda line, f: f"{f['date']} {f['clock']},{f['ms']} - INFO - trainer - {line}",
    "logging-name": lambda line, f: f"{f['date']} {f['clock']},{f['ms']} trainer.py:142 INFO {line}",
    "basic": lambda line, f: f"INFO:trainer:{line}",
    "loguru": lambda line, f: f"{f['date']} {f['clock']}.{f['ms']} | INFO     | __main__:train:142 - {line}",
    "bracket-time": lambda line, f: f"[{f['date']} {f['clock']}] {line}",
    "clock": lambda line, f: f"{f['clock']} {line}",
    "level": lambda line, f: f"[INFO] {line}",
    "srun": lambda line, f: f"0: {line}",
    "kubectl": lambda line, f: f"{f['date']}T{f['clock']}.{f['ms']}456789Z {line}",
    "ray": lambda line, f: f"(TrainActor pid=2211) {line}",
    "torchrun": lambda line, f: f"[rank0]: {line}",
    "ts": lambda line, f: f"Mar 01 {f['clock']} {line}",
    "journal": lambda line, f: f"Mar 01 {f['clock']} gpu-7 python[2211]: {line}",
    "ansi": lambda line, f: f"\x1b[36m{f['clock']}\x1b[0m \x1b[32mINFO\x1b[0m {line}",
    "docker": lambda line, f: json.dumps({"log": line + "\n", "stream": "stdout", "time": f"{f['date']}T{f['clock']}.{f['ms']}456789Z"}),
}
LITTLE = ["plain", "srun", "kubectl"]  # what is drawn is seldom behind a logger


def number(name, below):
    return zlib.crc32(name.encode()) % below


def figures(rng, collapses):
    run, reward = [], 0.2
    for step in range(1, STEPS + 1):
        reward = 0.2 + 0.5 * (1 - math.exp(-step / 25)) + rng.gauss(0, 0.015)
        if collapses and step >= COLLAPSE:
            reward = 0.0
        second = step * 31
        run.append({
            "s": step, "n": STEPS, "p": step * 100 // STEPS, "r": reward, "rp": reward * 100, "l": 0.9 - 0.004 * step + rng.gauss(0, 0.02),
            "g": 0.8 + rng.random() * 0.2, "k": 0.01 + 0.0003 * step, "h": 0.9 - 0.004 * step + rng.gauss(0, 0.01), "lr": 1e-6,
            "len": 410 + rng.gauss(0, 12), "tps": 1400 + rng.gauss(0, 40), "t": 31.0 + rng.gauss(0, 0.5), "acc": max(0.0, reward - 0.05),
            "clock": f"{10 + second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}", "date": "2026-03-01", "ms": f"{step * 13 % 1000:03d}",
            "e": (step - 1) // 20 + 1, "b": (step - 1) % 20 + 1,
        })
    return run


class Shape:
    def __init__(self, group, row, variant):
        self.group, self.metrics = group, row[2].split()
        self.lines = [row[1]] if isinstance(row[1], str) else row[1]
        special = row[3] if len(row) > 3 else {}
        self.cr = special.get("cr", False)
        drawn = self.cr or "head" in special or len(self.lines) > 3 or self.lines[0].startswith(("{", "|", "+", "-"))
        self.name = f"{group}/{row[0]}/{variant}"
        wrappers = LITTLE if drawn else list(WRAPPERS)
        self.wrapper = wrappers[number(self.name + "w", len(wrappers))] if variant else "plain"
        self.head = special.get("head") or HEADS[number(self.name + "h", len(HEADS))]
        self.save = SAVES[number(self.name + "s", len(SAVES))]
        self.no_save = NO_SAVES[number(self.name + "n", len(NO_SAVES))]
        self.collapses = number(self.name + "c", 3) == 0
        self.checking = group != "learnt" and number(self.name.rsplit("/", 1)[0], 2) == 1
        self.numbered = group != "unnumbered"
        self.run = figures(random.Random(self.name), self.collapses)

    def text(self):
        wrap, out = WRAPPERS[self.wrapper], []
        for line in self.head:
            out.append(wrap(line, self.run[0]) + "\n")
        for f in self.run:
            for line in self.lines:
                out.append(wrap(line.format(**f), f) + ("\r" if self.cr else "\n"))
            if f["s"] % SAVE_EVERY == 0:
                out.append(("\n" if self.cr else "") + wrap(self.save.format(s=f["s"]), f) + "\n")
            elif f["s"] % SAVE_EVERY == 5:
                out.append(("\n" if self.cr else "") + wrap(self.no_save.format(s=f["s"]), f) + "\n")
        return "".join(out)

    def check(self, replayed):
        """Each thing to find: what, right, wanted, found."""
        steps = replayed["run"]["steps"]
        wanted = {"first": 1, "last": STEPS, "count": STEPS} if self.numbered else {}
        yield "steps", all(steps.get(key) == value for key, value in wanted.items()), wanted, steps
        yield "attempts", replayed["run"]["attempts"] == 1, 1, replayed["run"]["attempts"]
        for metric in self.metrics:
            if metric == "total":
                yield "total", steps.get("planned") == STEPS, STEPS, steps.get("planned")
                continue
            values = [f["r" if metric in ("ret", "acc", "rp", "accp") else "l" if metric == "lp" else metric] for f in self.run]
            yield (metric, *self.metric(replayed, metric, values))
        saved = [c.get("step") for c in replayed["checkpoints"]]
        due = list(range(SAVE_EVERY, STEPS + 1, SAVE_EVERY))
        yield "saves", sorted(set(saved), key=str) == sorted(due, key=str), due, saved
        loud = [i["kind"] for i in replayed["incidents"] if i["severity"] != "info"]
        if self.collapses:
            yield "incident", any(kind in ("zero-reward", "reward-collapse") for kind in loud), "a collapse", loud
        else:
            yield "quiet", not loud, [], loud

    @staticmethod
    def metric(replayed, metric, values):
        scales = (1, 100) if metric in ("rp", "accp") else (1,)
        found = None
        for signal in SIGNALS[metric]:
            known = replayed["signals"].get(signal)
            if known is None:
                continue
            found = {key: known[key] for key in ("n", "first", "last", "min", "max")}
            for scale in scales:
                is_close = lambda a, b, scale=scale: a is not None and math.isclose(a, b * scale, rel_tol=0.01, abs_tol=0.006 * scale)
                if found["n"] == len(values) and is_close(found["first"], values[0]) and is_close(found["last"], values[-1]) \
                        and is_close(found["min"], min(values)) and is_close(found["max"], max(values)):
                    return True, "", ""
        return False, f"{SIGNALS[metric][0]} n {len(values)}, {values[0]:.4f} to {values[-1]:.4f}", found


def corpus():
    shapes = []
    for group, rows, variants in (("line", LINES, 2), ("block", BLOCKS, 2), ("unnumbered", UNNUMBERED, 1),
                                  ("learnt", LEARNT + LEARNT_BLOCKS, 2)):
        shapes += [Shape(group, row, variant) for row in rows for variant in range(variants)]
    return shapes


def judge(program, folder, shape):
    path = os.path.join(folder, shape.name.replace("/", "_") + ".log")
    with open(path, "w", encoding="utf-8") as file:
        file.write(shape.text())
    done = subprocess.run([program, "replay", "--json", path], capture_output=True, check=False)
    if not done.stdout:
        return shape, None, done.stderr.decode(errors="replace")
    return shape, list(shape.check(json.loads(done.stdout))), ""


def print_half(results, words):
    """Figures of one half; of the developing half what failed, too."""
    right, wanted, failing = collections.Counter(), collections.Counter(), []
    for shape, checks, trouble in results:
        for what, ok, expected, found in checks or [("readable", False, "anything", trouble.strip())]:
            wanted[what] += 1
            right[what] += ok
            if not ok:
                failing.append((shape, what, expected, found))
    share = sum(right.values()) / max(1, sum(wanted.values()))
    print(f"{words}: {len(results)} shapes, {sum(right.values())} of {sum(wanted.values())} found ({share:.4f})")
    print("  " + "  ".join(f"{what} {right[what]}/{wanted[what]}" for what in sorted(wanted)))
    return share, failing


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--half", choices=["dev", "check", "all"], default="all")
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", default="")
    parser.add_argument("--least", type=float, default=0.0)
    parser.add_argument("--reveal", action="store_true")
    parser.add_argument("-v", action="store_true")
    args = parser.parse_args()
    shapes = [s for s in corpus() if args.only in s.name]
    worst = 1.0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = args.keep or scratch
        os.makedirs(folder, exist_ok=True)
        for half in ("dev", "check"):
            chosen = [s for s in shapes if s.checking == (half == "check")]
            if args.half not in (half, "all") or not chosen:
                continue
            results = list(pool.map(lambda shape: judge(args.program, folder, shape), chosen))
            share, failing = print_half(results, half)
            worst = min(worst, share)
            if (half == "dev" and args.v) or args.reveal:
                for shape, what, expected, found in failing:
                    print(f"  {shape.name} ({shape.wrapper}): {what}: wanted {expected}, found {found}")
    return 0 if worst >= args.least else 1


if __name__ == "__main__":
    sys.exit(main())
