"""A command that trains one model after the other, each in a folder of its own and from step 1 on, as a curriculum or a loop over seeds does: what the
first one saved is finished, and is neither rolled back with the second one, nor resumed from, nor what latest in the store names once the second one saves.

two_trainings.py MIDWATCH PRACTICE_RUN
"""
import os
import subprocess
import sys
import time

from machines import shipped
from running import PROGRAM, output
from verl_folder import Done, pointer, steps_in
from watching import Scratch

# Words: at which step the second training dies in the first attempt, "cut" where its newest checkpoint was cut before, and what is to be resumed from.
STAGES = r'''
import os, pickle, sys, time, zipfile
dies, cut, words = int(sys.argv[1]), sys.argv[2] == "cut", sys.argv[3:]
say = lambda text: print("(TaskRunner pid=812) " + text, flush=True)
def torch(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.pkl", pickle.dumps(content, 2)); file.writestr("archive/version", "3\n"); file.writestr("archive/data/0", os.urandom(9000))
def save(root, step):
    say("local_global_step_folder: %s/global_step_%d" % (os.path.abspath(root), step))
    actor = "%s/global_step_%d/actor/" % (root, step)
    for kind, content in (("model", {"w": 1}), ("extra_state", {"rng": 1}), ("optim", {"state": {}})):
        torch(actor + kind + "_world_size_1_rank_0.pt", content)
    open(actor + "fsdp_config.json", "w").write('{"FSDP_version": 1, "world_size": 1}')
    torch("%s/global_step_%d/data.pt" % (root, step), {"_num_yielded": step})
    open(root + "/latest_checkpointed_iteration.txt", "w").write(str(step))
def train(root, steps, dies):
    pointer = root + "/latest_checkpointed_iteration.txt"
    first = int(open(pointer).read()) if os.path.exists(pointer) and not words else 0
    if first:
        say("Resuming from %s/global_step_%d" % (os.path.abspath(root), first)); say("Setting global step to %d" % first)
    print("BEGAN", root, first, *words, flush=True)
    for step in range(first + 1, steps + 1):
        time.sleep(0.1)
        if step % 10 == 0: save(root, step)
        if step == dies:
            if cut: os.truncate("%s/global_step_%d/actor/optim_world_size_1_rank_0.pt" % (root, step // 10 * 10), 3000)
            raise RuntimeError("CUDA error: an illegal memory access was encountered")
        say("step:%d - actor/pg_loss:0.00%d - actor/grad_norm:0.4%d - critic/rewards/mean:0.%d - training/global_step:%d" % (step, step % 7, step % 9, 300 + step, step))
if not os.path.exists("done"): train("ck/A", 50, 0)
open("done", "w").close()
train("ck/B", 40, dies if os.environ["MIDWATCH_ATTEMPT"] == "1" else 0)
'''


def machine(base, *words):
    os.makedirs(base + "/ck", exist_ok=True)
    for name, text in (("stages.py", STAGES), ("own.toml", '[run]\nfirst_wait = "0.2s"\n')):
        with open(f"{base}/{name}", "w") as file:
            file.write(text)
    return subprocess.run([PROGRAM, *words], cwd=base, capture_output=True, text=True, timeout=200, check=False)


def run(base, *words):
    return machine(base, "run", "--home", "home", "--config", "own.toml", "--no-host", "--checkpoints", "ck", *words)


def began(base):
    return [line for line in output(Done(base)).splitlines() if line.startswith("BEGAN")]


def a_broken_save(base):
    """The newest checkpoint of the second training is cut, and it dies: it alone goes back. Then the machine is lost."""
    first, store = base + "/m1", base + "/share/run"
    os.makedirs(base + "/share")
    done = run(first, "--store", store, "--", sys.executable, "stages.py", "33", "cut")
    assert done.returncode == 0, done.stderr
    assert began(first) == ["BEGAN ck/A 0", "BEGAN ck/B 0", "BEGAN ck/B 20"], (began(first), done.stderr)
    assert steps_in(first + "/ck/A") == [10, 20, 30, 40, 50] and pointer(first + "/ck/A") == "50", done.stderr
    assert not os.path.exists(first + "/ck/A/.midwatch-quarantine") and os.path.isdir(first + "/ck/B/.midwatch-quarantine"), done.stderr
    assert f"{first}/ck/B/latest_checkpointed_iteration.txt said 30 and says 20 now" in done.stderr, done.stderr
    assert shipped(store)[1] == [40], (shipped(store), done.stderr)
    pulled = subprocess.run([PROGRAM, "checkpoint", "pull", store, base + "/got", "--step", "20"], capture_output=True, text=True, check=False)
    assert "There are 2 of step 20" in pulled.stdout + pulled.stderr, pulled
    pruned = machine(first, "checkpoint", "prune", "ck", "--home", "home", "--keep-last", "2", "--yes")
    assert pruned.returncode == 0, pruned
    assert (steps_in(first + "/ck/A"), steps_in(first + "/ck/B")) == ([40, 50], [30, 40]), pruned
    second = machine(base + "/m2", "onstart", "--home", "home", "--config", "own.toml", "--no-host", "--from", store, "--checkpoints", "ck", "--",
                     "sh", "-c", "ls -d ck/*/global_step_*")
    assert "ck/B/global_step_40" in output(Done(base + "/m2")) and "ck/A" not in output(Done(base + "/m2")), second.stderr


def nothing_to_resume_from(base):
    """The second training dies before its first save: {resume} names nothing of the first one."""
    done = run(base, "--", sys.executable, "stages.py", "7", "whole", "{resume}")
    assert done.returncode == 0, done.stderr
    assert began(base) == ["BEGAN ck/A 0", "BEGAN ck/B 0", "BEGAN ck/B 0"], (began(base), done.stderr)


for scenario in (a_broken_save, nothing_to_resume_from):
    with Scratch() as scratch:
        start = time.monotonic()
        scenario(scratch)
        print(f"{scenario.__name__} ok, {time.monotonic() - start:.1f} s", flush=True)
