"""midwatch run of a home-made loop whose checkpoints are files, out/ckpt_10.pt: a half-written newest one is moved out of the way before a
restart where their names were declared. Where not, it is said how to; no rule removes one.

file_saves.py MIDWATCH PRACTICE_RUN
"""
import glob
import os
import subprocess
import sys
import time

from running import PROGRAM, Run, output, wait_until
from watching import Scratch

# SAYS: what it says of a save. It dies by SIGKILL in the save of step 70, in its first attempt. The bytes of a file are those that torch
# wrote (tests/checkpoints/samples).
TRAINER = r'''
import glob, os, signal, sys, time
says, sample = sys.argv[1] == "says", open(sys.argv[2], "rb").read()
attempt = int(os.environ["MIDWATCH_ATTEMPT"])
def save(step):
    path = "out/ckpt_%d.pt" % step
    with open(path, "wb") as file:
        file.write(sample[:len(sample) // 2])
        file.flush()
        if attempt == 1 and step == 70: os.kill(os.getpid(), signal.SIGKILL)
        file.write(sample[len(sample) // 2:])
    if says: print("Saved checkpoint to", path, flush=True)
os.makedirs("out", exist_ok=True)
saved = sorted(glob.glob("out/ckpt_*.pt"), key=lambda path: int(path[9:-3]))
start = 0
if saved:
    if open(saved[-1], "rb").read() != sample: raise RuntimeError("PytorchStreamReader failed reading zip archive: failed finding central directory")
    start = int(saved[-1][9:-3])
    print("goes on from", saved[-1], flush=True)
for step in range(start + 1, 81):
    print("step %d/80 loss %.4f" % (step, 2 - step / 100), flush=True)
    time.sleep(0.25)
    if step % 10 == 0: save(step)
print("done", flush=True)
'''
SAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "checkpoints", "single", "best_val.pt")


def passed_over(base, *options, says="says"):
    script = os.path.join(base, "train.py")
    with open(script, "w") as file:
        file.write(TRAINER)
    run = Run(base, [sys.executable, script, says, SAMPLE], "--quiet", "--first-wait", "0.2", "--restarts", "2", *options)
    assert run.end() == 0, run.err
    assert "moved the checkpoints of step 70 to " in run.err and "; step 60 is the newest now" in run.err, run.err
    with open(os.path.join(run.folder(), "output", "train.log")) as file:
        text = file.read()
    assert "goes on from out/ckpt_60.pt" in text and "goes on from out/ckpt_70.pt" not in text, text
    moved = glob.glob(os.path.join(base, "out/.midwatch-quarantine/*/ckpt_*"))
    assert [os.path.basename(one) for one in moved] == ["ckpt_70.pt"], moved
    return run


def steps_listed(base):
    listed = subprocess.run([PROGRAM, "checkpoint", "list", "--home", os.path.join(base, "home")], capture_output=True, check=False, timeout=60)
    return [int(line.split()[0]) for line in listed.stdout.decode().split("\n") if line[:9].strip().isdigit()]


def declare(base, more=""):
    with open(os.path.join(base, "midwatch.toml"), "w") as file:
        file.write('[checkpoints]\npattern = "ckpt_{step}.pt"\n' + more)


def log_names_them(base):
    declare(base)
    run = passed_over(base)
    assert "where the checkpoints ckpt_{step}.pt lie is not said" in run.err and "--checkpoints DIR says it" in run.err, run.err
    assert steps_listed(base) == [10, 20, 30, 40, 50, 60, 70, 80], steps_listed(base)


def names_were_not_declared(base):
    """Dumps of samples look like this, too: it is only said what to type."""
    script = os.path.join(base, "train.py")
    with open(script, "w") as file:
        file.write(TRAINER)
    run = Run(base, [sys.executable, script, "says", SAMPLE], "--quiet", "--first-wait", "0.2", "--restarts", "1",
              "--checkpoints", os.path.join(base, "out"))
    run.end()
    assert 'If they are, say pattern = "ckpt_{step}.pt" of [checkpoints] in midwatch.toml' in run.err, run.err
    assert not glob.glob(os.path.join(base, "out/.midwatch*")), run.err


