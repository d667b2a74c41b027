#!/usr/bin/env python3
"""Odd but healthy runs, each fed live by a real process under the real `midwatch run`: none may be ended or paused.

odd.py PROGRAM [N | --share] [--sick] [--seed S] [--family TEXT] [--mode default|act|both] [--jobs J] [--step-ms MS]
       [--keep DIR] [--json FILE]

N: so many runs in all, families in turn (default: ten of each). --share: one of each family, the frameworks and the modes
in turn. --mode: how far midwatch may go. default: as a new user has it; act: with everything in [actions] that acts by
itself. Every run must go through to its last line and its exit status 0, started once, never stopped, and midwatch must
take or ask for no action that would end or pause it. Prints the runs that are not taken for finished and, per family: what
happened to its runs, the critical incidents that were raised live and the critical ones that `midwatch replay` of the same
file has (those a family allows are left out of both), and what tripped. Exit status: 0 when no run was disturbed, else 1.
--keep leaves the files of disturbed runs in DIR.
--sick turns it round: runs that are truly lost (sick.py). With act each must be ended, with default ended, asked about
or reported as critical, before its own end; the columns count those that were ended, asked about, raised and left alone.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import sys
import tempfile
import time

import live
import make
import script
from families import ALL, FAMILIES, SICK, chosen

HERE = pathlib.Path(__file__).resolve().parent
LIMIT_S = 240      # of a run; those take seconds, on a loaded machine many
FAULTS = ("kills", "stops", "asks", "restarts", "unfinished")


def written(made_by, folder, step_s):
    """Writes the run so that it can be fed from now on; returns it, its line of the manifest and its file."""
    name, variant, seed = made_by
    usual = script.make(name, ALL[name], variant, seed)
    pace = (usual.live_step_s or step_s) / usual.usual
    made = script.make(name, ALL[name], variant, seed, begin=time.time() + 0.3, pace=pace)
    line = make.write(made, folder, pace)
    return made, line, folder / line["file"]


def how_far(file):
    try:
        return json.loads(file.with_name(file.name + ".fed").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {"lines": 0, "starts": 0, "continued": 0, "over": False}


def tried(program, made_by, mode, step_s, keep, sparing=False):
    """One run: what befell it. Sparing: a replay only where something was raised."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="odd-", ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name)
        supervised = live.Live(program, folder, mode)
        made, line, file = written(made_by, folder, step_s)
        code, events = supervised.go([sys.executable, str(HERE / "feeder.py"), file.name], LIMIT_S + 2 * line["seconds"])
        fed, status, actions = how_far(file), supervised.ask("status", "--json"), supervised.disturbing_actions()
        raised = live.raised_kinds(events)
        again = live.replayed(program, [file]) if raised or not sparing else set()
        fallen = {"kills": "break" in actions, "stops": fed["continued"] > 0 or "pause" in actions,
                  "asks": supervised.asked() or bool(status.get("asks")),
                  "restarts": fed["starts"] != 1 or status.get("attempt", 1) != 1,
                  "unfinished": code != 0 or not fed["over"]}
        why = live.reasons(events)
        if fallen["unfinished"] and not why:
            why = [f"exit status {code}, verdict {status.get('verdict')}, {fed['lines']} of {len(made.lines)} lines"]
        if keep and (any(fallen.values()) or raised - set(made.allowed)):
            shutil.copytree(folder, pathlib.Path(keep) / f"{made.name()}-{mode}", dirs_exist_ok=True,
                            ignore=shutil.ignore_patterns("lock", "reserve"))
    allowed = set(made.allowed)
    misread = not fallen["unfinished"] and status.get("verdict") != "finished"
    return {"misread": misread, "run": made.name(), "family": made.family, "mode": mode, "fallen": fallen,
            "raised": sorted(raised - allowed), "replayed": sorted(again - allowed), "agreed": sorted(raised & again),
            "all raised": sorted(raised), "why": why[:1], "seconds": time.monotonic() - began}


