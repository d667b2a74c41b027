"""The next machine is rented before the last one is gone ([limits] ahead): real processes, and a provider that is a command.
Whatever happens to either machine, the trainers of two never run at once, and the final weights are those of an
undisturbed run.

fleet_ahead.py MIDWATCH PRACTICE_RUN [CASE...]
"""
import concurrent.futures
import glob
import json
import os
import signal
import sys

from fleet import Fleet, destroy, ends_well, processes_of, signal_all, training, undisturbed
from running import wait_until
from watching import Scratch

# A machine is a folder and the processes that carry its label. What it does otherwise stands in files beside it:
# `stopped-LABEL`: it says "stopped" of that one; `slow-create`: a machine that was made is announced late; `no-create`: a
# request that nothing comes of.
PROVIDER = r'''
import glob, json, os, signal, subprocess, sys, time
base = os.path.dirname(os.path.abspath(__file__))
ask = json.load(sys.stdin)
place = lambda label: os.path.join(base, "machines", label)
there = lambda word: os.path.exists(os.path.join(base, word))
def own(label):
    for file in glob.glob("/proc/[0-9]*/environ"):
        try:
            if f"MIDWATCH_FLEET_LABEL={label}".encode() in open(file, "rb").read().split(b"\0"):
                yield int(file.split("/")[2])
        except OSError:
            pass
def late(word):
    open(f"{base}/{word}-began", "w").close()
    while there(word):
        time.sleep(0.05)
if ask["operation"] == "search":
    print(json.dumps({"offers": [{"id": "any", "price": 0.5}]}))
elif ask["operation"] == "create":
    if there("no-create"):
        late("no-create")
        sys.exit(1)
    os.makedirs(place(ask["label"]))
    with open(place(ask["label"]) + "/log", "w") as log:
        subprocess.Popen(["sh", "-c", ask["start"]], cwd=place(ask["label"]), env={**os.environ, **ask["environment"]},
                         start_new_session=True, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    if there("slow-create"):
        late("slow-create")
    print(json.dumps({"instance": {"id": ask["label"], "label": ask["label"], "state": "running", "price": 0.5}}))
elif ask["operation"] == "list":
    print(json.dumps({"instances": [{"id": name, "label": name, "state": "stopped" if there("stopped-" + name) else "running"}
                                    for name in os.listdir(base + "/machines")]}))
else:
    end = time.monotonic() + 20
    while list(own(ask["id"])):
        for pid in own(ask["id"]):
            try:
                os.kill(pid, signal.SIGTERM if time.monotonic() < end else signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(1)
    if os.path.exists(place(ask["id"])):
        os.rename(place(ask["id"]), base + "/ended-" + ask["id"])
    print("{}")
'''


def fleet_of(base, pace, start=""):
    with open(base + "/provider.py", "w") as file:
        file.write(PROVIDER)
    fleet = Fleet(base, f'kind = "command"\ncommand = ["{sys.executable}", "{base}/provider.py"]', pace, start=start,
                  limits='ahead = "10m"\n')
    fleet.do("launch", expect=[8])
    training(fleet, 5)
    return fleet


def machines_of(fleet):
    """By epoch: each that is there."""
    return {int(label.rsplit("-", 2)[1]): label for label in fleet.labels()}


def put(fleet, word):
    with open(f"{fleet.base}/{word}", "w"):
        pass


def take(fleet, word):
    os.remove(f"{fleet.base}/{word}")


def heartbeat(fleet, epoch):
    """What a machine said last."""
    for path in glob.glob(fleet.base + "/share/run/fleet/machines/*.json"):
        with open(path) as file:
            beat = json.load(file)
        if beat["content"]["epoch"] == epoch:
            return beat["content"]
    return {}


def trains(label):
    """Does a trainer run on that machine?"""
    for pid in processes_of(label):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if file.read().split(b"\0")[0].endswith(b"practice_run"):
                    return True
        except OSError:
            pass
    return False


def successor_waits(fleet, epoch=2):
    """There is one, its own onstart waits for its turn, and nothing is received or trained there."""
    fleet.until("a successor", lambda: fleet.watch_by_two()["next"] == "rented", 120)
    fleet.until("it waits", lambda: heartbeat(fleet, epoch).get("phase") == "waiting", 60)
    label = machines_of(fleet)[epoch]
    assert not trains(label) and not os.path.exists(f"{fleet.base}/machines/{label}/checkpoints"), os.listdir(fleet.base)
    return label


def ends(fleet, expected, machines):
    ends_well(fleet, expected, machines)
    assert not os.path.exists(fleet.base + "/two"), "two machines trained at once"
    assert not fleet.labels(), fleet.labels()
    left = glob.glob(fleet.base + "/ended-midwatch-*")
    assert not any(processes_of(os.path.basename(place)[len("ended-"):]) for place in left), left


