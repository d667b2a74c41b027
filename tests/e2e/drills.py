"""Drills: a real fault is staged in a supervised practice run, and what midwatch must see and do is asserted.

drills.py MIDWATCH PRACTICE_RUN            the share that ctest runs, half of it at a time: --half 0, --half 1
drills.py MIDWATCH PRACTICE_RUN --all      all of them
drills.py MIDWATCH PRACTICE_RUN NAME…      those; --list names them

Each drill says the kind of incident that must open, the cause that must lead, within how many seconds after the fault,
what midwatch must have done, and that the final weights equal those of a run that nobody disturbed, where that is
defined. Where midwatch falls short today, the drill stays as it should be and has `short` with the reason: it then
must fail (when it passes, `short` is to be removed).
"""
import contextlib
import ctypes
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import skips
from running import PRACTICE, PROGRAM, midwatch, output, processes_of, wait_until, weights
from watching import Scratch

STEPS = 40
TOOLS = os.path.join(os.path.dirname(PRACTICE), "practice_tools")
ENGINE = os.path.join(os.path.dirname(PRACTICE), "practice_engine")
DRILLS = {}


class Drill:
    def __init__(self, name, function, share, short):
        self.name, self.function, self.share, self.short = name, function, share, short


def drill(name, share=False, short=None):
    """`share`: ctest runs it each time. `short`: why midwatch does not pass it yet."""
    def taken(function):
        DRILLS[name] = Drill(name, function, share, short)
        return function
    return taken


class Skipped(Exception):
    """This machine does not let the fault be staged."""


