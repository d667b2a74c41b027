#!/usr/bin/env python3
"""What watching the machine costs: a live watch at its usual rates beside eight GPUs of a stub driver, over a tree of 64
processes that are as busy as this machine allows, against the same watch with --no-host.

    bench_host.py [SECONDS]     over which the CPU time is taken (default 60)
"""
import os
import signal
import subprocess
import sys
import tempfile
import time

from longlog import PROJECT
from table import Table

MIDWATCH = os.environ.get("MIDWATCH", os.path.join(PROJECT, "build", "midwatch"))
STUB = os.path.join(PROJECT, "build", "tests", "stub")
CPU_LIMIT = 1.0      # % of one core, issue 3
RSS_LIMIT_MB = 64    # MiB, issue 3
PROCESSES = 64       # trainers, engines and data loaders of an eight-GPU machine
TICK = os.sysconf("SC_CLK_TCK")

TRAINER = """
import subprocess, sys, time
sleepers = [subprocess.Popen(["sleep", "600"]) for _ in range(%d)]
print("step:1 - actor/pg_loss:0.01 - critic/score/mean:0.5 - timing_s/step:30.0", flush=True)
time.sleep(600)
"""


class Watch:
    def __init__(self, folder, name, *flags):
        self.home = os.path.join(folder, name)
        script = os.path.join(folder, name + ".py")
        with open(script, "w") as out:
            out.write(TRAINER % PROCESSES)
        environment = dict(os.environ, LD_LIBRARY_PATH=STUB)
        self.process = subprocess.Popen([MIDWATCH, "run", "--json", "--config", "none", "--home", self.home, "--grace", "1", *flags, "--",
                                         sys.executable, script], cwd=folder, env=environment, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)

    def cpu_s(self):
        """CPU seconds of the whole process, its ended threads included."""
        with open("/proc/%d/stat" % self.process.pid) as stat:
            fields = stat.read().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def peak_rss_mib(self):
        with open("/proc/%d/status" % self.process.pid) as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) / 1024
        return float("inf")

    def journal_bytes(self):
        total = 0
        for place, _, names in os.walk(self.home):
            if os.path.basename(place) == "journal":
                total += sum(os.path.getsize(os.path.join(place, name)) for name in names)
        return total

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60
    if not os.path.exists(os.path.join(STUB, "libnvidia-ml.so.1")):
        subprocess.run(["cmake", "--build", os.path.join(PROJECT, "build"), "--target", "nvml_stub"], check=True,
                       stdout=subprocess.DEVNULL)
    table = Table()
    with tempfile.TemporaryDirectory(prefix="midwatch-bench-") as folder:
        with_host, without = Watch(folder, "with"), Watch(folder, "without", "--no-host")
        time.sleep(15)  # what is known has been loaded, the first snapshot is taken
        before, before_without, bytes_before = with_host.cpu_s(), without.cpu_s(), with_host.journal_bytes()
        time.sleep(seconds)
        cost = (with_host.cpu_s() - before) / seconds * 100
        table.at_most("run, 8 GPUs, %d processes: share of a core" % PROCESSES, cost, "%", CPU_LIMIT)
        table.figure("the same without the machine", (without.cpu_s() - before_without) / seconds * 100, "%")
        table.at_most("run: most resident memory", with_host.peak_rss_mib(), "MiB", RSS_LIMIT_MB)
        table.figure("the same without the machine", without.peak_rss_mib(), "MiB")
        table.figure("journal, before it is packed", (with_host.journal_bytes() - bytes_before) / seconds * 86400 / 1e6, "MB/day")
        for watch in (with_host, without):
            watch.stop()
    return 1 if table.failed else 0


if __name__ == "__main__":
    sys.exit(main())