def notice(base, expected):
    """Notice of an end that is a while away: another machine boots meanwhile, and takes the run over when that has gone."""
    fleet = fleet_of(base, 1.2, start='[ "$MIDWATCH_FLEET_EPOCH" != 1 ] || export MLP_CURRENT_CAPACITY_BLOCK_EXPIRATION_TIMESTAMP='
                                      '$(($(date +%s) + 115))\n'
                                      'printf \'[run]\\ngrace = "5s"\\nnotices = ["capacity-block"]\\n\' >midwatch.toml\n')
    second = successor_waits(fleet)
    first = machines_of(fleet)[1]
    assert trains(first) and fleet.status()["epoch"] == 1, fleet.status()
    fleet.until("the first one is gone", lambda: fleet.watch_by_two() and first not in fleet.labels(), 180)
    shipped = fleet.status()["newest_checkpoint"]
    fleet.until("the second one trains", lambda: heartbeat(fleet, 2).get("phase") in ("training", "finished"), 60)
    status = fleet.status()
    assert status["epoch"] == 2 and second in fleet.labels(), status
    assert "it is being taken away" in status["rentals"][0]["end"] and not status["rentals"][0]["failed"], status
    assert status["machines"][1]["from"] == shipped, (status["machines"], shipped)
    ends(fleet, expected, 2)


def goes_on(base, expected):
    """Its provider says that it is stopped, and takes it back: the successor is given back and no other one is rented for it."""
    fleet = fleet_of(base, 0.7)
    first = machines_of(fleet)[1]
    put(fleet, "stopped-" + first)
    second = successor_waits(fleet)
    take(fleet, "stopped-" + first)
    fleet.until("the successor is given back", lambda: fleet.watch_by_two()["next"] is None and second not in fleet.labels(), 60)
    put(fleet, "stopped-" + first)
    for _ in range(3):
        assert len(fleet.watch_by_two()["rentals"]) == 2
    take(fleet, "stopped-" + first)
    status = fleet.status()
    assert status["epoch"] == 1 and "goes on" in status["rentals"][1]["end"] and not status["rentals"][1]["failed"], status
    assert machines_of(fleet) == {1: first}
    ends(fleet, expected, 2)


def dies_waiting(base, expected):
    """The successor is destroyed while it waits; then the first one is. A third one goes on."""
    fleet = fleet_of(base, 1.5)
    first = machines_of(fleet)[1]
    put(fleet, "stopped-" + first)
    second = successor_waits(fleet)
    destroy(fleet, second)
    fleet.until("nothing is left of it", lambda: fleet.watch_by_two()["next"] is None, 60)
    status = fleet.status()
    assert status["phase"] == "rented" and status["epoch"] == 1 and status["rentals"][1]["gone"], status
    assert trains(first)
    destroy(fleet, first)
    ends(fleet, expected, 3)


def killed_amid_create(base, expected):
    """The controller dies after the successor was made and before that was recorded, and then the first machine: the one
    that was made goes on with the run."""
    fleet = fleet_of(base, 0.7, start='while [ -e "{base}/slow-boot" ] && [ "$MIDWATCH_FLEET_EPOCH" != 1 ]; do sleep 0.1; done\n'
                     .replace("{base}", base))
    first = machines_of(fleet)[1]
    for word in ("stopped-" + first, "slow-create", "slow-boot"):
        put(fleet, word)
    controller = fleet.start("watch", "--once")
    wait_until("the machine is made", lambda: os.path.exists(base + "/slow-create-began"))
    controller.kill()
    controller.communicate()
    take(fleet, "slow-create")
    destroy(fleet, first)  # before its successor has said a word
    for _ in range(2):
        status = fleet.watch_by_two()
    assert len(status["rentals"]) == 2 and len(fleet.labels()) == 1, status
    take(fleet, "slow-boot")
    ends(fleet, expected, 2)


def killed_before_create(base, expected):
    """The controller dies after the intent and before the request: the intent is given up, and the run goes on where it is."""
    fleet = fleet_of(base, 0.7)
    first = machines_of(fleet)[1]
    put(fleet, "stopped-" + first)
    put(fleet, "no-create")
    controller = fleet.start("watch", "--once")
    wait_until("the request", lambda: os.path.exists(base + "/no-create-began"))
    assert fleet.status()["next"] == "renting"
    controller.kill()
    controller.communicate()
    take(fleet, "no-create")
    fleet.until("the intent is given up", lambda: fleet.watch_by_two()["next"] is None, 60)
    take(fleet, "stopped-" + first)
    status = fleet.status()
    assert fleet.labels() == [first] and status["epoch"] == 1 and len(status["rentals"]) == 2, status
    ends(fleet, expected, 2)


def freezes(base, expected):
    """The first machine freezes while its successor waits, is given up, and wakes up when the other one trains: it ends."""
    fleet = fleet_of(base, 0.7)
    first = machines_of(fleet)[1]
    put(fleet, "stopped-" + first)
    successor_waits(fleet)
    signal_all(first, signal.SIGSTOP)
    fleet.until("it is given back, and its successor trains", lambda: fleet.watch_by_two() and first not in fleet.labels()
                and heartbeat(fleet, 2).get("phase") in ("training", "finished"), 120)
    ends(fleet, expected, 2)


def in_scratch(case, expected):
    with Scratch() as base:
        case(base, expected)
    print(f"ok: {case.__name__}", flush=True)


def main():
    expected = undisturbed()
    cases = [case for case in (notice, goes_on, dies_waiting, killed_amid_create, killed_before_create, freezes)
             if not sys.argv[3:] or case.__name__ in sys.argv[3:]]
    with concurrent.futures.ThreadPoolExecutor(max_workers=3) as several:  # they wait most of the time
        for done in [several.submit(in_scratch, case, expected) for case in cases]:
            done.result()
    return 0


if __name__ == "__main__":
    sys.exit(main())
