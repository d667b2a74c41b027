"""The status lines that `run` and `attach` redraw on a terminal: what a person sees, and that what the command writes
comes through as if they were not there. live_line.py MIDWATCH PRACTICE_RUN [CASE...]"""
import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

from running import PROGRAM
from terminal_model import Terminal
from watching import Scratch

# Writes what is in its second argument, piece by piece, then steps until it is ended.
COMMAND = r"""
import ast, sys, time
for piece in ast.literal_eval(sys.argv[1]):
    sys.stdout.write(piece)
    sys.stdout.flush()
    time.sleep(0.35)
for step in range(int(sys.argv[2])):
    print(f"step {step + 1}/500 reward=0.{30 + step % 60} loss=0.5", flush=True)
    time.sleep(0.15)
"""


class Screen:
    """midwatch on a pseudo terminal of its own session, so that keys reach it as from a keyboard."""

    def __init__(self, base, words, columns=80, rows=24, **environment):
        self.terminal = Terminal(columns, rows)
        self.raw = ""
        pid, self.main = pty.fork()
        if pid == 0:
            os.chdir(base)
            env = {**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8", **environment}
            for name in [name for name, value in env.items() if value is None]:
                del env[name]
            time.sleep(0.2)  # until the size is set
            os.execve(PROGRAM, [PROGRAM, *words], env)
        self.pid, self.status = pid, None
        self.size(columns, rows)

    def size(self, columns, rows):
        if (columns, rows) != (self.terminal.columns, self.terminal.rows):
            self.terminal.resize(columns, rows)
        fcntl.ioctl(self.main, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and select.select([self.main], [], [], left)[0]:
            try:
                data = os.read(self.main, 65536)
            except OSError:  # EIO: the other side is closed
                return False
            text = data.decode(errors="replace")
            self.raw += text
            self.terminal.feed(text)
        return True

    def until(self, what, seconds=40):
        end = time.monotonic() + seconds
        while not re.search(what, "\n".join(self.terminal.lines())):
            assert time.monotonic() < end, f"not within {seconds} s: {what}\n" + "\n".join(self.terminal.everything())
            self.read(0.1)

    def key(self, key):
        os.write(self.main, key)

    def end(self, seconds=40):
        """The exit status; the whole of the screen is read by then."""
        end = time.monotonic() + seconds
        while self.read(0.1) and time.monotonic() < end:
            pass
        with contextlib.suppress(ChildProcessError):
            while (done := os.waitpid(self.pid, os.WNOHANG))[0] == 0:
                assert time.monotonic() < end, "midwatch goes on\n" + "\n".join(self.terminal.everything())
                self.read(0.1)
            self.status = os.waitstatus_to_exitcode(done[1])
        os.close(self.main)
        return self.status

    def shown(self):
        return "\n".join(self.terminal.everything())


def run(base, pieces, steps, *options, **rest):
    return Screen(base, ["run", "--no-host", "--home", "home", *options, "--", sys.executable, "-c", COMMAND, repr(pieces), str(steps)],
                  **rest)


def block_of(screen):
    """The rows of the status lines."""
    lines = screen.terminal.lines()
    at = [i for i, line in enumerate(lines) if line.startswith(("midwatch · ", "midwatch - ", "python"))]
    return lines[at[-1]:] if at else []


def in_run():
    with Scratch() as base:
        screen = run(base, [], 400)
        screen.until(r"midwatch · \S+ · step \d+ of 500 · last step \d s ago, usually")
        screen.until(r"reward 0\.\d+ [▁▂▃▄▅▆▇█]+")
        screen.until("no checkpoint seen")
        assert len(block_of(screen)) <= 3, screen.shown()
        screen.size(40, 20)
        screen.until(r"(?m)^step \d+ of 500 · last \d s ago$|step \d+ of 500")
        screen.read(1.5)
        assert all(len(line) <= 40 for line in screen.terminal.lines())
        assert screen.shown().count("no checkpoint seen") == 1, screen.shown()
        screen.size(100, 30)
        screen.read(1.5)
        screen.until(r"last step \d s ago, usually")
        screen.key(b"\x03")
        status = screen.end()
        assert status == 130, (status, screen.shown())
        assert "usually" not in screen.shown(), "the status lines are still there:\n" + screen.shown()
        steps = [int(n) for n in re.findall(r"(?m)^step (\d+)/500 reward=", screen.shown())]
        assert steps == list(range(1, len(steps) + 1)) and len(steps) > 10, screen.shown()
    print("in run: ok")


def output_is_untouched():
    """Bars, colours, partial lines, nested bars, a row that is exactly full: as on a terminal without midwatch."""
    pieces = ["begin\n", "partial ", "line\n", "\r10%|#   ", "\r50%|##  ", "\x1b[32mgreen ", "still\x1b[0m\n", "x" * 80, "y\n", "outer 1\ninner 1",
              "\x1b[A\router 2", "\n\rinner 2", "\x1b[A\router 3\n\n", "\tend 中文", "字\n", "\x1b]0;title", "\x07done\n"]
    with Scratch() as base:
        plain = Terminal(80, 24)
        plain.feed("".join(pieces).replace("\n", "\r\n"))
        screen = run(base, pieces, 0)
        status = screen.end()
        assert status == 0, (status, screen.shown())
        shown = [line for line in screen.terminal.everything() if not line.startswith("midwatch: ")]
        wanted = plain.everything()
        at = shown.index("begin")
        assert shown[at:at + len(wanted)] == wanted, screen.shown()
        assert "step seen yet" in screen.raw, "there were no status lines at all"
    print("output is untouched: ok")


def absent():
    """Where it is not wanted, or could not be drawn."""
    with Scratch() as base:
        for case, (options, environment) in enumerate({"quiet": (["--quiet"], {}), "json": (["--json"], {}), "dumb": ([], {"TERM": "dumb"})}.values()):
            screen = Screen(base, ["run", "--no-host", "--home", f"home{case}", "--restarts", "0", *options, "--", sys.executable, "-c", COMMAND, "[]", "12"], **environment)
            screen.end()
            assert screen.status in (0, 1) and "\x1b7" not in screen.raw and "last step" not in screen.raw, screen.raw
        screen = Screen(base, ["run", "--no-host", "--home", "home3", "--restarts", "0", "--", sys.executable, "-c", COMMAND, "[]", "12"], NO_COLOR="1")
        screen.end()
        assert "step seen yet" in screen.raw, screen.raw
        assert not re.search(r"\x1b\[[1-9][\d;]*m", screen.raw), "colours, though NO_COLOR"
        done = subprocess.run([PROGRAM, "run", "--no-host", "--home", base + "/home4", "--restarts", "0", "--", sys.executable, "-c", COMMAND, "[]", "6"],
                              cwd=base, capture_output=True, check=False, timeout=60, env={**os.environ, "TERM": "xterm"})
        assert b"\x1b" not in done.stdout + done.stderr
    print("absent: ok")


def in_attach():
    with Scratch() as base:
        with open(base + "/train.log", "w") as log:
            writer = subprocess.Popen([sys.executable, "-c", COMMAND, "[]", "400"], stdout=log)
            screen = Screen(base, ["attach", "--no-host", "--home", "home", "train.log"])
            try:
                screen.until(r"midwatch · train\.log · step \d+ of 500 · last step \d s ago, usually")
                screen.key(b"\x03")
                assert screen.end() == 0, screen.shown()
            finally:
                writer.kill()
                writer.wait()
        assert "usually" not in screen.shown() and "RUNNING" in screen.shown(), screen.shown()
    print("in attach: ok")


def late():
    """It goes on while nothing comes, and says that a step is late."""
    with Scratch() as base:
        screen = run(base, ["step %d/9 reward=0.5\n" % step for step in range(1, 8)] + ["waiting\n"] * 40, 0)
        screen.until(r"last step 1\d s ago, LATE: usually \d+ ms")
        screen.key(b"\x03")
        screen.end()
    print("late: ok")


def suspended():
    """Ctrl-Z takes the lines away before midwatch stops; they are back when it goes on."""
    with Scratch() as base:
        # With job control as a shell has it: a process group that is not an orphan.
        shell = ["-c", "import os, sys, time\np = os.fork()\nif p == 0:\n os.setpgid(0, 0)\n os.execv(sys.argv[1], sys.argv[1:])\n"
                 "import signal\nsignal.signal(signal.SIGTTOU, signal.SIG_IGN)\ntry: os.setpgid(p, p)\nexcept OSError: pass\n"
                 "os.tcsetpgrp(0, p)\nos.waitpid(p, os.WUNTRACED)\nprint('SUSPENDED', flush=True)\ntime.sleep(1.5)\nos.tcsetpgrp(0, p)\n"
                 "os.killpg(p, signal.SIGCONT)\nsys.exit(os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]))"]
        screen = Screen.__new__(Screen)
        screen.terminal, screen.raw = Terminal(80, 24), ""
        screen.pid, screen.main = pty.fork()
        if screen.pid == 0:
            os.chdir(base)
            os.environ.update({"TERM": "xterm", "LANG": "C.UTF-8"})
            os.execv(sys.executable, [sys.executable, *shell, PROGRAM, "run", "--no-host", "--home", "home", "--", sys.executable, "-c",
                                      COMMAND, "[]", "400"])
        screen.size(80, 24)
        screen.until(r"last step \d s ago, usually")
        screen.key(b"\x1a")
        screen.until("SUSPENDED")
        assert "usually" not in screen.shown(), screen.shown()
        screen.until(r"last step \d s ago, usually")
        screen.key(b"\x03")
        assert screen.end() == 130, screen.shown()
        assert "usually" not in screen.shown(), screen.shown()
    print("suspended: ok")


def terminal_stands_still():
    """Ctrl-S: the watch goes on, records and stops as asked, though nobody reads."""
    with Scratch() as base:
        screen = run(base, [], 400)
        screen.until(r"last step \d s ago, usually")
        screen.key(b"\x13")
        time.sleep(0.3)
        before = subprocess.run([PROGRAM, "status", "--home", base + "/home"], capture_output=True, check=False, timeout=60).stdout.decode()
        time.sleep(3)
        after = subprocess.run([PROGRAM, "status", "--home", base + "/home"], capture_output=True, check=False, timeout=60).stdout.decode()
        steps = [int(re.search(r"step (\d+) of", text).group(1)) for text in (before, after)]
        assert steps[1] > steps[0] + 5, (before, after)
        screen.key(b"\x11")
        screen.read(2)
        screen.key(b"\x03")
        assert screen.end() == 130, screen.shown()
        shown = [int(n) for n in re.findall(r"(?m)^step (\d+)/500 reward=", screen.shown())]
        assert shown == list(range(1, len(shown) + 1)), screen.shown()
    print("terminal stands still: ok")


def command_is_killed():
    """The command dies: the lines are gone at the end, and the report begins on a row of its own."""
    with Scratch() as base:
        screen = Screen(base, ["run", "--no-host", "--home", "home", "--restarts", "0", "--", sys.executable, "-c",
                               "import os, time; print('half a li', end='', flush=True); time.sleep(2); os.kill(os.getpid(), 9)"])
        assert screen.end() == 128 + signal.SIGKILL, screen.shown()
        lines = screen.terminal.everything()
        assert "half a li" in lines, screen.shown()
        assert "no step seen yet" not in screen.shown() and "no step seen yet" in screen.raw, screen.shown()
    print("command is killed: ok")


CASES = [in_run, output_is_untouched, absent, in_attach, late, suspended, terminal_stands_still, command_is_killed]
wanted = sys.argv[3:]
for case in CASES:
    if not wanted or case.__name__ in wanted:
        case()