def rules_leave_them(base):
    """Whose a file is shows in its times alone: no rule removes one."""
    os.makedirs(os.path.join(base, "out"))
    declare(base, '[retention]\nkeep_last = 2\nkeep_best = "reward.men"\n')
    run = passed_over(base, "--checkpoints", os.path.join(base, "out"), says="silent")
    left = sorted(name for name in os.listdir(os.path.join(base, "out")) if name.startswith("ckpt"))
    assert len(left) == 8, left
    assert "None of the checkpoints ckpt_{step}.pt goes by a rule" in run.err, run.err
    assert "is not said" not in run.err, run.err
    assert '"reward.men" of [retention] is no signal that midwatch knows (the closest is reward.mean)' in run.err, run.err
    # From another folder, in which no configuration declares their names.
    name = os.path.basename(run.folder())
    plan = subprocess.run([PROGRAM, "checkpoint", "prune", name, "--home", os.path.join(base, "home"), "--dry-run"], cwd="/", capture_output=True,
                          text=True, check=False, timeout=60)
    assert "None of the checkpoints ckpt_{step}.pt goes by a rule" in plan.stdout and "is not known" not in plan.stdout, plan


def link_is_led_on(base):
    """The trainer resumes by its link out/latest.pt alone, which it sets before it saves. The link leads to the newest whole one by the
    time that it is started again, out/best.pt stays and it is said how to mend it, and a person can have it all as it was."""
    with open(os.path.join(base, "train.py"), "w") as file:
        file.write(TRAINER.replace('    with open(path, "wb")', """    link("latest.pt", path)
    if step == 70 and attempt == 1: link("best.pt", path)
    with open(path, "wb")""").replace("saved = sorted(", "saved = [os.path.realpath('out/latest.pt')] if os.path.exists('out/latest.pt') else []\nunused = sorted(")
                   .replace("saved[-1][9:-3]", "os.path.basename(saved[-1])[5:-3]")
                   .replace("def save(", """def link(name, path):
    os.symlink(os.path.basename(path), "out/part")
    os.replace("out/part", "out/" + name)
def save("""))
    declare(base)
    out = os.path.join(base, "out")
    os.makedirs(out)
    os.symlink("latest.pt", out + "/current.pt")  # a person's
    run = Run(base, [sys.executable, os.path.join(base, "train.py"), "silent", SAMPLE], "--quiet", "--first-wait", "0.2", "--restarts", "1",
              "--checkpoints", out, "--name", "linked")
    assert run.end() == 0, run.err
    assert f"the link {base}/out/latest.pt leads to ckpt_60.pt now" in run.err, run.err
    assert f"the link {out}/current.pt, which leads to latest.pt, leads to step 60 through it" in run.err, run.err
    assert f"ln -sfn 'ckpt_60.pt' '{base}/out/best.pt' leads it to step 60" in run.err, run.err
    with open(os.path.join(run.folder(), "output", "train.log")) as file:
        text = file.read()
    assert f"goes on from {base}/out/ckpt_60.pt" in text, text
    assert os.readlink(out + "/latest.pt") == "ckpt_80.pt" and os.readlink(out + "/best.pt") == "ckpt_70.pt"
    os.remove(out + "/ckpt_70.pt")
    os.remove(out + "/latest.pt")
    os.symlink("ckpt_60.pt", out + "/latest.pt")  # as midwatch left it
    back = subprocess.run([PROGRAM, "restore", "--home", "home", "--run", "linked", "--yes"], cwd=base, capture_output=True, check=False, timeout=60)
    assert back.returncode == 0 and os.readlink(out + "/latest.pt") == "ckpt_70.pt" and os.path.exists(out + "/ckpt_70.pt"), back


