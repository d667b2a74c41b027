"""midwatch run reads each checkpoint to its last byte while the run goes on: one that is full of NaN is an incident with the tensor's
name, the restart passes over it, one whose weights are those of the save before is another, and every message says what the end cost."""
import json
import os
import subprocess
import sys
import time

from running import PROGRAM, Run, midwatch, wait_until
from watching import Scratch

TRAINER = r'''
import glob, json, os, struct, sys, time
done = sorted(int(path.rsplit("-", 1)[1]) for path in glob.glob("exp/run/checkpoint-*"))
start = done[-1] if done else 0
print("resumes from step %d" % start, flush=True)
def bar(step):
    sys.stderr.write("\r%3d%%|%s| %d/%d [00:01<00:02,  3.10it/s]" % (step, "#" * (step // 10), step, 100))
def save(step, bad):
    folder = "exp/run/checkpoint-%d" % step
    os.makedirs(folder)
    numbers = [0.02 + 0.0001 * (i % 7) for i in range(1000)]
    if bad:
        numbers[500] = float("nan")
    data = struct.pack("<1000f", *numbers)
    head = json.dumps({"layers.0.mlp": {"dtype": "F32", "shape": [1000], "data_offsets": [0, len(data)]}}).encode()
    with open(folder + "/model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head + data)
    for name, text in (("config.json", "{}"), ("trainer_state.json", json.dumps({"global_step": step}))):
        with open(folder + "/" + name, "w") as file:
            file.write(text)
def train(first, last):
    for step in range(first, last + 1):
        time.sleep(0.02)
        bar(step)
        sys.stderr.write("\r" + " " * 60 + "\r")
        print({"loss": "%.4f" % (2 - step / 100), "grad_norm": "1.1", "learning_rate": "1e-05", "epoch": "%.4g" % (step / 1000)}, flush=True)
        bar(step)
def wait(name):
    for _ in range(6000):
        if os.path.exists(name):
            return
        time.sleep(0.05)
bar(0)
if start == 0:
    train(1, 10)
    save(10, False)
    wait("sane")
    train(11, 20)
    save(20, True)
    wait("seen")
    raise RuntimeError("the data loader gave an empty batch")
train(start + 1, 30)
save(30, False)
wait("frozen")
print({"train_runtime": "9.1", "train_samples_per_second": "6.6", "train_steps_per_second": "6.6", "train_loss": "1.7", "epoch": "0.06"})
'''


def touch(base, name):
    with open(os.path.join(base, name), "w"):
        pass


def listed(base):
    """What `midwatch report` says of each checkpoint."""
    return midwatch(base, "report")[1]


def incidents(base, kind="checkpoint-suspect"):
    code, text = midwatch(base, "incidents", "--json")
    return [one for one in json.loads(text)["incidents"] if one["kind"] == kind] if text.startswith("{") else []


def main():
    with Scratch() as base:
        with open(os.path.join(base, "train.py"), "w") as file:
            file.write(TRAINER)
        run = Run(base, [sys.executable, os.path.join(base, "train.py")], "--quiet", "--first-wait", "0.2", "--restarts", "2", "--cost-per-hour", "20", "--checkpoints",  # and no midwatch.toml
                  os.path.join(base, "exp", "run"))
        try:
            wait_until("step 10 is read", lambda: "all bytes read: sane" in listed(base))
            assert incidents(base) == []
            touch(base, "sane")
            wait_until("step 20 is suspect", lambda: incidents(base))
            found = incidents(base)[0]
            assert "layers.0.mlp" in found["summary"] and "NaN" in found["summary"] and "go back to step 10" in found["summary"], found
            assert "SUSPECT" in listed(base), listed(base)
            code, text = midwatch(base, "why", str(found["id"]))
            assert code == 0 and "checkpoint-numbers-not-sane" in text, text
            touch(base, "seen")
            wait_until("the weights of step 30 are those of step 10", lambda: incidents(base, "checkpoint-frozen"))
            found = incidents(base, "checkpoint-frozen")[0]
            assert "every byte of its 1 weight is as in the save of step 10" in found["summary"], found
            assert "as in the save of step 10" in listed(base), listed(base)
        finally:
            for name in ("sane", "seen", "frozen"):
                touch(base, name)
        assert run.end() == 0, run.err
        with open(os.path.join(run.folder(), "output", "train.log"), errors="replace") as file:
            log = file.read()
        assert "resumes from step 10\n" in log and "resumes from step 20" not in log, log
        moved = os.path.join(base, "exp", "run", ".midwatch-quarantine")
        assert any("checkpoint-20" in folders for _, folders, _ in os.walk(moved)), list(os.walk(moved))
        text = listed(base)
        assert "of work (" in text or "at 20.00 an hour" in text, text
        done = subprocess.run([PROGRAM, "verify", "--home", os.path.join(base, "home"), run.folder()], capture_output=True, check=False, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
    print("each checkpoint was read, and the one with NaN was passed over")
    return 0


sys.exit(main())