class Supervised:
    """A command under midwatch run, and the events that midwatch emitted, with their times."""

    living = []

    def __init__(self, base, command, *options, first_wait="0.2", folder="home"):
        self.base, self.events = base, []
        Supervised.living.append(self)
        self.process = subprocess.Popen(
            [PROGRAM, "run", "--home", os.path.join(base, folder), "--json", "--first-wait", first_wait, *options, "--", *command],
            cwd=base, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.listener = threading.Thread(target=self.listen, daemon=True)
        self.listener.start()

    @classmethod
    def clear(cls):
        """Ends whatever a drill that failed has left."""
        for one in cls.living:
            one.process.kill()
            for word in ("keep", "practice_run", "practice_engine", "practice_tools"):
                for pid in processes_of(one.base, word):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
        cls.living = []

    def listen(self):
        for line in self.process.stdout:
            self.events.append((time.monotonic(), json.loads(line)))

    def folder(self):
        runs = os.path.join(self.base, "home", "runs")
        return os.path.join(runs, os.listdir(runs)[0])

    def text(self):
        try:
            return output(self)
        except (FileNotFoundError, IndexError):
            return ""

    def await_text(self, text, seconds=60):
        """The moment at which `text` was seen in the output."""
        wait_until(text, lambda: text in self.text(), seconds)
        return time.monotonic()

    def incidents_of(self, kind):
        """(when, incident) for each event with an incident of this kind."""
        return [(at, e["incident"]) for at, e in list(self.events) if "incident" in e and e["incident"]["kind"] == kind]

    def expect(self, kind, cause, since, within, severity="critical"):
        """The incident opens within so many seconds after the fault, and its likeliest cause is the one named, or one of them."""
        causes = (cause,) if isinstance(cause, str) else cause
        def grave():
            return [at for at, incident in self.incidents_of(kind) if incident["severity"] == severity]
        wait_until(f"an incident {kind}", lambda: grave() or self.process.poll() is not None, within + 20)
        self.listener.join(0.3)
        seen = sorted({f"{e['incident']['kind']} {e['incident']['severity']}" for _, e in self.events if 'incident' in e})
        assert grave(), f"no {kind} {severity}; there are: {seen}"
        seconds = grave()[0] - since
        assert seconds <= within, f"{kind} was reported {seconds:.1f} s after the fault, not within {within} s"
        self.seen = (kind, max(seconds, 0))
        def leading():
            return self.incidents_of(kind)[-1][1]["causes"][0]["id"]
        wait_until(f"{' or '.join(causes)} as leading cause of {kind}",
                   lambda: leading() in causes or self.process.poll() is not None, 10)
        incident = self.incidents_of(kind)[-1][1]
        assert leading() in causes, f"the leading cause is {leading()}, not {' or '.join(causes)}"
        return incident

    def end(self, seconds=90):
        """Exit status, and the event that says it is over."""
        self.process.wait(seconds)
        self.listener.join(10)
        over = self.events[-1][1]
        assert over["event"] == "over", over
        return self.process.returncode, over

    def said(self):
        return "\n".join(e["text"] for _, e in self.events if e["event"] == "said")

    def status(self):
        code, text = midwatch(self.base, "status", "--json")
        assert code == 0, text
        return json.loads(text)

    def actions(self):
        """What was done to the run; collecting evidence does not count."""
        return [action["action"] for action in self.status()["actions"] if action["ok"] and action["action"] != "collect-evidence"]


def practice(base, *options, speak="verl", steps=STEPS, pace=0.1, save_every=5, checkpoints="checkpoints"):
    return [PRACTICE, "--speak", speak, "--out", "-", "--steps", str(steps), "--save-every", str(save_every), "--pace", str(pace),
            "--checkpoints", os.path.join(base, checkpoints), *options]


def saved(base, step, checkpoints="checkpoints"):
    return os.path.exists(os.path.join(base, checkpoints, f"global_step_{step}", "trainer.safetensors"))


def pointer(base, checkpoints="checkpoints"):
    with open(os.path.join(base, checkpoints, "latest_checkpointed_iteration.txt")) as file:
        return int(file.read())


class Undisturbed:
    """Final weights of the same training without a fault, trained once."""
    known = {}

    @classmethod
    def of(cls, *options):
        if options not in cls.known:
            with Scratch() as base:
                done = subprocess.run(practice(base, *options, pace=0), capture_output=True, check=False)
                assert done.returncode == 0, done.stderr
                cls.known[options] = weights(base)
        return cls.known[options]


class SmallDisk:
    """A tmpfs of its own, mounted at `path`."""

    def __init__(self, path, size):
        self.path, self.size = path, size
        self.libc = ctypes.CDLL(None, use_errno=True)

    def __enter__(self):
        os.makedirs(self.path, exist_ok=True)
        if self.libc.mount(b"midwatch-drill", self.path.encode(), b"tmpfs", 0, f"size={self.size}".encode()) != 0:
            raise Skipped(f"no file system can be mounted here: {os.strerror(ctypes.get_errno())}")

    def __exit__(self, *_):
        self.libc.umount2(self.path.encode(), 2)  # MNT_DETACH


def trainer_of(run):
    return processes_of(run.base, "practice_run")[0]


def engine_of(run):
    """The inference server within the practice run."""
    return processes_of(run.base, "practice_run")[1]


# ---- learning ----------------------------------------------------------------------------------------------------


@drill("nan-in-loss", share=True)
def nan_in_loss(base):
    """A NaN reaches the weights: where midwatch may act, the attempt is ended once completed steps show it, and the next
    one goes on from before it."""
    with open(os.path.join(base, "midwatch.toml"), "w") as file:
        file.write('[actions]\nbreak_learning = "act"\n')
    run = Supervised(base, practice(base, "--fault", "nan@11", pace=0.25))
    began = run.await_text("pg_loss:nan")
    run.expect("non-finite", "nan-loss", began, 5)
    code, over = run.end()
    assert code == 0 and over["attempts"] == 2, over
    assert run.actions() == ["break", "restart"]
    return run


@drill("nan-in-loss-again", share=True)
def nan_in_loss_again(base):
    """It comes again at the same step after the rollback: a person must look."""
    with open(os.path.join(base, "midwatch.toml"), "w") as file:
        file.write('[actions]\nbreak_learning = "act"\n')
    run = Supervised(base, practice(base, "--fault", "nan@11:always", pace=0.25))
    run.await_text("pg_loss:nan")
    code, over = run.end()
    assert code != 0 and over["attempts"] == 2 and "after a rollback: a person must look" in over["why"], over
    assert run.actions() == ["break", "restart", "break"]
    assert pointer(base) == 10 and not saved(base, 15)
    return run


@drill("nan-in-loss-asks", share=True)
def nan_in_loss_asks(base):
    """The same by default: midwatch asks, the run goes on, and is paused before it saves; approve ends it, and the next
    attempt goes on from before it."""
    run = Supervised(base, practice(base, "--fault", "nan@11", pace=0.25))
    run.await_text("pg_loss:nan")
    wait_until("it asks", lambda: run.status()["asks"] == "break", 10)
    wait_until("it pauses before the save", lambda: run.actions() == ["pause"], 10)
    assert not saved(base, 15)
    assert midwatch(base, "approve")[0] == 0
    code, over = run.end()
    assert code == 0 and over["attempts"] == 2, over
    assert run.actions() == ["pause", "break", "restart"]
    return run


@drill("learning-rate-too-high")
def learning_rate_too_high(base):
    """Entropy is gone within a few steps: reported, and left to a person, as nothing is broken."""
    run = Supervised(base, practice(base, "--fault", "bad-lr@40", steps=90, pace=0.05))
    began = run.await_text("step:41 ")
    run.expect("entropy-collapse", "learning-rate-too-high", began, 10, severity="warning")
    code, over = run.end()
    assert code == 0 and over["attempts"] == 1 and run.actions() == [], over
    return run


@drill("leaky-rubric")
def leaky_rubric(base):
    """The training reward rises with a pattern that the judge rewards; held-out results fall."""
    run = Supervised(base, practice(base, "--fault", "leaky-rubric:always", "--eval-every", "10", steps=100, pace=0.05))
    began = run.await_text("step:40 ")
    run.expect("reward-hacking", "reward-hacking", began, 20, severity="warning")
    code, over = run.end()
    assert code == 0 and over["attempts"] == 1, over
    return run


@drill("healthy", share=True)
def healthy(base):
    """Nothing is wrong, and nothing is reported or done."""
    run = Supervised(base, practice(base, "--mismatch", "yes", "--eval-every", "10", "--keep-last", "2", pace=0.05))
    code, over = run.end()
    assert code == 0 and over["attempts"] == 1, over
    assert not [e for _, e in run.events if "incident" in e], run.events
    assert run.actions() == []
    assert weights(base) == Undisturbed.of()
    return run


RULE = """
[rule.rate-too-high]
signal = "actor/lr"
above = 0.01
for = 6
severity = "critical"
breaker = true
text = "Check the schedule."
"""


def own_rule(base, fault):
    """What the user said is broken at step 21; the checkpoint of step 25 is saved by the time it is known."""
    with open(os.path.join(base, "midwatch.toml"), "w") as file:
        file.write(RULE)
    run = Supervised(base, practice(base, "--fault", fault, pace=0.25))
    began = run.await_text("step:26 ")
    incident = run.expect("user-rule", "rule.rate-too-high", began, 3)
    assert incident["onset"]["step"] == 21 and incident["causes"][0]["fix"] == "Check the schedule.", incident
    return run


@drill("user-rule", share=True)
def user_rule(base):
    """A rule of the user's own ends the attempt; checkpoints saved since the onset are quarantined, and the run resumes from before."""
    run = own_rule(base, "bad-lr@21")
    code, over = run.end()
    assert code == 0 and over["attempts"] == 2, over
    assert run.actions() == ["break", "quarantine", "restart"], run.actions()
    assert "moved the checkpoints of step 25" in run.said(), run.said()
    assert weights(base) == Undisturbed.of()
    return run


@drill("user-rule-again")
def user_rule_again(base):
    """What broke the rule is still there after the rollback: a person must look."""
    run = own_rule(base, "bad-lr@21:always")
    code, over = run.end()
    assert code - 128 in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL) and over["attempts"] == 2, over
    assert "again at step 21 after a rollback: a person must look" in over["why"], over
    assert run.actions() == ["break", "quarantine", "restart", "break"], run.actions()
    return run


# ---- reward function, descriptors, logs ----------------------------------------------------------------------------


@drill("reward-crash", share=True)
def reward_crash(base):
    """The reward function falls over an answer that is no JSON: once that may be chance, twice at the same step it stops."""
    run = Supervised(base, practice(base, "--fault", "reward-crash@13:always"))
    began = run.await_text("JSONDecodeError")
    run.expect("data-error", "dataset-bad-row-json", began, 5)
    code, over = run.end()
    assert code == 1 and over["attempts"] == 2 and "twice at step 12" in over["why"], over
    assert pointer(base) == 10
    return run


