#!/usr/bin/env python3
"""What a policy writes, put between the lines of runs: nothing that midwatch reads of them may change by it.

between.py PROGRAM [--share N] [--data DIR] [--labels FILE] [--logs N] [--seed S] [--trainer TEXT] [--piece TEXT]
           [--how once|often] [--most N] [--jobs J] [--verbose] [--keep DIR]

Logs of trainers that nobody described (trainers.py), with --data also console logs of real runs, are replayed as they are
and with pieces of model output (bank.py) between their records: one piece at a time, once or every few steps. Compared are
the rows of `replay --series`, the attempts, the planned steps, the framework and the incidents above info. KNOWN lists what
is wrong and not mended, or is no defect. --share: so many pairs, drawn by the seed. Exit status: 0 when no more
than --most (0) others differ.
"""
import argparse
import collections
import concurrent.futures
import csv
import io
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from bank import PIECES
from trainers import SHAPES, TRAINERS, trainer, wrapped

RAY = re.compile(rb"^(?:\x1b\[\d+m)?(\([A-Za-z_.]+ pid=\d+(?:, ip=[\d.]+)?\)(?:\x1b\[\d+m)? )")
# What differs and is not counted: piece -> (logs, what may differ there). A name of a log may be a part of it.
KNOWN = {
    "midwatch": ("", "the keeper's own line, which no policy knows; `midwatch run` takes none without its nonce"),
    "trace-indent": ("", "a syntax error that is printed again and again is one, and the run went on"),
}


def is_known(log, piece):
    return piece in KNOWN and any(part in log for part in KNOWN[piece][0].split("|"))


