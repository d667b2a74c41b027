"""Components that midwatch starts itself, when they fail, and what becomes of the trainer: pauses, --dry-run, ports of others."""
import json
import os
import signal
import socket
import subprocess
import sys
import time

from running import PROGRAM, Run, midwatch, processes_of, states_of, wait_until
from watching import Scratch

# A server that answers while the file "open" is there when it begins to, and a trainer that does not need it.
SERVER = """import os, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Answer(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *_):
        pass
while not os.path.exists(sys.argv[3]):
    time.sleep(0.02)
ThreadingHTTPServer.allow_reuse_address = True
ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Answer).serve_forever()
"""
TRAINER = """import sys, time
print("Total training steps: 100000", flush=True)
for step in range(1, 100001):
    time.sleep(0.05)
    print(f"(TaskRunner pid=812) step:{step} - actor/entropy:0.4 - actor/grad_norm:0.3{step % 7} - critic/rewards/mean:0.4{step % 9} - timing_s/step:0.05", flush=True)
    if len(sys.argv) > 1 and step == 10:
        raise RuntimeError("an odd batch")
"""


class Said(Run):
    """A run whose midwatch's own words can be read while it goes on."""

    def __init__(self, base, command, *options):  # pylint: disable=super-init-not-called
        self.base = base
        words = [PROGRAM, "run", "--home", os.path.join(base, "home"), "--config", os.path.join(base, "midwatch.toml"), *options, "--", *command]
        with open(os.path.join(base, "said"), "wb") as said:
            self.process = subprocess.Popen(words, cwd=base, stdout=said, stderr=said)  # pylint: disable=consider-using-with

    def said(self):
        with open(os.path.join(self.base, "said"), encoding="utf-8") as file:
            return " ".join(file.read().split())

    def end(self, seconds=20):
        return self.process.wait(timeout=seconds)

    def wait_for_steps(self):
        wait_until("the first attempt", lambda: "attempt 1 began" in self.said())
        wait_until("steps", lambda: status(self.base)["step"])


def free_port():
    with socket.socket() as one:
        one.bind(("0.0.0.0", 0))
        return one.getsockname()[1]


def write(base, name, text):
    with open(os.path.join(base, name), "w") as file:
        file.write(text)


def begin(base, *options, address="127.0.0.1", trainer=(), port=None, program=sys.executable):
    """A run with a judge at `address`, which midwatch starts."""
    port = port or free_port()
    write(base, "server.py", SERVER)
    write(base, "trainer.py", TRAINER)
    write(base, "midwatch.toml", f'[run]\nfirst_wait = "1s"\n[component.judge]\nkind = "rewards"\nevery = "200ms"\n'
          f'command = ["{sys.executable}", "server.py", "0.0.0.0", "{port}", "open"]\naddress = "http://{address}:{port}"\n')
    return Said(base, [program, *([] if program != sys.executable else ["trainer.py"]), *trainer], *options)


def status(base):
    code, text = midwatch(base, "status", "--json")
    assert code == 0, text
    return json.loads(text)


def shown(base):
    return " ".join(midwatch(base, "status")[1].split())


def health(base):
    return [one["health"] for one in status(base)["components"]]


def step(base):
    return status(base)["step"] or 0


def advances(base):
    before = step(base)
    wait_until("two steps more", lambda: step(base) > before + 1)


def kill_judge(base):
    [judge] = processes_of(base, "server.py")
    os.kill(judge, signal.SIGKILL)
    return judge


def actions(base):
    return [(one["action"], one["why"]) for one in status(base)["actions"] if one["action"] in ("pause", "resume")]


def beside_a_client(base):
    """Where the command only follows the trainer, nothing says that this is paused."""
    write(base, "open", "")
    write(base, "docker", f"#!/bin/sh\nexec {sys.executable} trainer.py\n")
    os.chmod(os.path.join(base, "docker"), 0o755)
    run = begin(base, program=os.path.join(base, "docker"), trainer=("run", "image"))
    run.wait_for_steps()
    os.remove(os.path.join(base, "open"))
    old = kill_judge(base)
    wait_until("the next life, which loads", lambda: processes_of(base, "server.py") not in ([], [old]) and health(base) == ["starting"])
    advances(base)
    assert "PAUSED" not in shown(base) and not actions(base), (shown(base), actions(base))
    assert midwatch(base, "stop", "--now")[0] == 0
    run.end()