@drill("fd-leak")
def fd_leak(base):
    """Files are left open up to the limit: reported with the reason; the next attempt has them all again."""
    run = Supervised(base, practice(base, "--fault", "fd-leak@8"))
    began = run.await_text("[Errno 24]")
    run.expect("resource-limit", "emfile-too-many-open-files", began, 5)
    code, over = run.end()
    assert code == 0 and over["attempts"] == 2, over
    return run


@drill("clock-jump", share=True)
def clock_jump(base):
    """The clock of the log goes back an hour: nothing is reported and nothing is done."""
    run = Supervised(base, practice(base, "--fault", "clock-jump@13", speak="areal"))
    code, over = run.end()
    assert code == 0 and over["attempts"] == 1, over
    assert not [e for _, e in run.events if "incident" in e and e["incident"]["severity"] != "info"], run.events
    assert weights(base) == Undisturbed.of()
    return run


@drill("silent-log")
def silent_log(base):
    """The trainer goes on, its log does not: detected from what its processes do, and a run that works is not restarted."""
    run = Supervised(base, practice(base, "--fault", "silent@13", steps=2600))
    began = run.await_text("step:12 ")
    run.expect("logging-gap", "evidence-gap-at-onset", began, 260, severity="warning")
    code, over = run.end(400)
    assert code == 0 and over["attempts"] == 1, over
    return run


# ---- checkpoints and disks -------------------------------------------------------------------------------------------


@drill("disk-full-in-save", share=True)
def disk_full_in_save(base):
    """A core file fills the disk before a save: stopped with the reason, and the last whole checkpoint is as it was."""
    with SmallDisk(os.path.join(base, "small"), "4m"):
        run = Supervised(base, practice(base, "--fault", "save-fails@15:always", checkpoints="small/checkpoints"))
        began = run.await_text("[Errno 28]")
        run.expect("disk-full", "enospc-generic", began, 5)
        code, over = run.end()
        assert code == 1 and over["attempts"] == 1, over
        assert pointer(base, "small/checkpoints") == 10 and saved(base, 10, "small/checkpoints")
    return run


def settings(base, text):
    with open(os.path.join(base, "midwatch.toml"), "w") as file:
        file.write(f'[run]\ncheckpoints = ["{base}/small/checkpoints"]\n{text}')


@drill("disk-full-freed", share=True)
def disk_full_freed(base):
    """A core file fills the disk before a save, and [cleanup] may act: it is deleted, and the run goes on to the end."""
    settings(base, '[cleanup]\nmode = "act"\n')
    with SmallDisk(os.path.join(base, "small"), "4m"):
        os.mkdir(os.path.join(base, "small", "checkpoints"))
        run = Supervised(base, practice(base, "--fault", "save-fails@15", checkpoints="small/checkpoints"))
        began = run.await_text("[Errno 28]")
        run.expect("disk-full", "enospc-generic", began, 5)
        code, over = run.end()
        assert code == 0 and over["attempts"] == 2, over
        assert "cleanup" in run.actions() and "restart" in run.actions(), run.actions()
        assert weights(os.path.join(base, "small")) == Undisturbed.of()
    return run


@drill("disk-full-ask")
def disk_full_ask(base):
    """As before, but midwatch may only say what it would do: nothing is deleted, and the run stops with the reason."""
    settings(base, "")
    with SmallDisk(os.path.join(base, "small"), "4m"):
        os.mkdir(os.path.join(base, "small", "checkpoints"))
        run = Supervised(base, practice(base, "--fault", "save-fails@15", checkpoints="small/checkpoints"))
        code, over = run.end()
        assert code == 1 and over["attempts"] == 1 and "space must be made first" in over["why"], over
        assert [name for name in os.listdir(os.path.join(base, "small", "checkpoints")) if name.startswith("core.")]
    return run


@drill("keep-all-retention", share=True)
def keep_all_retention(base):
    """The trainer's own retention keeps everything; [retention] keeps the last two that are whole, and the disk lasts."""
    settings(base, "[retention]\nkeep_last = 2\n")
    with SmallDisk(os.path.join(base, "small"), "700k"):
        os.mkdir(os.path.join(base, "small", "checkpoints"))
        run = Supervised(base, practice(base, "--keep-last", "2", "--fault", "keep-all:always", pace=0.25, checkpoints="small/checkpoints"))
        code, over = run.end()
        assert code == 0 and over["attempts"] == 1, over
        assert run.actions() and set(run.actions()) == {"cleanup"}, run.actions()
        assert weights(os.path.join(base, "small")) == Undisturbed.of()
        assert saved(base, pointer(base, "small/checkpoints"), "small/checkpoints")
    return run


@drill("sigbus-in-save", share=True)
def sigbus_in_save(base):
    """A save through mapped memory that a small tmpfs cannot hold: SIGBUS, and the last whole checkpoint is as it was."""
    with SmallDisk(os.path.join(base, "small"), "4m"):
        run = Supervised(base, practice(base, "--fault", "sigbus@15:always", checkpoints="small/checkpoints"))
        began = run.await_text("Fatal Python error: Bus error")
        run.expect("shm-exhausted", "shm-sigbus-share-fd", began, 5)
        code, over = run.end()
        assert code != 0 and over["attempts"] <= 2, over
        assert pointer(base, "small/checkpoints") == 10 and saved(base, 10, "small/checkpoints")
    return run


LEAVES_SHARED = r"""
import mmap, os, subprocess, sys
shared, attempt = sys.argv[1], os.environ["MIDWATCH_ATTEMPT"]
with open(os.path.join(shared, "nccl-Drill" + attempt), "w+b") as file:
    file.write(b"x" * (6 << 20))
    file.flush()
    mapped = mmap.mmap(file.fileno(), 6 << 20)
command = sys.argv[2:]
if attempt == "1":  # long enough for midwatch to look at its shared memory, also beside other work
    command[command.index("--pace") + 1] = "2"
sys.exit(subprocess.run(command).returncode)
"""


