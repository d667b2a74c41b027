"""A trainer that logs local time without a zone, on machines in several zones: its times are true, and nothing is a stall."""
import json
import os
import subprocess
import time

from running import PROGRAM
from watching import Scratch

ZONES = ("EST5", "XST-8", "IST-5:30", "UTC0")


def environment(zone, base):
    return {**os.environ, "TZ": zone, "XDG_STATE_HOME": base + "/state"}


def stamp(seconds, zone):
    """As a process in that zone writes it."""
    out = subprocess.run(["date", "-d", f"@{seconds:.3f}", "+%Y-%m-%d %H:%M:%S"], env={**os.environ, "TZ": zone}, capture_output=True,
                         check=True)
    return out.stdout.decode().strip()


def seconds_of(text):
    return time.mktime(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S")) - time.timezone


def watched(base, machine, log_zone, *options):
    """What `attach` on a machine in one zone makes of a live log whose clock is in another: when it began, and its incidents."""
    log = f"{base}/{machine.replace(':', '')}-{log_zone.replace(':', '')}.log"
    watch = None
    began = time.time()
    for step in range(1, 13):
        with open(log, "a") as file:
            file.write(f"{stamp(time.time(), log_zone)} INFO trainer step={step} loss={1 / step:.3f} reward=0.4\n")
        if watch is None:
            watch = subprocess.Popen([PROGRAM, "attach", log, "--json", "--home", base + "/home", "--no-host", "--poll", "0.1",
                                      "--exit-after-idle", "1.5", *options], env=environment(machine, base), stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE)
        time.sleep(0.15)
    out, err = watch.communicate(timeout=60)
    assert watch.returncode == 0, err
    shown = subprocess.run([PROGRAM, "report", "--json", "--home", base + "/home"], env=environment(machine, base), capture_output=True,
                           check=True)
    return began, json.loads(shown.stdout), out.decode()


def true_times(base):
    for machine in ZONES:
        # Its own zone, and UTC, as most containers have it.
        for log_zone in dict.fromkeys((machine, "UTC0")):
            with Scratch(base) as place:
                began, report, out = watched(place, machine, log_zone)
                first = report["run"]["started"]
                assert abs(seconds_of(first) - began) < 120, (machine, log_zone, first, began)
                assert "stall" not in out, out


def set_where_it_cannot_be_seen(base):
    began, report, _ = watched(base, "UTC0", "EST5", "--timezone", "-05:00")
    first = report["run"]["started"]
    assert abs(seconds_of(first) - began) < 120, (first, began)
    log = base + "/one.log"
    with open(log, "w") as file:
        file.write("2026-03-01 12:00:00 INFO trainer step=1 loss=0.5\n2026-03-01T12:01:00+02:00 INFO trainer step=2 loss=0.5\n")
    for zone, code, text in (("+08:00", 0, "2026-03-01T04:00:00"), ("UTC", 0, "2026-03-01T12:00:00"), ("mars", 2, "is no time zone")):
        done = subprocess.run([PROGRAM, "replay", "--json", "--timezone", zone, log], capture_output=True, check=False)
        out = done.stdout.decode() + done.stderr.decode()
        assert done.returncode == code and text in out, (zone, out)


if __name__ == "__main__":
    for test in (true_times, set_where_it_cannot_be_seen):
        with Scratch() as base:
            began = time.monotonic()
            test(base)
            print(f"{test.__name__} ok, {time.monotonic() - began:.1f} s", flush=True)
