"""midwatch run with the practice run: ends, kills of the trainer and of midwatch itself, stops, and what is not retried."""
import glob
import json
import os
import random
import signal
import sys
import subprocess
import time

import skips
from running import PRACTICE, Run, output, processes_of, reattach, training, wait_until, weights
from watching import Scratch


def uninterrupted():
    with Scratch() as base:
        run = Run(base, training(base, pace=0), "--quiet")
        assert run.end() == 0, run.err
        assert run.out == "" and "1 attempt." in run.err and "exit status 0" in run.err, run.err
        assert "FINISHED" in run.err, run.err
        return weights(base)


def shows_output(base, _):
    run = Run(base, ["sh", "-c", "echo one; echo two >&2; exit 3"], "--restarts", "0")
    assert run.end() == 3
    lines = run.out.splitlines()
    assert "one" in lines and "two" in lines, run.out
    assert [line for line in lines if line.startswith("=== midwatch: attempt 1")][-1].endswith("exit status 3 ==="), run.out


def killed_trainer(base, expected):
    """Killed twice at random moments, it comes to the weights of the run that nobody disturbed."""
    run = Run(base, training(base, pace=0.15), "--quiet", "--first-wait", "0.2")
    dice = random.Random(3)
    for kill in (1, 2):
        wait_until("a step of the attempt", lambda: output(run).count(f"attempt {kill} began") == 1
                   and "step:" in output(run).split(f"attempt {kill} began")[1] if glob.glob(base + "/home/runs/*") else False)
        time.sleep(dice.uniform(0.3, 1.5))
        if kill == 2:  # a second end at the same step would be the last
            wait_until("a save", lambda: glob.glob(base + "/checkpoints/global_step_*"))
        os.kill(processes_of(base, "practice_run")[0], signal.SIGKILL)
        wait_until("the next attempt", lambda: f"attempt {kill + 1} began" in output(run))
    assert run.end() == 0, run.err
    assert "3 attempts." in run.err, run.err
    assert output(run).count("Setting global step to") >= 1, "it never resumed"
    assert weights(base) == expected, "the weights differ from those of the undisturbed run"


def dead_engine(base, expected):
    """The engine dies behind the trainer, which dies of it (verl does): a new attempt brings both back."""
    run = Run(base, training(base, pace=0.15), "--quiet", "--first-wait", "0.2")
    wait_until("checkpoints", lambda: os.path.exists(os.path.join(base, "checkpoints", "global_step_10")))
    trainer, *rest = processes_of(base, "practice_run")
    os.kill(rest[0], signal.SIGKILL)
    assert run.end() == 0, run.err
    assert "2 attempts." in run.err and "engine-dead" in run.err, run.err
    assert weights(base) == expected


def killed_midwatch(base, expected):
    """midwatch is killed -9 while it watches: training goes on, and the next one takes over without losing a line."""
    run = Run(base, training(base, pace=0.15), "--quiet", "--first-wait", "0.2")
    wait_until("a checkpoint", lambda: os.path.exists(os.path.join(base, "checkpoints", "global_step_5")))
    for _ in range(3):
        run.process.kill()
        run.process.communicate()
        before = output(run).count(" step:")
        wait_until("a step without a watch", lambda: output(run).count("step:") > before)
        run = reattach(base, "--quiet")
        time.sleep(0.7)
    assert run.end() == 0, run.err
    text = output(run)
    assert "attempt 2" not in text and "1 attempt." in run.err, run.err
    for step in range(1, 41):
        assert text.count(f" step:{step} - actor/entropy") == 1, f"step {step}"
    assert weights(base) == expected


