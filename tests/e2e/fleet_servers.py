"""What the tests of a run on real servers share: how they begin, and what they do where a server is missing."""
import os
import shutil
import socket
import subprocess
import sys

import skips
from fleet import undisturbed
from watching import Scratch


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def missing(*tools):
    """Why it cannot be tried here; "" when it can."""
    places = os.environ["PATH"] + ":/usr/sbin:/sbin"
    lacking = [tool for tool in tools if not shutil.which(tool, path=places)]
    return f"{lacking[0]} is missing (scripts/setup fleet installs it)" if lacking else "" if os.geteuid() == 0 else "it needs root"


class Servers:
    """Child processes that end with the test, the last one first."""

    def __init__(self):
        self.children = []

    def run(self, *words):
        child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.children.append(child)
        return child

    def end(self):
        for child in reversed(self.children):
            child.terminate()
        for child in self.children:
            try:
                child.wait(30)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def run_cases(cases, lacking):
    """Those that are named on the command line, or all; each in a folder of its own. Exits."""
    wanted = [case for case in cases if not sys.argv[3:] or case.__name__ in sys.argv[3:]]
    expected = None if lacking else undisturbed()
    for case in wanted:
        if lacking:
            skips.skip(case.__name__, lacking)
            continue
        with Scratch() as base:
            case(base, expected)
        print(f"ok: {case.__name__}", flush=True)
    raise SystemExit(skips.status())
