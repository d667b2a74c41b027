"""midwatch attach --pid: a run that somebody else started. Its files are found, its end is seen; it is left alone unless allowed."""
import glob
import json
import os
import signal
import sys
import subprocess
import time

import skips
from running import PRACTICE, PROGRAM, midwatch, processes_of, wait_until
from watching import Scratch, incidents, journal

TRAINER = [PRACTICE, "--speak", "verl", "--out", "-", "--save-every", "5"]


def somebody(base, steps=4000, pace=0.1, shell=None):
    """The practice run, in a session of its own, which midwatch did not start."""
    words = [*TRAINER, "--steps", str(steps), "--pace", str(pace), "--checkpoints", f"{base}/ck"]
    if shell:
        return subprocess.Popen(["sh", "-c", shell.format(" ".join(words))], cwd=base, start_new_session=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(f"{base}/train.log", "wb") as log:
        return subprocess.Popen(words, cwd=base, start_new_session=True, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def watch(base, pid, *options):
    return subprocess.Popen([PROGRAM, "attach", "--pid", str(pid), "--home", f"{base}/home", "--no-host", *options], cwd="/",
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def watch_log(base, path):
    return subprocess.Popen([PROGRAM, "attach", path, "--home", f"{base}/home"], cwd=base, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def status(base):
    return json.loads(midwatch(base, "status", "--json")[1])


def steps_of(base):
    try:
        return status(base)["step"] or 0
    except ValueError:
        return 0


def end(process, seconds=60):
    out, err = process.communicate(timeout=seconds)
    return process.returncode, out.decode(), err.decode()


def killed(base):
    """Its log is found, its steps are read, and kill -9 of it is an incident; nothing is done to it."""
    run = somebody(base)
    try:
        seen = watch(base, run.pid)
        wait_until("its steps", lambda: steps_of(base) >= 3)
        shown = status(base)
        assert shown["phase"] == "running" and shown["pid"] == run.pid and shown["allow"] == [] and not shown["held"], shown
        for verb in ("pause", "stop"):
            code, text = midwatch(base, verb)
            assert code == 2 and "not allowed" in text and f"--pid {run.pid} --allow {verb}" in text, (code, text)
        assert midwatch(base, "tell", "not mine")[0] == 0
        run.kill()
        run.wait()
        began = time.monotonic()
        code, out, err = end(seen)
        assert code == 0 and time.monotonic() - began < 40, (code, err)
        assert f"process {run.pid} has ended; how is not known" in err, err
        found = incidents(base)
        assert [i["kind"] for i in found if i["severity"] == "critical"] == ["died-silently"], found
        assert "CRASHED" in out, out
        shown = status(base)
        assert shown["phase"] == "over" and shown["pid"] == 0, shown
    finally:
        for pid in processes_of(base, "practice_run"):
            os.kill(pid, signal.SIGKILL)


def well(base):
    """It comes to its end, and that is no incident."""
    run = somebody(base, steps=30, pace=0.05)
    seen = watch(base, run.pid)
    assert run.wait(60) == 0
    code, out, err = end(seen)
    assert code == 0 and "FINISHED" in out, (out, err)
    assert not [i for i in incidents(base) if i["severity"] != "info"]


def allowed(base):
    """On request it is paused with all its processes, resumed, and ended; each action is recorded first."""
    run = somebody(base)
    try:
        seen = watch(base, run.pid, "--allow", "pause,stop")
        wait_until("its steps", lambda: steps_of(base) >= 3)
        pids = processes_of(base, "practice_run")
        assert len(pids) == 2

        def states():
            return {open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] for pid in pids}

        assert midwatch(base, "pause")[0] == 0
        wait_until("all stopped", lambda: states() == {"T"})
        wait_until("status says so", lambda: status(base)["phase"] == "paused")
        assert midwatch(base, "resume")[0] == 0
        wait_until("all go on", lambda: "T" not in states())
        assert midwatch(base, "stop")[0] == 0
        run.wait(20)
        code, out, err = end(seen)
        assert code == 0 and "as a stop was requested" in err and "INTERRUPTED  step" in out, (out, err)
        actions = [(e["action"], e["target"]) for e in journal(base) if e.get("e") == "intended"]
        assert actions == [(what, f"process {run.pid}") for what in ("pause", "resume", "stop")], actions
        assert not processes_of(base, "practice_run")
    finally:
        for pid in processes_of(base, "practice_run"):
            os.kill(pid, signal.SIGKILL)


def behind_tee(base):
    """Its output goes through a pipe into tee's file."""
    run = somebody(base, steps=40, shell="{} 2>&1 | tee train.log")
    wait_until("the trainer", lambda: processes_of(base, "practice_run"))
    seen = watch(base, processes_of(base, "practice_run")[0])
    run.wait(60)
    code, out, err = end(seen)
    assert code == 0 and "FINISHED" in out, (out, err)
    assert any("train.log" in e.get("path", "") for e in journal(base) if e.get("e") == "source-opened")


def by_its_log(base):
    """Only its log is named: kill -9 of whoever writes it is an incident all the same, and the watch goes on."""
    run = somebody(base)
    seen = watch_log(base, "train.log")
    try:
        wait_until("its steps", lambda: steps_of(base) >= 3)
        time.sleep(8)  # its writer is looked for within seconds, and has to live for some more
        run.kill()
        run.wait()
        wait_until("the incident", lambda: "died-silently" in [i["kind"] for i in incidents(base) if i["severity"] == "critical"])
        assert seen.poll() is None
    finally:
        seen.send_signal(signal.SIGTERM)
        for pid in processes_of(base, "practice_run"):
            os.kill(pid, signal.SIGKILL)
    _, _, err = end(seen)
    assert f"process {run.pid} (practice_run), which wrote train.log, has ended" in err, err


def refused(base):
    """What cannot be watched is refused, with what to do."""
    def says(pid, *options):
        code, out, err = end(watch(base, pid, *options))
        assert not glob.glob(f"{base}/home/runs/*"), "something was recorded"
        return code, err

    code, err = says(4194303)
    assert code == 3 and "there is no process 4194303" in err, (code, err)
    code, err = says(os.getpid())
    assert code == 2 and "midwatch itself came from" in err, (code, err)
    code, err = says("x")
    assert code == 2 and "number of a process" in err, (code, err)
    code, err = says(os.getpid(), "--allow", "kill")
    assert code == 2 and "pause, stop or pause,stop" in err, (code, err)
    quiet = subprocess.Popen(["sleep", "60"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=base)
    code, err = says(quiet.pid)
    assert code == 4 and "writes to a pipe" in err and "midwatch attach PATH" in err and base in err, (code, err)
    leader, follower = os.openpty()
    shown = subprocess.Popen(["sleep", "60"], stdin=follower, stdout=follower, stderr=follower, cwd=base)
    code, err = says(shown.pid)
    assert code == 4 and "writes to a terminal (/dev/pts/" in err, (code, err)
    for one in (quiet, shown):
        one.kill()
        one.wait()
    os.close(leader)
    os.close(follower)
    if os.getuid() != 0:
        skips.skip("a process of somebody else's", "only root may become somebody else")
    else:  # as nobody, at a process of root's; where nobody may not even start the program, nothing is seen
        mine = subprocess.Popen(["sleep", "60"], stdout=subprocess.DEVNULL)
        other = subprocess.run(["setpriv", "--reuid", "65534", "--clear-groups", PROGRAM, "attach", "--pid", str(mine.pid), "--no-host",
                                "--home", "/tmp/none"], capture_output=True, check=False, timeout=30, cwd="/")
        mine.kill()
        mine.wait()
        text = other.stderr.decode()
        assert "midwatch:" not in text or "another user's" in text, text


for test in (killed, well, by_its_log, allowed, behind_tee, refused):
    with Scratch() as base:
        began = time.monotonic()
        test(os.path.realpath(base))
        print(f"{test.__name__} ok, {time.monotonic() - began:.1f} s", flush=True)
sys.exit(skips.status())
