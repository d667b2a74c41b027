"""midwatch run where the training is not simply the command: its log lies in a container's own file system, the command is only a client
that follows it, or a time limit stands before it."""
import json
import os
import subprocess
import sys

import skips
from running import Run, midwatch, training, wait_until
from watching import Scratch

OTHERS = "".join(f"(TaskRunner pid=812) step:{step} - critic/score/mean:0.0 - critic/rewards/mean:0.0 - training/global_step:{step}\n"
                 for step in range(1, 61))  # rewards at their floor

# As `docker run IMAGE ...` in the foreground: what runs is the daemon's. It is lost when the daemon is started anew.
DOCKER = """#!/bin/sh
echo called >> "{base}/calls"
tail -n +1 -f "{base}/container.log" &
while [ ! -e "{base}/lose" ]; do sleep 0.1; done
kill $!
echo 'level=error msg="error waiting for container: unexpected EOF"' >&2
exit 125
"""


def status(base):
    code, text = midwatch(base, "status", "--json")
    return json.loads(text) if code == 0 or text.startswith("{") else {}


def script(base, name, text):
    path = os.path.join(base, name)
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, 0o755)
    return path


def in_container(base):
    """Its log is read there, and the file that has the same path here is none of the run."""
    if subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode != 0:
        skips.skip("in_container", "no mount namespace can be made here")
        return
    os.mkdir(f"{base}/work")
    with open(f"{base}/work/train.log", "w") as file:
        file.write(OTHERS)
    inside = f"mount -t tmpfs tmpfs work && cd work && exec {' '.join(training(base, 20, 0.2))} > train.log"
    run = Run(base, ["unshare", "-m", "sh", "-c", inside], "--quiet", "--unattended")
    assert run.end() == 0, run.err
    stands = status(base)
    assert stands["step"] == 20 and stands["attempt"] == 1, (stands, run.err)
    code, text = midwatch(base, "incidents", "--json")
    assert code == 0 and "zero-reward" not in text, text


def client_lost(base):
    """No second container is started beside the first, and nobody is to believe that a pause reaches it."""
    script(base, "docker", DOCKER.format(base=base))
    with open(f"{base}/container.log", "wb") as log:
        daemons = subprocess.Popen(training(base, 4000), cwd=base, stdout=log, stderr=log, start_new_session=True)
    try:
        run = Run(base, [f"{base}/docker", "run", "--rm", "--name", "box", "image", "python", "train.py"], "--quiet", "--first-wait", "0.1")
        wait_until("its steps", lambda: (status(base).get("step") or 0) >= 3)
        code, text = midwatch(base, "pause")
        assert code != 0 and "cannot pause" in text and "docker stop box" in text, (code, text)
        assert status(base)["phase"] == "running", status(base)
        open(f"{base}/lose", "w").close()
        run.end()
        assert "may go on" in run.err and "1 attempt." in run.err, run.err
        with open(f"{base}/calls") as calls:
            assert calls.read() == "called\n"
        assert daemons.poll() is None
    finally:
        daemons.kill()
        daemons.wait()


def client_stopped(base):
    """The stop ends the client alone; how to end what it follows is said with its name."""
    script(base, "docker", DOCKER.format(base=base))
    open(f"{base}/container.log", "w").close()
    run = Run(base, [f"{base}/docker", "run", "--name=box", "image"], "--quiet")
    wait_until("the client", lambda: os.path.exists(f"{base}/calls"))
    code, text = midwatch(base, "stop", "--now")
    assert code == 0 and "may go on: docker ps shows it, docker stop box ends it." in text, (code, text)
    run.end()


def job_of_script(base):
    """A script submits a job: that stands in its output alone. A pause is taken back, and a stop says what goes on."""
    words = "echo \"Job 'raysubmit_a' submitted successfully\"; exec " + " ".join(training(base, 4000))
    run = Run(base, ["sh", "-c", words])
    wait_until("its steps", lambda: (status(base).get("step") or 0) >= 3)
    midwatch(base, "pause")
    wait_until("the answer", lambda: "not paused" in midwatch(base, "report")[1])
    before = status(base)
    assert before["phase"] == "running", before
    wait_until("more steps", lambda: status(base)["step"] > before["step"])
    midwatch(base, "stop")
    run.end()
    assert "ray job stop raysubmit_a" in run.err and "1 attempt." in run.err, run.err


def time_limit(base):
    """What `timeout` ends is over: a person set that limit."""
    words = " ".join(training(base, 4000))
    for command in (["timeout", "3", *training(base, 4000)], ["bash", script(base, "train.sh", f"timeout 5 {words}\n")]):
        with Scratch() as folder:
            run = Run(folder, command, "--quiet", "--first-wait", "0.1")
            run.end()
            assert "time limit ended it" in run.err and "1 attempt." in run.err, run.err
            code, text = midwatch(folder, "status")
            assert "INTERRUPTED" in text and "CRASHED" not in text, (code, text)


for test in (in_container, client_lost, client_stopped, job_of_script, time_limit):
    with Scratch() as base:
        test(base)
    print(f"{test.__name__} ok", flush=True)
sys.exit(skips.status())
