#!/usr/bin/env python3
"""What the machine does to a run, for real: a disk that fills up, a process that the kernel kills for memory, and a
healthy run on a busy machine. `midwatch run` must report the first two and nothing of the third.

    host.py MIDWATCH
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import skips

TRAIN = r"""
import sys, time
for step in range(1, %d):
    print("step:%%d - actor/pg_loss:0.0%%d - actor/entropy:0.%%d - critic/score/mean:0.%%d - timing_s/step:1.0"
          %% (step, 10 + step %% 7, 50 + step %% 9, 20 + step), flush=True)
    %s
    time.sleep(1)
"""


def run(midwatch, folder, work, code, also=()):
    """Runs `code` as a trainer in `work`; returns what midwatch decided, as JSON objects."""
    script = os.path.join(folder, "train.py")
    with open(script, "w") as out:
        out.write(code)
    done = subprocess.run([*also, midwatch, "run", "--json", "--home", os.path.join(folder, "home"), "--restarts", "0",
                           "--config", "none", "--", sys.executable, script], cwd=work, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=180)
    decided = []
    for line in done.stdout.decode().splitlines():
        if line.startswith("{"):
            decided.append(json.loads(line))
    return decided, done


def opened(decided):
    return [one["incident"] for one in decided if one.get("event") == "opened" and one.get("incident")]


def mounted(folder, options):
    place = os.path.join(folder, "disk")
    os.mkdir(place)
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "midwatch-test", place], stderr=subprocess.DEVNULL)
    return place if mount.returncode == 0 else None


def disk_fills(midwatch, folder):
    place = mounted(folder, "size=512m")
    if place is None:
        return "skipped: mounting a small disk needs root"
    fill = "step == 5 and open(%r, 'wb').write(bytes(508 << 20))" % os.path.join(place, "rollouts.bin")
    try:
        decided, done = run(midwatch, folder, place, TRAIN % (60, fill))
    finally:
        subprocess.run(["umount", place])
    kinds = {incident["kind"]: incident for incident in opened(decided)}
    assert "disk-full" in kinds, (kinds, done.stderr.decode()[-2000:])
    full = kinds["disk-full"]
    assert full["severity"] == "critical" and place in full["summary"], full
    assert full["causes"][0]["id"] == "enospc-generic", full["causes"]
    return "ok"


def memory_group(name, limit):
    """A cgroup of that name with a memory limit; where none may be made, why the case is skipped."""
    legacy = os.path.exists("/sys/fs/cgroup/memory/memory.limit_in_bytes")
    group = os.path.join("/sys/fs/cgroup", "memory" if legacy else "", "midwatch-%s-%d" % (name, os.getpid()))
    try:
        os.mkdir(group)
        with open(os.path.join(group, "memory.limit_in_bytes" if legacy else "memory.max"), "w") as out:
            out.write(str(limit))
        return group
    except OSError as error:
        return "skipped: no cgroup with a memory limit may be made here (%s)" % error


def remove_group(group):
    for _ in range(100):
        try:
            return os.rmdir(group)
        except OSError:
            time.sleep(0.05)


def kernel_kills(midwatch, folder):
    group = memory_group("worker", 96 << 20)
    if group.startswith("skipped"):
        return group
    procs = os.path.join(group, "cgroup.procs")
    # The trainer lives, its worker takes what memory it can get, and is killed.
    worker = "x = [bytearray(8 << 20) for _ in range(64)]; [memoryview(b).__setitem__(slice(None), bytes(len(b))) for b in x]"
    spawn = "step == 14 and __import__('subprocess').Popen([sys.executable, '-c', %r])" % worker
    try:  # midwatch and its keeper are in the group, too, so that it is the run's own
        decided, done = run(midwatch, folder, folder, TRAIN % (36, spawn),
                            also=["sh", "-c", 'echo $$ > "$0"; exec "$@"', procs])
    finally:
        remove_group(group)
    incidents = [one for one in opened(decided) if one["kind"] == "host-out-of-memory"]
    by_oom = [one for one in incidents if one["causes"] and one["causes"][0]["id"] == "cgroup-oom-kill"]
    assert by_oom, ([one["summary"] for one in opened(decided)], done.stderr.decode()[-2000:])
    text = " ".join(piece.get("text", "") for piece in by_oom[0]["evidence"])
    assert "killed 1 process" in text or "Killed process" in text, text
    return "ok"


def kernel_kills_the_trainer(midwatch, folder):
    """The trainer itself is killed and not started again: what killed it must still be reported, at its end."""
    group = memory_group("trainer", 128 << 20)
    if group.startswith("skipped"):
        return group
    procs = os.path.join(group, "cgroup.procs")
    grow = "step == 3 and [bytearray(os.urandom(1)) * (8 << 20) for _ in range(64)]"
    try:
        decided, done = run(midwatch, folder, folder, "import os\n" + TRAIN % (30, grow),
                            also=["sh", "-c", 'echo $$ > "$0"; exec "$@"', procs])
    finally:
        remove_group(group)
    by_oom = [one for one in opened(decided) if one["causes"] and one["causes"][0]["id"] == "cgroup-oom-kill"]
    assert by_oom, ([one["summary"] for one in opened(decided)], done.stderr.decode()[-2000:])
    return "ok"


def gpu_falls_off(midwatch, folder):
    """Eight GPUs of a stub driver; in the middle one falls off the bus."""
    world = os.path.join(folder, "gpus")
    with open(world, "w") as out:
        out.write("gpus 8\n")
    lose = "step == 14 and open(%r, 'a').write('lost 3\\nxid 3 79\\n')" % world
    stub = os.path.join(os.path.dirname(midwatch), "tests", "stub")
    if not os.path.exists(os.path.join(stub, "libnvidia-ml.so.1")):
        return "skipped: the stub driver is not built"
    also = ["env", "LD_LIBRARY_PATH=" + stub, "MIDWATCH_STUB_NVML=" + world]
    decided, done = run(midwatch, folder, folder, TRAIN % (46, lose), also=also)
    faults = [one for one in opened(decided) if one["kind"] == "gpu-fault"]
    assert faults and faults[0]["causes"][0]["id"] == "xid-79-fallen-off-bus", (opened(decided), done.stderr[-2000:])
    return "ok"


def healthy(midwatch, folder):
    """All processors are busy, files are written: nothing to say."""
    busy = "step <= 2 and children.append(__import__('subprocess').Popen([sys.executable, '-c', 'while True: pass']))"
    code = "children = []\n" + TRAIN % (26, busy) + "\nfor child in children: child.kill()\n"
    decided, _ = run(midwatch, folder, folder, code)
    grave = [one["summary"] for one in opened(decided) if one["severity"] != "info"]
    assert not grave, grave
    return "ok"


def main():
    midwatch = os.path.abspath(sys.argv[1])
    results = {}

    def check(case):
        folder = tempfile.mkdtemp(prefix="midwatch-host-")
        began = time.monotonic()
        try:
            said = case(midwatch, folder)
            if said.startswith("skipped: "):
                skips.skip(case.__name__, said.removeprefix("skipped: "))
            results[case.__name__] = "%s, %.0f s" % (said, time.monotonic() - began)
        except Exception as error:  # a failure of one case must not hide those of others
            results[case.__name__] = "FAILED: %r" % (error,)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    threads = [threading.Thread(target=check, args=(case,)) for case in (disk_fills, kernel_kills, kernel_kills_the_trainer, gpu_falls_off, healthy)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name, result in results.items():
        print(name, result)
    return 1 if any(result.startswith("FAILED") for result in results.values()) else skips.status()


if __name__ == "__main__":
    sys.exit(main())
