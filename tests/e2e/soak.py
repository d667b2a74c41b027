"""Kill anything, anywhere: midwatch, keeper, trainer or engine get SIGKILL at random moments, over and over. The run comes to
the weights of the undisturbed one, nothing is lost and nothing is done twice.

soak.py MIDWATCH PRACTICE [KILLS [SEED]]: scripts/test does a few kills, scripts/soak two hundred and more."""
import glob
import json
import os
import random
import re
import signal
import sys
import time

from running import Run, midwatch, output, processes_of, take_up, training, wait_until, weights
from watching import Scratch

KILLS = int(sys.argv[3]) if len(sys.argv) > 3 else 20
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 1
STEPS = 40 + 15 * KILLS  # more than are trained between so many kills
OPTIONS = ["--quiet", "--first-wait", "0.1", "--restarts", "1000"]


def victims(base, run):
    """Who can be killed now, by kind."""
    practice = processes_of(base, "practice_run")
    return {"midwatch": [run.process.pid] if run.process.poll() is None else [], "keeper": processes_of(base, "keep"),
            "trainer": practice[:1], "engine": practice[1:2]}


def kill_one(base, run, dice, tally):
    kind = dice.choice(["midwatch", "keeper", "trainer", "engine"])
    pids = victims(base, run)[kind]
    if not pids:
        return False
    try:
        os.kill(pids[0], signal.SIGKILL)
    except ProcessLookupError:
        return False
    tally[kind] = tally.get(kind, 0) + 1
    return True


def goes_on(base, run, number):
    """A killed midwatch is followed by another; a run that was stopped for a reason (two kills at one step look like a failure
    that repeats) is begun anew on the same checkpoints."""
    if run.process.poll() is None:
        return run, number
    code = run.process.returncode
    run.out, run.err = (part.decode() for part in run.process.communicate())
    if code == -signal.SIGKILL:
        return take_up(base, "--quiet"), number
    if code == 0:
        return None, number
    assert "twice at step" in run.err or "right after resuming" in run.err, run.err
    number += 1
    run = Run(base, training(base, steps=STEPS, pace=0.02), *OPTIONS, "--name", f"run{number}")
    wait_until("the run", lambda: os.path.exists(os.path.join(base, "home", "runs", f"run{number}", "charge.json")))
    return run, number


def check_run(base, name):
    """Of each attempt one beginning and one judgement; every deed came out; numbers once."""
    folder = os.path.join(base, "home", "runs", name)
    text = "".join(open(part, errors="replace").read() for part in sorted(glob.glob(folder + "/output/train.log*")))
    attempts = len(os.listdir(folder + "/attempts"))
    for attempt in range(1, attempts + 1):
        assert len(re.findall(rf"^=== midwatch: attempt {attempt} began", text, re.M)) == 1, (name, attempt)
        assert os.path.exists(f"{folder}/attempts/{attempt}/judgement.json"), (name, attempt)
    code, told = midwatch(base, "status", "--json", "--run", name)
    assert code == 0, told
    deeds = json.loads(told)["actions"]
    assert len({deed["id"] for deed in deeds}) == len(deeds), deeds
    assert all(deed["done"] for deed in deeds), [deed for deed in deeds if not deed["done"]]
    return attempts


with Scratch() as scratch:
    first = Run(scratch, training(scratch, steps=STEPS, pace=0), *OPTIONS)
    assert first.end(300) == 0, first.err
    expected = weights(scratch, STEPS)
with Scratch() as scratch:
    dice, tally, kills, number = random.Random(SEED), {}, 0, 1
    run = Run(scratch, training(scratch, steps=STEPS, pace=0.02), *OPTIONS, "--name", "run1")
    wait_until("the run", lambda: os.path.exists(os.path.join(scratch, "home", "runs", "run1", "charge.json")))
    deadline = time.monotonic() + 60 + 6 * KILLS
    while run is not None:
        assert time.monotonic() < deadline, f"not trained in time after {kills} kills\n" + output(run)[-3000:]
        time.sleep(dice.uniform(0.05, 0.8) if kills < KILLS else 0.2)
        if kills < KILLS and kill_one(scratch, run, dice, tally):
            kills += 1
            time.sleep(0.05)
        run, number = goes_on(scratch, run, number)
    assert weights(scratch, STEPS) == expected, "the weights differ from those of the undisturbed run"
    assert not processes_of(scratch, "practice_run") and not processes_of(scratch, "keep"), "something is left"
    attempts = sum(check_run(scratch, name) for name in os.listdir(os.path.join(scratch, "home", "runs")))
    print(f"{kills} kills ({', '.join(f'{kind} {count}' for kind, count in sorted(tally.items()))}): {attempts} attempts in "
          f"{number} runs, trained to the weights of the undisturbed run")
