"""kill -9 of attach at random points: no event that comes from the files is lost or doubled in the journal."""
import os
import random
import signal
import time

from watching import Scratch, append, attach, event_type, incident_keys, incidents, journal, pieces, recording, seen

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


def main():
    for name, kills in (("areal-engine-killed", KILLS // 2), ("verl-engine-killed", KILLS - KILLS // 2)):
        data = recording(name)
        whole, whole_incidents = uninterrupted(data)
        assert len(whole) > 50, f"{name}: only {len(whole)} events"
        broken, broken_incidents = interrupted(data, 11, kills)
        compare(name, whole, broken)
        assert whole_incidents == broken_incidents, (whole_incidents, broken_incidents)
        print(f"{name}: {kills} kills, {len(broken)} events, none lost, none doubled")


main()
