"""What midwatch run is given as its standard input is what the command reads, in every attempt."""
import os
import subprocess
import sys
import time

from running import PROGRAM, Run, output, reattach, wait_until
from watching import Scratch


def shell(base, line, seconds=60):
    """A line of a launch script, with midwatch as $M."""
    environment = dict(os.environ, M=f"{PROGRAM} run --quiet --no-host --first-wait 0.2 --home {base}/home")
    done = subprocess.run(["bash", "-c", line], cwd=base, env=environment, capture_output=True, timeout=seconds, check=False)
    return done.returncode, done.stdout.decode() + done.stderr.decode()


def written(base, name="out"):
    with open(os.path.join(base, name)) as file:
        return file.read().split()


def program(base):
    """A heredoc, a file, a pipe that is slow: the program is read."""
    with open(os.path.join(base, "go.sh"), "w") as file:
        file.write("echo ran $1 >> out; exit 3\n")
    for line in ("$M --name a -- bash -s here <<'EOF'\necho ran $1 >> out\nexit 3\nEOF", "$M --name b -- bash -s file < go.sh",
                 "(sleep 2; cat go.sh) | $M --name c -- bash -s pipe",
                 "$M --name d -- python3 - code <<'EOF'\nimport sys\nprint('ran', sys.argv[1], file=open('out', 'a'))\nsys.exit(3)\nEOF"):
        code, text = shell(base, line.replace("$M", "$M --restarts 0"))
        assert code == 3, (line, text)
    assert written(base) == ["ran", "here", "ran", "file", "ran", "pipe", "ran", "code"], written(base)


def answers(base):
    """A command that reads answers gets them, and in the next attempt the same ones."""
    with open(os.path.join(base, "ask.sh"), "w") as file:
        file.write("read a; read b; echo $a-$b >> out; [ $(wc -l < out) = 1 ] && kill -9 $$; exit 0\n")
    for line in ("printf 'yes\\n7\\n' | $M --name a -- bash ask.sh", "$M --name b -- bash ask.sh <<< $'yes\\n7'"):
        code, text = shell(base, line)
        assert code == 0 and "2 attempts" in text, text
        assert written(base) == ["yes-7", "yes-7"], written(base)
        os.remove(os.path.join(base, "out"))


def other_loop(base):
    """The list that a loop of the launch script reads is not eaten by the run in it."""
    code, text = shell(base, "printf '1\\n2\\n3\\n' | while read x; do $M --name r$x -- bash -c \"echo $x >> out\"; done")
    assert code == 0 and written(base) == ["1", "2", "3"], text


def open_pipe(base):
    """What does not end is not waited for: it is said that the command gets none of it."""
    code, text = shell(base, "(echo yes; sleep 30 & echo $! > sleeper; wait) | { $M -- bash -c 'cat >> out; echo end >> out'; kill $(cat sleeper); }", 25)
    assert "standard input is empty" in text and written(base) == ["end"], text
    code, text = shell(base, "sleep 30 > >($M --name quiet -- bash -c 'echo end >> out') & s=$!; sleep 8; kill $s", 25)
    assert written(base) == ["end", "end"], text


def killed_midwatch(base):
    """The next midwatch gives the same input to the next attempt."""
    with open(os.path.join(base, "in"), "w") as file:
        file.write("mkdir one && exec sleep 300\necho second >> out\n")
    with open(os.path.join(base, "in")) as file:
        run = Run.__new__(Run)
        run.base = base
        run.process = subprocess.Popen([PROGRAM, "run", "--home", os.path.join(base, "home"), "--no-host", "--first-wait", "0.2", "--", "bash", "-s"],
                                       cwd=base, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until("the first attempt", lambda: os.path.isdir(os.path.join(base, "one")) and "attempt 1 began" in output(run))
    run.process.kill()
    run.process.communicate()
    os.remove(os.path.join(base, "in"))
    run = reattach(base, "--no-host")
    for place in os.listdir("/proc"):
        try:
            if place.isdigit() and os.readlink(f"/proc/{place}/cwd") == base and open(f"/proc/{place}/cmdline").read().startswith("sleep\x00300"):
                os.kill(int(place), 9)
        except OSError:
            pass
    assert run.end() == 0, run.err
    assert written(base) == ["second"] and os.stat(os.path.join(run.folder(), "input")).st_mode & 0o77 == 0


for test in (program, answers, other_loop, open_pipe, killed_midwatch):
    with Scratch() as scratch:
        began = time.monotonic()
        test(scratch)
        print(f"{test.__name__} ok, {time.monotonic() - began:.1f} s", flush=True)
sys.exit(0)