def link_of_the_only_one(base):
    """The first save is cut, and the trainer ends at a link that leads to nothing: the link is moved with that save, and it begins anew."""
    with open(os.path.join(base, "train.py"), "w") as file:
        file.write(TRAINER.replace("step == 70", "step == 10").replace("81", "31").replace('    with open(path, "wb")', """    os.symlink(os.path.basename(path), "out/part")
    os.replace("out/part", "out/latest.pt")
    with open(path, "wb")""").replace("start = 0", """start = 0
if os.path.islink("out/latest.pt") and not os.path.exists("out/latest.pt"): sys.exit("a link that leads to nothing")"""))
    declare(base)
    out = os.path.join(base, "out")
    os.makedirs(out)
    os.symlink("latest.pt", out + "/current.pt")  # a person's
    run = Run(base, [sys.executable, os.path.join(base, "train.py"), "silent", SAMPLE], "--quiet", "--first-wait", "0.2", "--restarts", "1",
              "--checkpoints", out, "--name", "only")
    assert run.end() == 0, run.err
    assert "none is left to resume from: the trainer begins anew" in run.err, run.err
    assert f"the link {base}/out/latest.pt, which led to ckpt_10.pt, is moved with it" in run.err, run.err
    assert f"the link {out}/current.pt, which led to latest.pt, is moved with it" in run.err, run.err
    assert os.readlink(out + "/latest.pt") == "ckpt_30.pt" and not os.path.lexists(out + "/current.pt")
    # The trainer saved that step and set its link anew, so that the checkpoint stays where it is; the person's link leads somewhere again.
    back = subprocess.run([PROGRAM, "restore", "--home", "home", "--run", "only", "--yes"], cwd=base, capture_output=True, check=False, timeout=60)
    assert b"put back " in back.stdout and os.readlink(out + "/current.pt") == "latest.pt" and os.readlink(out + "/latest.pt") == "ckpt_30.pt", back
    os.remove(out + "/ckpt_10.pt")
    os.remove(out + "/latest.pt")
    back = subprocess.run([PROGRAM, "restore", "--home", "home", "--run", "only", "--yes"], cwd=base, capture_output=True, check=False, timeout=60)
    assert back.returncode == 0 and os.readlink(out + "/latest.pt") == "ckpt_10.pt" and os.path.exists(out + "/ckpt_10.pt"), back


def another_writes(base):
    """Somebody else is in the middle of a save into the same folder when this run's trainer dies: that file is neither broken nor moved."""
    os.makedirs(os.path.join(base, "out"))
    with open(os.path.join(base, "train.py"), "w") as file:
        file.write(TRAINER)
    declare(base)
    run = Run(base, [sys.executable, os.path.join(base, "train.py"), "silent", SAMPLE], "--quiet", "--first-wait", "0.2", "--restarts", "1",
              "--checkpoints", os.path.join(base, "out"))
    wait_until("it saved", lambda: os.path.exists(os.path.join(base, "out/ckpt_60.pt")))
    path = os.path.join(base, "out/ckpt_72.pt")
    with open(SAMPLE, "rb") as file:
        sample = file.read()
    with open(path, "wb") as file:
        file.write(sample[:len(sample) // 2])
        file.flush()
        wait_until("it died", lambda: "attempt 1 ended" in output(run))
        time.sleep(4)
        file.write(sample[len(sample) // 2:])
    assert run.end() == 0, run.err
    assert f"what follows waits for {path}, which a process still writes" in run.err, run.err
    assert os.path.exists(path) and "ckpt_72.pt: it is cut" not in run.err, run.err
    assert "goes on from out/ckpt_72.pt" in output(run), output(run)


def ended_by_midwatch(base):
    """A trainer that begins anew is ended by the breaker: what it says of the signal is nobody else's."""
    with open(os.path.join(base, "train.py"), "w") as file:
        file.write(TRAINER.replace("saved = sorted(", "saved, unused = [], sorted("))
    declare(base)
    run = Run(base, [sys.executable, os.path.join(base, "train.py"), "silent", SAMPLE], "--quiet", "--first-wait", "0.2", "--restarts", "1",
              "--checkpoints", os.path.join(base, "out"))
    run.end()
    assert "the circuit breaker ends attempt 2, restart-from-scratch" in run.err, run.err
    assert "from outside" not in run.err and "A person stopped" not in run.err, run.err


for test in (another_writes, link_is_led_on, link_of_the_only_one, ended_by_midwatch, log_names_them, names_were_not_declared, rules_leave_them):
    with Scratch() as base:
        began = time.monotonic()
        test(base)
        print(f"{test.__name__} ok, {time.monotonic() - began:.1f} s", flush=True)
sys.exit(0)
