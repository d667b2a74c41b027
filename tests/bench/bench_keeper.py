"""The keeper: output against `command | cat > file`, and how soon the end of the command is written down."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

from table import Table

MIDWATCH = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "build", "midwatch"))
CHATTY = ("import os\nblock = (b'x' * 127 + b'\\n') * 8192\nfor i in range(2000):\n  done = 0\n"
          "  while done < len(block): done += os.write(1, block[done:])")
BYTES = 2000 * 8192 * 128
LAST_WORDS = "import os, time\nos.write(1, b'%d' % time.time_ns())\nos._exit(0)"


def keep(base, source):
    place = os.path.join(base, "keeper")
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place)
    output = os.path.join(base, "out.log")
    if os.path.exists(output):
        os.remove(output)
    with open(os.path.join(place, "launch.json"), "w") as file:
        json.dump({"version": 1, "command": [sys.executable, "-c", source], "folder": base, "environment": {},
                   "output": output, "rotate_bytes": 1 << 40}, file)
    began = time.monotonic()
    subprocess.run([MIDWATCH, "keep"], cwd=place, check=True)
    return time.monotonic() - began, output, place


def piped(base):
    output = os.path.join(base, "cat.log")
    began = time.monotonic()
    subprocess.run(f'"{sys.executable}" -c "$SOURCE" | cat > "{output}"', shell=True, env={**os.environ, "SOURCE": CHATTY},
                   check=True)
    spent = time.monotonic() - began
    os.remove(output)
    return spent


def ended_after(base):
    """Seconds from the command's last act to the durable record of its end."""
    _, output, place = keep(base, LAST_WORDS)
    with open(output) as file:
        last_act = int(file.read())
    with open(os.path.join(place, "record", "00000001.journal")) as file:
        ended = next(json.loads(line.split(" ", 2)[2]) for line in file if '"ended"' in line)
    return (ended["at_ns"] - last_act) / 1e9


def main():
    table = Table()
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as base:
        kept, cat = [], []
        for _ in range(5):  # in turn, so that a busy machine slows both
            kept.append(keep(base, CHATTY)[0])
            assert os.path.getsize(os.path.join(base, "out.log")) == BYTES
            cat.append(piped(base))
        table.figure("output through the keeper, best of 5", BYTES / min(kept) / 1e9, "GB/s")
        table.at_least("the same against `command | cat > file`", min(cat) / min(kept), "x", 0.8)
    with tempfile.TemporaryDirectory() as base:
        waits = sorted(ended_after(base) for _ in range(200))
        table.figure("end of the command to its record, median of 200", waits[100] * 1e3, "ms")
        table.at_most("end of the command to its record, p99", waits[197] * 1e3, "ms", 50)
    return 1 if table.failed else 0


sys.exit(main())
