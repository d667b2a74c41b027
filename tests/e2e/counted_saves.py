"""midwatch run of a home-made loop that saves as accelerate's save_state names it by itself, checkpoints/checkpoint_0, _1, ...: the
numbers count saves. A half-written newest one is moved out of the way before a restart, and no number is taken for a step.

counted_saves.py MIDWATCH PRACTICE_RUN
"""
import glob
import json
import os
import subprocess
import sys
import time

from running import PROGRAM, Run, midwatch
from watching import Scratch

# OUT: project_dir; CRASH: "save" dies by SIGKILL in the fourth save of its first attempt; PACE: of a tenth of a save.
TRAINER = r'''
import glob, io, json, os, pickle, re, signal, struct, sys, time, zipfile
out, crash, pace, total = sys.argv[1], sys.argv[2], float(sys.argv[3]), 60
root = os.path.join(out, "checkpoints")
attempt = int(os.environ["MIDWATCH_ATTEMPT"])
def torch_save(path, value):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.pkl", pickle.dumps(value, 2))
        file.writestr("archive/byteorder", "little")
        file.writestr("archive/version", "3\n")
def save(folder, step, cut):
    os.makedirs(folder)
    head = json.dumps({"w": {"dtype": "F32", "shape": [50000], "data_offsets": [0, 200000]}}).encode()
    with open(folder + "/model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head)
        for part in range(10):
            file.write(os.urandom(20000))
            file.flush()
            time.sleep(pace)
            if cut and part == 6: os.kill(os.getpid(), signal.SIGKILL)
    torch_save(folder + "/optimizer.bin", {"state": {}, "param_groups": []})
    torch_save(folder + "/scheduler.bin", {"last_epoch": step})
    with open(folder + "/random_states_0.pkl", "wb") as file: pickle.dump({"step": step}, file)
def load(folder):
    with open(folder + "/model.safetensors", "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        file.read(length)
        if len(file.read()) != 200000: raise RuntimeError("Error while deserializing header: incomplete metadata, file not fully covered")
    with open(folder + "/random_states_0.pkl", "rb") as file: return pickle.load(file)["step"]
saved = sorted(glob.glob(root + "/checkpoint_*"), key=lambda path: int(path.rsplit("_", 1)[1]))
start, number = 0, 0
if saved:
    start, number = load(saved[-1]), int(saved[-1].rsplit("_", 1)[1]) + 1
    print("goes on from", os.path.basename(saved[-1]), flush=True)
for step in range(start + 1, total + 1):
    print("step %d/%d loss %.4f" % (step, total, 2 - step / 100), flush=True)
    time.sleep(0.1)
    if step % 10 == 0:
        # With a total_limit, and where it is to load the newest, it takes the number of every name there.
        numbers = [int(re.findall("[0-9]+", name)[0]) for name in (os.listdir(root) if os.path.exists(root) else [])]
        save("%s/checkpoint_%d" % (root, number), step, crash == "save" and attempt == 1 and number == 3)
        number += 1
print("done", flush=True)
'''


def start(base, *options, crash="save", pace="0.25", out="out"):
    script = os.path.join(base, "train.py")
    with open(script, "w") as file:
        file.write(TRAINER)
    return Run(base, [sys.executable, script, out, crash, pace], "--quiet", "--first-wait", "0.2", "--restarts", "2", *options)


def passed_over(base, *options, pace="0.25"):
    """The half-written checkpoint_3 is quarantined, the run goes on from checkpoint_2, and ends."""
    run = start(base, *options, pace=pace)
    assert run.end() == 0, run.err
    assert "checkpoints are accelerate's: their numbers count saves" in run.err, run.err
    assert "moved the checkpoints checkpoint_3 to " in run.err and "; checkpoint_2 is the newest now" in run.err, run.err
    assert "2 attempts." in run.err and "step 3" not in run.err, run.err
    with open(os.path.join(run.folder(), "output", "train.log")) as file:
        text = file.read()
    assert "goes on from checkpoint_2" in text and "goes on from checkpoint_3" not in text, text
    moved = glob.glob(os.path.join(base, "out/.midwatch-quarantine/checkpoints/*/checkpoint_*"))
    assert [os.path.basename(one) for one in moved] == ["checkpoint_3"], moved
    return run


def seen_at_it(base):
    """Nobody said where it saves: its processes are seen to write there."""
    run = passed_over(base)
    with open(os.path.join(run.folder(), "checkpoint-writers.json")) as file:
        own = [os.path.realpath(one) for one in json.load(file)["own"]]
    assert own == [os.path.realpath(os.path.join(base, "out/checkpoints"))], own
    listed = subprocess.run([PROGRAM, "checkpoint", "list", "--home", os.path.join(base, "home")], capture_output=True, check=False, timeout=60)
    text = listed.stdout.decode()
    assert all(f"checkpoint_{number}" in text for number in range(6)) and "(step " not in text, text
    assert text.count("      –  ") == 6, text
    # No number of a save is a step of anything.
    code, text = midwatch(base, "report")
    assert "step 3 " not in text and "checkpoint_5" in text, text


def declared(base):
    """project_dir was declared, and saves are too quick to be seen at."""
    passed_over(base, "--checkpoints", os.path.join(base, "out"), pace="0.001")


def somebody_elses(base):
    """Another run saves so in the folder where this one works: it is said, once, and nothing there is touched."""
    other = os.path.join(base, "other.py")
    with open(other, "w") as file:
        file.write(TRAINER)
    beside = subprocess.Popen([sys.executable, other, "theirs", "never", "0.001"], cwd=base, env={**os.environ, "MIDWATCH_ATTEMPT": "1"},
                              stdout=subprocess.DEVNULL)
    script = os.path.join(base, "train.py")
    with open(script, "w") as file:
        file.write("import time\nfor step in range(1, 9):\n    print('step %d/8 loss 1.0' % step, flush=True)\n    time.sleep(1)\nraise RuntimeError('boom')\n")
    run = Run(base, [sys.executable, script], "--quiet", "--first-wait", "0.2", "--restarts", "1")
    run.end()
    beside.wait(timeout=60)
    assert "accelerate's" not in run.err and "moved" not in run.err, run.err
    assert sorted(os.listdir(os.path.join(base, "theirs/checkpoints"))) == [f"checkpoint_{number}" for number in range(6)]


for test in (seen_at_it, declared, somebody_elses):
    with Scratch() as base:
        began = time.monotonic()
        test(base)
        print(f"{test.__name__} ok, {time.monotonic() - began:.1f} s", flush=True)
sys.exit(0)
