#!/usr/bin/env python3
"""`midwatch replay --json` of a long log against RE2::Set and grep -E -f with the same patterns.

    bench_replay.py [MB]        size of the log (default 1000)

The log is real logs one after another with later steps and dates in each copy (longlog.py). The peers are slow: they
read a part of it (a megabyte from each of PIECES places). All times are CPU times (user and system).
"""
import json
import os
import subprocess
import sys
import tempfile
import time

import longlog
from table import Table

BUILD = os.path.join(longlog.PROJECT, "build")
MIDWATCH = os.environ.get("MIDWATCH", os.path.join(BUILD, "midwatch"))
PEERS = os.path.join(BUILD, "tests", "bench", "bench_patterns")
PIECES = 20  # of one megabyte each, for the peers
RE2_LEAST, GREP_LEAST = 2.0, 6.0  # issue 2: times as fast as the peers
AIM_MB_S = 600                    # issue 2: an aim, no limit (docs/decisions/0006)
RSS_LIMIT_MB = 200.0              # issue 2: memory bounded whatever the size


def resident_mb(pid):
    """Most resident memory so far, from the kernel: ru_maxrss would count the Python process that was forked."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            return next((int(line.split()[1]) * 1024 / 1e6 for line in status if line.startswith("VmHWM")), 0.0)
    except OSError:
        return 0.0


def replay(log, *more):
    """Answer, CPU seconds, most resident memory in MB."""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen([MIDWATCH, "replay", "--json", *more, log], stdout=out)
        most, pid = 0.0, 0
        while pid == 0:
            most = max(most, resident_mb(child.pid))
            time.sleep(0.02)
            pid, status, used = os.wait4(child.pid, os.WNOHANG)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        answer = json.loads(out.read())
    return answer, used.ru_utime + used.ru_stime, most


def write_part(log, part):
    """Whole lines from places all over the log: what the peers read."""
    size = os.path.getsize(log)
    with open(log, "rb") as source, open(part, "wb") as out:
        for piece in range(PIECES):
            source.seek(size // PIECES * piece)
            source.readline()
            text = source.read(1000 * 1000)
            out.write(text[:text.rfind(b"\n") + 1])


def main():
    megabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 1000
    table = Table()
    with tempfile.TemporaryDirectory(prefix="midwatch-bench-") as folder:
        log, part = os.path.join(folder, "long.log"), os.path.join(folder, "part.log")
        print("log:", longlog.write(log, megabytes * 1e6))
        size_mb = os.path.getsize(log) / 1e6
        write_part(log, part)
        done = subprocess.run([PEERS, "--peers", part], capture_output=True, text=True, check=True)
        peers = dict(line.split() for line in done.stdout.splitlines())
        re2, grep = float(peers["re2_set"]), float(peers["grep"])
        answer, seconds, rss = replay(log)
        assert answer["input"]["bytes"] == os.path.getsize(log), answer["input"]
        rate = size_mb / seconds
        table.figure("replay: size of the log", size_mb, "MB")
        table.figure("replay: incidents found", len(answer["incidents"]), "")
        table.figure("replay --json, all dialects and signatures", rate, "MB/s")
        table.figure("replay's share of the %d MB/s that are aimed at" % AIM_MB_S, 100 * rate / AIM_MB_S, "%")
        table.figure("RE2::Set alone, same patterns", re2, "MB/s")
        table.figure("grep -E -f, same patterns, LC_ALL=C", grep, "MB/s")
        table.at_least("replay's ratio to RE2::Set", rate / re2, "x", RE2_LEAST)
        table.at_least("replay's ratio to grep -E -f", rate / grep, "x", GREP_LEAST)
        table.at_most("replay: most resident memory", rss, "MB", RSS_LIMIT_MB)
    return 1 if table.failed else 0


if __name__ == "__main__":
    sys.exit(main())
