"""Runs under midwatch, for the tests of what it does with them."""
import glob
import hashlib
import os
import subprocess
import sys
import time

from watching import MIDWATCH, rest_after

PROGRAM = os.path.abspath(MIDWATCH)
PRACTICE = os.path.abspath(sys.argv[2])


class Run:
    def __init__(self, base, command, *options):
        self.base = base
        self.process = subprocess.Popen([PROGRAM, "run", "--home", os.path.join(base, "home"), *options, "--", *command],
                                        cwd=base, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def end(self, seconds=120):
        out, err = self.process.communicate(timeout=seconds)
        self.out, self.err = out.decode(), err.decode()
        return self.process.returncode

    def folder(self):
        return glob.glob(os.path.join(self.base, "home", "runs", "*"))[0]


def reattach(base, *options):
    run = Run.__new__(Run)
    run.base = base
    run.process = subprocess.Popen([PROGRAM, "run", "--home", os.path.join(base, "home"), "--reattach", "newest", *options],
                                   cwd=base, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return run


def training(base, steps=40, pace=0.1, speak="verl"):
    return [PRACTICE, "--speak", speak, "--out", "-", "--steps", str(steps), "--save-every", "5", "--pace", str(pace),
            "--checkpoints", os.path.join(base, "checkpoints")]


def weights(base, step=40):
    with open(os.path.join(base, "checkpoints", f"global_step_{step}", "trainer.safetensors"), "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def processes_of(base, word):
    """Processes that were started for this test and whose program or first argument is `word`, the oldest first."""
    found = []
    for place in glob.glob("/proc/[0-9]*"):
        try:
            with open(place + "/cmdline", "rb") as file:
                words = file.read().decode(errors="replace").split("\0")
            with open(place + "/stat") as file:
                stat = file.read().rsplit(")", 1)[1].split()
            here = os.readlink(place + "/cwd")
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        # midwatch's own command line names the command too
        if (words[0].endswith(word) or words[1:2] == [word]) and here.startswith(base) and stat[0] != "Z":
            found.append((int(stat[19]), int(place[6:])))
    return [pid for _, pid in sorted(found)]


def states_of(base, word="practice_run"):
    """Of each process of the practice run, or of another program, as /proc has it: \"T\" is stopped."""
    states = []
    for pid in processes_of(base, word):
        with open(f"/proc/{pid}/stat") as file:
            states.append(file.read().rsplit(")", 1)[1].split()[0])
    return states


def output(run):
    try:
        with open(os.path.join(run.folder(), "output", "train.log"), errors="replace") as file:
            return file.read()
    except (FileNotFoundError, IndexError):
        return ""  # the run is about to begin


def wait_until(what, condition, seconds=60):
    """`seconds` are those of an idle machine; beside other tests it takes longer."""
    end = time.monotonic() + 4 * seconds
    while True:
        began = time.monotonic()
        if condition():
            return
        assert time.monotonic() < end, f"not within {4 * seconds} s: {what}"
        rest_after(began)


def midwatch(base, *words):
    """Another midwatch process that addresses the run in `base`: its exit status and its output."""
    done = subprocess.run([PROGRAM, words[0], "--home", os.path.join(base, "home"), *words[1:]], capture_output=True,
                          timeout=60, check=False)
    return done.returncode, done.stdout.decode() + done.stderr.decode()
