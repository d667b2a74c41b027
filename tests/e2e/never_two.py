"""Never two, never somebody else's, no orphan: keepers killed as they begin, workers in sessions of their own, a numbering of
processes that begins anew, midwatch as PID 1, ends that no midwatch was notified of, state that somebody else wrote.

never_two.py MIDWATCH PRACTICE [KILLS]: kills of keepers in the first 50 ms of their lives (default 40)."""
import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import skips
from keeping import Folder, alive
from running import PROGRAM, Run, midwatch, output, processes_of, reattach, training, wait_until
from watching import Scratch, event_type, journal_of

KILLS = int(sys.argv[3]) if len(sys.argv) > 3 else 40


def script(base, name, text):
    path = os.path.join(base, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def text_of(path):
    with open(path) as file:
        return file.read()


def killed_as_it_begins(base):
    """Whenever in its first 50 ms a keeper is killed, the command begins once, and its output says so once."""
    dice = random.Random(7)
    for number in range(KILLS):
        place = os.path.join(base, str(number))
        os.makedirs(place)
        folder = Folder(place, ["sh", "-c", "echo $$ >> began; exec sleep 0.3"], attempt=1)
        deadline = time.monotonic() + 60
        for _ in range(3):
            keeper = folder.keep()
            time.sleep(dice.uniform(0, 0.05))
            keeper.kill()
            keeper.wait()
        keeper = folder.keep()
        while keeper.wait(max(1, deadline - time.monotonic())) == 1 and "done" not in folder.record():
            time.sleep(0.01)  # what was forked still holds its lock for a moment
            keeper = folder.keep()
        began = text_of(os.path.join(place, "began")).split()
        assert len(began) == 1, f"kill {number}: it began {len(began)} times"
        text = b"".join(folder.text()).decode()
        assert text.count("attempt 1 began") == 1 and text.count("attempt 1 ended") == 1, (number, text)
        assert f", process {began[0]} ===" in text, (number, began, text)


LAUNCHER = """
import os, subprocess, sys, time
worker = [sys.executable, sys.argv[1], os.environ["MIDWATCH_ATTEMPT"]]
for kind in ("plain", "renamed", "bare"):
    env = dict(os.environ)
    if kind == "bare":
        env = {"PATH": os.environ["PATH"]}
    subprocess.Popen(worker + [kind], start_new_session=True, env=env, stdout=subprocess.DEVNULL)
while True:
    time.sleep(0.1)
"""
WORKER = """
import ctypes, os, sys, time
kind = sys.argv[2]
with open("workers", "a") as file:
    file.write(f"{os.getpid()} {sys.argv[1]} {kind}\\n")
if kind == "renamed":  # as setproctitle does: over its arguments and its environment
    fields = open("/proc/self/stat").read().rsplit(")", 1)[1].split()
    first, last = int(fields[45]), int(fields[48])
    ctypes.memset(first, 0, last - first)
    ctypes.memmove(first, b"worker", 6)
while True:
    time.sleep(0.1)
"""


def workers_of(base):
    try:
        return [line.split() for line in text_of(os.path.join(base, "workers")).splitlines()]
    except FileNotFoundError:
        return []


def own_sessions(base):
    """The keeper is replaced, then the launcher dies: its workers have sessions of their own, one of them another title and one
    another environment. None of them lives beside the next attempt or after stop."""
    worker = script(base, "worker.py", WORKER)
    bystander = subprocess.Popen([sys.executable, worker, "0", "bystander"], cwd=base, start_new_session=True)
    command = [sys.executable, script(base, "launcher.py", LAUNCHER), worker]
    run = Run(base, command, "--quiet", "--first-wait", "0.1", "--no-host", "--restarts", "5")
    try:
        for attempt in (1, 2):
            wait_until("workers", lambda: len([w for w in workers_of(base) if w[1] == str(attempt)]) == 3)
            time.sleep(6)  # it has seen which processes came from the attempt
            keeper = processes_of(base, "keep")[0]
            os.kill(keeper, signal.SIGKILL)
            wait_until("another keeper", lambda: [pid for pid in processes_of(base, "keep") if pid != keeper])
            if attempt == 1:
                run.process.kill()  # the next midwatch has seen none of them
                run.process.communicate()
                run = reattach(base, "--quiet", "--no-host")
            launcher = next(pid for pid in processes_of(base, command[0])
                            if "launcher.py" in text_of(f"/proc/{pid}/cmdline"))
            if attempt == 1:
                os.kill(launcher, signal.SIGKILL)
                wait_until("the next attempt", lambda: any(w[1] == "2" for w in workers_of(base)))
                left = [w for w in workers_of(base) if w[1] == "1" and alive(int(w[0]))]
                assert not left, f"beside the next attempt: {left}"
        assert midwatch(base, "stop")[0] == 0
        run.end(60)
        left = [w for w in workers_of(base) if w[1] != "0" and alive(int(w[0]))]
        assert not left, f"after stop: {left}"
        assert bystander.poll() is None, "somebody else's process was ended"
    finally:
        bystander.kill()
        bystander.wait()
        for pid, _, _ in workers_of(base):
            if alive(int(pid)):
                os.kill(int(pid), signal.SIGKILL)


IN_CONTAINER = """
import os, subprocess, sys, time
program, home = sys.argv[1], sys.argv[2]
others = []
while not others or others[-1].pid < 120:  # every pid that the run's processes had
    others.append(subprocess.Popen(["sleep", "1000"], start_new_session=True))
    others[-1].stranger = True
    if others[-1].pid % 2:  # a session whose leader is gone, as the number of a dead command may be
        child = subprocess.Popen(["sh", "-c", "sleep 1000 & exec true"], start_new_session=True)
        child.wait()
time.sleep(0.2)
before = subprocess.run(["ps", "-e", "-o", "pid=,stat=,args="], capture_output=True, text=True).stdout
before = sorted(line.split()[0] for line in before.splitlines() if "sleep 1000" in line and " Z" not in line)
done = subprocess.run([program, "run", "--home", home, "--reattach", "newest", "--quiet", "--no-host"], capture_output=True,
                      text=True, timeout=120)
after = subprocess.run(["ps", "-e", "-o", "pid=,stat=,args="], capture_output=True, text=True).stdout
after = sorted(line.split()[0] for line in after.splitlines() if "sleep 1000" in line and " Z" not in line)
print("code", done.returncode, done.stderr)
print("GONE", sorted(set(before) - set(after)))
"""


def namespaces():
    return subprocess.run(["unshare", "-p", "-f", "--mount-proc", "true"], check=False, capture_output=True).returncode == 0


def container_again(base):
    """A container is started again: same machine, processes counted from 1 again. Nobody there is signalled."""
    if not namespaces():
        skips.skip("container_again", "no PID namespace can be made here")
        return
    home = os.path.join(base, "home")
    inside = ["unshare", "-p", "-f", "--mount-proc", "--kill-child"]
    first = subprocess.Popen([*inside, "sh", "-c", f"exec {PROGRAM} run --home {home} --quiet --no-host --first-wait 0.1 "
                              "-- sh -c 'sleep 1000 & sleep 1000 & exec sleep 1001'"], cwd=base,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until("the command", lambda: glob.glob(home + "/runs/*/attempts/1/record/*")
               and "began" in "".join(text_of(p) for p in glob.glob(home + "/runs/*/output/train.log")))
    first.kill()
    first.wait()
    inner = script(base, "again.py", IN_CONTAINER)
    launch = glob.glob(home + "/runs/*/run.json")[0]
    text = json.loads(text_of(launch))
    text["command"] = ["true"]  # the next attempt is over at once
    with open(launch, "w") as file:
        json.dump(text, file)
    done = subprocess.run([*inside, sys.executable, inner, PROGRAM, home], cwd=base, capture_output=True, text=True,
                          timeout=180, check=False)
    assert "GONE []" in done.stdout, done.stdout + done.stderr


def as_pid_1(base):
    """midwatch is PID 1 of a container. Its keeper is killed: how the command ended is known all the same, and no zombie stays."""
    if not namespaces():
        skips.skip("as_pid_1", "no PID namespace can be made here")
        return
    home = os.path.join(base, "home")
    command = "trap 'exit 3' INT; (sleep 0.1) & while :; do sleep 0.1; done"
    run = subprocess.Popen(["unshare", "-p", "-f", "--mount-proc", "--kill-child", PROGRAM, "run", "--home", home, "--quiet",
                            "--no-host", "--restarts", "0", "--", "sh", "-c", command], cwd=base, stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE)
    wait_until("the command", lambda: "began" in "".join(text_of(p) for p in glob.glob(home + "/runs/*/output/train.log")))
    keeper = processes_of(base, "keep")[0]
    os.kill(keeper, signal.SIGKILL)
    wait_until("another keeper", lambda: [pid for pid in processes_of(base, "keep") if pid != keeper])
    own = lambda: [place for place in glob.glob("/proc/[0-9]*/stat") if zombie_of(place, run.pid)]
    wait_until("no zombies", lambda: not own(), 40)
    assert midwatch(base, "stop")[0] == 0
    _, err = run.communicate(timeout=60)
    assert run.returncode == 3, (run.returncode, err)


def zombie_of(place, unshare):
    """A zombie below the midwatch that `unshare` started."""
    try:
        fields = text_of(place).rsplit(")", 1)[1].split()
        if fields[0] != "Z":
            return False
        parent = text_of(f"/proc/{fields[1]}/stat").rsplit(")", 1)[1].split()[1]
        return int(parent) == unshare
    except (FileNotFoundError, ProcessLookupError):
        return False


def finished_unseen(base):
    """The keeper is replaced, and the run then comes to its end: it is not begun again."""
    for both in (False, True):
        place = os.path.join(base, str(both))
        os.makedirs(place)
        run = Run(place, training(place, steps=20, pace=0.1), "--quiet", "--first-wait", "0.1")
        wait_until("a checkpoint", lambda: os.path.exists(os.path.join(place, "checkpoints", "global_step_5")))
        if both:  # no midwatch is there to be notified how it ended
            run.process.kill()
            run.process.communicate()
        for keeper in processes_of(place, "keep"):
            os.kill(keeper, signal.SIGKILL)
        if both:
            wait_until("the end", lambda: not processes_of(place, "practice_run"))
            run = reattach(place, "--quiet")
        code = run.end()
        assert code == 0 or both, (code, run.err)
        assert "1 attempt." in run.err and output(run).count(" began ") == 1, run.err


def no_restart_ever(base):
    """--restarts 0 is none, whatever the progress."""
    run = Run(base, training(base, steps=40, pace=0.05), "--quiet", "--first-wait", "0.1", "--restarts", "0")
    wait_until("a checkpoint", lambda: os.path.exists(os.path.join(base, "checkpoints", "global_step_10")))
    os.kill(processes_of(base, "practice_run")[0], signal.SIGKILL)
    assert run.end(60) == 128 + signal.SIGKILL, run.err
    assert "1 attempt." in run.err and "limit is 0" in run.err, run.err


def forged_lines(base):
    """A trainer that prints the keeper's own lines changes nothing of what midwatch believes."""
    lines = ["=== midwatch: attempt 1 ended 2026-01-02T10:20:30Z, exit status 0 ===",
             "=== midwatch: attempt 2 began 2026-01-02T10:20:31Z, process 4711 ===",
             "=== midwatch: attempt 2 ended 2026-01-02T10:20:32Z (0123456789abcdef), as midwatch was told to stop ==="]
    text = "; ".join(f"echo '{line}'" for line in lines)
    run = Run(base, ["sh", "-c", f"echo step 1 loss=1.5; {text}; sleep 1; exit 3"], "--quiet", "--restarts", "0", "--no-host")
    assert run.end(60) == 3, run.err
    assert "1 attempt." in run.err, run.err
    assert "FINISHED" not in run.err and "INTERRUPTED" not in run.err, run.err
    log = os.path.join(run.folder(), "output", "train.log")
    for path in (log, os.path.join(base, "copy.log")):
        if path != log:
            shutil.copy(log, path)
        text = subprocess.run([PROGRAM, "replay", "--json", path], capture_output=True, text=True, check=False).stdout
        replayed = json.loads(text)["run"]
        assert (replayed["verdict"], replayed["attempts"]) == ("crashed", 1), replayed
    # What an older midwatch wrote has no nonce, and is still read.
    old = script(base, "old.log", re.sub(r" \([0-9a-f]{16}\)", "", text_of(log).split("step 1")[0]) +
                 "step 1 loss=1.5\n=== midwatch: attempt 1 ended 2026-01-02T10:20:30Z, exit status 3 ===\n")
    replayed = json.loads(subprocess.run([PROGRAM, "replay", "--json", old], capture_output=True, text=True, check=False).stdout)["run"]
    assert (replayed["verdict"], replayed["attempts"]) == ("crashed", 1), replayed


def forged_files(base):
    """Files made by touch in the run's folder change nothing of what midwatch believes."""
    run = Run(base, training(base, steps=60, pace=0.1), "--quiet", "--first-wait", "0.1")
    wait_until("a checkpoint", lambda: os.path.exists(os.path.join(base, "checkpoints", "global_step_5")))
    run.process.kill()
    run.process.communicate()
    attempt = os.path.join(run.folder(), "attempts", "1")
    os.makedirs(os.path.join(run.folder(), "attempts", "2"))
    names = ["stop", "paused", "components/holds-trainer", "attempts/2/launch.json"]
    names += ["attempts/1/" + name for name in ("asked-to-break", "asked-to-restart", "may-break", "may-restart", "may-not-break",
                                                "trip.json", "judgement.json", "reason", "members", "went")]
    os.makedirs(os.path.join(run.folder(), "components"), exist_ok=True)
    for name in names:
        open(os.path.join(run.folder(), name), "w").close()
    for place, _, files in os.walk(run.folder()):
        for name in files:
            os.utime(os.path.join(place, name))
    shown = json.loads(midwatch(base, "status", "--json")[1])
    assert shown["phase"] == "running", shown["phase"]
    run = reattach(base, "--quiet")
    wait_until("a watch", lambda: json.loads(midwatch(base, "status", "--json")[1])["watched"])
    os.kill(processes_of(base, "practice_run")[0], signal.SIGKILL)
    assert run.end() == 0, run.err
    assert "2 attempts." in run.err, run.err
    text = output(run)
    assert "attempt 1 ended" in text and "told to stop" not in text and "circuit breaker" not in text, text
    kinds = {event_type(event) for event in journal_of(run.folder())}
    assert not kinds & {"requested", "asked", "answered", "tripped"}, kinds
    assert os.path.exists(attempt)


for test in (killed_as_it_begins, own_sessions, container_again, as_pid_1, finished_unseen, no_restart_ever, forged_lines, forged_files):
    if len(sys.argv) > 4 and test.__name__ not in sys.argv[4:]:
        continue
    with Scratch() as base:
        began_at = time.monotonic()
        test(base)
        print(f"{test.__name__} ok, {time.monotonic() - began_at:.1f} s", flush=True)
sys.exit(skips.status())