def asked(program, path, *options):
    done = subprocess.run([program, "replay", "-q", *options, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    if done.returncode not in (0, 1, 5):  # 5: a part could not be read
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr[-300:]!r}")
    return done.stdout.decode("utf-8", "replace")


def read(program, text, folder):
    """What midwatch reads of a log: its cells, and its words."""
    path = os.path.join(folder, "train.log")
    pathlib.Path(path).write_bytes(text)
    cells = collections.Counter()
    for line in csv.DictReader(io.StringIO(asked(program, path, "--series"))):
        where = (line.pop("attempt"), line.pop("step"))
        line.pop("time", None)
        cells.update((where, name, value) for name, value in line.items() if value)
    said = json.loads(asked(program, path, "--json"))
    run = said["run"]
    loud = collections.Counter(i["kind"] for i in said["incidents"] if i["severity"] != "info")
    return {"cells": cells, "attempts": run["attempts"], "planned": run["steps"].get("planned"), "last": run["steps"].get("last"),
            "framework": run["framework"], "incidents": tuple(sorted(loud)), "verdict": run["verdict"]}


def differences(before, after):
    out = []
    lost, more = before["cells"] - after["cells"], after["cells"] - before["cells"]
    if lost:
        out.append(("lost", f"{sum(lost.values())} of {sum(before['cells'].values())} values, e.g. {next(iter(lost))}"))
    if more:
        out.append(("more", f"{sum(more.values())} values, e.g. {next(iter(more))}"))
    for what in ("attempts", "planned", "last", "framework", "incidents", "verdict"):
        if before[what] != after[what]:
            out.append((what, f"{before[what]} -> {after[what]}"))
    return out


def mixed(head, records, before, piece, how):
    """The log with the piece before some of its records."""
    at = {len(records) // 3} if how == "once" else set(range(2, len(records) - 1, 3))
    out = [line for record in head for line in record]
    for i, record in enumerate(records):
        if i in at:
            out.append(wrapped(piece, before, i))
        out.extend(record)
    return b"".join(out)


def real_records(text):
    """The lines of a real log in pieces between which something may be printed: not within brackets, tables, tracebacks."""
    lines = text.splitlines(keepends=True)
    pieces, now, quiet = [], [], 0
    for i, line in enumerate(lines):
        bare = RAY.sub(b"", line)
        begins = re.match(rb"[A-Za-z0-9(\[]", bare) is not None
        calm = not any(word in line for word in (b"Traceback", b"  File ", b"Error", b"Exception", b"{", b"}", b"|", b"\r", b"\x1b[A"))
        quiet = quiet + 1 if calm else 0
        if begins and quiet > 12 and now:
            pieces.append(now)
            now = []
        now.append(line)
    return pieces + [now]


def real_log(path, rng):
    text = pathlib.Path(path).read_bytes()
    records = real_records(text)
    places = sorted(rng.sample(range(1, len(records)), min(6, len(records) - 1))) if len(records) > 1 else []
    return records, places


def mixed_real(records, places, piece, how):
    out = []
    for i, record in enumerate(records):
        if i in (places if how == "often" else places[len(places) // 2:][:1]):
            prefix = RAY.match(record[0])
            out.append(b"".join((prefix.group(1) if prefix else b"") + line for line in piece.splitlines(keepends=True)))
        out.extend(record)
    return b"".join(out)


def tried(program, log, name, how, keep):
    piece = PIECES[name]
    text = mixed(*log["made"], piece, how) if "made" in log else mixed_real(*log["real"], piece, how)
    with tempfile.TemporaryDirectory(prefix="between-") as folder:
        try:
            after = read(program, text, folder)
        except (RuntimeError, subprocess.TimeoutExpired, ValueError) as error:
            return log["name"], name, how, [("failed", str(error))]
    found = differences(log["before"], after)
    if found and keep:
        pathlib.Path(keep, f"{log['name'].replace('/', '+')}--{name}--{how}.log").write_bytes(text)
    return log["name"], name, how, found


def logs_of(options, rng):
    logs = [{"name": name, "made": trainer(name)} for name in (*TRAINERS, *SHAPES) if options.trainer in name]
    if options.data:
        cases = json.loads(pathlib.Path(options.labels or os.path.join(options.data, "labels.json")).read_text(encoding="utf-8"))
        paths = [(c["id"], os.path.join(options.data, c["paths"][0])) for c in cases if len(c["paths"]) == 1]
        paths = [(i, p) for i, p in paths if options.trainer in i and p.endswith((".log", ".out", ".txt", ".err"))
                 and os.path.isfile(p) and os.path.getsize(p) < 400_000]
        rng.shuffle(paths)
        logs = [] if options.real_only else logs
        logs += [{"name": i, "real": real_log(p, rng)} for i, p in paths[:options.logs]]
    for log in logs:
        with tempfile.TemporaryDirectory(prefix="between-") as folder:
            text = b"".join(b"".join(r) for part in log["made"][:2] for r in part) if "made" in log else \
                b"".join(b"".join(r) for r in log["real"][0])
            try:
                log["before"] = read(options.program, text, folder)
            except RuntimeError:  # nothing is read of it: no log for us
                log["before"] = None
    return [log for log in logs if log["before"]]


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("program")
    ask.add_argument("--share", type=int)
    ask.add_argument("--data")
    ask.add_argument("--labels")
    ask.add_argument("--logs", type=int, default=40)
    ask.add_argument("--real-only", action="store_true")
    ask.add_argument("--seed", default="between")
    ask.add_argument("--trainer", default="")
    ask.add_argument("--piece", default="")
    ask.add_argument("--how", choices=("once", "often"))
    ask.add_argument("--most", type=int, default=0)
    ask.add_argument("--jobs", type=int, default=2)
    ask.add_argument("--keep")
    ask.add_argument("--verbose", action="store_true")
    options = ask.parse_args()
    rng = random.Random(options.seed)
    logs = logs_of(options, rng)
    pairs = [(log, name, how) for log in logs for name in PIECES if options.piece in name
             for how in ("once", "often") if options.how in (None, how)]
    if options.share:
        pairs = rng.sample(pairs, min(options.share, len(pairs)))
    wrong, by = 0, collections.defaultdict(list)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for log, name, how, found in pool.map(lambda p: tried(options.program, *p, options.keep), pairs):
            if not found or is_known(log, name):
                continue
            wrong += 1
            for kind, text in found:
                by[kind, name].append((log, how, text))
    for (kind, name), cases in sorted(by.items(), key=lambda item: (item[0][0], -len(item[1]))):
        print(f"{kind:10} {name:22} {len(cases):3}  {', '.join(sorted({c[0] for c in cases})) if options.verbose else ''}")
        for log, how, text in cases[:3 if options.verbose else 1]:
            print(f"             {log} {how}: {text}")
    print(f"{len(pairs)} pairs, {wrong} differ")
    return 1 if wrong > options.most else 0


if __name__ == "__main__":
    sys.exit(main())