@drill("shm-full", share=True)
def shm_full(base):
    """Killed, an attempt leaves most of a small /dev/shm filled: it is deleted before the next one needs as much, which then trains on."""
    with SmallDisk(os.path.join(base, "small"), "8m"):
        settings(base, f'[cleanup]\nmode = "act"\nshared_memory = "{base}/small"\n')
        with open(os.path.join(base, "small", "psm_0a1b2c3d"), "w") as file:
            file.write("somebody else's")
        run = Supervised(base, [sys.executable, "-c", LEAVES_SHARED, os.path.join(base, "small"), *practice(base, pace=0.2)], first_wait="1")
        def known():
            with contextlib.suppress(FileNotFoundError, IndexError), open(os.path.join(run.folder(), "resources.json")) as file:
                return "nccl-Drill1" in file.read()
            return False
        wait_until("the attempt's resources are known", known, 30)
        run.await_text("step:8 ")
        os.kill(trainer_of(run), signal.SIGKILL)
        code, over = run.end()
        assert code == 0 and over["attempts"] == 2, over
        # What the second attempt leaves goes, too, where that is seen before midwatch ends.
        assert run.actions()[:2] == ["cleanup", "restart"] and set(run.actions()[2:]) <= {"cleanup"}, run.actions()
        assert "psm_0a1b2c3d" in os.listdir(os.path.join(base, "small"))
        assert weights(base) == Undisturbed.of()
    return run


LEAVES_SESSION = r"""
import os, subprocess, sys
small, attempt = sys.argv[1], os.environ["MIDWATCH_ATTEMPT"]
if attempt == "1":
    session = os.path.join(small, "ray", "session_2026-02-19_09-08-11_123456_%d" % os.getpid())
    for folder in ("logs", "ray_spilled_objects"):
        os.makedirs(os.path.join(session, folder))
    with open(os.path.join(session, "ray_spilled_objects", "1"), "wb") as file:
        file.write(b"x" * (2 << 20))
    for folder in ("logs", "ray_spilled_objects", "."):
        os.utime(os.path.join(session, folder), (1, 1))
    with open(os.path.join(small, "raylet"), "w") as file:
        file.write("#!/bin/sh\nsleep 600\n")
    os.chmod(file.name, 0o755)
    subprocess.Popen([file.name, "--raylet_socket_name=" + session + "/sockets/raylet"])
sys.exit(subprocess.run(sys.argv[2:]).returncode)
"""


@drill("ray-stale-session")
def ray_stale_session(base):
    """The disk is full, and half of it is the dead attempt's Ray session: it is deleted, and the run goes on to the end."""
    settings(base, '[cleanup]\nmode = "act"\nwhat = ["ray-sessions"]\n')
    with SmallDisk(os.path.join(base, "small"), "4m"):
        os.mkdir(os.path.join(base, "small", "checkpoints"))
        command = practice(base, "--fault", "save-fails@15", pace=0.4, checkpoints="small/checkpoints")
        run = Supervised(base, [sys.executable, "-c", LEAVES_SESSION, os.path.join(base, "small"), *command])
        began = run.await_text("[Errno 28]")
        run.expect("disk-full", "enospc-generic", began, 5)
        code, over = run.end()
        assert code == 0 and over["attempts"] == 2, over
        assert run.actions().count("cleanup") == 1, run.actions()
        assert not os.listdir(os.path.join(base, "small", "ray"))
        assert weights(os.path.join(base, "small")) == Undisturbed.of()
    return run


@drill("keep-all")
def keep_all(base):
    """Retention keeps everything until a save fails: stopped with the reason, every whole checkpoint as it was."""
    with SmallDisk(os.path.join(base, "small"), "700k"):
        run = Supervised(base, practice(base, "--keep-last", "2", "--fault", "keep-all:always", checkpoints="small/checkpoints"))
        began = run.await_text("[Errno 28]")
        run.expect("disk-full", "enospc-generic", began, 5)
        code, over = run.end()
        assert code == 1 and over["attempts"] == 1, over
        assert saved(base, pointer(base, "small/checkpoints"), "small/checkpoints")
    return run


@drill("metadata-only", share=True)
def metadata_only(base):
    """A save reports success and holds no weights: reported at once; after a kill the run goes on from the one before."""
    run = Supervised(base, practice(base, "--fault", "metadata-only@15", pace=0.5))
    began = run.await_text("to step 15")
    run.expect("checkpoint-incomplete", "ckpt-metadata-only", began, 5)
    os.kill(trainer_of(run), signal.SIGKILL)
    code, over = run.end()
    assert code == 0 and over["attempts"] == 2, over
    assert weights(base) == Undisturbed.of()
    return run


# ---- processes -------------------------------------------------------------------------------------------------------


@drill("trainer-killed", share=True)
def trainer_killed(base):
    """kill -9 of the trainer: the next attempt goes on from the last checkpoint."""
    run = Supervised(base, practice(base))
    wait_until("a checkpoint", lambda: saved(base, 15))
    os.kill(trainer_of(run), signal.SIGKILL)
    wait_until("the next attempt", lambda: "attempt 2 began" in run.text())
    code, over = run.end()
    assert code == 0 and over["attempts"] == 2 and run.actions() == ["restart"], over
    assert weights(base) == Undisturbed.of()
    return run


@drill("every-framework")
def every_framework(base):
    """kill -9 of the trainer under each framework's names: every one goes on from its own checkpoint."""
    layouts = {"skyrl": "global_step_{}", "prime-rl": "step_{}", "trl": "checkpoint-{}", "openrlhf": "global_step{}", "areal": "global_step_{}"}
    for speak, layout in layouts.items():
        place = os.path.join(base, speak)
        os.mkdir(place)
        run = Supervised(place, practice(place, speak=speak))
        last = lambda step: os.path.join(place, "checkpoints", layout.format(step), "trainer.safetensors")
        wait_until(f"a checkpoint of {speak}", lambda: os.path.exists(last(15)))
        os.kill(trainer_of(run), signal.SIGKILL)
        code, over = run.end()
        assert code == 0 and over["attempts"] == 2, (speak, over)
        with open(last(STEPS), "rb") as file:
            assert hashlib.sha256(file.read()).hexdigest() == Undisturbed.of(), speak
    return run


@drill("engine-dead-zero-scores", share=True)
def engine_dead_zero_scores(base):
    """The engine dies and the trainer scores every empty answer zero: ended before a step of that is saved."""
    run = Supervised(base, practice(base, speak="areal", pace=0.25, save_every=10))
    wait_until("a checkpoint", lambda: saved(base, 10))
    os.kill(engine_of(run), signal.SIGKILL)
    run.expect("engine-dead", "areal-engine-exited", time.monotonic(), 3)
    code, over = run.end()
    assert code == 0 and over["attempts"] == 2 and run.actions() == ["break", "restart"], over
    assert weights(base) == Undisturbed.of()
    return run


