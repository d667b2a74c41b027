"""Which run is meant, where runs are recorded, and what one sees of a run that goes wrong or silent."""
import json
import os
import signal
import subprocess
import sys
import time

from running import PROGRAM, Run, training, wait_until
from watching import Scratch


def words(*args, cwd="/", state=None, home=None):
    environment = {**os.environ, "XDG_STATE_HOME": state or "/nowhere"}
    environment.pop("MIDWATCH_HOME", None)
    if home:
        environment["MIDWATCH_HOME"] = home
    done = subprocess.run([PROGRAM, *args], cwd=cwd, env=environment, capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout.decode() + done.stderr.decode()


def supervise(base, name, *options, state):
    return subprocess.Popen([PROGRAM, "run", "--name", name, "--quiet", "--no-host", *options, "--", "sleep", "60"], cwd=base,
                            env={**os.environ, "XDG_STATE_HOME": state}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def live_names(state):
    return [run["name"] for run in json.loads(words("runs", "--json", state=state)[1])["runs"] if run["state"] == "running"]


def several_live_runs(base):
    """A verb that acts does not guess; a beginning of a name is enough; verbs that read take the one begun last."""
    state = base + "/state"
    runs = [supervise(base, "grpo-seed1", state=state)]
    wait_until("the first run", lambda: live_names(state) == ["grpo-seed1"])
    assert words("pause", state=state)[0] == 0  # the only live one
    assert words("resume", state=state)[0] == 0
    time.sleep(0.05)
    runs.append(supervise(base, "grpo-seed2", state=state))
    wait_until("both runs", lambda: sorted(live_names(state)) == ["grpo-seed1", "grpo-seed2"])
    for verb in (["pause"], ["stop"], ["tell", "a note"], ["resume"], ["approve"], ["cleanup", "--yes"], ["restore"]):
        code, text = words(*verb, state=state)
        assert code == 2 and "2 runs are live" in text and "grpo-seed1" in text and "grpo-seed2" in text, (verb, code, text)
    code, text = words("status", state=state)
    assert code == 0 and "run         grpo-seed2" in text and "also live   grpo-seed1" in text, text
    assert "run         grpo-seed1" in words("status", "--run", "grpo-seed1", state=state)[1]
    for name, code, text in (("grpo", 2, "may be any of 2 runs"), ("nosuch", 3, "no run called nosuch"),
                             (state + "/midwatch/runs", 3, "is not the folder of a recorded run")):
        answer = words("pause", "--run", name, state=state)
        assert answer[0] == code and text in answer[1], answer
    code, text = words("incidents", "--run", "grpo-seed1", PROGRAM, state=state)
    assert code == 2 and "Leave one of them out" in text, text
    assert words("stop", "--now", "--run", "grpo-seed1", state=state)[0] == 0
    assert runs[0].wait(30) != 0
    wait_until("one run", lambda: live_names(state) == ["grpo-seed2"])
    # Now the run that was written last is over: what acts takes the live one all the same.
    assert words("stop", "--now", "--run", state + "/midwatch/runs/grpo-seed2", state=state)[0] == 0
    runs[1].wait(30)
    code, text = words("runs", state=state)
    assert code == 0 and "grpo-seed1" in text and "grpo-seed2" in text and "running" not in text, text
    code, text = words("compare", "grpo-seed1", "grpo-seed2", state=state)
    assert code == 0 and "A  INTERRUPTED" in text and "B  INTERRUPTED" in text, text
    code, text = words("compare", "grpo-seed1", "nosuch", state=state)
    assert code != 0 and "nosuch" in text, text


def the_live_one_is_meant(base):
    """The live run is meant, though another one's journal was written later."""
    state = base + "/state"
    run = supervise(base, "live", state=state)
    wait_until("the run", lambda: live_names(state) == ["live"])
    with open(base + "/short.log", "w") as file:
        file.write("step=1 loss=0.5\n")
    assert words("attach", "--exit-after-idle", "0.3", "--no-host", base + "/short.log", state=state)[0] == 0
    os.utime(next(place.path for place in os.scandir(state + "/midwatch/runs") if "live" not in place.name) + "/journal")
    assert "run         live" in words("status", state=state)[1]
    assert words("stop", "--now", state=state)[0] == 0
    assert run.wait(30) != 0


def found_from_anywhere(base):
    """Nothing is put into a watched folder, and what was recorded is found from every directory."""
    state, watched, chosen = base + "/state", base + "/outputs/my-run", base + "/chosen"
    os.makedirs(watched)
    with open(watched + "/train.log", "w") as file:
        file.writelines(f"step={n} loss={0.5 / n}\n" for n in range(1, 8))
        file.write("Traceback (most recent call last):\n  File \"train.py\", line 3, in main\nKeyError: 'x'\n")
    attached = ["attach", "--exit-after-idle", "0.3", "--no-host", watched]
    assert words(*attached, state=state)[0] == 0
    assert sorted(os.listdir(watched)) == ["train.log"]
    assert "code-error" in words("incidents", state=state)[1]
    # A home of one's own is remembered.
    os.remove(watched + "/train.log")
    with open(base + "/other.log", "w") as file:
        file.write("step=1 loss=nan\n")
    assert words("run", "--home", chosen, "--name", "elsewhere", "--quiet", "--no-host", "--", "true", state=state)[0] == 0
    assert "elsewhere" in words("runs", state=state)[1]
    assert words("status", "--run", "elsewhere", state=state)[0] == 0
    # Who names a home means that one alone.
    assert words("status", "--run", "elsewhere", "--home", state, state=state)[0] == 3
    assert words("status", "--run", "elsewhere", state=state, home=base + "/empty")[0] == 3
    assert words("status", "--run", "elsewhere", state=base + "/stranger")[0] == 3
    # Where midwatch 0.1 recorded.
    os.rename(chosen, base + "/.midwatch")
    assert words("status", "--run", "elsewhere", cwd=base, state=base + "/stranger")[0] == 0


def attached_where_one_stands(base):
    """"midwatch attach ." is called as the folder is, and stands among the runs as its files say."""
    os.makedirs(base + "/exp-one")
    with open(base + "/exp-one/train.log", "w") as file:
        for step in range(1, 21):
            file.write(f"2026-03-01 10:{step:02d}:00 INFO step {step}/20 reward={step / 20:.3f} loss={0.9 - step / 100:.3f}\n")
    state = base + "/state"
    watch = subprocess.Popen([PROGRAM, "attach", ".", "--no-host", "--quiet"], cwd=base + "/exp-one", env={**os.environ, "XDG_STATE_HOME": state},
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def listed():
        runs = json.loads(words("runs", "--json", state=state)[1] or "{}").get("runs", [])
        return runs if runs and runs[0].get("record", {}).get("last_step", 20) == 20 else []

    try:
        wait_until("the run", lambda: bool(listed()))
        name = listed()[0]["name"]
        assert name.startswith("exp-one-"), name
        wait_until("its state", lambda: "read-only" not in words("runs", state=state)[1])
        code, text = words("status", name, state=state)
        assert code == 0 and "step 20 of 20" in text and "last written never" not in text, text
    finally:
        watch.terminate()
        watch.wait(30)


def silence_has_an_age(base):
    """The age is that of the trainer's last output and step, not of midwatch's own journal."""
    script = "for i in 1 2 3; do echo step=$i loss=0.5; done; sleep 60"
    state = base + "/state"
    run = subprocess.Popen([PROGRAM, "run", "--name", "silent", "--quiet", "--no-host", "--", "sh", "-c", script], cwd=base,
                           env={**os.environ, "XDG_STATE_HOME": state}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def shown():
        code, text = words("status", "--json", state=state)
        return json.loads(text) if code == 0 else {}

    wait_until("step 3", lambda: shown().get("step") == 3)
    time.sleep(3)
    assert words("tell", "a note renews the journal", state=state)[0] == 0
    wait_until("the note", lambda: "renews" in words("status", state=state)[1])
    answer = shown()
    assert answer["heard"] > answer["output_at"], answer
    listed = json.loads(words("runs", "--json", state=state)[1])["runs"][0]
    assert listed["live"] and listed["heard"] > listed["output_at"] == answer["output_at"], listed
    text = words("runs", state=state)[1]
    assert "OUTPUT" in text and "WRITTEN" not in text and "ms ago" not in text, text
    text = words("status", state=state)[1]
    assert "last written" in text and "just now" not in text and "ms ago" not in text, text
    assert words("stop", "--now", state=state)[0] == 0
    run.wait(30)


def graver_is_shown(base):
    """An incident that opens as a warning or below and becomes critical is shown again, in run and attach."""
    log = base + "/train.log"
    first = "".join(f"step={n} loss=0.5 reward=0.4\n" for n in range(1, 30))
    trace = "Traceback (most recent call last):\n  File \"train.py\", line 3, in main\n    x['a']\nKeyError: 'a'\n"
    with open(log, "w") as file:
        file.write(first)
    watch = subprocess.Popen([PROGRAM, "attach", log, "--home", base + "/home", "--no-host", "--poll", "0.2", "--exit-after-idle", "1.5"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.7)
    with open(log, "a") as file:
        file.write(trace)
    out = watch.communicate(timeout=60)[0].decode()
    before_report = out.split("RUN")[0]
    assert "critical" in out and "code-error" in before_report, out


def waited_for(base):
    """A watch may begin before the run writes; a path in a folder that is not there is a slip, and said at once."""
    log = base + "/outputs/train.log"
    os.mkdir(base + "/outputs")
    options = ["--home", base + "/home", "--no-host", "--poll", "0.2", "--exit-after-idle", "1.5"]
    watch = subprocess.Popen([PROGRAM, "attach", log, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.7)
    with open(log, "w") as file:
        file.writelines(f"step={n} loss=0.5 reward=0.4\n" for n in range(1, 30))
    out, err = watch.communicate(timeout=60)
    assert watch.returncode == 0 and "29 steps" in out.decode() and f"nothing is at {log} yet" in err.decode(), (out, err)
    for path, said in ((base + "/outputs/never.log", "nothing appeared"), (base + "/outptus/train.log", "nor is the folder")):
        done = subprocess.run([PROGRAM, "attach", path, *options], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 3 and said in done.stderr, done
    waiting = subprocess.Popen([PROGRAM, "attach", base + "/outputs/other.log", *options[:-2]], stderr=subprocess.PIPE)
    time.sleep(0.7)
    waiting.send_signal(signal.SIGINT)
    assert "was ended" in waiting.communicate(timeout=20)[1].decode() and waiting.returncode == 1
    runs = base + "/later/"  # with a slash, and then with nothing in it for a while
    watch = subprocess.Popen([PROGRAM, "attach", runs, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.5)
    os.makedirs(runs + "run1")
    time.sleep(0.5)
    with open(runs + "run1/train.log", "w") as file:
        file.writelines(f"step={n} loss=0.5 reward=0.4\n" for n in range(1, 30))
    out, err = (text.decode() for text in watch.communicate(timeout=60))
    assert watch.returncode == 0 and "29 steps" in out, (out, err)
    assert f"nothing is at {runs} yet" in err and "no log or metric file" in err, err


def older_logs_beside(base):
    """Live there is one run in a folder: that of the log which is being written."""
    def lines(seed, steps):
        return "".join(f"step {n}/{steps} reward={0.3 + n * 7 % 11 / 50 + seed / 9:.4f} loss={0.5 / (n + seed):.5f} "
                       f"grad_norm={0.5 + n * 5 % 7 / 20 + seed / 7:.3f}\n" for n in range(1, steps + 1))
    options = ["--home", base + "/home", "--no-host", "--poll", "0.2", "--exit-after-idle", "2"]
    for old, new in (("old.log", "new.log"), ("a/train.log", "b/train.log")):
        logs = f"{base}/{old[0]}"
        for path, seed in ((old, 1), (new, 2)):
            os.makedirs(os.path.dirname(f"{logs}/{path}"), exist_ok=True)
            with open(f"{logs}/{path}", "w") as file:
                file.write(lines(seed, 30) if path == old else "".join(lines(2, 60).splitlines(True)[:6]))
        day_ago = time.time() - 86400
        os.utime(f"{logs}/{old}", (day_ago, day_ago))
        watch = subprocess.Popen([PROGRAM, "attach", logs, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(1)
        with open(f"{logs}/{new}", "a") as file:
            file.write("".join(lines(2, 60).splitlines(True)[6:20]))
        out, err = (text.decode() for text in watch.communicate(timeout=60))
        assert f"{old} is not read" in err and "step 20 of 60" in out and "attempt" not in out.split("\n\n")[0], (out, err)
        # One that comes later, when the watch goes on.
        watch = subprocess.Popen([PROGRAM, "attach", logs, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(1)
        hour_ago = time.time() - 3600
        os.utime(f"{logs}/{new}", (hour_ago, hour_ago))
        with open(f"{logs}/third.log", "w") as file:
            file.write("".join(lines(5, 40).splitlines(True)[:9]))
        out, err = (text.decode() for text in watch.communicate(timeout=60))
        assert "step 9 of 40" in out and "attempt 2" in out, (out, err)


def several_in_a_folder(base):
    """Runs that lie in one folder are judged each; what wants one of them lists them."""
    for name, reward in (("lr-1e-6", 0.4), ("lr-5e-6", 0.2)):
        os.makedirs(f"{base}/outputs/{name}")
        with open(f"{base}/outputs/{name}/train.log", "w") as file:
            for step in range(1, 61):
                value = 0 if name == "lr-5e-6" and step > 40 else reward + step / 300 + (step * 37 % 11) / 100
                file.write(f"2026-03-01 10:{step:02d}:00 INFO step {step}/60 reward={value:.3f} loss={0.9 - reward:.3f}\n")
    code, text = words("replay", base + "/outputs", "--quiet")
    assert code == 0 and "2 runs lie in" in text and "lr-1e-6" in text, text
    assert "zero-reward since 2026-03-01T10:41:00Z: Reward is exactly 0 since step 41" in " ".join(text.split()), text
    answer = json.loads(words("replay", base + "/outputs", "--json")[1])
    assert [len(run["replay"]["incidents"]) > 0 for run in answer["runs"]] == [False, True], answer
    assert words("replay", base + "/outputs", "--quiet", "--fail-on", "critical")[0] == 10
    for verb in (["incidents"], ["report"], ["why", "1"], ["replay", "--full"]):
        code, text = words(*verb, base + "/outputs")
        assert code == 2 and "2 runs lie in" in text and "outputs/lr-5e-6" in text, (verb, text)


if __name__ == "__main__":
    for test in (several_in_a_folder, older_logs_beside, several_live_runs, the_live_one_is_meant, found_from_anywhere, attached_where_one_stands, silence_has_an_age, graver_is_shown, waited_for):
        with Scratch() as base:
            began = time.monotonic()
            test(base)
            print(f"{test.__name__} ok, {time.monotonic() - began:.1f} s", flush=True)