def killed_everything(base, expected):
    """midwatch and its keeper die together, then the trainer: the next midwatch sees to it all."""
    run = Run(base, training(base, pace=0.15), "--quiet", "--first-wait", "0.2")
    wait_until("a checkpoint", lambda: os.path.exists(os.path.join(base, "checkpoints", "global_step_5")))
    run.process.kill()
    run.process.communicate()
    for pid in processes_of(base, "keep"):
        os.kill(pid, signal.SIGKILL)
    time.sleep(0.3)
    os.kill(processes_of(base, "practice_run")[0], signal.SIGKILL)
    run = reattach(base, "--quiet")
    assert run.end() == 0, run.err
    # No midwatch was notified how it ended; whether it is known all the same depends on who reaps it here.
    recorded = "how is not known" in output(run) or "ended by signal 9" in output(run)
    assert recorded and "2 attempts." in run.err, run.err
    assert weights(base) == expected


def breaker(base, expected):
    """A trainer that goes on with a dead engine (AReaL scores zero) is ended before it saves what it learnt from that."""
    run = Run(base, training(base, pace=0.4, speak="areal"), "--json", "--first-wait", "0.2")
    wait_until("checkpoints", lambda: os.path.exists(os.path.join(base, "checkpoints", "global_step_10")))
    os.kill(processes_of(base, "practice_run")[1], signal.SIGKILL)
    assert run.end() == 0, run.err
    events = [json.loads(line) for line in run.out.splitlines()]
    over = events[-1]
    assert over["event"] == "over" and over["attempts"] == 2 and over["code"] == 0, over
    assert any(e["event"] == "opened" and e["incident"]["kind"] == "engine-dead" for e in events), events
    text = output(run)
    first, second = text.split("attempt 2 began")
    assert "by midwatch's circuit breaker" in first, first[-300:]
    assert first.count("HTTP request to") <= 3 * 3, "it trained on for more than two poisoned steps"
    assert "Recovering from StepInfo" in second
    assert weights(base) == expected


def rolled_back(base, expected):
    """midwatch is stopped while the engine dies: checkpoints saved meanwhile are quarantined, and the run comes to good weights."""
    run = Run(base, [*training(base, pace=0.6), "--when-engine-dies", "zero"], "--quiet", "--first-wait", "0.2")  # time, on a busy machine
    saved = lambda step: os.path.exists(os.path.join(base, "checkpoints", f"global_step_{step}", "trainer.safetensors"))
    wait_until("a checkpoint", lambda: saved(10))
    run.process.send_signal(signal.SIGSTOP)
    os.kill(processes_of(base, "practice_run")[1], signal.SIGKILL)
    wait_until("checkpoints of poisoned steps", lambda: saved(20))
    run.process.send_signal(signal.SIGCONT)
    assert run.end() == 0, run.err
    assert "the circuit breaker ends attempt 1" in run.err and "moved the checkpoints of step" in run.err, run.err
    label, = os.listdir(os.path.join(base, "checkpoints", ".midwatch-quarantine"))
    moved = os.listdir(os.path.join(base, "checkpoints", ".midwatch-quarantine", label))
    assert label.startswith("attempt-1-of-") and "global_step_20" in moved and "global_step_10" not in moved, moved
    assert "2 attempts." in run.err and weights(base) == expected, run.err


def from_scratch(base, _):
    """A command that does not resume is stopped before it writes over its checkpoints, unless that is allowed."""
    script = os.path.join(base, "train.sh")
    with open(script, "w") as file:
        file.write(f"exec {PRACTICE} --speak verl --out - --steps 40 --save-every 5 --pace 0.1 "
                   f"--checkpoints {base}/ck$MIDWATCH_ATTEMPT\n")
    for allowed in (False, True):
        run = Run(base, ["sh", script], "--quiet", "--first-wait", "0.2", "--name", f"run{allowed:d}",
                  *(["--from-scratch"] if allowed else []))
        wait_until("a checkpoint", lambda: os.path.exists(os.path.join(base, "ck1", "global_step_10")))
        os.kill(processes_of(base, "practice_run")[0], signal.SIGKILL)
        code = run.end()
        assert (code == 0) == allowed and ("must request a resume" in run.err) != allowed, (code, run.err)
        subprocess.run(["rm", "-rf", base + "/ck1", base + "/ck2"], check=True)


