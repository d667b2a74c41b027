"""Keepers without a midwatch, for the tests of what they do."""
import json
import os
import subprocess
import time

from watching import MIDWATCH

KEEPER = os.path.abspath(MIDWATCH)


class Folder:
    def __init__(self, base, command, output=None, rotate=1 << 40, environment=None, attempt=0):
        self.path = os.path.join(base, "attempt")
        os.makedirs(self.path)
        self.output = output or os.path.join(base, "out.log")
        with open(os.path.join(self.path, "launch.json"), "w") as file:
            json.dump({"version": 1, "command": command, "folder": base, "environment": environment or {},
                       "output": self.output, "rotate_bytes": rotate, "attempt": attempt}, file)

    def keep(self):
        return subprocess.Popen([KEEPER, "keep"], cwd=self.path, stdin=subprocess.DEVNULL)

    def record(self):
        """The lines of the record so far, as {what: line}; the last of each kind."""
        found = {}
        place = os.path.join(self.path, "record")
        for name in sorted(os.listdir(place)) if os.path.isdir(place) else []:
            with open(os.path.join(place, name), "rb") as file:
                for line in file.read().split(b"\n")[:-1]:
                    entry = json.loads(line.split(b" ", 2)[2])
                    found[entry.get("what", "head")] = entry
        return found

    def wait_for(self, what, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            record = self.record()
            if what in record:
                return record[what]
            time.sleep(0.01)
        raise AssertionError(f"no '{what}' within {seconds} s: {self.record()}")

    def text(self):
        parts = []
        number = 1
        while os.path.exists(f"{self.output}.{number}"):
            parts.append(open(f"{self.output}.{number}", "rb").read())
            number += 1
        return parts + [open(self.output, "rb").read()]


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
