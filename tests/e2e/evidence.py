#!/usr/bin/env python3
"""What is found out of a run that is stuck: a trainer waits for a server that has fallen silent, and midwatch reports where
each of its processes waits, which connections it has, and, where a program for it is there, its stacks.

evidence.py MIDWATCH PRACTICE_RUN
"""
import glob
import json
import os
import signal
import socket
import stat
import sys
import threading
import time

import skips
from drills import Supervised, supervised_engine
from running import Run, midwatch, processes_of, wait_until
from watching import Scratch

TRAIN = r"""
import socket, sys, threading, time
def connect():
    one = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    one.sendall(b"HOLD\n")
    return one
answers, unread = connect(), connect()
threading.Thread(target=time.sleep, args=(1000,), name="helper", daemon=True).start()
for step in range(1, 9):
    print("step:%d - actor/pg_loss:0.0%d - actor/entropy:0.5 - critic/score/mean:0.%d - timing_s/step:0.2" % (step, 10 + step, 20 + step),
          flush=True)
    time.sleep(0.2)
print("waiting for the engine", flush=True)
answers.recv(1)
"""

RANKS = r"""
import multiprocessing, socket, sys, time
engine = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
engine.sendall(b"HOLD\n")
barrier = multiprocessing.Barrier(5)
def work(rank):
    for step in range(1, 9):
        barrier.wait()
        if rank == 0:
            print("step:%d - actor/pg_loss:0.0%d - actor/entropy:0.5 - critic/score/mean:0.%d - timing_s/step:0.2" % (step, 10 + step, 20 + step),
                  flush=True)
        sum(range(2_000_000))  # all do the same work
        time.sleep(0.1)
    if rank == 2:
        print("waiting for the engine", flush=True)
        engine.recv(1)
    barrier.wait()
ranks = [multiprocessing.Process(target=work, args=(rank,)) for rank in range(5)]
for rank in ranks:
    rank.start()
for rank in ranks:
    rank.join()
"""

STUB = """#!/bin/sh
echo "$@" >> {calls}
printf 'Process %s: python train.py\\nPython v3.10.4\\n\\nThread %s (idle): "MainThread"\\n' "$4" "$4"
printf '    readinto (socket.py:705)\\n    ask_engine (client.py:41)\\n    <module> (train.py:12)\\n'
printf 'Thread 9 (idle): "\\033[31mred"\\n    sleep (train.py:9)\\n'
printf 'api_key=abcdef0123456789abcdef\\n'
"""


class Server:
    """Answers /health; who says HOLD gets an answer that nobody reads, and then nothing for ever."""

    def __init__(self):
        self.door = socket.create_server(("127.0.0.1", 0))
        self.port, self.waiting = self.door.getsockname()[1], []
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                one, _ = self.door.accept()
            except OSError:
                return
            if one.recv(4096).startswith(b"HOLD"):
                self.waiting.append(one)
                if len(self.waiting) == 2:
                    one.sendall(b"x" * 300)
            else:
                one.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
                one.close()

    def fall_silent(self):
        """What was connected stays so; nothing new is answered."""
        self.door.shutdown(socket.SHUT_RDWR)
        self.door.close()
        self.thread.join()


def begin(base, settings="", path=None, script=TRAIN):
    server = Server()
    with open(os.path.join(base, "midwatch.toml"), "w") as file:
        file.write(f'[run]\nrestarts = 0\nfirst_wait = "200ms"\n{settings}\n[component.engine]\naddress = "http://127.0.0.1:{server.port}"\n'
                   f'every = "300ms"\ntimeout = "1s"\n')
    with open(os.path.join(base, "train.py"), "w") as file:
        file.write(script)
    before = os.environ["PATH"]
    os.environ["PATH"] = f"{path}:{before}" if path else before
    run = Run(base, [sys.executable, os.path.join(base, "train.py"), str(server.port)], "--config", os.path.join(base, "midwatch.toml"))
    os.environ["PATH"] = before
    wait_until("its last step", lambda: os.path.isdir(os.path.join(base, "home", "runs")) and b"waiting" in log(run), 60)
    trainer = processes_of(base, os.path.join(base, "train.py"))[0]
    wait_until("the engine to be seen well", lambda: health(base) == "well")
    return server, run, trainer


def log(run):
    try:
        with open(os.path.join(run.folder(), "output", "train.log"), "rb") as file:
            return file.read()
    except (FileNotFoundError, IndexError):
        return b""


def health(base):
    code, text = midwatch(base, "status", "--json")
    assert code == 0, text
    return "".join(one["health"] for one in json.loads(text)["components"])


def examined(base):
    """The incident of the dead engine, once its processes have been examined."""
    code, text = midwatch(base, "incidents", "--json")
    assert code == 0, text
    for incident in json.loads(text)["incidents"]:
        if incident["kind"] == "engine-dead" and all(one["done"] for one in incident.get("processes", [{"done": False}])):
            return incident
    return None


def found(base, trainer):
    wait_until("evidence", lambda: examined(base) is not None)
    incident = examined(base)
    [process] = incident["processes"]
    assert process["process"] == f"train.py (pid {trainer})", process
    text = process["text"]
    print(text)
    for words in ("2 threads", "the main thread waits in ", "2 sockets to 127.0.0.1:", "300 B unread", "(engine, silent)"):
        assert words in text, (words, text)
    shown = midwatch(base, "why", str(incident["id"]))[1], midwatch(base, "report")[1]
    for face in shown:
        assert "300 B unread" in " ".join(face.split()), face
    [file] = glob.glob(os.path.join(base, "home", "runs", "*", "evidence", "*"))
    assert text.endswith("evidence/" + os.path.basename(file)), text
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    with open(file) as opened:
        whole = opened.read()
    assert "ESTABLISHED 127.0.0.1:" in whole and "helper" not in whole.split("Threads")[0], whole
    return text, whole