def full_disk(base, expected):
    """The disk of the record is full to the last byte when the trainer dies: it is started again all the same."""
    home = os.path.join(base, "home")
    os.mkdir(home)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m", "none", home], check=False).returncode != 0:
        skips.skip("full_disk", "a tmpfs cannot be mounted here")
        return
    try:
        run = Run(base, training(base, pace=0.6), "--quiet", "--first-wait", "0.2", "--no-host")
        wait_until("a checkpoint", lambda: os.path.exists(os.path.join(base, "checkpoints", "global_step_5")))
        assert os.path.getsize(os.path.join(run.folder(), "reserve")) == 8 << 20
        with open(os.path.join(home, "filler"), "wb", buffering=0) as file:
            try:
                while file.write(bytes(4096)):
                    pass
            except OSError:
                pass
        wait_until("the reserve is deleted", lambda: not os.path.exists(os.path.join(run.folder(), "reserve")))
        os.kill(processes_of(base, "practice_run")[0], signal.SIGKILL)
        assert run.end() == 0, run.err
        assert "released the space" in run.err, run.err[:1500]
        assert "2 attempts." in run.err, run.err
        assert weights(base) == expected
    finally:
        subprocess.run(["umount", "-l", home], check=True)


def stopped(base, _):
    """One SIGINT asks, and the run is over; nothing is left running."""
    run = Run(base, training(base, steps=4000), "--quiet")
    wait_until("a checkpoint", lambda: os.path.exists(os.path.join(base, "checkpoints", "global_step_5")))
    run.process.send_signal(signal.SIGINT)
    assert run.end(30) == 128 + signal.SIGINT, (run.process.returncode, run.err)
    assert "a stop was requested" in run.err, run.err
    assert not processes_of(base, "practice_run"), "something is left"


def stubborn(base, _):
    """A command that ignores being asked is killed by the second Ctrl-C."""
    run = Run(base, ["sh", "-c", "trap '' INT TERM; while :; do sleep 0.2; done"], "--quiet")
    wait_until("the command", lambda: glob.glob(base + "/home/runs/*") and "began" in output(run))
    run.process.send_signal(signal.SIGINT)
    time.sleep(1)
    assert run.process.poll() is None
    run.process.send_signal(signal.SIGINT)
    assert run.end(30) == 128 + signal.SIGKILL, (run.process.returncode, run.err)


def not_retried(base, _):
    run = Run(base, ["no-such-trainer"], "--quiet")
    assert run.end(30) == 127 and "could not be started" in run.err, run.err
    other = os.path.join(base, "other")
    os.makedirs(other)
    text = ("Traceback (most recent call last):\\n  File \"train.py\", line 3, in <module>\\n    import vllm\\n"
            "ModuleNotFoundError: No module named vllm\\n")
    run = Run(other, ["sh", "-c", f"printf '{text}' >&2; exit 1"], "--quiet", "--first-wait", "0.1")
    assert run.end(30) == 1, run.err
    assert "1 attempt." in run.err and "a restart would repeat it" in run.err, run.err


def budget(base, _):
    run = Run(base, ["sh", "-c", "echo $MIDWATCH_ATTEMPT; kill -9 $$"], "--restarts", "2", "--first-wait", "0.1")
    assert run.end(60) == 128 + signal.SIGKILL
    assert "3 attempts." in run.err and "the limit is 2" in run.err, run.err
    assert [line for line in run.out.splitlines() if line.isdigit()] == ["1", "2", "3"], run.out


reference = uninterrupted()
print("uninterrupted ok")
for test in (shows_output, killed_trainer, dead_engine, killed_midwatch, killed_everything, breaker, rolled_back, from_scratch, full_disk, stopped, stubborn,
             not_retried, budget):
    with Scratch() as base:
        began = time.monotonic()
        test(base, reference)
        print(f"{test.__name__} ok, {time.monotonic() - began:.1f} s", flush=True)
sys.exit(skips.status())
