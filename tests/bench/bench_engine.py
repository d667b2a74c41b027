"""An inference server is killed behind a trainer that goes on and scores every empty answer zero: how soon midwatch tells
it, how many such steps were trained, and how many of them are in the weights at the end. Beside it the retry loop of the
shell, which sees nothing: the trainer lives.

    bench_engine.py [RUNS]     (default 5)
"""
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from longlog import PROJECT
from table import Table

MIDWATCH = os.environ.get("MIDWATCH", os.path.join(PROJECT, "build", "midwatch"))
PRACTICE = os.path.join(PROJECT, "build", "practice", "practice_run")
STEPS, PACE = 40, 0.25


def training(base, pace=PACE):
    return [PRACTICE, "--speak", "areal", "--out", "-", "--steps", str(STEPS), "--save-every", "5", "--pace", str(pace),
            "--checkpoints", os.path.join(base, "checkpoints")]


def weights(base):
    with open(os.path.join(base, "checkpoints", f"global_step_{STEPS}", "trainer.safetensors"), "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def children_of(pid):
    """Of every thread of it."""
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children") as file:
            found += [int(word) for word in file.read().split()]
    return found


def engine_below(pid):
    """The practice run's child of its own name, however far below."""
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        of_run = os.path.basename(file.read().split(b"\0")[0]) == b"practice_run"
    for child in children_of(pid):
        if of_run:
            return child
        below = engine_below(child)
        if below is not None:
            return below
    return None


def await_checkpoint(base, step):
    while not os.path.exists(os.path.join(base, "checkpoints", f"global_step_{step}", "trainer.safetensors")):
        time.sleep(0.01)


def keeper_below(base):
    """It has left midwatch's family, and works in the run's folder."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            if words[1:2] == [b"keep"] and os.readlink(f"/proc/{name}/cwd").startswith(base):
                return int(name)
        except OSError:
            continue
    raise RuntimeError("there is no keeper")


def poisoned(text):
    """Steps that were trained on nothing but zero rewards."""
    return sum(float(reward) == 0 for reward in re.findall(r"rollout/reward +│ +(\S+)", text))


def under_midwatch(base):
    """Seconds from the kill to its incident; the run's output; midwatch's exit status."""
    process = subprocess.Popen([MIDWATCH, "run", "--config", "none", "--home", base + "/home", "--json", "--first-wait", "0.2", "--",
                                *training(base)], cwd=base, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    await_checkpoint(base, 10)
    os.kill(engine_below(keeper_below(base)), signal.SIGKILL)
    killed, seconds = time.monotonic(), None
    for line in process.stdout:
        event = json.loads(line)
        if seconds is None and event.get("incident", {}).get("kind") == "engine-dead":
            seconds = time.monotonic() - killed
    assert process.wait() == 0 and seconds is not None
    run = os.path.join(base, "home", "runs")
    with open(os.path.join(run, os.listdir(run)[0], "output", "train.log"), errors="replace") as file:
        return seconds, file.read()


def in_a_loop(base):
    """The output of a run that is started again until it ends well."""
    script = "until \"$@\"; do sleep 0.2; done"
    with open(os.path.join(base, "out.log"), "w") as out:
        process = subprocess.Popen(["bash", "-c", script, "loop", *training(base)], cwd=base, stdout=out, stderr=subprocess.STDOUT)
        await_checkpoint(base, 10)
        os.kill(engine_below(process.pid), signal.SIGKILL)
        process.wait()
    with open(os.path.join(base, "out.log"), errors="replace") as file:
        return file.read()


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    table = Table()
    with tempfile.TemporaryDirectory() as base:
        subprocess.run(training(base, 0), cwd=base, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        expected = weights(base)
    delays, trained, strange = [], 0, 0
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as base:
            seconds, text = under_midwatch(base)
            delays.append(seconds)
            trained += poisoned(text)
            strange += weights(base) != expected
    table.at_most(f"a dead engine is reported, longest of {runs}", max(delays), "s", 5)
    table.figure(f"steps trained on its empty answers, in {runs} runs", trained, "steps")
    table.at_most("runs whose weights are not those of an undisturbed one", strange, "runs", 0)
    with tempfile.TemporaryDirectory() as base:
        text = in_a_loop(base)
        table.figure("steps so trained under a retry loop of bash, in 1 run", poisoned(text), "steps")
        table.figure("and its weights differ", weights(base) != expected, "runs")
    return 1 if table.failed else 0


sys.exit(main())