def resumed_meanwhile(base):
    """The trainer is paused while the judge is down, and the incident lasts until it answers; who resumes the trainer before means it."""
    write(base, "open", "")
    run = begin(base)
    run.wait_for_steps()
    os.remove(os.path.join(base, "open"))
    old = kill_judge(base)
    wait_until("the pause", lambda: set(states_of(base, "trainer.py")) == {"T"})
    assert "paused while a component that it needs is restarted" in shown(base), shown(base)
    wait_until("the next life, which loads", lambda: processes_of(base, "server.py") not in ([], [old]) and health(base) == ["starting"])
    assert "environment-fault" in shown(base) and "PAUSED" in shown(base), shown(base)
    assert midwatch(base, "resume")[0] == 0
    wait_until("the trainer", lambda: "T" not in states_of(base, "trainer.py"))
    advances(base)
    assert "T" not in states_of(base, "trainer.py") and health(base) == ["starting"]
    write(base, "open", "")
    wait_until("the judge", lambda: health(base) == ["well"])
    wait_until("the incident's end", lambda: "incident" not in shown(base))
    assert actions(base) == [("pause", "A component that it needs is being restarted."), ("resume", "A resume was requested.")], actions(base)
    # The next time it is paused again, and nobody has to resume it.
    kill_judge(base)
    wait_until("both", lambda: len(actions(base)) == 4 and "T" not in states_of(base, "trainer.py"))
    assert actions(base)[3][1] == "No component that it needs is being restarted any more.", actions(base)
    assert midwatch(base, "stop", "--now")[0] == 0
    run.end()


def dry(base):
    """With --dry-run nobody starts it anew: the trainer goes on, and the incident opens."""
    write(base, "open", "")
    run = begin(base, "--dry-run")
    run.wait_for_steps()
    kill_judge(base)
    wait_until("the incident", lambda: "environment-fault" in shown(base))
    advances(base)
    assert actions(base) == [] and "T" not in states_of(base, "trainer.py") and processes_of(base, "server.py") == []
    assert midwatch(base, "stop", "--now")[0] == 0
    run.end()


def dry_and_never_there(base):
    """Where it ends before the command began, nothing would ever come: the run ends, with the reason."""
    write(base, "midwatch.toml", '[component.judge]\nkind = "rewards"\ncommand = ["false"]\naddress = "http://127.0.0.1:9"\n')
    run = Said(base, ["sleep", "300"], "--dry-run")
    assert run.end(60) != 0 and "cannot go on without component judge, and midwatch only watches" in run.said(), run.said()


def paused_between(base):
    """A pause while no attempt runs holds the next one back, and status says so."""
    write(base, "open", "")
    run = begin(base, trainer=("fails",))
    wait_until("the end of attempt 1", lambda: "Attempt 2 begins in" in run.said())
    assert midwatch(base, "pause")[0] == 0
    wait_until("the word of it", lambda: "the run is paused: attempt 2 begins after midwatch resume" in run.said())
    assert "PAUSED" in shown(base) and "Attempt 2 begins after midwatch resume: the run is paused" in shown(base) and status(base)["next_attempt"] is None, shown(base)
    assert midwatch(base, "resume")[0] == 0
    wait_until("attempt 2", lambda: status(base)["attempt"] == 2)
    assert midwatch(base, "stop", "--now")[0] == 0
    run.end()


def own_address():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        try:
            one.connect(("10.255.255.255", 9))  # sends nothing
            return one.getsockname()[0]
        except OSError:
            return ""


def port_of_another(base, address, late):
    """Another program has the port of the judge, or takes it while that loads: the trainer does not begin with it."""
    port = free_port()
    write(base, "server.py", SERVER)
    other = subprocess.Popen([sys.executable, "server.py", "0.0.0.0", str(port), "other"], cwd=base)
    try:
        if late:
            wait_until("the other program", lambda: processes_of(base, "server.py") == [other.pid])
            time.sleep(0.02)  # what began in the same clock tick is not older
        else:
            write(base, "other", "")
            wait_until("the other server", lambda: socket.socket().connect_ex(("127.0.0.1", port)) == 0)
        run = begin(base, address=address, port=port)
        wait_until("the judge", lambda: len(processes_of(base, "server.py")) == 2)
        write(base, "other", "")
        wait_until("the word of it", lambda: "another program, which is not the component's, listens at" in run.said())
        assert status(base)["attempt"] == 0 and processes_of(base, "trainer.py") == []
        assert midwatch(base, "stop", "--now")[0] == 0
        run.end()
    finally:
        other.kill()
        other.wait()


own = own_address()
hosts = [host for host in (own, socket.gethostname() if own else "") if host]
tests = [(resumed_meanwhile,), (beside_a_client,), (dry,), (dry_and_never_there,), (paused_between,), (port_of_another, "127.0.0.1", True)]
tests += [(port_of_another, host, False) for host in hosts]
for test, *words in tests:
    with Scratch() as scratch:
        began = time.monotonic()
        test(scratch, *words)
        print(f"{test.__name__} {words} ok, {time.monotonic() - began:.1f} s", flush=True)