def shows_calls(pid):
    """May this user see in which system call another process is?"""
    try:
        with open(f"/proc/{pid}/syscall") as file:
            return file.read() != ""
    except OSError:
        return False


def ended(base, run):
    code, text = midwatch(base, "stop")
    assert code == 0 or "is over" in text, text
    run.end()


def before_the_breaker(base):
    """The circuit breaker ends the attempt at once; what its processes did is known by then."""
    server, run, trainer = begin(base)
    seen = shows_calls(trainer)
    server.fall_silent()
    text, _ = found(base, trainer)
    ended(base, run)
    if not seen:
        skips.skip("before_the_breaker", "the system calls of other processes are not to be seen")
    assert not seen or f"recvfrom on 127.0.0.1:{server.port} (ESTABLISHED)" in text, text


def with_stacks(base):
    """The run goes on: the program that shows stacks is asked once, and what it writes is harmless."""
    tools = os.path.join(base, "tools")
    os.mkdir(tools)
    calls = os.path.join(base, "calls")
    with open(os.path.join(tools, "py-spy"), "w") as file:
        file.write(STUB.format(calls=calls))
    os.chmod(os.path.join(tools, "py-spy"), 0o700)
    server, run, trainer = begin(base, "breaker = false", tools)
    server.fall_silent()
    text, whole = found(base, trainer)
    if os.path.exists(calls):
        assert "py-spy: socket.py:705 in readinto <- client.py:41 in ask_engine <- train.py:12 in <module>" in text, text
        assert "uses no processor time" in text, text
        assert "\\x1b[31mred" in whole and "\033" not in whole and "abcdef0123456789" not in whole, whole
        with open(calls) as file:
            assert file.read().split() == ["dump", "--nonblocking", "--pid", str(trainer)]
    else:
        assert "ptrace_scope" in whole, whole
        skips.skip("with_stacks", "this user may not look into other processes")
    ended(base, run)


def without_stacks(base):
    """As configured, nothing but /proc is read. A midwatch that comes later does not do it again."""
    tools = os.path.join(base, "tools")
    os.mkdir(tools)
    calls = os.path.join(base, "calls")
    for name in ("py-spy", "eu-stack", "gdb"):
        with open(os.path.join(tools, name), "w") as file:
            file.write(STUB.format(calls=calls))
        os.chmod(os.path.join(tools, name), 0o700)
    server, run, trainer = begin(base, "breaker = false\nstacks = false", tools)
    server.fall_silent()
    text, _ = found(base, trainer)
    assert "py-spy" not in text and not os.path.exists(calls), text
    run.process.kill()
    run.process.wait()
    run = Run(base, [], "--reattach", "newest", "--config", os.path.join(base, "midwatch.toml"))
    time.sleep(2)
    found(base, trainer)
    ended(base, run)


def odd_one(base):
    """Four ranks wait for the fifth, which waits for the engine: that one is reported first."""
    server, run, trainer = begin(base, "breaker = false\nstacks = false", script=RANKS)
    ranks = processes_of(base, os.path.join(base, "train.py"))
    server.fall_silent()
    wait_until("evidence", lambda: examined(base) is not None)
    process = examined(base)["processes"][0]
    print(process["text"])
    if shows_calls(trainer):
        assert process["process"] in [f"train.py (pid {rank})" for rank in ranks[1:]], process
        assert "unlike 4 other processes like it, which wait in futex" in process["text"], process
        assert f"recvfrom on 127.0.0.1:{server.port}" in process["text"], process
    else:
        skips.skip("odd_one", "the system calls of other processes are not to be seen")
    ended(base, run)


def before_the_restart(base):
    """The worker of an engine that midwatch supervises dies: the engine is killed and restarted once its stacks are there."""
    tools = os.path.join(base, "tools")
    os.mkdir(tools)
    calls = os.path.join(base, "calls")
    with open(os.path.join(tools, "py-spy"), "w") as file:
        file.write(STUB.format(calls=calls) + 'kill -0 "$4" && echo alive >> ' + calls + "\n")
    os.chmod(os.path.join(tools, "py-spy"), 0o700)
    trainer, config = supervised_engine(base, "--request-timeout", "1", pace=0.25, engine=("--when-worker-dies", "hang"))
    before = os.environ["PATH"]
    os.environ["PATH"] = f"{tools}:{before}"
    run = Supervised(base, trainer, *config)
    os.environ["PATH"] = before
    run.await_text("step:11 ")
    engine, worker = processes_of(base, "practice_engine")[:2]
    os.kill(worker, signal.SIGKILL)
    wait_until("evidence", lambda: examined(base) is not None)
    process = examined(base)["processes"][0]
    print(process["text"])
    assert process["process"] == f"practice_engine (pid {engine})", process
    code, over = run.end()
    assert code == 0 and over["attempts"] == 2, over
    if os.path.exists(calls):
        assert "py-spy: socket.py:705 in readinto" in process["text"], process
        with open(calls) as file:
            assert file.read().splitlines()[:2] == [f"dump --nonblocking --pid {engine}", "alive"]
    else:
        skips.skip("before_the_restart", "this user may not look into other processes")


def main():
    for test in (before_the_breaker, with_stacks, without_stacks, odd_one, before_the_restart):
        with Scratch() as base:
            test(base)
        print("ok", test.__name__)
    sys.exit(skips.status())


if __name__ == "__main__":
    main()
