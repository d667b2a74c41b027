#!/usr/bin/env python3
"""Feeds real runs live, piece by piece, and compares what midwatch raises meanwhile with a replay of the whole files.

feed_real.py PROGRAM FILE... [--mode attach|watch|default|act] [--pieces N] [--ms MS] [--keep DIR] [--json FILE]
feed_real.py PROGRAM --labels labels.json [--healthy | --sick] [--only TEXT] [--jobs J] [...]

FILE...: the files of one run. --labels: the cases of a labels.json, a list of {"id", "paths", "healthy", "allowed"}, whose
paths lie beside it. Each file is cut into N pieces (text at the ends of lines), which are written one after another, MS
milliseconds apart. --mode attach (default): all files grow, and `midwatch attach` follows them. The others are of
`midwatch run`: the first console log is the command's output, the other files are watched (--watch), the command ends with
status 0; watch: it says what it would do, default: as a new user has it, act: all of [actions] acts. As the run's own
time stamps are of long ago, a stall that is raised live proves nothing and is not counted. A healthy run that was or would have been
ended or paused makes the exit status 1, one with a critical incident that its labels do not allow is listed.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import live

CONSOLE = (".log", ".txt", ".out", ".err")
TEXT = (*CONSOLE, ".jsonl", ".csv", ".json")
LIMIT_S = 300
CLOCKED = {"stall"}  # kinds that follow from the clock alone
IDLE_S = 3  # without a new line, and the watch is over


def pieces_of(path, count):
    """The bytes of a file in at most so many pieces, text at the ends of its lines."""
    data = path.read_bytes()
    size = max(1, -(-len(data) // count))
    out, begin = [], 0
    while begin < len(data):
        end = min(begin + size, len(data))
        if path.suffix in TEXT and end < len(data):
            end = data.find(b"\n", end - 1) + 1 or len(data)
        out.append(data[begin:end])
        begin = end
    return out


def play(plan):
    """What the supervised command does: [[from, to or ""], ...] from a JSON file, side by side."""
    wanted = json.loads(pathlib.Path(plan).read_text(encoding="utf-8"))
    sources = [(pieces_of(pathlib.Path(path), wanted["pieces"]), open(to, "ab", buffering=0) if to else sys.stdout.buffer)
               for path, to in wanted["files"]]
    for turn in range(max(len(pieces) for pieces, _ in sources)):
        for pieces, out in sources:
            if turn < len(pieces):
                out.write(pieces[turn])
                out.flush()
        time.sleep(wanted["ms"] / 1000)


class Case:
    def __init__(self, name, paths, healthy=True, allowed=()):
        self.name, self.paths, self.healthy, self.allowed = name, paths, healthy, set(allowed)


def labelled(path, healthy, only):
    """The cases of a labels.json; healthy None: all."""
    listed = json.loads(path.read_text(encoding="utf-8"))
    return [Case(one["id"], [path.parent / p for p in one["paths"]], one["healthy"], one.get("allowed", ()))
            for one in listed if healthy in (None, one["healthy"]) and only in one["id"]]


def lay_out(case, folder, asked):
    """Where each file of the case goes: the plan for play(), and the files that grow (all but a supervised command's output)."""
    console = next((path for path in case.paths if path.suffix in CONSOLE), None) if asked.mode != "attach" else None
    files, growing = [], []
    for number, path in enumerate(case.paths):
        to = "" if path == console else str(folder / f"{number}" / path.name)
        if to:
            pathlib.Path(to).parent.mkdir()
            growing.append(to)
            open(to, "wb").close()
        files.append([str(path), to])
    plan = folder / "plan.json"
    plan.write_text(json.dumps({"files": files, "pieces": asked.pieces, "ms": asked.ms}), encoding="utf-8")
    return [sys.executable, os.path.abspath(__file__), "--play", str(plan)], growing


def followed(program, folder, command, growing):
    """What `midwatch attach` writes while the files grow."""
    with open(folder / "events", "wb") as out, open(folder / "errors", "wb") as errors:
        watch = subprocess.Popen([program, "attach", "--config", "none", "--no-host", "--json", "--home", str(folder / "home"),
                                  "--exit-after-idle", str(IDLE_S), *growing], stdout=out, stderr=errors)
        subprocess.run(command, check=True, timeout=LIMIT_S)
        try:
            watch.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            watch.kill()
            watch.wait()
    return live.events_of(folder)


def fed(program, case, asked):
    """One case: what midwatch raised and did live, and what a replay of the files has."""
    with tempfile.TemporaryDirectory(prefix="odd-", ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name)
        command, growing = lay_out(case, folder, asked)
        if asked.mode == "attach":
            events, disturbed, why = followed(program, folder, command, growing), False, []
        else:
            supervised = live.Live(program, folder, asked.mode)
            watched = [word for path in growing for word in ("--watch", path)]
            code, events = supervised.go(command, LIMIT_S, *watched)
            why = live.reasons(events)
            disturbed = bool(supervised.disturbing_actions()) or supervised.asked() or code != 0 or bool(why)
        again = live.replayed(program, case.paths)
        raised = live.raised_kinds(events) - (CLOCKED - again)
        if asked.keep and case.healthy and (disturbed or raised - case.allowed):
            shutil.copytree(folder, pathlib.Path(asked.keep) / case.name.replace("/", "-"), dirs_exist_ok=True,
                            ignore=shutil.ignore_patterns("lock", "reserve"))
    return {"case": case.name, "healthy": case.healthy, "disturbed": disturbed, "why": why[:1],
            "raised": sorted(raised), "replayed": sorted(again), "false": sorted(raised - case.allowed)}


def table(results):
    """Prints what befell the healthy ones and how live and replay agree; returns how many healthy ones were disturbed."""
    well = [one for one in results if one["healthy"]]
    for one in well:
        if one["disturbed"] or one["false"]:
            print(f"{one['case']}: {'DISTURBED ' if one['disturbed'] else ''}{' '.join(one['why'])} live: "
                  f"{' '.join(one['raised']) or '-'}; replay: {' '.join(one['replayed']) or '-'}")
    only_live = collections.Counter(kind for one in results for kind in one["raised"] if kind not in one["replayed"])
    missing = collections.Counter(kind for one in results for kind in one["replayed"] if kind not in one["raised"])
    raised = sum(len(one["raised"]) for one in results)
    agreed = raised - sum(only_live.values())
    print(f"\nonly live: {dict(only_live)}\nonly in the replay: {dict(missing)}")
    disturbed = sum(one["disturbed"] for one in well)
    print(f"{disturbed} of {len(well)} healthy runs were or would have been disturbed, {sum(bool(o['false']) for o in well)} "
          f"have a false critical incident live; of {raised} critical incidents raised live in {len(results)} runs, {agreed} "
          f"({agreed / raised if raised else 1:.3f}) are critical in the replay, too")
    return disturbed


def main():
    if sys.argv[1:2] == ["--play"]:
        play(sys.argv[2])
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("file", nargs="*", type=pathlib.Path)
    parser.add_argument("--labels", type=pathlib.Path)
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--sick", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--mode", choices=("attach", *live.CONFIGS), default="attach")
    parser.add_argument("--pieces", type=int, default=400)
    parser.add_argument("--ms", type=float, default=10)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--keep")
    parser.add_argument("--json")
    asked = parser.parse_args()
    if not asked.file and not asked.labels:
        parser.error("FILE... or --labels is wanted")
    cases = [Case(asked.file[0].name, [path.absolute() for path in asked.file])] if asked.file else []
    if asked.labels:
        cases += labelled(asked.labels.absolute(), True if asked.healthy else False if asked.sick else None, asked.only)
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        results = list(pool.map(lambda case: fed(os.path.abspath(asked.program), case, asked), cases))
    if asked.json:
        pathlib.Path(asked.json).write_text(json.dumps(results, indent=1), encoding="utf-8")
    return 1 if table(results) else 0


if __name__ == "__main__":
    sys.exit(main())
