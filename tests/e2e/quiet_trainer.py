"""midwatch run of a trainer that writes as transformers' Trainer does: records without a step beside a progress bar, not a word of its
saves. The script lies in a temporary folder, as one that is tried out does."""
import json
import os
import subprocess
import sys
import time

from running import PROGRAM, Run, midwatch
from watching import Scratch

TRAINER = r'''
import glob, json, os, struct, sys, time
fails, always = int(sys.argv[1]), len(sys.argv) > 2
done = sorted(int(path.rsplit("-", 1)[1]) for path in glob.glob("exp/run/checkpoint-*"))
start = done[-1] if done else 0
TOTAL = 60
def bar(step):
    sys.stderr.write("\r%3d%%|%s| %d/%d [00:01<00:02,  3.10it/s]" % (100 * step // TOTAL, "#" * (step // 6), step, TOTAL))
def save(step):
    folder = "exp/run/checkpoint-%d" % step
    os.makedirs(folder)
    head = json.dumps({"w": {"dtype": "F32", "shape": [50000], "data_offsets": [0, 200000]}}).encode()
    with open(folder + "/model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head)
        for _ in range(10):
            file.write(os.urandom(20000))
            file.flush()
            time.sleep(0.15)
    for name, text in (("config.json", "{}"), ("trainer_state.json", json.dumps({"global_step": step}))):
        with open(folder + "/" + name, "w") as file:
            file.write(text)
bar(0)
for step in range(start + 1, TOTAL + 1):
    time.sleep(0.05)
    bar(step)
    if step == fails and (always or start == 0):
        raise RuntimeError("the data loader gave an empty batch")
    sys.stderr.write("\r" + " " * 60 + "\r")
    print({"loss": "%.4f" % (2 - step / 100), "grad_norm": "1.1", "learning_rate": "1e-05", "epoch": "%.4g" % (step / 1000)}, flush=True)
    bar(step)
    if step % 10 == 0:
        save(step)
print({"train_runtime": "9.1", "train_samples_per_second": "6.6", "train_steps_per_second": "6.6", "train_loss": "1.7", "epoch": "0.06"})
'''


def start(base, *words):
    with open(os.path.join(base, "train.py"), "w") as file:
        file.write(TRAINER)
    return Run(base, [sys.executable, os.path.join(base, "train.py"), *words], "--quiet", "--first-wait", "0.2", "--restarts", "2")


def status(base):
    code, text = midwatch(base, "status", "--json")
    assert code == 0, text
    return json.loads(text)


def resumed(base):
    """Its steps go on where it resumed, its error is read, and its checkpoints are found by who writes them."""
    run = start(base, "25")
    assert run.end() == 0, run.err
    stands = status(base)
    assert stands["step"] == 60 and stands["attempt"] == 2 and "2 attempts." in run.err, (stands, run.err)
    code, text = midwatch(base, "incidents", "--json")
    assert code == 0 and "the data loader gave an empty batch" in text, text
    code, text = midwatch(base, "report")
    assert "| 1 to 24 |" in text and "| 21 to 60 |" in text and "| 4 steps |" in text, text
    listed = subprocess.run([PROGRAM, "checkpoint", "list", "--home", os.path.join(base, "home")], capture_output=True, check=False, timeout=60)
    text = listed.stdout.decode()
    assert "exp/run" in text and all(f"       {step}  " in text for step in (10, 20, 30, 40, 50, 60)), text
    folder = stands["folder"]
    with open(os.path.join(folder, "checkpoint-writers.json")) as file:
        writers = json.load(file)
    assert [os.path.realpath(own) for own in writers["own"]] == [os.path.realpath(os.path.join(base, "exp/run"))], writers


def saves_quickly(base):
    """Adapters are saved too quickly for anybody to be seen at it: they are found by when they are made, where the run works, but not those
    that were there before, and not those of another run beside it."""
    slow = """        for _ in range(10):
            file.write(os.urandom(20000))
            file.flush()
            time.sleep(0.15)
"""
    assert slow in TRAINER and "time.sleep(0.05)" in TRAINER and "start = done[-1] if done else 0" in TRAINER
    quick = TRAINER.replace(slow, "        file.write(os.urandom(200000))\n").replace("start = done[-1] if done else 0", "start = 0")
    for name, pace in (("train.py", "0.5"), ("other.py", "0.31")):
        with open(os.path.join(base, name), "w") as file:
            file.write(quick.replace("time.sleep(0.05)", f"time.sleep({pace})").replace("exp/run", "exp/" + name[:-3]))
    os.makedirs(os.path.join(base, "exp", "train", "checkpoint-5"))
    os.makedirs(os.path.join(base, "exp", "other"))
    time.sleep(4)
    run = Run(base, [sys.executable, os.path.join(base, "train.py"), "99"], "--quiet", "--first-wait", "0.2")
    time.sleep(1.5)
    with open(os.path.join(base, "other.log"), "w") as log:
        other = subprocess.Popen([sys.executable, os.path.join(base, "other.py"), "99"], cwd=base, stdout=log, stderr=log)
    assert run.end() == 0, run.err
    other.wait()
    listed = subprocess.run([PROGRAM, "checkpoint", "list", "--home", os.path.join(base, "home")], capture_output=True, check=False, timeout=60)
    text = listed.stdout.decode()
    assert all(f"       {step}  " in text for step in (10, 20, 30, 40)) and "exp/train" in text and "exp/other" not in text, text
    code, text = midwatch(base, "incidents", "--json")
    assert code == 0 and "checkpoint-5" not in text, text  # it was there before, and is no concern of this run
    assert status(base)["step"] == 60, text


def comes_no_further(base):
    """Resumed and failing at the same step again, it makes no progress, and is not started a third time."""
    run = start(base, "25", "always")
    assert run.end() == 1, run.err
    assert "2 attempts." in run.err and "twice at step 24" in run.err, run.err
    stands = status(base)
    assert stands["attempt"] == 2 and stands["step"] == 24, stands


for test in (resumed, saves_quickly, comes_no_further):
    with Scratch() as base:
        began = time.monotonic()
        test(base)
        print(f"{test.__name__} ok, {time.monotonic() - began:.1f} s", flush=True)
sys.exit(0)
