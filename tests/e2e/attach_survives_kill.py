"""kill -9 of attach at random points: no event that comes from the files is lost or doubled in the journal."""
import os
import random
import signal
import subprocess
import time

from watching import MIDWATCH, Scratch, append, attach, event_type, incident_keys, incidents, journal, pieces, recording, seen, wait_until

KILLS = int(os.environ.get("MIDWATCH_KILLS", "100"))


def essence(events):
    """Everything but the numbers that count records, when it was received, and that a watch began."""
    return [{k: v for k, v in e.items() if k not in ("n", "number", "rx")} for e in events if e["e"] != "watch-began"]


def uninterrupted(data):
    with Scratch() as folder:
        path = os.path.join(folder, "train.log")
        append(path, data)
        watch = attach(folder, path, "--exit-after-idle", "2")
        watch.communicate(timeout=120)
        return seen(journal(folder)), incident_keys(incidents(folder))


def interrupted(data, seed, kills):
    dice = random.Random(seed)
    with Scratch() as folder:
        path = os.path.join(folder, "train.log")
        parts = pieces(data, seed, kills)
        append(path, parts[0])
        for part in parts[1:]:
            watch = attach(folder, path)
            time.sleep(dice.random() * 0.12)
            append(path, part)
            time.sleep(dice.random() * 0.12)
            watch.send_signal(signal.SIGKILL)
            watch.communicate()
        watch = attach(folder, path, "--exit-after-idle", "2")
        _, errors = watch.communicate(timeout=120)
        assert watch.returncode in (0, 5), (watch.returncode, errors)
        return seen(journal(folder)), incident_keys(incidents(folder))


def compare(name, whole, broken):
    a = [strip_path(e) for e in essence(whole)]
    b = [strip_path(e) for e in essence(broken)]
    for index, (x, y) in enumerate(zip(a, b)):
        assert x == y, f"{name}: event {index} differs\n uninterrupted: {x}\n interrupted:   {y}"
    assert len(a) == len(b), f"{name}: {len(a)} events uninterrupted, {len(b)} interrupted"


def strip_path(event):
    """The scratch folders differ, and so does how much of the file was there when it was opened."""
    if event_type(event) == "source-opened":
        return {k: v for k, v in event.items() if k not in ("path", "bytes", "head_bytes", "head_hash")}
    return event


def checked(folder):
    done = subprocess.run([MIDWATCH, "status", "--check", "--home", os.path.join(folder, "home")], capture_output=True, text=True)
    return done.returncode, done.stdout


def left(data):
    """A run that was well when its watch was killed: whoever asks learns that nobody watches it."""
    with Scratch() as folder:
        path = os.path.join(folder, "train.log")
        append(path, data[:len(data) // 4])
        watch = attach(folder, path)
        wait_until(lambda: checked(folder)[1].startswith("RUNNING"))
        assert checked(folder)[0] == 0, checked(folder)
        watch.send_signal(signal.SIGKILL)
        watch.communicate()
        code, text = checked(folder)
        assert code == 10 and text.startswith("NOT WATCHED") and "NOBODY" in text, (code, text)


def main():
    left(recording("verl-engine-killed"))
    for name, kills in (("areal-engine-killed", KILLS // 2), ("verl-engine-killed", KILLS - KILLS // 2)):
        data = recording(name)
        whole, whole_incidents = uninterrupted(data)
        assert len(whole) > 50, f"{name}: only {len(whole)} events"
        broken, broken_incidents = interrupted(data, 11, kills)
        compare(name, whole, broken)
        assert whole_incidents == broken_incidents, (whole_incidents, broken_incidents)
        print(f"{name}: {kills} kills, {len(broken)} events, none lost, none doubled")


main()
