"""Disks that fill up under a run: that of midwatch's own record, and that of the checkpoints, where old ones go once newer
ones are in the store; and what a full disk leaves behind, a save of nothing but metadata.

full_disks.py MIDWATCH PRACTICE_RUN
"""
import contextlib
import json
import os
import re
import subprocess
import sys
import threading
import time

import skips
from running import Run, midwatch, output, wait_until
from watching import Scratch

# Speaks as verl does. Resumes from what its pointer names; saves every other step; in `bad` steps metadata only.
TRAINER = r'''
import array, json, os, random, struct, sys, time
root, steps, pace, megabytes, padding, bad = sys.argv[1], *map(float, sys.argv[2:6]), [int(one) for one in sys.argv[6:]]
pointer = root + "/latest_checkpointed_iteration.txt"
def weights(path):
    size = int(megabytes * 1e6) // 4 * 4
    header = json.dumps({"w": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        numbers = array.array("f", (random.gauss(0, 1) for _ in range(4096))).tobytes()
        for at in range(0, size, len(numbers)):
            file.write(numbers[:size - at])
first = int(open(pointer).read()) if os.path.exists(pointer) else 0
for step in range(first + 1, int(steps) + 1):
    time.sleep(pace)
    print(f"step:{step} - actor/entropy:0.5 - critic/rewards/mean:{0.01 * step:.3f} - training/global_step:{step}", "x" * int(padding), flush=True)
    if root and step % 2 == 0:
        folder = f"{root}/global_step_{step}"
        os.makedirs(folder, exist_ok=True)
        for name in ("config.json", "trainer_state.json"):
            with open(f"{folder}/{name}", "w") as file:
                json.dump({"step": step, "padding": "y" * 200_000}, file)
        if step not in bad:
            weights(folder + "/model.safetensors")
        with open(pointer, "w") as file:
            file.write(str(step))
        print(f"local_global_step_folder: {folder}", flush=True)
print("Training finished", flush=True)
sys.exit(int(os.environ.get("ENDS_WITH", "0")))
'''


class Disk:
    """A small disk in memory."""

    def __init__(self, path, size):
        self.path, self.size = path, size

    def __enter__(self):
        os.makedirs(self.path)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.size}", "none", self.path], check=False).returncode != 0:
            raise PermissionError("a tmpfs cannot be mounted here")
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", "-l", self.path], check=True)

    def fill(self):
        """To the last byte."""
        with contextlib.suppress(OSError), open(self.path + "/filler", "ab", buffering=0) as file:
            while file.write(bytes(4096)):
                pass

    @contextlib.contextmanager
    def kept_full(self, seconds):
        """For so long, or until the block ends. Then there is room again."""
        over = threading.Event()

        def fill():
            last = time.monotonic() + seconds
            while not over.wait(0.05) and time.monotonic() < last:
                self.fill()
            os.remove(self.path + "/filler")
        filler = threading.Thread(target=fill)
        filler.start()
        try:
            yield
        finally:
            over.set()
            filler.join()


def trainer(base, *words):
    with open(base + "/train.py", "w") as file:
        file.write(TRAINER)
    return [sys.executable, base + "/train.py", *map(str, words)]


def record(base, ends_with, room_comes):
    """The disk of the record is too small for any reserve, and full while the run goes on."""
    with Disk(base + "/home", "4m") as disk:
        os.environ["ENDS_WITH"] = str(ends_with)
        run = Run(base, trainer(base, "", 160, 0.1, 0, 2000), "--no-host", "--restarts", "1", "--first-wait", "0.1", "--name", "r")
        wait_until("it began", lambda: os.path.exists(base + "/home/runs/r/output/train.log"))
        time.sleep(1)
        began = time.monotonic()
        with disk.kept_full(10 if room_comes else 60):
            code = run.end()
        took = time.monotonic() - began
        assert "THE DISK OF THE RUN'S RECORD IS FULL" in run.err and "Free 32.0 MB on the disk of" in run.err, run.err[-2000:]
        assert run.err.count("IS FULL") == 1 and "died-silently" not in run.out + run.err, run.err[-3000:]
        return code, took, run


def healthy_with_a_full_record(base):
    """It is watched to its end, and ends as it did; nothing is said of it that is not so."""
    code, took, run = record(base, 0, False)
    shown = [int(one) for one in re.findall(r"^step:(\d+) ", run.out, re.M)]
    assert code == 0 and shown == list(range(1, 161)), (code, shown)
    assert "FINISHED  steps 1 to 160" in run.err and "No incident" in run.err, run.err[-3000:]
    assert took < 16 + 12, took  # its steps take 16 s
    assert "its last" in run.err and "are lost" in run.err, run.err[-3000:]


