#!/usr/bin/env python3
"""Plays a written run to its standard output as a trainer would: feeder.py FILE

Each line at its time (FILE.times), as make.py writes them. FILE.actions, where it is there, says before which line a child
of its own is to be started or ended: ["start", {"name"}] (it takes that name, as engines do, and sleeps), ["end",
{"name", "how": "term" | "kill" | "exit N", "reap"}]; what is not reaped stays behind as a zombie. At the end all are
ended and reaped. FILE.fed says how far it came: lines written, how often it was resumed after a pause (SIGCONT), and
how often it was started. Started a second time it writes nothing and ends well.
"""
import ctypes
import json
import os
import signal
import sys
import time

PR_SET_NAME = 15
fed = {"lines": 0, "continued": 0, "starts": 1, "over": False}


def continued(*_):
    fed["continued"] += 1


def note(path):
    with open(path + ".fed.part", "w", encoding="utf-8") as out:
        json.dump(fed, out)
    os.rename(path + ".fed.part", path + ".fed")


def child(name):
    """A process that sleeps under that name until a signal ends it; a real-time signal's number gives its exit code."""
    pid = os.fork()
    if pid != 0:
        return pid
    for number in range(16):
        signal.signal(signal.SIGRTMIN + number, lambda received, _: os._exit(received - signal.SIGRTMIN))
    for one in (signal.SIGTERM, signal.SIGINT):
        signal.signal(one, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(PR_SET_NAME, name.encode()[:15], 0, 0, 0)
    while True:
        time.sleep(3600)


def end(pid, how, reap):
    word, _, code = how.partition(" ")
    number = {"term": signal.SIGTERM, "kill": signal.SIGKILL}.get(word) or signal.SIGRTMIN + int(code)
    os.kill(pid, number)
    if reap:
        os.waitpid(pid, 0)


def do(children, what, how):
    if what == "start":
        children[how["name"]] = child(how["name"])
    elif how["name"] in children:
        pid = children.pop(how["name"])
        end(pid, how["how"], how["reap"])
        if not how["reap"]:
            children.setdefault(" zombies", []).append(pid)


def play(path):
    with open(path, encoding="utf-8", newline="\n") as file:
        lines = file.read().split("\n")[:-1]
    with open(path + ".times", encoding="utf-8") as file:
        times = [float(line) for line in file]
    actions = {}
    if os.path.exists(path + ".actions"):
        with open(path + ".actions", encoding="utf-8") as file:
            for line, what, how in json.load(file):
                actions.setdefault(line, []).append((what, how))
    begin, children = time.monotonic(), {}
    for i, text in enumerate(lines):
        for what, how in actions.get(i, ()):
            do(children, what, how)
        late = begin + times[i] - time.monotonic()
        if late > 0:
            sys.stdout.flush()
            time.sleep(late)
        sys.stdout.write(text + "\n")
        fed["lines"] = i + 1
    sys.stdout.flush()
    for pid in children.pop(" zombies", []):
        os.waitpid(pid, 0)
    for pid in children.values():
        end(pid, "term", True)


def main():
    path = sys.argv[1]
    if os.path.exists(path + ".fed"):
        with open(path + ".fed", encoding="utf-8") as file:
            fed.update(json.load(file))
        fed["starts"] += 1
        note(path)
        return
    note(path)
    signal.signal(signal.SIGCONT, continued)
    play(path)
    fed["over"] = True
    note(path)


if __name__ == "__main__":
    main()
