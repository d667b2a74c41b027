"""What reading every byte of each checkpoint costs the training beside it: a trainer that computes and saves 128 MB every 40 s under
`midwatch run` says when each of its steps began and how long it took; the journal says when midwatch was reading. The steps in the
time of a reading are compared with as many seconds of steps before and behind it, and what they lost is set against the whole time.

    bench_beside.py [SAVES]     default 8
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

from longlog import PROJECT
from table import Table

MIDWATCH = os.environ.get("MIDWATCH", os.path.join(PROJECT, "build", "midwatch"))
SLOWER = 1.0  # % of the training's time, issue 15

# Its step is a fixed amount of work. The first steps behind a save are as slow as the save makes them; reading begins 10 s behind it.
TRAINER = r'''
import array, json, os, random, struct, sys, time
root, saves = sys.argv[1], int(sys.argv[2])
weights = array.array("H", (0x3C00 + random.randrange(256) for _ in range(1 << 20))).tobytes() * 64
step = 0
with open(root + "/took", "w") as took:
    for _ in range(saves):
        folder = f"{root}/checkpoint-{step}"
        os.makedirs(folder)
        head = json.dumps({"w": {"dtype": "BF16", "shape": [len(weights) // 2], "data_offsets": [0, len(weights)]}}).encode()
        with open(folder + "/model.safetensors", "wb") as file:
            file.write(struct.pack("<Q", len(head)) + head + weights)
        with open(folder + "/trainer_state.json", "w") as file: json.dump({"global_step": step, "log_history": []}, file)
        until = time.monotonic() + 40
        while time.monotonic() < until:
            step += 1
            began, at, of = time.time(), time.perf_counter(), time.process_time()
            total = 0
            for i in range(400_000): total += i * i
            print(json.dumps([began, time.perf_counter() - at, time.process_time() - of]), file=took)
            print(f"{{'loss': {1 / step:.4f}, 'grad_norm': 0.5, 'learning_rate': 1e-06, 'reward': 0.25, 'epoch': 0.1}}", flush=True)
'''


def readings(journal):
    """When each checkpoint was read whole: begin and end, seconds since 1970."""
    found = []
    for name in sorted(os.listdir(journal)):
        shown = subprocess.run(["zstdcat", "-f", os.path.join(journal, name)], capture_output=True, check=False)
        for line in shown.stdout.split(b"\n"):
            if b'"e":"checkpoint-read"' not in line:
                continue
            event = json.loads(line[line.index(b"{"):])
            if event["how"] == "sane":
                found.append((event["at"] / 1e9 - event["seconds"], event["at"] / 1e9))
    return found


def slower(steps, read, which):
    """For each reading: how much longer its steps took than those around it, in %."""
    found = []
    for begin, end in read:
        length = end - begin
        inside = [s[which] for s in steps if begin <= s[0] <= end]
        around = [s[which] for s in steps if begin - length <= s[0] < begin - 0.2 or end + 0.2 < s[0] <= end + length]
        if inside and around:
            found.append((statistics.mean(inside) / statistics.mean(around) - 1) * 100)
    return found


def measured(base, saves):
    root = os.path.join(base, "out")
    os.makedirs(root)
    with open(os.path.join(base, "train.py"), "w") as file:
        file.write(TRAINER)
    subprocess.run([MIDWATCH, "run", "--quiet", "--no-host", "--home", "home", "--name", "r", "--checkpoints", root, "--",
                    sys.executable, "train.py", root, str(saves)], cwd=base, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    with open(os.path.join(root, "took")) as file:
        return [json.loads(line) for line in file], readings(os.path.join(base, "home", "runs", "r", "journal"))


def main():
    saves = max(2, int(sys.argv[1])) if len(sys.argv) > 1 else 8
    table = Table()
    with tempfile.TemporaryDirectory(prefix="midwatch-bench-") as base:
        steps, read = measured(base, saves)
    table.at_least("checkpoints that were read, of those saved", len(read) / saves, "", 0.5)
    if not read:
        return 1
    share = sum(end - begin for begin, end in read) / (saves * 40)
    table.figure("share of the time in which one is read", share * 100, "%")
    for which, clock in ((1, "clock"), (2, "processor")):
        found = slower(steps, read, which)
        mean = statistics.mean(found)
        error = 2 * statistics.stdev(found) / len(found) ** 0.5 if len(found) > 1 else 0
        table.figure(f"steps while one is read: slower by ({clock})", mean, "%")
        table.figure("two standard errors of that", error, "%")
        table.at_most(f"all steps: slower by ({clock}), the errors added", (mean + error) * share, "%", SLOWER)
    return 1 if table.failed else 0


if __name__ == "__main__":
    sys.exit(main())