def healthy_until_there_is_room(base):
    """What waited in memory is written then, and the record says so."""
    code, _, run = record(base, 0, True)
    assert code == 0 and "nothing is missing" in run.err, (code, run.err[-3000:])
    assert "No incident" in run.err, run.err[-3000:]


def never_weights(base):
    """No save of the run holds weights: it has nothing to go back to, and nobody is sent back to one of them."""
    os.environ["ENDS_WITH"] = "3"
    run = Run(base, trainer(base, base + "/ck", 9, 0.3, 1, 0, 2, 4, 6, 8), "--checkpoints", base + "/ck", "--no-host", "--restarts", "0", "--name", "r")
    assert run.end() == 3, run.err[-2000:]
    assert "None of the run's checkpoints so far can be resumed from" in " ".join(run.err.split()), run.err[-3000:]
    assert "Resume from step" not in run.err and "No checkpoint to resume from was seen" in run.err, run.err[-3000:]
    said = " ".join(run.err.split())
    assert "none of the 4 checkpoints on the disk is proved whole (step 8: there are no weights in it" in said, run.err[-3000:]
    _, text = midwatch(base, "report")
    assert "on disk, not proved whole: there are no weights in it" in text, text[-3000:]


def failed_until_there_is_room(base):
    """A restart waits for room: it is recorded first."""
    with Disk(base + "/home", "4m") as disk:
        os.environ["ENDS_WITH"] = "3"
        run = Run(base, trainer(base, "", 40, 0.1, 0, 2000), "--no-host", "--restarts", "1", "--first-wait", "0.1", "--name", "r")
        wait_until("it began", lambda: "attempt 1 began" in output(run))  # before that the start itself would wait
        with disk.kept_full(8):  # the steps take 4 s
            assert run.end() == 3, run.err[-2000:]
        assert "waits 10m 00s at most for room" in run.err and "attempt 2 began" in run.err, run.err[-3000:]
        _, text = midwatch(base, "status", "--json")
        assert "could not be written from" in text and "nothing is missing" in text, text


def waits_for_the_store(base):
    """The fourth save does not fit. Old checkpoints go once a newer one is in the store, and then the run goes on."""
    os.environ["ENDS_WITH"] = "0"
    with open(base + "/midwatch.toml", "w") as file:
        file.write('[retention]\nkeep_last = 1\n[store]\nlimit = "4MB"\n')
    with Disk(base + "/ck", "64m"):
        run = Run(base, trainer(base, base + "/ck", 10, 0.4, 16, 0), "--config", base + "/midwatch.toml", "--store", base + "/store/r",
                  "--checkpoints", base + "/ck", "--first-wait", "0.2", "--restarts", "5", "--name", "r")
        wait_until("it waits", lambda: "waits for step" in midwatch(base, "status", "--json")[1], 30)
        code = run.end(180)
        words = re.search(r"the next attempt waits for step (\d+) to be in the store, 10m 00s at most; then old\s+checkpoints go, which frees (\d\d)", run.err)
        assert words and int(words[1]) in (4, 6, 8), run.err
        assert code == 0 and "Training finished" in run.out, (code, run.err[-4000:])
        assert run.err.index("waits for step") < run.err.index("removed ") < run.err.index("attempt 2 began"), run.err
        assert "attempt 2 differs from attempt 1 in nothing" in run.err, run.err


def metadata_only(base):
    """A save without weights in the middle of a run that is over in seconds; and a run without one."""
    os.environ["ENDS_WITH"] = "0"
    for name, bad in (("middle", [6]), ("first", [2]), ("none", [])):
        os.makedirs(f"{base}/{name}/ck")
        place = f"{base}/{name}"
        run = Run(place, trainer(place, place + "/ck", 12, 0.1, 2, 0, *bad), "--checkpoints", place + "/ck", "--name", name)
        assert run.end() == 0, run.err
        code, text = midwatch(place, "incidents", "--json")
        found = [one for one in json.loads(text)["incidents"] if one["kind"] == "checkpoint-incomplete"]
        assert len(found) == len(bad), (name, text)
        for one in found:
            said = one["summary"]
            assert f"step {bad[0]} is not whole" in said and "only 400 KB of settings" in said and "2.4 MB with weights" in said, said
            assert f"{place}/ck/global_step_{bad[0]}" in said and one["severity"] in ("critical", "warning"), one


def main():
    for case in (healthy_with_a_full_record, healthy_until_there_is_room, failed_until_there_is_room, waits_for_the_store, metadata_only,
                 never_weights):
        with Scratch() as base:
            began = time.monotonic()
            try:
                case(base)
            except PermissionError as why:
                skips.skip(case.__name__, why)
                continue
        print(f"{case.__name__} ok, {time.monotonic() - began:.1f} s", flush=True)
    sys.exit(skips.status())


main()
