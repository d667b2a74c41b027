"""The keeper with real processes: endings, killed keepers, orphans, rotation, a full disk, hostile signals."""
import contextlib
import os
import signal
import subprocess
import sys
import time

import skips
from keeping import KEEPER, Folder, alive
from watching import Scratch


def endings(base):
    cases = [(["sh", "-c", "echo one; echo two >&2; exit 3"], {"code": 3, "signal": 0}, b"one\ntwo\n"),
             (["sh", "-c", "printf 'no end'; kill -KILL $$"], {"code": -1, "signal": 9}, b"no end"),
             (["sh", "-c", "echo $COLOUR; pwd; ulimit -c 0; kill -SEGV $$"], {"signal": 11, "core": False}, None),
             (["sh", "-c", "cat; exit 0"], {"code": 0, "known": True}, b"")]
    for number, (command, expected, text) in enumerate(cases):
        place = os.path.join(base, str(number))
        os.makedirs(place)
        folder = Folder(place, command, environment={"COLOUR": "blue = green"})
        assert folder.keep().wait(30) == 0
        ended = folder.record()["ended"]
        assert all(ended[key] == value for key, value in expected.items()), ended
        assert "done" in folder.record()
        got = b"".join(folder.text())
        assert got == (text if text is not None else b"blue = green\n" + place.encode() + b"\n"), got
        assert not os.path.exists(os.path.join(folder.path, "pipe")), "the pipe is tidied away"


def no_such_command(base):
    folder = Folder(base, ["no-such-trainer", "--x"])
    assert folder.keep().wait(30) == 1
    why = folder.record()["failed"]["why"]
    assert "no-such-trainer" in why and "No such file" in why, why
    assert folder.keep().wait(30) == 1, "an ended folder is not started again"
    assert "started" not in folder.record()


def killed_keeper(base):
    """The command neither dies nor waits when its keeper is killed, and the next keeper loses no line."""
    count = 3000
    folder = Folder(base, ["sh", "-c", f"i=0; while [ $i -lt {count} ]; do i=$((i+1)); echo line $i; "
                                       "[ $((i % 100)) = 0 ] && sleep 0.1; done; exit 5"])
    keeper = folder.keep()
    child = folder.wait_for("started")["pid"]
    for _ in range(3):
        time.sleep(0.4)
        keeper.kill()
        keeper.wait()
        assert alive(child), "the command dies with its keeper"
        time.sleep(0.2)
        keeper = folder.keep()
    assert keeper.wait(60) == 0
    ended = folder.record()["ended"]
    # No keeper was there to be notified; where the status is still known later, it is right.
    assert ended["code"] == (5 if ended["known"] else -1), ended
    lines = b"".join(folder.text()).decode().splitlines()
    assert lines == [f"line {i}" for i in range(1, count + 1)], f"{len(lines)} lines"


def one_keeper_at_a_time(base):
    folder = Folder(base, ["sh", "-c", "echo began >> began; sleep 1"])
    first = folder.keep()
    folder.wait_for("started")
    assert folder.keep().wait(30) == 1
    assert first.wait(30) == 0
    assert open(os.path.join(base, "began")).read() == "began\n", "it was started twice"


def orphans(base):
    """The end of the command is recorded at once; the keeper stays for the processes that the command left behind."""
    folder = Folder(base, ["sh", "-c", "setsid sh -c 'sleep 6; echo late' & echo early; exit 0"])
    keeper = folder.keep()
    folder.wait_for("ended")
    assert keeper.poll() is None and b"late" not in b"".join(folder.text())
    assert keeper.wait(30) == 0
    assert b"".join(folder.text()) == b"early\nlate\n"


def rotation(base):
    """Every file ends at a line's end, and together they are what was written."""
    folder = Folder(base, [sys.executable, "-c", "import sys\nfor i in range(900000): sys.stdout.write('record %07d\\n' % i)"],
                    rotate=3_000_000)
    assert folder.keep().wait(60) == 0
    parts = folder.text()
    assert len(parts) > 3 and all(part.endswith(b"\n") for part in parts), [len(p) for p in parts]
    assert b"".join(parts) == b"".join(b"record %07d\n" % i for i in range(900000))


