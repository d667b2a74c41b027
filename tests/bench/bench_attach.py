#!/usr/bin/env python3
"""`midwatch attach`: what it costs while nothing happens, and how soon an error line becomes an incident.

    bench_attach.py [TRIALS]     error lines that are timed (default 50), one attached run each
"""
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time

from longlog import PROJECT
from table import Table

MIDWATCH = os.environ.get("MIDWATCH", os.path.join(PROJECT, "build", "midwatch"))
IDLE_S = 20          # seconds over which the idle watch's CPU time is taken
AT_ONCE = 10         # watches alive at the same time
IDLE_LIMIT = 0.2     # % of a core, issue 2
RSS_LIMIT_MB = 40    # issue 2
LATENCY_MS = 100     # issue 2, on a local disk

ERROR = ("(WorkerDict pid=31415) torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.25 GiB. GPU 0 has a "
         "total capacity of 79.15 GiB of which 310.75 MiB is free.\n")


def healthy(steps):
    """The beginning of a run: one line of metrics a step."""
    return "".join(
        "(TaskRunner pid=2718) step:%d - actor/pg_loss:0.0%d - actor/entropy:0.%d - critic/score/mean:0.%d - "
        "timing_s/step:31.%d\n" % (step, 10 + step % 7, 50 + step % 9, 20 + step, step % 10) for step in range(1, steps + 1))


class Watch:
    """One attached run. Its lines come with the time at which they were read."""

    def __init__(self, folder, number):
        self.log = os.path.join(folder, "train-%d.log" % number)
        with open(self.log, "w") as out:
            out.write(healthy(40))
        self.process = subprocess.Popen([MIDWATCH, "attach", self.log, "--json", "--home", os.path.join(folder, "home-%d" % number)],
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put((time.monotonic(), line))

    def wait_for(self, mark, limit_s=60):
        """The moment at which a line with `mark` came; None when none did."""
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            try:
                at, line = self.lines.get(timeout=max(0.001, end - time.monotonic()))
            except queue.Empty:
                return None
            if mark in line:
                return at
        return None

    def append(self, text):
        with open(self.log, "ab", buffering=0) as out:
            at = time.monotonic()
            out.write(text.encode())
        return at

    def cpu_s(self):
        """CPU seconds of all its threads, by the scheduler's account, which counts nanoseconds."""
        tasks = "/proc/%d/task" % self.process.pid
        total = 0
        for task in os.listdir(tasks):
            with open(os.path.join(tasks, task, "schedstat")) as account:
                total += int(account.read().split()[0])
        return total / 1e9

    def peak_rss_mb(self):
        with open("/proc/%d/status" % self.process.pid) as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024 / 1e6
        return float("inf")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)


def latencies(folder, trials):
    found = []
    for begin in range(0, trials, AT_ONCE):
        watches = [Watch(folder, number) for number in range(begin, min(begin + AT_ONCE, trials))]
        for watch in watches:
            watch.wait_for(b'"event":"verdict"')
        time.sleep(0.5)  # all of them idle
        for watch in watches:
            written = watch.append(ERROR)
            seen = watch.wait_for(b'"event":"opened"')
            found.append((seen - written) * 1e3 if seen else float("inf"))
            watch.stop()
    return sorted(found)


def idle(folder, table):
    watch = Watch(folder, 1000)
    watch.wait_for(b'"event":"verdict"')
    time.sleep(1)
    before = watch.cpu_s()
    time.sleep(IDLE_S)
    table.at_most("attach, idle: share of a core", (watch.cpu_s() - before) / IDLE_S * 100, "%", IDLE_LIMIT)
    table.at_most("attach: most resident memory", watch.peak_rss_mb(), "MB", RSS_LIMIT_MB)
    watch.stop()


def main():
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    table = Table()
    with tempfile.TemporaryDirectory(prefix="midwatch-bench-") as folder:
        idle(folder, table)
        found = latencies(folder, trials)
        table.at_most("attach, error line to incident: median of %d" % trials, found[len(found) // 2], "ms", LATENCY_MS)
        table.figure("attach, error line to incident: most", found[-1], "ms")
    return 1 if table.failed else 0


if __name__ == "__main__":
    sys.exit(main())
