"""What reading every byte of each checkpoint costs the training beside it: the same work of a trainer that computes and saves 64 MB
again and again, under `midwatch run` with and without `[checkpoints] deep`, in turns.

    bench_beside.py [TURNS]     default 2
"""
import os
import subprocess
import sys
import tempfile

from longlog import PROJECT
from table import Table

MIDWATCH = os.environ.get("MIDWATCH", os.path.join(PROJECT, "build", "midwatch"))
SLOWER = 1.0  # % of the steps' time, issue 15
SHARE = 1.0   # % of a core that the reading takes

# Work of a fixed amount in each step, whose processor time is taken (what shares caches and memory with it shows there, and other
# guests of the host do not; for what takes the processor itself away the share of a core stands beside it), and a save of BF16
# numbers every 64th. It says what its steps took.
TRAINER = r'''
import array, json, os, random, struct, sys, time
root, steps = sys.argv[1], 192
weights = array.array("H", (0x3C00 + random.randrange(256) for _ in range(1 << 20))).tobytes() * 32
def save(step):
    folder = f"{root}/checkpoint-{step}"
    os.makedirs(folder)
    head = json.dumps({"w": {"dtype": "BF16", "shape": [len(weights) // 2], "data_offsets": [0, len(weights)]}}).encode()
    with open(folder + "/model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head + weights)
    with open(folder + "/trainer_state.json", "w") as file: json.dump({"global_step": step, "log_history": []}, file)
took = 0
for step in range(1, steps + 1):
    began = time.process_time()
    total = 0
    for i in range(3_000_000): total += i * i
    took += time.process_time() - began
    print(f"{{'loss': {1 / step:.4f}, 'grad_norm': 0.5, 'learning_rate': 1e-06, 'reward': 0.25, 'epoch': 0.1}}", flush=True)
    if step % 64 == 0: save(step)
with open(root + "/took", "w") as file: file.write(str(took))
'''


def turn(base, deep):
    """Seconds of its steps, CPU seconds of midwatch, checkpoints that were read."""
    with tempfile.TemporaryDirectory(dir=base) as place:
        for name, text in (("train.py", TRAINER), ("midwatch.toml", "[checkpoints]\ndeep = %s\n" % ("true" if deep else "false"))):
            with open(os.path.join(place, name), "w") as file:
                file.write(text)
        root = os.path.join(place, "out")
        os.makedirs(root)
        process = subprocess.Popen([MIDWATCH, "run", "--quiet", "--no-host", "--config", "midwatch.toml", "--home", "home", "--name", "r",
                                    "--checkpoints", root, "--", sys.executable, "train.py", root],
                                   cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        read = 0
        for folder, _, names in os.walk(os.path.join(place, "home", "runs", "r", "journal")):
            for name in names:
                shown = subprocess.run(["zstdcat", "-f", os.path.join(folder, name)], capture_output=True, check=False)
                read += shown.stdout.count(b"checkpoint-read")
        with open(os.path.join(root, "took")) as file:
            return float(file.read()), usage.ru_utime + usage.ru_stime, read


def main():
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    table = Table()
    with tempfile.TemporaryDirectory(prefix="midwatch-bench-") as base:
        found = {True: [], False: []}
        for _ in range(turns):
            for deep in (True, False):
                found[deep].append(turn(base, deep))
    fastest = {deep: min(took for took, _, _ in all_of) for deep, all_of in found.items()}
    cost = {deep: min(cpu for _, cpu, _ in all_of) for deep, all_of in found.items()}
    table.figure("steps beside which each checkpoint is read, processor", fastest[True], "s")
    table.figure("the same, none is read", fastest[False], "s")
    table.at_most("steps: slower by", (fastest[True] / fastest[False] - 1) * 100, "%", SLOWER)
    table.at_most("reading: share of a core", (cost[True] - cost[False]) / fastest[True] * 100, "%", SHARE)
    table.at_least("checkpoints that were read, of 3", max(read for _, _, read in found[True]), "", 1)
    return 1 if table.failed else 0


if __name__ == "__main__":
    sys.exit(main())