def full_disk(base):
    """A full disk under the log does not make the command wait; what is lost is counted, and it heals."""
    small = os.path.join(base, "small")
    os.makedirs(small)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", small], stderr=subprocess.DEVNULL).returncode != 0:
        skips.skip("full_disk", "no right to mount a small tmpfs here")
        return
    try:
        blob = os.path.join(small, "blob")
        with open(blob, "wb") as file:
            file.write(b"x" * 1_000_000)
        folder = Folder(base, [sys.executable, "-c",
                               "import os, time\nline = b'y' * 999 + b'\\n'\nfor i in range(40000): os.write(1, line)\n"
                               "open('wrote', 'w').close()\n"
                               "while not os.path.exists('go'): time.sleep(0.01)\nos.write(1, b'the end\\n')"],
                        output=os.path.join(small, "out.log"))
        keeper = folder.keep()
        end = time.monotonic() + 30
        while not os.path.exists(os.path.join(base, "wrote")):
            assert time.monotonic() < end, "the command waits for its log"
            time.sleep(0.01)
        lost = folder.wait_for("lost")["bytes"]
        time.sleep(0.5)
        lost = folder.record()["lost"]["bytes"]
        assert lost > 10_000_000, lost
        subprocess.run(["mount", "-o", "remount,size=60m", small], check=True)
        open(os.path.join(base, "go"), "w").close()
        assert keeper.wait(30) == 0
        text = b"".join(folder.text())
        assert text.endswith(b"the end\n")
        assert len(text) + lost == 40_000_000 + len(b"the end\n"), (len(text), lost)
    finally:
        subprocess.run(["umount", "-l", small], check=False)


def signals(base):
    """What people and clean-up scripts send does not end a keeper; its command line names nothing."""
    folder = Folder(base, ["sh", "-c", "sleep 2; exit 7"])
    keeper = folder.keep()
    child = folder.wait_for("started")["pid"]
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1):
        keeper.send_signal(number)
    with open(f"/proc/{keeper.pid}/cmdline", "rb") as file:
        assert file.read().split(b"\0")[1:] == [b"keep", b""]
    assert os.getsid(child) == child, "the command has a session of its own"
    with open(f"/proc/{child}/status") as file:
        ignored = next(line for line in file if line.startswith("SigIgn"))
    assert int(ignored.split()[1], 16) == 0, ignored
    assert keeper.wait(30) == 0
    assert folder.record()["ended"]["code"] == 7


def files_of(pid):
    """What a process has open; files that it closes meanwhile are left out."""
    found = []
    for one in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            found.append(os.readlink(f"/proc/{pid}/fd/{one}"))
    return found


def own_files_only(base):
    """Neither the command nor the keeper holds a file that midwatch, or whoever started it, has open."""
    held, other = os.pipe()
    run = subprocess.Popen([KEEPER, "run", "--home", f"{base}/home", "--no-host", "--", "sleep", "987"], cwd=base, pass_fds=(held, other),
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    mine = os.readlink(f"/proc/self/fd/{other}")

    def attempt():
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    if file.read() == b"sleep\x00987\x00" and os.readlink(f"/proc/{pid}/cwd") == os.path.realpath(base):
                        return pid
            except OSError:
                pass
        return None

    end = time.monotonic() + 30
    while attempt() is None:
        assert time.monotonic() < end and run.poll() is None, "it did not start"
        time.sleep(0.02)
    child = attempt()
    with open(f"/proc/{child}/stat") as file:
        keeper = file.read().rsplit(")", 1)[1].split()[1]
    # The loader of a new program opens and closes its libraries first; what was handed down stays open.
    while sorted(os.listdir(f"/proc/{child}/fd")) != ["0", "1", "2"]:
        assert time.monotonic() < end, os.listdir(f"/proc/{child}/fd")
        time.sleep(0.02)
    of_keeper = files_of(keeper)
    assert mine in files_of(run.pid) and mine not in of_keeper
    run.send_signal(signal.SIGTERM)
    assert run.wait(30) == 128 + signal.SIGTERM
    os.close(held)
    os.close(other)


for test in (endings, own_files_only, no_such_command, killed_keeper, one_keeper_at_a_time, orphans, rotation, full_disk, signals):
    with Scratch() as base:
        began = time.monotonic()
        test(base)
        print(f"{test.__name__} ok, {time.monotonic() - began:.1f} s")
sys.exit(skips.status())