@drill("engine-dead-noticed-late")
def engine_dead_noticed_late(base):
    """The same while midwatch itself is held up: what was saved since is tainted, and no attempt goes on from it."""
    run = Supervised(base, practice(base, speak="areal", pace=0.25))
    wait_until("a checkpoint", lambda: saved(base, 10))
    os.kill(run.process.pid, signal.SIGSTOP)
    os.kill(engine_of(run), signal.SIGKILL)
    wait_until("a tainted checkpoint", lambda: saved(base, 15))
    os.kill(run.process.pid, signal.SIGCONT)
    code, over = run.end()
    assert code != 0 and over["attempts"] == 1 and run.actions() == ["break"], (run.actions(), over)
    assert "the checkpoints from step 15 on were saved since its onset and are tainted" in over["why"], over
    return run


@drill("engine-dead-crash")
def engine_dead_crash(base):
    """The engine dies and takes the trainer with it."""
    run = Supervised(base, practice(base, pace=0.2))
    wait_until("a checkpoint", lambda: saved(base, 10))
    os.kill(engine_of(run), signal.SIGKILL)
    run.expect("engine-dead", "vllm-enginecore-fatal", time.monotonic(), 3)
    code, over = run.end()
    assert code == 0 and over["attempts"] == 2, over
    assert weights(base) == Undisturbed.of()
    return run


@drill("engine-dead-hang", share=True)
def engine_dead_hang(base):
    """The engine dies and the trainer waits for it for ever: detected from the processes, and restarted."""
    run = Supervised(base, practice(base, "--when-engine-dies", "hang", pace=0.2))
    wait_until("a checkpoint", lambda: saved(base, 10))
    os.kill(engine_of(run), signal.SIGKILL)
    began = time.monotonic()
    run.expect("engine-dead", "vllm-silent-death", began, 5)
    code, over = run.end()
    assert code == 0 and over["attempts"] == 2, over
    assert weights(base) == Undisturbed.of()
    return run


@drill("engine-frozen")
def engine_frozen(base):
    """SIGSTOP of the engine: the trainer waits, nothing is dead, and nothing is ended: whoever stopped it continues it."""
    run = Supervised(base, practice(base, pace=0.2))
    wait_until("a checkpoint", lambda: saved(base, 10))
    engine = engine_of(run)
    os.kill(engine, signal.SIGSTOP)
    run.expect("stall", "process-stopped", time.monotonic(), 10)
    time.sleep(3)
    os.kill(engine, signal.SIGCONT)
    code, over = run.end()
    assert code == 0 and over["attempts"] == 1, over
    assert weights(base) == Undisturbed.of()
    return run


# ---- the inference server as a process of its own ------------------------------------------------------------------


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


SCORES_ZERO = ("--when-engine-dies", "zero")


def served(base, port, *options, engine=(), speak="verl", late=0, **settings):
    """A script like people's own: the server in the background, then the trainer; it fails when the server does not start."""
    trainer = practice(base, "--engine", f"http://127.0.0.1:{port}", *options, speak=speak, **settings)
    with open(os.path.join(base, "train.sh"), "w") as file:
        file.write(f"(sleep {late}; exec {ENGINE} --port {port} {' '.join(engine)}) &\nserver=$!\n"
                   f"sleep 0.3\nkill -0 $server || exit 1\n"
                   f"{' '.join(trainer)}\nstatus=$?\nkill $server\nexit $status\n")
    return ["bash", os.path.join(base, "train.sh")]


