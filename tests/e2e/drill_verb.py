"""The verb `midwatch drill`: faults staged on the practice run and on a run of one's own, and what is refused."""
import json
import os
import subprocess
import time

from running import PROGRAM, Run, midwatch, output, training, wait_until
from watching import Scratch


def drill(*words, home=None):
    done = subprocess.run([PROGRAM, "drill", *words, *(["--home", home] if home else [])], capture_output=True, timeout=240, check=False)
    return done.returncode, done.stdout.decode() + done.stderr.decode()


def listed(base):
    code, text = drill("--list", "--json")
    names = [one["name"] for one in json.loads(text)["drills"]]
    assert code == 0 and "engine-dead" in names and "trainer-killed" in names, text
    assert "engine-dead" in drill("--list")[1]


def refused(base):
    for words, code, text in ((("no-such",), 2, "no drill called no-such"), ((), 2, "no drill is named"),
                              (("engine-dead", "--run", "x"), 2, "--yes"), (("engine-dead", "--practice", "/none"), 3, "no program /none"),
                              (("engine-dead", "--yes", "--home", base), 3, "no recorded run")):
        answer = drill(*words)
        assert answer[0] == code and text in answer[1], (words, answer)


def on_practice(base):
    for name in ("engine-dead", "sigterm-from-elsewhere", "nan-in-loss"):
        code, text = drill(name, "--json")
        result = json.loads(text)
        assert code == 0 and result["as_stated"], result
        subprocess.run(["rm", "-rf", result["folder"].split("/home/")[0]], check=True)


def on_own(base):
    run = Run(base, training(base, steps=60, pace=0.2), "--quiet", "--no-host", "--first-wait", "0.2")
    wait_until("the run", lambda: os.path.exists(f"{base}/home/runs") and os.listdir(f"{base}/home/runs"))
    wait_until("a checkpoint", lambda: "step:6 " in output(run) if run.process.poll() is None else True)
    code, text = drill("trainer-killed", "--yes", home=f"{base}/home")
    assert code == 0 and "attempt 2 trains again" in text and "crash, critical" in text and "from step 5" in text, text
    assert midwatch(base, "stop", "--now")[0] == 0
    run.end(30)
    code, text = drill("trainer-killed", "--yes", home=f"{base}/home")
    assert code == 2 and "is not running under midwatch run" in text, text


for test in (listed, refused, on_practice, on_own):
    with Scratch() as base:
        began = time.monotonic()
        test(base)
        print(f"{test.__name__} ok, {time.monotonic() - began:.1f} s", flush=True)
