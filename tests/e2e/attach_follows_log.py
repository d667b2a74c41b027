"""A log that another process writes, rotates and truncates: attach reports what replay of the final files reports."""
import os
import shutil
import time

from watching import Scratch, append, attach, incident_keys, incidents, pieces, recording, replay, wait_for_record


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
    return incident_keys(incidents(folder))


def rotate(path):
    os.rename(path, path + ".1")


def copy_and_truncate(path):
    shutil.copy(path, path + ".1")
    os.truncate(path, 0)


def nothing(_):
    pass


CRASH = b"""Traceback (most recent call last):
  File "/app/train.py", line 210, in <module>
    main()
  File "/app/train.py", line 88, in step
    batch = next(prompts)
KeyError: 'answer'
"""
CHAIN = b"""
During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/app/train.py", line 212, in <module>
    report(error)
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB
"""


def provisional():
    """A traceback after which nothing is written is reported at once; what is written later corrects it."""
    data = recording("verl-healthy")
    with Scratch() as folder:
        path = os.path.join(folder, "train.log")
        append(path, data[:data.index(b"\n", len(data) // 2) + 1])
        watch = attach(folder, path, "--exit-after-idle", "6")
        wait_for_record(folder)
        time.sleep(1)
        append(path, CRASH)
        began = time.monotonic()
        while not incidents(folder):
            assert time.monotonic() - began < 30, "the traceback at the end of the log was not reported"
            time.sleep(0.05)
        assert "KeyError" in str(incidents(folder)), incidents(folder)
        watch.kill()  # its successor reports the same, once
        watch.communicate(timeout=60)
        watch = attach(folder, path, "--exit-after-idle", "4")
        time.sleep(1)
        append(path, CHAIN)
        watch.communicate(timeout=60)
        live, after = incident_keys(incidents(folder)), incident_keys(replay(path)["incidents"])
        assert live == after, f"provisional events: attach {live}, replay {after}"


def main():
    provisional()
    checked = 1
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
                after = incident_keys(replay(*files)["incidents"])
                assert live == after, f"{name}, {turn_over.__name__}: attach {live}, replay {after}"
                if "killed" in name:
                    assert live, f"{name}: nothing was reported"
                checked += 1
    print(f"{checked} runs: attach and replay agree")


main()
