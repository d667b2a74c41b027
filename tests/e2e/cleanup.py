"""What dead processes of a run left in shared memory and of Ray's sessions, and midwatch cleanup.

cleanup.py MIDWATCH PRACTICE_RUN
"""
import contextlib
import ctypes
import json
import mmap
import os
import pty
import signal
import subprocess
import sys

from running import PROGRAM, Run, midwatch, processes_of, wait_until
from watching import Scratch

# An attempt: it maps what it makes in shared memory, starts a "raylet", and lives until a file appears. It ignores
# what the attempt before left there.
TRAINER = r'''
import mmap, os, signal, subprocess, sys, time
base, shared, attempt = sys.argv[1], sys.argv[2], os.environ["MIDWATCH_ATTEMPT"]
maps = []
def share(name, create=True):
    path = os.path.join(shared, name)
    with open(path, "r+b" if not create else "w+b") as file:
        if create:
            file.truncate(1 << 20)
            file.write(b"x" * (1 << 20))
            file.flush()
        maps.append(mmap.mmap(file.fileno(), 1 << 20))
share("psm_0000000" + attempt)
share("nccl-AAAAA" + attempt)
share("torch_%d_4711_%s" % (os.getpid(), attempt))
share("staged-dataset-" + attempt)
if attempt == "1":
    share("psm_heldhere", create=False)
session = os.path.join(base, "ray", "session_2026-02-19_09-08-1%s_123456_%d" % (attempt, os.getpid()))
for folder in ("logs", "sockets"):
    os.makedirs(os.path.join(session, folder))
with open(os.path.join(session, "logs", "raylet.out"), "w") as file:
    file.write("x" * 100000)
for folder, _, files in os.walk(session, topdown=False):
    for name in files:
        os.utime(os.path.join(folder, name), (1, 1))
    os.utime(folder, (1, 1))
raylet = subprocess.Popen([os.path.join(base, "raylet"), "--raylet_socket_name=" + session + "/sockets/raylet"])
print("attempt", attempt, "is up", flush=True)
while not os.path.exists(os.path.join(base, "die-" + attempt)):
    time.sleep(0.05)
os.kill(os.getpid(), signal.SIGKILL)
'''
RAYLET = "#!/bin/sh\nsleep 600\n"


class SharedMemory:
    """Shared memory of the test's own where a file system may be mounted, else a plain folder."""

    def __init__(self, path):
        self.path, self.libc = path, ctypes.CDLL(None, use_errno=True)
        os.makedirs(path)

    def __enter__(self):
        self.mounted = self.libc.mount(b"midwatch-e2e", self.path.encode(), b"tmpfs", 0, b"size=64m") == 0
        return self.path

    def __exit__(self, *_):
        if self.mounted:
            self.libc.umount2(self.path.encode(), 2)  # MNT_DETACH


def cleanup(base, *words):
    code, text = midwatch(base, "cleanup", "--json", *words)
    return code, json.loads(text[: text.rindex("}") + 1])


def names(result, part="items"):
    return sorted(os.path.basename(item["path"]) for item in result[part])


def resources(run):
    try:
        with open(os.path.join(run.folder(), "resources.json")) as file:
            return sorted(item["name"] for item in json.load(file)["all"])
    except (FileNotFoundError, IndexError):
        return []


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


class Staged:
    """A run in its second attempt, whose first one died and left everything."""

    def __init__(self, base, shared, mode, *more):
        self.base, self.shared = base, shared
        write(os.path.join(base, "raylet"), RAYLET)
        os.chmod(os.path.join(base, "raylet"), 0o755)
        write(os.path.join(base, "trainer.py"), TRAINER)
        write(os.path.join(base, "midwatch.toml"), f'[cleanup]\nmode = "{mode}"\nshared_memory = "{shared}"\n')
        for name in ("psm_somebody", "psm_heldhere"):  # of somebody else of the same user, one of them in use
            with open(os.path.join(shared, name), "w") as file:
                file.truncate(1 << 20)
        self.held = open(os.path.join(shared, "psm_heldhere"), "r+b")
        self.map = mmap.mmap(self.held.fileno(), 1 << 20)
        self.run = Run(base, [sys.executable, os.path.join(base, "trainer.py"), base, shared], "--first-wait", "0.1", "--no-host", *more)

    def up(self, attempt):
        """It is up, and midwatch knows its resources."""
        def seen():
            known = resources(self.run)
            return f"psm_0000000{attempt}" in known and [n for n in known if n.startswith(f"session_2026-02-19_09-08-1{attempt}")]
        wait_until(f"resources of attempt {attempt}", seen, 60)

    def end(self):
        subprocess.run([PROGRAM, "stop", "--now", "--home", os.path.join(self.base, "home")], capture_output=True, check=False)
        if self.run.process.poll() is None:
            self.run.process.terminate()
            self.run.process.wait(30)
        for word in (os.path.join(self.base, "trainer.py"), "keep", os.path.join(self.base, "raylet"), "600"):
            for pid in processes_of(self.base, word):
                os.kill(pid, signal.SIGKILL)


