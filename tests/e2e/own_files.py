"""midwatch run where the command keeps its log in a file of its own, and where that file holds what earlier runs wrote."""
import json
import os
import signal
import sys
import time

from running import Run, midwatch, output, processes_of, reattach, training, wait_until
from watching import Scratch

STEPS = 40


def script(base, redirect, pace=0.15):
    """As people write it: nothing comes to midwatch's own output."""
    with open(os.path.join(base, "train.sh"), "w") as file:
        file.write(f"{' '.join(training(base, STEPS, pace))} {redirect} 2>&1\n")
    return ["bash", "train.sh"]


def status(base):
    code, text = midwatch(base, "status", "--json")
    assert code == 0, text
    return json.loads(text)


def log_of(base, name="train.log"):
    try:
        with open(os.path.join(base, name), errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def kill_trainer_at(base, step, times=1):
    for _ in range(times):
        wait_until(f"step {step}", lambda: f"step:{step} - " in log_of(base))
        os.kill(processes_of(base, "practice_run")[0], signal.SIGKILL)


def redirected(base):
    """The log is found, the steps are read, and the trainer that is killed is started again."""
    run = Run(base, script(base, ">> train.log"), "--quiet", "--first-wait", "0.2")
    kill_trainer_at(base, 12)
    assert run.end() == 0, run.err
    assert "2 attempts." in run.err and "after progress" in run.err and "train.log, too" in run.err, run.err
    assert "step:" not in output(run)
    stands = status(base)
    assert stands["step"] == STEPS and stands["attempt"] == 2, stands


def appended(base):
    """The log has a whole earlier run and a crash in it, which are not this run's: no step of them, no incident, no breaker."""
    first = Run(base, script(base, ">> train.log", pace=0), "--quiet")
    assert first.end() == 0, first.err
    old = log_of(base) + 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\ntorch.OutOfMemoryError: CUDA out of memory.\n'
    for place in ("train.log", "logs/older.log"):
        os.makedirs(os.path.join(base, os.path.dirname(place)), exist_ok=True)
        with open(os.path.join(base, place), "w") as file:
            file.write(old)
    os.rename(os.path.join(base, "checkpoints"), os.path.join(base, "checkpoints-of-the-first"))
    os.rename(os.path.join(base, "home"), os.path.join(base, "home-of-the-first"))
    run = Run(base, script(base, ">> train.log", pace=0.1), "--quiet", "--watch", "train.log", "--watch", "logs")
    assert run.end() == 0, run.err
    assert "1 attempt." in run.err and "FINISHED" in run.err, run.err
    stands = status(base)
    assert not stands["incidents"] and stands["step"] == STEPS, stands
    code, text = midwatch(base, "incidents")
    assert "out of memory" not in text, text
    return old


def line_numbers(base):
    """What is quoted stands in the file in the line that is named."""
    old = "".join(f"an earlier line {i}\n" for i in range(100))
    with open(os.path.join(base, "train.log"), "w") as file:
        file.write(old)
    with open(os.path.join(base, "train.sh"), "w") as file:
        file.write("exec >> train.log 2>&1\necho 'step 1 loss 0.5'; sleep 3\n"
                   "echo 'RuntimeError: CUDA error: an illegal memory access was encountered'; exit 1\n")
    run = Run(base, ["bash", "train.sh"], "--quiet", "--restarts", "0", "--watch", "train.log")
    assert run.end() == 1, run.err
    assert "train.log:102" in run.err, run.err


def killed_midwatch(base):
    """midwatch is killed -9: the next one finds the file again, and tells each step once."""
    old = "".join(f"[INFO] an earlier line {i}, step:{i} - x:1\n" for i in range(50))
    with open(os.path.join(base, "train.log"), "w") as file:
        file.write(old)
    run = Run(base, script(base, ">> train.log"), "--quiet", "--watch", "train.log")
    for _ in range(2):
        before = log_of(base).count("step:")
        wait_until("steps", lambda: log_of(base).count("step:") > before + 5)
        run.process.kill()
        run.process.communicate()
        run = reattach(base, "--quiet")
    assert run.end() == 0, run.err
    assert "1 attempt." in run.err and "FINISHED" in run.err, run.err
    stands = status(base)
    assert not stands["incidents"] and stands["step"] == STEPS, stands


def truncated(base):
    """`>` begins the log anew, and the new one comes to be longer than the old one was."""
    with open(os.path.join(base, "train.log"), "w") as file:
        file.write("Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nKeyError: 'earlier'\n")
    run = Run(base, script(base, "> train.log", pace=0.1), "--quiet", "--watch", "train.log")
    assert run.end() == 0, run.err
    stands = status(base)
    assert not stands["incidents"] and stands["step"] == STEPS and "FINISHED" in run.err, stands


def teed(base):
    """A copy that tee writes is not read besides: the output has the same."""
    with open(os.path.join(base, "train.sh"), "w") as file:
        file.write(f"set -o pipefail\n{' '.join(training(base, 20, 0.1))} 2>&1 | tee train.log\n")
    run = Run(base, ["bash", "train.sh"], "--quiet")
    assert run.end() == 0, run.err
    assert "too, which" not in run.err and "FINISHED" in run.err, run.err


def handler(base):
    """Not a word to the output: the log is a file that the program has open for itself, as logging.FileHandler has."""
    with open(os.path.join(base, "train.py"), "w") as file:
        file.write("import os, sys, time\nos.makedirs('logs', exist_ok=True)\nlog = open('logs/run.log', 'a')\n"
                   "again = os.path.exists('died')\nopen('died', 'w').close()\n"
                   "for step in range(8 if again else 1, 31):\n"
                   "    print(f'INFO step {step}/30 loss 0.5 reward {step / 100}', file=log, flush=True)\n"
                   "    time.sleep(0.5)\n"
                   "    if step == 10 and not again:\n"
                   "        print('Traceback (most recent call last):\\n  File \"train.py\", line 9, in <module>\\n'\n"
                   "              'ConnectionResetError: [Errno 104] Connection reset by peer', file=log, flush=True)\n"
                   "        sys.exit(1)\n")
    run = Run(base, ["python3", "train.py"], "--quiet", "--first-wait", "0.2")
    assert run.end() == 0, run.err
    assert "2 attempts." in run.err and "#1 network" in run.err and "after progress" in run.err, run.err
    stands = status(base)
    assert stands["step"] == 30, stands


def background(base):
    """The script starts the training behind itself and ends: that is not ended with it, and its end is the run's. Killed, it is started again."""
    with open(os.path.join(base, "train.sh"), "w") as file:
        file.write(f"nohup {' '.join(training(base, STEPS, 0.3))} > train.log 2>&1 &\necho started\n")
    run = Run(base, ["bash", "train.sh"], "--quiet", "--first-wait", "0.2")
    kill_trainer_at(base, 12)
    assert run.end() == 0, run.err
    assert "2 attempts." in run.err and "attempt 2 goes on" in run.err, run.err
    assert "goes on in what its command left behind: practice_run" in run.err and "SIGTERM" not in run.err, run.err
    assert status(base)["step"] == STEPS and "FINISHED" in run.err, run.err


def background_stopped(base):
    """Asked to end, the training in the background gets its grace as any other does."""
    with open(os.path.join(base, "train.sh"), "w") as file:
        file.write(f"nohup {' '.join(training(base, 400, 0.3))} > train.log 2>&1 &\necho started\n")
    run = Run(base, ["bash", "train.sh"], "--quiet")
    wait_until("the watch goes on", lambda: "step:25 - " in log_of(base))
    run.process.send_signal(signal.SIGTERM)
    run.end(60)
    assert not processes_of(base, "practice_run") and "SIGTERM" in run.err and "SIGKILL" not in run.err, run.err


def dies_in_it(base):
    """A trainer in a temporary folder, or in no file, that dies of its network and says so in the file only: that is the reason which is decided on."""
    with open(os.path.join(base, "fit.py"), "w") as file:
        file.write("import socket, time\nfor s in range(1, 9):\n    print(f'step:{s} - actor/pg_loss:0.01 - critic/rewards/mean:0.3{s}', flush=True)\n"
                   "    time.sleep(0.3)\nsocket.create_connection(('127.0.0.1', 1))\n")
    for name, command in (("file", "python3 $PWD/fit.py"), ("input", "python3 - < fit.py")):
        with open(os.path.join(base, "go.sh"), "w") as file:
            file.write(f"{command} >> {name}.log 2>&1; r=$?; sleep 1; exit $r\n")
        run = Run(base, ["bash", "go.sh"], "--quiet", "--restarts", "0", "--name", name)
        run.end()
        assert "network (connection-refused)" in run.err and "no error of its own" not in run.err, run.err


for test in (redirected, dies_in_it, handler, background, background_stopped, appended, line_numbers, killed_midwatch, truncated, teed):
    with Scratch() as base:
        began = time.monotonic()
        test(base)
        print(f"{test.__name__} ok, {time.monotonic() - began:.1f} s", flush=True)
sys.exit(0)
