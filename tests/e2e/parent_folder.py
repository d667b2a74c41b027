"""midwatch run with --checkpoints PARENT, of a trainer that saves two folders below it, as verl does in PARENT/PROJECT/EXPERIMENT: rollback, pointer,
retention, prune, list and onstart all take that folder for the run's.

parent_folder.py MIDWATCH PRACTICE_RUN
"""
import os
import subprocess
import sys
import time

from machines import checkpoint, shipped
from running import PROGRAM, output
from verl_folder import Done, pointer, steps_in
from watching import Scratch

# Words: the folder, its last step; with a third one the first attempt dies at step 54, after its save of step 50 was cut.
TRAINER = r'''
import os, pickle, sys, time, zipfile
root, steps, dies = sys.argv[1], int(sys.argv[2]), len(sys.argv) > 3 and os.environ["MIDWATCH_ATTEMPT"] == "1"
pointer = root + "/latest_checkpointed_iteration.txt"
say = lambda text: print("(TaskRunner pid=812) " + text, flush=True)
def torch(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.pkl", pickle.dumps(content, 2)); file.writestr("archive/version", "3\n"); file.writestr("archive/data/0", os.urandom(9000))
def save(step):
    say("local_global_step_folder: %s/global_step_%d" % (os.path.abspath(root), step))
    actor = "%s/global_step_%d/actor/" % (root, step)
    for kind, content in (("model", {"w": 1}), ("extra_state", {"rng": 1}), ("optim", {"state": {}})):
        torch(actor + kind + "_world_size_1_rank_0.pt", content)
    open(actor + "fsdp_config.json", "w").write('{"FSDP_version": 1, "world_size": 1}')
    torch("%s/global_step_%d/data.pt" % (root, step), {"_num_yielded": step})
    open(pointer, "w").write(str(step))
first = int(open(pointer).read()) if os.path.exists(pointer) else 0
if first:
    say("Resuming from %s/global_step_%d" % (os.path.abspath(root), first)); say("Setting global step to %d" % first)
    zipfile.ZipFile("%s/global_step_%d/actor/optim_world_size_1_rank_0.pt" % (root, first))
print("BEGAN", first, flush=True)
for step in range(first + 1, steps + 1):
    time.sleep(0.12)
    if step % 10 == 0: save(step)
    if dies and step == 54:
        os.truncate(root + "/global_step_50/actor/optim_world_size_1_rank_0.pt", 3000)
        raise RuntimeError("CUDA error: an illegal memory access was encountered")
    say("step:%d - actor/pg_loss:0.00%d - actor/grad_norm:0.4%d - critic/rewards/mean:0.%d - training/global_step:%d" % (step, step % 7, step % 9, 300 + step, step))
'''
SETTINGS = '[run]\nfirst_wait = "0.2s"\n[retention]\nkeep_last = 3\n'


def machine(base, *words):
    os.makedirs(base + "/ck", exist_ok=True)
    for name, text in (("trainer.py", TRAINER), ("own.toml", SETTINGS)):
        with open(f"{base}/{name}", "w") as file:
            file.write(text)
    return subprocess.run([PROGRAM, *words], cwd=base, capture_output=True, text=True, timeout=200, check=False)


def one_night(base):
    """The newest checkpoint is torn, and the attempt dies; the next one goes on from the one before it; then the machine is lost."""
    first, store = base + "/m1", base + "/share/run"
    os.makedirs(base + "/share")
    run = machine(first, "run", "--home", "home", "--config", "own.toml", "--no-host", "--checkpoints", "ck", "--store", store, "--",
                  sys.executable, "trainer.py", "ck/project/experiment", "80", "dies")
    own = first + "/ck/project/experiment"
    assert run.returncode == 0, run.stderr
    assert [line for line in output(Done(first)).splitlines() if line.startswith("BEGAN")] == ["BEGAN 0", "BEGAN 40"], run.stderr
    assert "below " + first + "/ck: that folder is taken for the one of its checkpoints" in run.stderr, run.stderr
    assert f"{own}/latest_checkpointed_iteration.txt said 50 and says 40 now" in run.stderr, run.stderr
    assert "deleted it" not in run.stderr and "nothing of it in" not in run.stderr, run.stderr
    assert os.path.isdir(own + "/.midwatch-quarantine") and not os.path.exists(first + "/ck/.midwatch-quarantine")
    assert pointer(own) == "80" and steps_in(own) == [60, 70, 80], (steps_in(own), run.stderr)
    listed = checkpoint("list", "--json", "--home", first + "/home")["checkpoints"]
    assert [(one["step"], one["state"], os.path.dirname(one["path"])) for one in listed] == [(step, "whole", own) for step in (60, 70, 80)], listed
    pruned = machine(first, "checkpoint", "prune", "ck", "--home", "home", "--keep-last", "1", "--yes")
    assert pruned.returncode == 0 and steps_in(own) == [80], pruned
    assert shipped(store)[1] == [80], shipped(store)
    goes_on(base + "/m2", store)


def goes_on(base, store):
    """On an empty machine the same words bring the newest one to where the trainer looks for it."""
    own = base + "/ck/project/experiment"
    run = machine(base, "onstart", "--home", "home", "--config", "own.toml", "--no-host", "--from", store, "--checkpoints", "ck", "--",
                  sys.executable, "trainer.py", "ck/project/experiment", "100")
    assert run.returncode == 0, run.stderr
    assert "BEGAN 80" in output(Done(base)), (output(Done(base)), run.stderr)
    assert pointer(own) == "100" and steps_in(own) == [80, 90, 100], (steps_in(own), run.stderr)
    assert sorted(os.listdir(base + "/ck")) == ["project"], os.listdir(base + "/ck")
    assert shipped(store)[1] == [100], shipped(store)


with Scratch() as scratch:
    began = time.monotonic()
    one_night(scratch)
    print(f"one_night ok, {time.monotonic() - began:.1f} s", flush=True)