def left_by_first(base):
    return sorted(["nccl-AAAAA1", "psm_00000001"] +
                  [n for n in os.listdir(os.path.join(base, "shared")) if n.startswith("torch_") and n.endswith("_1")] +
                  [n for n in os.listdir(os.path.join(base, "ray")) if "_09-08-11_" in n])


def by_person():
    """A live attempt's resources stay; a dead one's are deleted on request, whether a midwatch watches or not."""
    with Scratch() as base, SharedMemory(os.path.join(base, "shared")) as shared:
        staged = Staged(base, shared, "ask")
        try:
            staged.up(1)
            code, result = cleanup(base)
            assert code == 0 and names(result) == [], result
            assert "psm_00000001" in names(result, "left") and "psm_somebody" not in names(result), result
            write(os.path.join(base, "die-1"), "")
            staged.up(2)
            code, result = cleanup(base)
            assert code == 7 and names(result) == left_by_first(base), (code, result)
            assert result["bytes"] >= 3 << 20, result
            code, result = cleanup(base, "--dry-run", "--what", "ray-sessions")
            assert code == 0 and len(names(result)) == 1, result
            code, result = cleanup(base, "--yes", "--what", "shared-memory")
            assert code == 0 and result["freed"] and len(result["items"]) == 3 and all(item["done"] for item in result["items"]), result
            there = os.listdir(shared)
            for name in ("psm_00000002", "nccl-AAAAA2", "staged-dataset-1", "staged-dataset-2", "psm_somebody", "psm_heldhere"):
                assert name in there, (name, there)
            assert "psm_00000001" not in there, there
            staged.run.process.kill()  # nobody watches; the attempt goes on
            staged.run.process.wait()
            code, result = cleanup(base, "--yes")
            assert code == 0 and len(result["items"]) == 1 and result["items"][0]["done"], result
            sessions = os.listdir(os.path.join(base, "ray"))
            assert len(sessions) == 1 and "_09-08-12_" in sessions[0], sessions
            assert processes_of(base, os.path.join(base, "trainer.py")), "the attempt goes on"
            code, text = midwatch(base, "status", "--json")
            actions = [a for a in json.loads(text)["actions"] if a["action"] == "cleanup"]
            assert len(actions) == 4 and all(a["ok"] for a in actions), actions
            code, text = midwatch(base, "report")
            assert "What midwatch did" in text and "psm_00000001" in text, text
        finally:
            staged.end()
    print("by a person: ok")


def asked_on_a_terminal():
    """On a terminal it asks for a yes: anything else leaves all as it is."""
    with Scratch() as base, SharedMemory(os.path.join(base, "shared")) as shared:
        staged = Staged(base, shared, "ask")
        try:
            staged.up(1)
            write(os.path.join(base, "die-1"), "")
            staged.up(2)
            for answer, status in (("no", 7), ("yes", 0)):
                main, side = pty.openpty()
                process = subprocess.Popen([PROGRAM, "cleanup", "--what", "shared-memory", "--home", os.path.join(base, "home")],
                                           stdin=side, stdout=side, stderr=side)
                os.close(side)
                os.write(main, answer.encode() + b"\n")
                shown = b""
                with contextlib.suppress(OSError):  # EIO: the other side is closed
                    while piece := os.read(main, 4096):
                        shown += piece
                os.close(main)
                assert process.wait(30) == status and b"Type yes" in shown, (answer, shown.decode())
                assert ("psm_00000001" in os.listdir(shared)) == (answer == "no"), shown.decode()
            code, text = midwatch(base, "cleanup", "--what", "everything")
            assert code == 2 and "ray-sessions" in text, text
        finally:
            staged.end()
    print("asked on a terminal: ok")


def by_itself():
    """With --unattended, as with mode = "act", stale shared memory is deleted as soon as its attempt is dead; Ray's session stays until space is short."""
    with Scratch() as base, SharedMemory(os.path.join(base, "shared")) as shared:
        staged = Staged(base, shared, "ask", "--unattended")
        try:
            staged.up(1)
            write(os.path.join(base, "die-1"), "")
            wait_until("freed", lambda: "psm_00000001" not in os.listdir(shared), 30)
            staged.up(2)
            there = os.listdir(shared)
            assert "psm_00000002" in there and "psm_somebody" in there and "psm_heldhere" in there, there
            assert len(os.listdir(os.path.join(base, "ray"))) == 2
        finally:
            staged.end()
    print("by itself: ok")


if __name__ == "__main__":
    by_person()
    asked_on_a_terminal()
    by_itself()