def table(results):
    """Prints a line per family and mode; returns how many runs were disturbed."""
    rows = collections.defaultdict(list)
    for result in results:
        rows[(result["family"], result["mode"])].append(result)
    heads = [*FAULTS, "critical", "replay"]
    print(f"{'family':28s} {'mode':8s} {'runs':>5s} " + " ".join(f"{head:>10s}" for head in heads) + "  tripped")
    sums = collections.Counter()
    for (family, mode), many in sorted(rows.items()):
        counts = {fault: sum(one["fallen"][fault] for one in many) for fault in FAULTS}
        counts["critical"] = sum(bool(one["raised"]) for one in many)
        counts["replay"] = sum(bool(one["replayed"]) for one in many)
        counts["disturbed"] = sum(any(one["fallen"].values()) for one in many)
        sums.update(counts, runs=len(many))
        kinds = collections.Counter(kind for one in many for kind in one["raised"])
        print(f"{family:28s} {mode:8s} {len(many):5d} " + " ".join(f"{counts[head]:10d}" for head in heads) + "  " +
              ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())))
    print(f"{'all':28s} {'':8s} {sums['runs']:5d} " + " ".join(f"{sums[head]:10d}" for head in heads))
    raised = sum(len(one["all raised"]) for one in results)
    agreed = sum(len(one["agreed"]) for one in results)
    misread = [one["run"] for one in results if one["misread"]]
    print(f"\ntaken for something else than finished: {len(misread)} {' '.join(misread)}")
    print(f"{sums['disturbed']} of {sums['runs']} healthy runs were disturbed; of {raised} critical incidents raised live "
          f"{agreed} are critical in a replay of the file, too")
    return sums["disturbed"]


def missed(results):
    """Of sick runs: prints what was done about each family, returns how many were left alone."""
    rows = collections.defaultdict(list)
    for one in results:
        acted = one["fallen"]["kills"] or (one["mode"] == "default" and (one["fallen"]["asks"] or bool(one["raised"])))
        rows[(one["family"], one["mode"])].append({**one, "left": not acted})
    print(f"{'family':28s} {'mode':8s} {'runs':>5s} {'ended':>6s} {'asked':>6s} {'raised':>6s} {'left':>6s}  by")
    for (family, mode), many in sorted(rows.items()):
        kinds = collections.Counter(kind for one in many for kind in one["raised"])
        counts = [sum(one["fallen"]["kills"] for one in many), sum(one["fallen"]["asks"] for one in many),
                  sum(bool(one["raised"]) for one in many), sum(one["left"] for one in many)]
        print(f"{family:28s} {mode:8s} {len(many):5d} " + " ".join(f"{count:6d}" for count in counts) + "  " +
              ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())))
    left = [one for many in rows.values() for one in many if one["left"]]
    for one in left:
        print(f"left alone: {one['run']} ({one['mode']}), live: {' '.join(one['raised']) or '-'}")
    print(f"\n{len(left)} of {len(results)} lost runs were left alone")
    return len(left)


def asked():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("runs", nargs="?", type=int)
    parser.add_argument("--share", action="store_true")
    parser.add_argument("--sick", action="store_true")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--family", default="")
    parser.add_argument("--mode", choices=("default", "act", "both"), default="default")
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--step-ms", type=float, default=30)
    parser.add_argument("--keep")
    parser.add_argument("--json")
    return parser.parse_args()


def main():
    wanted = asked()
    modes = ("default", "act") if wanted.mode == "both" else (wanted.mode,)
    families = SICK if wanted.sick else FAMILIES
    work = [((name, variant, wanted.seed), mode) for name, variant in chosen(wanted.runs, wanted.family, families)
            for mode in modes]
    if wanted.share:
        work = [((name, i, wanted.seed), ("act", "default")[i % 2]) for i, name in enumerate(families)]
    random.Random(wanted.seed).shuffle(work)  # the slow ones are of a few families: not all at once
    program = os.path.abspath(wanted.program)
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(wanted.jobs) as pool:
        results = list(pool.map(lambda one: tried(program, *one, wanted.step_ms / 1000, wanted.keep, wanted.share),
                                work))
    results.sort(key=lambda one: (one["family"], one["mode"], one["run"]))
    for one in results:
        if any(one["fallen"].values()) and not wanted.sick:
            print(f"{one['run']} ({one['mode']}): {', '.join(f for f in FAULTS if one['fallen'][f])}: {' '.join(one['why'])}")
    if wanted.json:
        pathlib.Path(wanted.json).write_text(json.dumps(results, indent=1), encoding="utf-8")
    disturbed = missed(results) if wanted.sick else table(results)
    print(f"seed {wanted.seed}, {time.monotonic() - began:.0f} s")
    return 1 if disturbed else 0


if __name__ == "__main__":
    sys.exit(main())
