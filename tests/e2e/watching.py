"""What the attach tests share: a scratch folder, a log that is written in pieces, a watch, and its journal."""
import glob
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
RUNS = os.path.join(HERE, "..", "golden", "runs")
MIDWATCH = sys.argv[1] if len(sys.argv) > 1 else "build/midwatch"


def remove(path, seconds=5):
    """Removes the folder. A keeper outlives its midwatch by a moment and removes files of its own meanwhile."""
    last = time.monotonic() + seconds
    while os.path.exists(path):
        try:
            shutil.rmtree(path)
        except OSError:
            if time.monotonic() > last:
                raise
            time.sleep(0.1)


def end_those_of(path):
    """What a failed test has left running would be found by the next one, as somebody else's machine is."""
    for place in glob.glob("/proc/[0-9]*"):
        try:
            with open(place + "/environ", "rb") as variables, open(place + "/cmdline", "rb") as words:
                if path.encode() in variables.read() + words.read() and int(place[6:]) != os.getpid():
                    os.kill(int(place[6:]), signal.SIGKILL)
        except OSError:
            pass  # it has gone, or is not ours


class Scratch:
    """A folder that is gone afterwards, unless the test failed; in the folder `under`, else among temporary files."""

    def __init__(self, under=None):
        self.under = under

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="midwatch-e2e-", dir=self.under)
        return self.path

    def __exit__(self, kind, value, trace):
        if kind is None:
            remove(self.path)
        else:
            end_those_of(self.path)
            print(f"left for inspection: {self.path}", file=sys.stderr)


def recording(name):
    with open(os.path.join(RUNS, name, "train.log"), "rb") as handle:
        return handle.read()


def pieces(data, seed, count):
    """`data` cut at `count` random places, not at line ends."""
    dice = random.Random(seed)
    cuts = sorted(dice.randrange(len(data)) for _ in range(count))
    return [data[a:b] for a, b in zip([0] + cuts, cuts + [len(data)])]


def append(path, data):
    with open(path, "ab") as handle:
        handle.write(data)


def attach(folder, path, *more):
    return subprocess.Popen([MIDWATCH, "attach", path, "--json", "--home", os.path.join(folder, "home"), "--poll", "0.2", *more],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def replay(*paths):
    done = subprocess.run([MIDWATCH, "replay", "--json", *paths], capture_output=True, check=True)
    return json.loads(done.stdout)


def stop(process):
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)


def journal(folder):
    """Every event of the one recorded run, in order, as the journal holds them."""
    runs = os.path.join(folder, "home", "runs")
    names = os.listdir(runs)
    assert len(names) == 1, names
    return journal_of(os.path.join(runs, names[0]))


def journal_of(run_folder):
    """Every event of a recorded run."""
    where = os.path.join(run_folder, "journal")
    events = []
    for segment in sorted(os.listdir(where)):
        with open(os.path.join(where, segment), "rb") as handle:
            for line in handle.read().split(b"\n"):
                start = line.find(b"{")
                if start < 0:
                    continue
                try:
                    events.append(json.loads(line[start:].decode("utf-8", "surrogatepass")))
                except ValueError:
                    pass  # the torn tail of a journal whose writer was killed
    return events


DECIDED = ("incident-opened", "incident-changed", "incident-closed", "verdict-given", "recognised", "read-as", "source-head", "ticked", "closed")


def seen(events):
    """The events that come from the files, without those of the watch itself and of the machine."""
    machine = {e.get("source", 0) for e in events if event_type(e) == "source-opened" and e.get("kind") == "host"}
    return [e for e in lasting(events)
            if event_type(e) not in DECIDED and event_type(e) is not None and e.get("src", 0) not in machine]


def lasting(events):
    """Without the provisional events that later text replaced."""
    kept, provisional = [], None
    for event in events:
        if event_type(event) == "ticked":
            provisional = [] if event.get("closing") else None
        elif event_type(event) == "closed":
            kept, provisional = kept + (provisional or []), None
        (kept if provisional is None else provisional).append(event)
    return kept + (provisional or [])


def event_type(event):
    return event.get("type") or event.get("event") or event.get("e")


def wait_for_record(folder):
    """Until the watch has begun its record."""
    pattern = os.path.join(folder, "home", "runs", "*", "journal*")
    assert wait_until(lambda: glob.glob(pattern), 30), "the watch did not begin"


def incidents(folder):
    done = subprocess.run([MIDWATCH, "incidents", "--json", "--home", os.path.join(folder, "home")], capture_output=True,
                          check=True)
    return json.loads(done.stdout)["incidents"]


def incident_keys(items):
    """Of each incident, what attach and replay must agree on."""
    return sorted((i["kind"], i["severity"], (i.get("onset") or {}).get("step"), i["causes"][0]["id"] if i["causes"] else None)
                  for i in items if i["severity"] != "info")


def rest_after(began, least=0.02):
    """Between two looks at a condition that began then: a condition that starts a program, or reads all of /proc, would otherwise
    take a processor from what it waits for."""
    time.sleep(min(1, max(least, 4 * (time.monotonic() - began))))


def wait_until(condition, limit_s=60):
    """`limit_s` is of an idle machine; beside other tests it takes longer."""
    end = time.monotonic() + 4 * limit_s
    while (began := time.monotonic()) < end:
        if condition():
            return True
        rest_after(began, 0.05)
    return False
