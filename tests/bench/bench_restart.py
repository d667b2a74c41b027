"""From the last act of a command that is killed to the first act of its next attempt, under midwatch, supervisord (Debian's
supervisor) and a retry loop of the shell, in turn; and how soon midwatch tells that it ended.

    bench_restart.py [ATTEMPTS]     of each (default 50; midwatch starts a command again 50 times at most)
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from longlog import PROJECT
from table import Table

MIDWATCH = os.environ.get("MIDWATCH", os.path.join(PROJECT, "build", "midwatch"))

# It goes on where it was, so that each attempt is progress and none is held back for want of it.
COMMAND = """
date +%s%N >> begins
n=$(cat step); n=$((n + 1)); echo $n > step
echo "step:$n - actor/pg_loss:0.01 - critic/score/mean:0.5 - timing_s/step:30.0"
sleep 0.3
if [ $n -ge {attempts} ]; then touch over; exit 0; fi
date +%s%N >> ends
kill -9 $$
"""

SUPERVISORD = """
[supervisord]
nodaemon=true
logfile={folder}/supervisord.log
pidfile={folder}/supervisord.pid
[program:training]
command=sh {folder}/train.sh
directory={folder}
stdout_logfile={folder}/out.log
autorestart=unexpected
exitcodes=0
startsecs=0
startretries=1000
"""


def prepare(base, name, attempts):
    folder = os.path.join(base, name)
    os.makedirs(folder)
    with open(os.path.join(folder, "train.sh"), "w") as file:
        file.write(COMMAND.replace("{attempts}", str(attempts)))
    with open(os.path.join(folder, "step"), "w") as file:
        file.write("0\n")
    return folder


def gaps(folder):
    """Milliseconds from each end to the next beginning, ascending."""
    with open(os.path.join(folder, "begins")) as file:
        begins = [int(line) for line in file]
    with open(os.path.join(folder, "ends")) as file:
        ends = [int(line) for line in file]
    assert len(begins) == len(ends) + 1, (len(begins), len(ends))
    return sorted((after - before) / 1e6 for before, after in zip(ends, begins[1:]))


def under_midwatch(folder):
    """Also milliseconds from each end to its report."""
    reported = []
    process = subprocess.Popen(
        [MIDWATCH, "run", "--config", "none", "--home", folder + "/home", "--quiet", "--first-wait", "0", "--", "sh", "train.sh"],
        cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if re.match(r"midwatch: attempt \d+ ended\b", line):
            reported.append(time.time_ns())
    assert process.wait() == 0
    with open(os.path.join(folder, "ends")) as file:
        ends = [int(line) for line in file]
    return sorted((after - before) / 1e6 for before, after in zip(ends, reported))


def under_supervisord(folder):
    config = os.path.join(folder, "supervisord.conf")
    with open(config, "w") as file:
        file.write(SUPERVISORD.replace("{folder}", folder))
    process = subprocess.Popen(["supervisord", "-c", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not os.path.exists(os.path.join(folder, "over")):
        time.sleep(0.1)
    process.terminate()
    process.wait()


def in_a_loop(folder):
    subprocess.run(["bash", "-c", "until sh train.sh; do :; done"], cwd=folder, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True)


def share(sorted_values, part):
    return sorted_values[min(len(sorted_values) - 1, int(len(sorted_values) * part))]


def main():
    attempts = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    table = Table()
    with tempfile.TemporaryDirectory() as base:
        folder = prepare(base, "loop", attempts)
        in_a_loop(folder)
        loop = gaps(folder)
        folder = prepare(base, "midwatch", attempts)
        reported = under_midwatch(folder)
        held = gaps(folder)
        table.at_most("a command's end is reported, p99", share(reported, 0.99), "ms", 50)
        table.figure("from its end to its next attempt, median", share(held, 0.5), "ms")
        table.at_most("the same, p99", share(held, 0.99), "ms", 150)
        table.figure("the same by `until …; do :; done` of bash, p99", share(loop, 0.99), "ms")
        if shutil.which("supervisord") is None:
            print("supervisord is not installed (apt-get install supervisor): not compared", flush=True)
            return 1
        folder = prepare(base, "supervisord", attempts)
        under_supervisord(folder)
        peer = gaps(folder)
        table.figure("the same by supervisord, median", share(peer, 0.5), "ms")
        table.at_least("supervisord's median against ours", share(peer, 0.5) / share(held, 0.5), "x", 1)
    return 1 if table.failed else 0


sys.exit(main())