class Elsewhere:
    """An inference server that is no process of the run: another machine's, for all that midwatch knows."""

    def __init__(self, base, *options):
        self.base, self.port, self.options = base, free_port(), options
        self.begin()

    def begin(self):
        self.process = subprocess.Popen([ENGINE, "--port", str(self.port), *self.options], cwd=self.base, stdout=subprocess.DEVNULL)

    def worker(self):
        return processes_of(self.base, "practice_engine")[1]

    def end(self):
        for pid in processes_of(self.base, "practice_engine"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def trainer(self, *options, **settings):
        return practice(self.base, "--engine", f"http://127.0.0.1:{self.port}", *options, **settings)


def health(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2) as reply:
        return reply.status


@drill("server-late")
def server_late(base):
    """The server comes up seconds after the trainer, which waits: nothing is reported or done."""
    run = Supervised(base, served(base, free_port(), speak="areal", late=3))
    code, over = run.end()
    assert code == 0 and over["attempts"] == 1 and "Waiting for server" in run.text(), over
    assert not [e for _, e in run.events if "incident" in e and e["incident"]["severity"] != "info"], run.events
    assert weights(base) == Undisturbed.of()
    return run


def poisoned_steps(run):
    """Steps that the first attempt trained on empty answers."""
    return run.text().split("attempt 2 began")[0].count("taking an empty response")


# s, before an attempt: that a server works on which nothing but the time-outs of its clients complain midwatch cannot
# know, and does not wait for it.
BACK_BY_THEN = "1.5"


def back_late(run, server, words):
    """The server comes back long after the next attempt was due, which waits for it."""
    wait_until("the wait", lambda: f"the next attempt waits for {words}" in run.said(), 10)
    time.sleep(2)
    assert len(attempts_of(run)) == 1, "it did not wait"
    server.begin()
    wait_until("the end of the wait", lambda: "answers again after" in run.said(), 10)


def attempts_of(run):
    return os.listdir(os.path.join(run.folder(), "attempts"))


def recovered(run, base, most_poisoned):
    code, over = run.end()
    assert code == 0 and over["attempts"] == 2, over
    actions = run.actions()
    assert actions[0] == "break" and actions[-1] == "restart", actions
    assert poisoned_steps(run) <= most_poisoned, f"{poisoned_steps(run)} steps were trained on empty answers"
    assert weights(base) == Undisturbed.of()


@drill("server-killed")
def server_killed(base):
    """kill -9 of a server elsewhere; the trainer scores every empty answer zero, and midwatch rolls back to before that."""
    server = Elsewhere(base)
    run = Supervised(base, server.trainer(*SCORES_ZERO, pace=0.25))
    run.await_text("step:11 ")  # so that the fifth step without reward is none that is saved
    server.end()
    run.expect("zero-reward", "sglang-server-down-zero-reward", time.monotonic(), 4)
    back_late(run, server, f"the server at 127.0.0.1:{server.port}")
    recovered(run, base, 6)
    return run


@drill("server-killed-at-once", share=True)
def server_killed_at_once(base):
    """As before, and no more than two steps are trained on empty answers."""
    run = Supervised(base, served(base, free_port(), *SCORES_ZERO, pace=0.5))
    wait_until("a checkpoint", lambda: saved(base, 10))
    os.kill(processes_of(base, "practice_engine")[0], signal.SIGKILL)
    # A kill amid an answer leaves the trainer a connection that broke off; it has no second one before the run is ended.
    run.expect("engine-dead", ("connection-refused", "vllm-silent-death"), time.monotonic(), 3)
    recovered(run, base, 2)
    return run


@drill("poison-saved-without-step")
def poison_saved_without_step(base):
    """AReaL saves while it scores empty answers zero: it must not resume from that, but from before it, or stop."""
    server = Elsewhere(base)
    run = Supervised(base, server.trainer(speak="areal", pace=0.25))
    wait_until("a checkpoint", lambda: saved(base, 10))
    server.end()
    run.expect("zero-reward", "sglang-server-down-zero-reward", time.monotonic(), 4)
    code, over = run.end()
    assert code != 0 and "are tainted" in over["why"], over  # AReaL has one slot: there is nothing to roll back to
    return run


@drill("server-half-dead")
def server_half_dead(base):
    """Only the worker behind the server dies: /health answers 200, every generation fails, and midwatch detects it."""
    port = free_port()
    run = Supervised(base, served(base, port, *SCORES_ZERO, pace=0.25))
    wait_until("a checkpoint", lambda: saved(base, 10))
    os.kill(processes_of(base, "practice_engine")[1], signal.SIGKILL)
    began = time.monotonic()
    assert health(port) == 200
    run.expect("engine-dead", "vllm-http-500-burst", began, 4)
    recovered(run, base, 6)
    return run


@drill("server-half-dead-timeouts", share=True)
def server_half_dead_timeouts(base):
    """The worker of a server elsewhere dies, /health answers 200, generations are never answered; the trainer's client has a time-out."""
    with open(os.path.join(base, "midwatch.toml"), "w") as file:
        file.write("[actions]\nbreak_learning = \"act\"\n")  # nothing but empty answers shows that the engine is dead
    server = Elsewhere(base, "--when-worker-dies", "hang")
    run = Supervised(base, server.trainer(*SCORES_ZERO, "--request-timeout", "0.5", pace=0.25), first_wait=BACK_BY_THEN)
    run.await_text("step:11 ")
    os.kill(server.worker(), signal.SIGKILL)
    began = time.monotonic()
    run.await_text("TimeoutError")
    assert health(server.port) == 200
    run.expect("zero-reward", "sglang-server-down-zero-reward", began, 8)
    server.end()
    server.begin()
    recovered(run, base, 6)
    return run


@drill("declared-half-dead", share=True)
def declared_half_dead(base):
    """As before, and the client waits for ever: only the probe that generates a token, as configured, shows it."""
    server = Elsewhere(base, "--when-worker-dies", "hang")
    with open(os.path.join(base, "midwatch.toml"), "w") as file:
        file.write(f'[component.engine]\naddress = "http://127.0.0.1:{server.port}"\nprobe = "generate"\nevery = "500ms"\ntimeout = "1s"\n')
    run = Supervised(base, server.trainer(pace=0.25), "--config", os.path.join(base, "midwatch.toml"))
    wait_until("a checkpoint", lambda: saved(base, 10))
    [component] = run.status()["components"]
    assert (component["name"], component["health"]) == ("engine", "well"), component
    os.kill(server.worker(), signal.SIGKILL)
    began = time.monotonic()
    assert health(server.port) == 200
    run.expect("engine-dead", "vllm-engine-dead", began, 8)
    wait_until("the breaker", lambda: run.actions() == ["break"])  # or the trainer ends by itself, of a connection refused
    server.end()
    back_late(run, server, "engine")
    code, over = run.end()
    assert code == 0 and over["attempts"] == 2 and run.actions() == ["break", "restart"], over
    assert weights(base) == Undisturbed.of()
    return run


@drill("declared-killed")
def declared_killed(base):
    """A declared server elsewhere is killed: reported at once, and only a few steps are trained on empty answers."""
    server = Elsewhere(base)
    with open(os.path.join(base, "midwatch.toml"), "w") as file:
        file.write(f'[component.engine]\naddress = "http://127.0.0.1:{server.port}"\nevery = "500ms"\ntimeout = "1s"\n')
    run = Supervised(base, server.trainer(*SCORES_ZERO, pace=0.5), "--config", os.path.join(base, "midwatch.toml"))
    wait_until("a checkpoint", lambda: saved(base, 10))
    server.end()
    run.expect("engine-dead", ("connection-refused", "vllm-silent-death"), time.monotonic(), 5)  # as server-killed-at-once
    back_late(run, server, "engine")
    recovered(run, base, 4)
    return run


@drill("stale-weights", share=True)
def stale_weights(base):
    """The server goes on with old weights and says that each update succeeded: it answers the same question the same over many steps."""
    server = Elsewhere(base, "--deaf-after", "20")
    with open(os.path.join(base, "midwatch.toml"), "w") as file:
        file.write(f'[component.engine]\naddress = "http://127.0.0.1:{server.port}"\nprobe = "generate"\nevery = "100ms"\n')
    run = Supervised(base, server.trainer("--mismatch", "yes", steps=60, pace=0.2), "--config", os.path.join(base, "midwatch.toml"))
    began = run.await_text("step:20 ")
    incident = run.expect("policy-mismatch", "weights-stale-after-reload", began, 5, severity="warning")
    assert 15 <= incident["onset"]["step"] <= 24, incident["onset"]
    code, over = run.end()
    assert code == 0 and over["attempts"] == 1, over
    return run


@drill("server-half-dead-hangs")
def server_half_dead_hangs(base):
    """As before, but the client waits for ever: only a probe or the server's own counters can show it."""
    port = free_port()
    run = Supervised(base, served(base, port, engine=("--when-worker-dies", "hang"), pace=0.25))
    wait_until("a checkpoint", lambda: saved(base, 10))
    os.kill(processes_of(base, "practice_engine")[1], signal.SIGKILL)
    began = time.monotonic()
    assert health(port) == 200
    run.expect("engine-dead", "vllm-silent-death", began, 15)
    code, over = run.end()
    assert code == 0 and over["attempts"] == 2, over
    assert weights(base) == Undisturbed.of()
    return run


def supervised_engine(base, *options, **settings):
    """midwatch.toml has midwatch start the engine itself; the trainer asks it again and again until it answers."""
    port = free_port()
    words = ", ".join(f'"{word}"' for word in (ENGINE, "--port", str(port), *settings.pop("engine", ())))
    with open(os.path.join(base, "midwatch.toml"), "w") as file:
        file.write(f'[component.engine]\ncommand = [{words}]\naddress = "http://127.0.0.1:{port}"\nprobe = "generate"\n'
                   f'every = "300ms"\ntimeout = "1s"\n')
    trainer = practice(base, "--engine", f"http://127.0.0.1:{port}", "--when-engine-dies", "retry", *options, **settings)
    return trainer, ("--config", os.path.join(base, "midwatch.toml"))


def both_restarted(run, base):
    code, over = run.end()
    assert code == 0 and over["attempts"] == 2, over
    # Where the checkpoint of the step that was going on came after the kill, it is quarantined, too.
    actions = [action for action in run.actions() if action != "quarantine"]
    assert sorted(actions) == ["break", "restart", "restart-with-run"], run.actions()
    assert weights(base) == Undisturbed.of()
    wait_until("the engine's end", lambda: not processes_of(base, "practice_engine"), 5)


@drill("component-killed", share=True)
def component_killed(base):
    """The engine that midwatch supervises is killed: it is restarted, and with it the trainer, as it must send its weights again."""
    trainer, config = supervised_engine(base, pace=0.25)
    run = Supervised(base, trainer, *config)
    wait_until("a checkpoint", lambda: saved(base, 10))
    os.kill(processes_of(base, "practice_engine")[0], signal.SIGKILL)
    run.expect("engine-dead", "vllm-silent-death", time.monotonic(), 3)
    both_restarted(run, base)
    return run


@drill("component-half-dead")
def component_half_dead(base):
    """The worker of the engine that midwatch supervises dies, and nothing is answered: likewise."""
    trainer, config = supervised_engine(base, "--request-timeout", "1", pace=0.25, engine=("--when-worker-dies", "hang"))
    run = Supervised(base, trainer, *config)
    wait_until("a checkpoint", lambda: saved(base, 10))
    os.kill(processes_of(base, "practice_engine")[1], signal.SIGKILL)
    run.expect("engine-dead", "vllm-engine-dead", time.monotonic(), 8)
    both_restarted(run, base)
    return run


@drill("component-killed-unwatched")
def component_killed_unwatched(base):
    """midwatch is killed -9, then the engine that it supervised: the next midwatch restarts both."""
    trainer, config = supervised_engine(base, pace=0.25)
    run = Supervised(base, trainer, *config)
    wait_until("a checkpoint", lambda: saved(base, 5))
    run.process.kill()
    run.process.wait()
    os.kill(processes_of(base, "practice_engine")[0], signal.SIGKILL)
    done = subprocess.run([PROGRAM, "run", "--home", os.path.join(base, "home"), "--reattach", "newest", "--quiet"], cwd=base,
                          capture_output=True, timeout=90, check=False)
    assert done.returncode == 0 and b"2 attempts." in done.stderr, done.stderr
    assert weights(base) == Undisturbed.of()
    wait_until("the engine's end", lambda: not processes_of(base, "practice_engine"), 5)
    return run


@drill("component-tools-killed", share=True)
def component_tools_killed(base):
    """The tool server that midwatch supervises is killed: only it is restarted, and the trainer is paused meanwhile."""
    port = free_port()
    with open(os.path.join(base, "midwatch.toml"), "w") as file:
        file.write(f'[component.tools]\nkind = "tools"\ncommand = ["{TOOLS}", "--port", "{port}"]\n'
                   f'address = "http://127.0.0.1:{port}"\nevery = "300ms"\n')
    run = Supervised(base, practice(base, "--tools", f"http://127.0.0.1:{port}", pace=0.25), "--config", os.path.join(base, "midwatch.toml"))
    wait_until("a checkpoint", lambda: saved(base, 10))
    os.kill(processes_of(base, "practice_tools")[0], signal.SIGKILL)
    code, over = run.end()
    assert code == 0 and over["attempts"] == 1, over
    assert run.actions() == ["restart-component", "pause", "resume"] or run.actions() == ["pause", "resume", "restart-component"], run.actions()
    wait_until("the server's end", lambda: not processes_of(base, "practice_tools"), 5)
    return run


@drill("component-cannot-live")
def component_cannot_live(base):
    """An engine that ends at once: the trainer is never begun, and the run stops with the reason."""
    with open(os.path.join(base, "midwatch.toml"), "w") as file:
        file.write('[component.engine]\ncommand = ["false"]\nrestarts = 2\n')
    run = Supervised(base, practice(base), "--config", os.path.join(base, "midwatch.toml"))
    code, over = run.end()
    assert over["attempts"] == 0 and "without component engine" in run.said(), (over, run.said())
    return run


@drill("stopped-before-it-began")
def stopped_before_it_began(base):
    """A person stops the run while a component of it comes up: it is over, and nobody is asked to reattach."""
    port = free_port()
    with open(os.path.join(base, "midwatch.toml"), "w") as file:
        file.write(f'[component.judge]\nkind = "rewards"\ncommand = ["sleep", "300"]\naddress = "http://127.0.0.1:{port}"\n')
    run = Supervised(base, practice(base), "--config", os.path.join(base, "midwatch.toml"))
    wait_until("the component", lambda: "component judge began" in run.said())
    run.process.send_signal(signal.SIGINT)
    code, over = run.end()
    assert code != 0 and over["attempts"] == 0, over
    status = subprocess.run([PROGRAM, "status", "--home", os.path.join(base, "home"), "--check"], capture_output=True,
                            text=True, check=False)
    assert "NOT WATCHED" not in status.stdout and "the run is over" in status.stdout, status
    return run


@drill("port-taken", share=True)
def port_taken(base):
    """The server's port is in use by another process, which then frees it: reported, and the next attempt trains."""
    port = free_port()
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        other.listen()
        run = Supervised(base, served(base, port), first_wait="1")
        began = run.await_text("[Errno 98]")
    run.expect("resource-limit", "port-in-use", began, 5)
    code, over = run.end()
    assert code == 0 and over["attempts"] == 2 and run.actions() == ["restart"], over
    assert weights(base) == Undisturbed.of()
    return run


# ---- tools -----------------------------------------------------------------------------------------------------------


def with_tools(base, port, *options, **settings):
    """The tool server in the background, then the trainer."""
    trainer = practice(base, "--tools", f"http://127.0.0.1:{port}", speak="verl", **settings)
    with open(os.path.join(base, "train.sh"), "w") as file:
        file.write(f"{TOOLS} --port {port} {' '.join(options)} &\nserver=$!\nsleep 0.3\n"
                   f"{' '.join(trainer)}\nstatus=$?\nkill $server\nexit $status\n")
    return ["bash", os.path.join(base, "train.sh")]


@drill("tools-well")
def tools_well(base):
    """A tool that answers at once: nothing is reported or done, and the weights are those without it."""
    run = Supervised(base, with_tools(base, free_port()))
    code, over = run.end()
    assert code == 0 and over["attempts"] == 1, over
    assert not [e for _, e in run.events if "incident" in e], run.events
    assert weights(base) == Undisturbed.of()
    return run


@drill("tools-failing")
def tools_failing(base):
    """From some call on most calls fail: reported as the environment's fault; the run is left to a person."""
    run = Supervised(base, with_tools(base, free_port(), "--fail-rate", "0.9", "--from", "480", pace=0.2))
    began = run.await_text("Tool execution failed")
    run.expect("environment-fault", "env-server-crash-empty-outputs", began, 5, severity="warning")
    code, over = run.end()
    assert over["attempts"] == 1, over
    return run


@drill("tools-slow")
def tools_slow(base):
    """From some call on each takes 60 ms: steps take two seconds more, which is reported, and nothing is restarted."""
    run = Supervised(base, with_tools(base, free_port(), "--latency", "0.06", "--from", "480", pace=0.1, steps=30, save_every=5))
    run.await_text("step:15 ")
    began = time.monotonic()
    incident = run.expect("throughput-drop", "slow-step-degradation", began, 40, severity="warning")
    assert "most of it in time.reward" in incident["summary"], incident["summary"]
    code, over = run.end()
    assert code == 0 and over["attempts"] == 1 and run.actions() == [], over
    return run


@drill("five-seconds", share=True)
def five_seconds(base):
    """The provider sends SIGTERM to midwatch and takes the machine 5 s later: by then the command has ended."""
    run = Supervised(base, practice(base, steps=4000), "--grace", "4")
    wait_until("a checkpoint", lambda: saved(base, 10))
    began = time.monotonic()
    run.process.send_signal(signal.SIGTERM)
    code, over = run.end(20)
    run.seen = ("stopped", time.monotonic() - began)
    assert run.seen[1] < 10 and "stop was requested" in over["why"], (run.seen, over)
    assert code == 128 + signal.SIGTERM and not processes_of(base, "practice_run")
    assert saved(base, pointer(base))
    return run


@drill("sigterm-from-elsewhere")
def sigterm_from_elsewhere(base):
    """Somebody ends the trainer with SIGTERM: that was meant, and it is not started again."""
    run = Supervised(base, practice(base, steps=4000))
    wait_until("a checkpoint", lambda: saved(base, 5))
    os.kill(trainer_of(run), signal.SIGTERM)
    code, over = run.end(20)
    assert code == 128 + signal.SIGTERM and over["attempts"] == 1, over
    return run


@drill("midwatch-killed")
def midwatch_killed(base):
    """midwatch is killed -9 while the trainer runs, and the trainer while nobody watches: the next one restarts it."""
    run = Supervised(base, practice(base, pace=0.15))
    wait_until("a checkpoint", lambda: saved(base, 5))
    run.process.kill()
    run.process.wait()
    os.kill(trainer_of(run), signal.SIGKILL)
    began = time.monotonic()
    done = subprocess.run([PROGRAM, "run", "--home", os.path.join(base, "home"), "--reattach", "newest", "--quiet"], cwd=base,
                          capture_output=True, timeout=90, check=False)
    assert done.returncode == 0 and b"2 attempts." in done.stderr, done.stderr
    run.seen = ("reattached", time.monotonic() - began)
    assert weights(base) == Undisturbed.of()
    return run


def run_one(one):
    began = time.monotonic()
    base = os.path.realpath(tempfile.mkdtemp(prefix="midwatch-drill-"))
    try:
        run = one.function(base)
        seen = getattr(run, "seen", None)
    except Skipped as why:
        skips.skip(one.name, why)
        return True
    except AssertionError as failure:
        print(f"{one.name} {'known short' if one.short else 'FAILED'}: {failure}", flush=True)
        if not one.short:
            open(os.path.join(base, "left"), "w").close()
            print(f"left for inspection: {base}", file=sys.stderr)
        return bool(one.short)
    finally:
        Supervised.clear()
        if not os.path.exists(os.path.join(base, "left")):
            shutil.rmtree(base, ignore_errors=True)
    note = f", {seen[0]} after {seen[1]:.1f} s" if seen else ""
    print(f"{one.name} ok{note}, {time.monotonic() - began:.1f} s in all", flush=True)
    if one.short:
        print(f"{one.name} has `short` and passes: remove it ({one.short})", flush=True)
    return not one.short


def main():
    names = sys.argv[3:]
    if names == ["--list"]:
        for one in DRILLS.values():
            first = one.function.__doc__.strip().splitlines()[0]
            print(f"{one.name:26} {'each time' if one.share else 'drill-all'}  {first}{' [short: ' + one.short + ']' if one.short else ''}")
        return 0
    half = int(names[1]) if names[:1] == ["--half"] else None
    names = [] if half is not None else names
    chosen = [one for one in DRILLS.values() if (names == ["--all"]) or (one.name in names) or (not names and one.share)]
    if half is not None:
        chosen = chosen[half::2]
    unknown = [name for name in names if name not in DRILLS and name != "--all"]
    if unknown:
        sys.exit(f"drills: unknown: {', '.join(unknown)}")
    failed = [one.name for one in chosen if not run_one(one)]
    print(f"drills: {len(chosen) - len(failed)} of {len(chosen)} as stated" + (f"; not: {', '.join(failed)}" if failed else ""))
    return 1 if failed else skips.status()


if __name__ == "__main__":
    sys.exit(main())
