"""A log that another process writes, rotates and truncates: attach reports what replay of the final files reports."""
import os
import shutil
import time

from watching import Scratch, append, attach, incidents, pieces, recording, replay, told


def write_with(folder, data, seed, turn_over):
    """Writes `data` in pieces while a watch follows; `turn_over` is called after the middle piece."""
    path = os.path.join(folder, "train.log")
    parts = pieces(data, seed, 12)
    append(path, parts[0])
    watch = attach(folder, path, "--exit-after-idle", "4")
    for number, part in enumerate(parts[1:], 1):
        time.sleep(0.15)
        if number == len(parts) // 2:
            time.sleep(0.6)  # the watch has caught up: what is cut away unread cannot be had by anyone
            turn_over(path)
        append(path, part)
    _, errors = watch.communicate(timeout=120)
    assert watch.returncode in (0, 5), (watch.returncode, errors)
    return told(incidents(folder))


def rotate(path):
    os.rename(path, path + ".1")


def copy_and_truncate(path):
    shutil.copy(path, path + ".1")
    os.truncate(path, 0)


def nothing(_):
    pass


def main():
    checked = 0
    for name in ("areal-engine-killed", "verl-engine-killed", "trl-engine-killed", "areal-healthy"):
        data = recording(name)
        for turn_over in (nothing, rotate, copy_and_truncate):
            if turn_over is copy_and_truncate and name.startswith("trl"):
                continue  # its steps are counted from the first line; what is truncated away cannot be counted again
            with Scratch() as folder:
                live = write_with(folder, data, checked, turn_over)
                files = [os.path.join(folder, "train.log")]
                if os.path.exists(files[0] + ".1"):
                    files.insert(0, files[0] + ".1")
                after = told(replay(*files)["incidents"])
                assert live == after, f"{name}, {turn_over.__name__}: attach {live}, replay {after}"
                if "killed" in name:
                    assert live, f"{name}: nothing was reported"
                checked += 1
    print(f"{checked} runs: attach and replay agree")


main()
