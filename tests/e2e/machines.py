"""Machines that are lost, each a folder, and the store that is left of them."""
import json
import os
import shutil
import signal
import subprocess

from running import PROGRAM, Run, output, processes_of, training, wait_until, weights
from watching import Scratch


def checkpoint(*words, env=None):
    done = subprocess.run([PROGRAM, "checkpoint", *words], capture_output=True, text=True, timeout=60, check=False,
                          env=dict(os.environ, **(env or {})))
    return json.loads(done.stdout) if done.returncode == 0 and "--json" in words else {"checkpoints": [], "error": done.stderr}


def shipped(store, env=None):
    """Steps that are whole there, and the one that latest names."""
    found = checkpoint("remote", store, "--check", "--json", env=env)["checkpoints"]
    return sorted(one["step"] for one in found if not one["trouble"]), [one["step"] for one in found if one["latest"]]


def undisturbed():
    with Scratch() as base:
        run = Run(base, training(base, pace=0), "--quiet")
        assert run.end() == 0, run.err
        return weights(base)


def kill_machine(run, base):
    run.process.kill()
    run.process.communicate()
    for word in ("keep", "practice_run"):
        for pid in processes_of(base, word):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def machine(base, words, command, **variables):
    """A run on a machine of its own, which is a folder."""
    os.makedirs(base)
    run = Run.__new__(Run)
    run.base = base
    run.process = subprocess.Popen([PROGRAM, *words, "--home", base + "/home", "--quiet", "--", *command], cwd=base,
                                   env=dict(os.environ, **variables), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return run


def onstart(base, store, command, **variables):
    return machine(base, ["onstart", "--from", store, "--checkpoints", base + "/checkpoints"], command, **variables)


def lost_machine(base, store, expected, **variables):
    """Everything of the first machine is gone but the store: the second one comes to the weights of an undisturbed run."""
    first = base + "/first"
    run = machine(first, ["run", "--store", store], training(first, pace=0.5), WANDB_RUN_ID="abc123", **variables)
    wait_until("two checkpoints are saved", lambda: "step:12 " in output(run))
    for pid in processes_of(first, "practice_run"):
        os.kill(pid, signal.SIGSTOP)  # an upload may take longer than the rest of the training
    wait_until("they are shipped", lambda: (shipped(store, variables)[1] or [0])[0] >= 10)
    kill_machine(run, first)
    assert not os.path.exists(first + "/checkpoints/global_step_40"), "it was over before the machine was lost"
    step = shipped(store, variables)[1][0]
    shutil.rmtree(first)
    second = base + "/second"
    script = f'echo "wandb $WANDB_RUN_ID $WANDB_RESUME"; exec {" ".join(training(second, pace=0))}'
    run = onstart(second, store, ["sh", "-c", script], **variables)
    assert run.end() == 0, run.err
    text = output(run)
    assert f"step {step} was received" in run.err and "abc123" in run.err, run.err
    assert f"Setting global step to {step}" in text and "wandb abc123 allow" in text, text[:2000]
    assert weights(second) == expected, "the weights differ from those of the undisturbed run"
    assert shipped(store, variables)[1] == [40], "the second machine shipped nothing"
    # A third one gets what to resume from, as its trainer does not find it by itself.
    third = base + "/third"
    command = [*training(third, steps=45, pace=0), "--resume", "requested", "{resume}"]
    run = onstart(third, store, command, **variables)
    assert run.end() == 0, run.err
    assert "Setting global step to 40" in output(run) and shipped(store, variables)[1] == [45], output(run)[:2000]
