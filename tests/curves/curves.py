#!/usr/bin/env python3
"""How well failures of learning are found in metric curves of runs never seen, and how often healthy ones are disturbed.

curves.py PROGRAM [--seed N] [--runs N] [--only TEXT] [--keep DIR] [--jobs N] [--verbose] [--check]

Makes healthy runs from first principles (runs.py), puts one failure into each (faults.py) or something that only looks
like one (lookalikes.py), writes them as a trainer would (shapes.py), runs `midwatch replay --json` on each and prints a
table: of the failures, which share was found (right kind, warning or critical, onset within max(3 records, 5 % of the
run) of the truth), the median onset error, and further warnings that the failure does not explain; of the healthy runs,
which share raised a warning or a critical incident. Runs whose names midwatch does not know in that file are counted
apart ("unread"): they say something about dialects, not about detectors. Everything follows from the seed. --runs is per row. --keep leaves
the files of the runs that went wrong in DIR. --check exits with 1 when a share misses what LEAST or MOST asks for.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import faults
import lookalikes
import runs
import shapes

LEAST_FOUND = 0.85      # share of all failures
LEAST_OF_KIND = 0.5     # share of the failures of one row
MOST_FALSE = 0.06       # share of all look-alikes with a warning
TRIES = 200             # before a fault is given up as impossible
LIMIT_S = 60


def build_case(row, number, seed):
    """The case of a row, always the same for a seed. A look-alike has no kinds."""
    rng = random.Random(f"{seed}/{row}/{number}")
    for _ in range(TRIES):
        keep = []
        if row in faults.FAULTS:
            case = faults.FAULTS[row](rng)
        else:
            run = lookalikes.LOOKALIKES[row](rng)
            case = run and faults.Case(run, (), 0, 0)
            keep = ["response.length", "time.step"] if row in lookalikes.KEEP_LENGTH else []
        if case:
            runs.thin_out(case.run, set(case.needed) | {"reward.mean", "loss.total", *keep} | {"teacher.kl"})
            return case, rng
    raise RuntimeError(f"no run for {row}")


def write_case(case, folder, rng):
    needed = case.needed + ["loss.total" if case.run.series["reward.mean"][0] is None else "reward.mean"]
    if case.run.method == "distillation":
        needed.append("teacher.kl")
    framework, shape, _ = shapes.write(case.run, folder, rng, needed)
    return f"{framework} {shape}", [signal for signal in needed if signal != "teacher.kl"]


def answer_of(program, folder):
    done = subprocess.run([program, "replay", "--json", str(folder)], capture_output=True, timeout=LIMIT_S, check=False)
    return json.loads(done.stdout)


def judged(case, answer):
    """(found, onset error in records or None, warnings that nothing explains)."""
    steps = case.run.steps
    every = max(1, steps[1] - steps[0])
    slack = max(3 * every, 0.05 * (steps[-1] - steps[0]))
    found, error, false = False, None, []
    for incident in answer["incidents"]:
        if incident["severity"] == "info":
            continue
        step = incident["onset"]["step"]
        first, last = case.window
        near = step is not None and first - slack <= step <= last + slack
        if incident["kind"] in case.kinds and near:
            off = 0 if first <= step <= last else min(abs(step - first), abs(step - last)) / every
            found, error = True, off if error is None else min(error, off)
        elif incident["kind"] not in case.allowed:
            false.append(f"{incident['kind']} {incident['severity']} at {step}")
        elif incident["kind"] in case.kinds and incident["kind"] not in case.before:
            false.append(f"{incident['kind']} {incident['severity']} at {step}, not {first}..{last}")
    return found, error, false


def was_read(signal, answer, records):
    """Whether midwatch took the column for the signal (a part of the reward: for some part of that name)."""
    if signal == "eval":
        return True
    if signal == "loss.policy" and signal not in answer["signals"]:
        signal = "loss.total"
    return any(name.startswith(signal) and read["n"] >= records // 2 for name, read in answer["signals"].items())


def tried(program, row, number, seed, keep):
    case, rng = build_case(row, number, seed)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name) / "run"
        folder.mkdir()
        spoken, wanted = write_case(case, folder, rng)
        answer = answer_of(program, folder)
        found, error, false = judged(case, answer)
        unread = [s for s in wanted if not was_read(s, answer, len(case.run))]
        if keep and (false or (case.kinds and not found)):
            kept = pathlib.Path(keep) / f"{row.replace(' ', '-').replace(',', '')}-{number}"
            kept.mkdir(parents=True, exist_ok=True)
            for file in folder.iterdir():
                (kept / file.name).write_bytes(file.read_bytes())
    run = case.run
    facts = f"{spoken}, {run.family}, batch {run.batch}, {len(run)} records x {run.steps[1] - run.steps[0]}"
    if unread:
        facts += f", unread: {' '.join(unread)}"
    bad = false or (case.kinds and not found)
    return {"row": row, "number": number, "failure": bool(case.kinds), "found": found, "error": error, "false": false,
            "facts": facts, "window": case.window, "bad": bool(bad), "unread": bool(unread)}


def table(results):
    """Prints a line per row; returns the shares of all failures found and of look-alikes disturbed, and the worst row."""
    rows, worst = {}, 1.0
    unread = sum(r["unread"] for r in results)
    results = [r for r in results if not r["unread"]]
    for result in results:
        rows.setdefault((not result["failure"], result["row"]), []).append(result)
    print(f"{'failure':28s} {'runs':>5s} {'found':>6s} {'onset':>6s} {'further':>8s}")
    for (silent, row), all_of in sorted(rows.items()):
        false = sum(bool(r["false"]) for r in all_of) / len(all_of)
        if silent:
            continue
        share = sum(r["found"] for r in all_of) / len(all_of)
        worst = min(worst, share)
        errors = sorted(r["error"] for r in all_of if r["error"] is not None)
        onset = f"{errors[len(errors) // 2]:.1f}" if errors else "-"
        print(f"{row:28s} {len(all_of):5d} {share:6.2f} {onset:>6s} {false:8.2f}")
    print(f"\n{'look-alike':28s} {'runs':>5s} {'false':>6s}")
    for (silent, row), all_of in sorted(rows.items()):
        if silent:
            print(f"{row:28s} {len(all_of):5d} {sum(bool(r['false']) for r in all_of) / len(all_of):6.2f}")
    sick = [r for r in results if r["failure"]]
    well = [r for r in results if not r["failure"]]
    found = sum(r["found"] for r in sick) / len(sick) if sick else 1.0
    false = sum(bool(r["false"]) for r in well) / len(well) if well else 0.0
    further = sum(bool(r["false"]) for r in sick) / len(sick) if sick else 0.0
    print(f"\nfound {found:.3f} of {len(sick)}, with further warnings {further:.3f}; "
          f"disturbed {false:.3f} of {len(well)} healthy; {unread} unread")
    return found, worst, false


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    rows = [row for row in [*faults.FAULTS, *lookalikes.LOOKALIKES] if asked.only in row]
    work = [(row, number) for row in rows for number in range(asked.runs)]
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        results = list(pool.map(lambda w: tried(asked.program, *w, asked.seed, asked.keep), work))
    if asked.verbose:
        for r in results:
            if r["bad"] or r["unread"]:
                missed = "missed " if r["failure"] and not r["found"] else ""
                print(f"{r['row']} {r['number']} ({r['facts']}) {missed}{r['window'] if r['failure'] else ''} "
                      f"{'; '.join(r['false'])}")
    found, worst, false = table(results)
    if asked.check and (found < LEAST_FOUND or worst < LEAST_OF_KIND or false > MOST_FALSE):
        sys.exit(f"curves: wanted found >= {LEAST_FOUND}, every row >= {LEAST_OF_KIND}, disturbed <= {MOST_FALSE}")


if __name__ == "__main__":
    main()
