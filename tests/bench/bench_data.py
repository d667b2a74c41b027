#!/usr/bin/env python3
"""`midwatch replay --json` over every real file, each by itself: the ten slowest, and megabytes a second by kind of file.

    bench_data.py [FOLDER]      default: ../shared/data beside the project, else tests/golden/runs

All times are CPU times (user and system), the better of two. What a process costs before it reads a byte is measured with
a file of one line and reported apart, as most real files are small. What is aimed at (issue 14) is every file within
ALLOWED_MS and its size at ALLOWED_MB_S, on an idle core of 2024. The limits hold on a core that others use, too, where the
same work may need twice the CPU time; what is measured and what is aimed at stands in docs/decisions/0006.
"""
import os
import resource
import subprocess
import sys
import tempfile

import longlog
from table import Table

MIDWATCH = os.environ.get("MIDWATCH", os.path.join(longlog.PROJECT, "build", "midwatch"))
FOLDERS = (os.path.join(longlog.PROJECT, "..", "shared", "data"), os.path.join(longlog.PROJECT, "tests", "golden", "runs"))
NO_RUNS = ("source.txt", "README.md", "labels.json", ".gitattributes", "batch-2.txt")
SLOWEST = 10
TIMES = 2
START_MOST_MS = 12.0     # of a process; 3.5 to 4.7 are measured
SET_LEAST_MB_S = 25.0    # beyond the starts; 67 to 80 are measured, the aim of issue 14 is 100
ABOVE_MOST = 10          # files above what is allowed; none is measured, as is the aim
WORST_MOST = 2.5         # times as long as allowed; 0.83 to 0.86 are measured
ALLOWED_MS, ALLOWED_MB_S = 50.0, 100.0
TEXTS = (".log", ".txt", ".out", ".err")


def cpu_seconds(path):
    """CPU seconds of one replay, and whether it came to an answer."""
    best, answered = float("inf"), False
    for _ in range(TIMES):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([MIDWATCH, "replay", "--json", "--quiet", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
        answered = done.returncode in (0, 4, 5)  # 4: no run in it; 5: read in part
    return best, answered


def files_of(folder):
    for root, folders, names in sorted(os.walk(folder)):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(root, name)
            if name not in NO_RUNS and os.path.getsize(path) > 0:
                yield path


def kind_of(path):
    name = os.path.basename(path)
    ending = os.path.splitext(name)[1]
    return "tfevents" if "tfevents" in name else "text" if ending in TEXTS else ending.lstrip(".") or "other"


def by_kind(table, rows):
    for kind in sorted({kind_of(path) for _, _, path in rows}):
        mine = [row for row in rows if kind_of(row[2]) == kind]
        megabytes, seconds = sum(row[1] for row in mine), sum(row[0] for row in mine)
        table.figure("data: %s, %d files of %.3g MB, beyond the starts" % (kind, len(mine), megabytes),
                     megabytes / max(seconds, 1e-9), "MB/s")


def allowed(megabytes):
    """Seconds within which a file of that size should be read."""
    return ALLOWED_MS / 1000 + megabytes / ALLOWED_MB_S


def start_up():
    with tempfile.TemporaryDirectory(prefix="midwatch-bench-") as folder:
        path = os.path.join(folder, "one.jsonl")
        with open(path, "w", encoding="ascii") as file:
            file.write('{"step": 1, "reward": 0.5}\n')
        return min(cpu_seconds(path)[0] for _ in range(5))


def main():
    if "--help" in sys.argv[1:]:
        print(__doc__)
        return 0
    folder = sys.argv[1] if len(sys.argv) > 1 else next(f for f in FOLDERS if os.path.isdir(f))
    start = start_up()
    rows, silent = [], []
    for path in files_of(folder):
        seconds, answered = cpu_seconds(path)
        rows.append((max(0.0, seconds - start), os.path.getsize(path) / 1e6, path))
        if not answered:
            silent.append(path)
    size, beyond = sum(row[1] for row in rows), sum(row[0] for row in rows)
    table = Table()
    for seconds, megabytes, path in sorted(rows, reverse=True)[:SLOWEST]:
        name = os.path.relpath(path, folder)
        table.figure("data: " + (name if len(name) <= 50 else "…" + name[-49:]) + ", %.2g MB" % megabytes, 1000 * seconds, "ms")
    by_kind(table, rows)
    ratios = [(start + seconds) / allowed(megabytes) for seconds, megabytes, _ in rows]
    above = "data: files above %g ms + size / %g MB/s" % (ALLOWED_MS, ALLOWED_MB_S)
    table.at_most(above, sum(ratio > 1 for ratio in ratios), "", ABOVE_MOST)
    table.at_most("data: the worst of them takes so many times as long", max(ratios), "x", WORST_MOST)
    table.figure("data: files", len(rows), "")
    table.figure("data: size of the set", size, "MB")
    table.figure("data: the set, each file in a process of its own", size / (beyond + start * len(rows)), "MB/s")
    table.at_most("data: start of a process", 1000 * start, "ms", START_MOST_MS)
    table.at_least("data: the set, beyond the starts", size / max(beyond, 1e-9), "MB/s", SET_LEAST_MB_S)
    table.at_most("data: files without an answer", len(silent), "", 0)
    for path in silent:
        print("no answer:", path)
    return 1 if table.failed else 0


if __name__ == "__main__":
    sys.exit(main())
