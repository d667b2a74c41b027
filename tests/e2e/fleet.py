"""A run on rented machines: one is destroyed in mid-step, one is taken for dead and wakes up again. Each time exactly one
other machine is rented, and the run ends with the weights of an undisturbed one. Both machines are one history afterwards.
A machine is a folder and the processes that run in it (kind "local", or a command of the user's own).

fleet.py MIDWATCH PRACTICE_RUN
"""
import contextlib
import glob
import hashlib
import http.server
import json
import os
import signal
import subprocess
import sys
import threading
import time

from running import PRACTICE, PROGRAM, Run, training as practice, wait_until, weights
from watching import Scratch, remove

EVERY = "1s"  # between two heartbeats
WANDB = "abc123"  # the run's id at W&B, which only the first machine is given

SPEC = """
name = "practice"
store = "{base}/share/run"
environment = ["MIDWATCH_FLEET_EVERY"]
start = '''
here=$PWD
printf '[run]\nnotices = ["file:{base}/going-%s"]\n' "$MIDWATCH_FLEET_EPOCH" >midwatch.toml
pace={later}
[ "$MIDWATCH_FLEET_EPOCH" != 1 ] || {{ pace={pace}; export WANDB_RUN_ID={wandb}; }}
{start}"{program}" onstart --from "{base}/share/run" --home "$here/home" --checkpoints "$here/checkpoints" --quiet -- \\
  sh -c 'echo "wandb run $WANDB_RUN_ID ${{WANDB_RESUME:-new}}"; exec 9>>"{base}/trains"; flock -n 9 || echo two >"{base}/two"; exec "$@"' \\
  sh \\
  "{practice}" --speak verl --out - --steps 40 --save-every 5 --pace $pace --checkpoints "$here/checkpoints" \\
  {otherwise}
'''
[limits]
price_per_hour = 1
spend = 100
rents_per_hour = {rents}
rents = {rents}
{limits}[patience]
silence = "{silence}"
settle = "10s"
start = "10m"
{more}[[provider]]
{provider}
"""

UNFIT = f'|| "{PROGRAM}" fleet unfit "the start failed"'

WANDB_WITNESS = """[wandb]
entity = "me"
project = "rl"
endpoint = "http://127.0.0.1:{port}"
"""

# As a user would write it: a machine is a folder with a process in it. A file `lost-LABEL` makes it deny one.
PROVIDER = r'''
import json, os, subprocess, sys
base = os.path.dirname(os.path.abspath(__file__))
ask = json.load(sys.stdin)
place = lambda label: os.path.join(base, "machines", label)
if ask["operation"] == "search":
    print(json.dumps({"offers": [{"id": "any", "price": 0.5}]}))
elif ask["operation"] == "create":
    os.makedirs(place(ask["label"]))
    with open(place(ask["label"]) + "/log", "w") as log:
        child = subprocess.Popen(["sh", "-c", ask["start"]], cwd=place(ask["label"]), env={**os.environ, **ask["environment"]},
                                 start_new_session=True, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    print(json.dumps({"instance": {"id": ask["label"], "label": ask["label"], "state": "running", "price": 0.5}}))
elif ask["operation"] == "list":
    there = [name for name in os.listdir(base + "/machines") if not os.path.exists(base + "/lost-" + name)]
    print(json.dumps({"instances": [{"id": name, "label": name, "state": "running"} for name in there]}))
else:
    print("{}")
    os.path.exists(place(ask["id"])) and os.rename(place(ask["id"]), base + "/ended-" + ask["id"])
'''


def undisturbed():
    """Nobody takes this run's machine away but a notice, which ends no run that has no store."""
    with Scratch() as base:
        with open(base + "/notice.toml", "w") as file:
            file.write(f'[run]\nnotices = ["file:{base}/notice.toml"]\n')
        run = Run(base, practice(base, pace=0.05), "--config", base + "/notice.toml")
        assert run.end() == 0, run.err
        assert "notice.toml is there" in run.out + run.err, run.err
        return weights(base)


class Wandb(http.server.BaseHTTPRequestHandler):
    """Says of every run what a hand-made controller once went by: it runs, and its last step is 141 minutes old."""

    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        summary = json.dumps({"_step": 98, "_timestamp": time.time() - 141 * 60})
        now = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime())
        body = json.dumps({"data": {"project": {"run": {"state": "running", "heartbeatAt": now, "summaryMetrics": summary}}}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def wandb():
    """The [wandb] of a specification, and a server behind it."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Wandb)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return WANDB_WITNESS.format(port=server.server_address[1])


class Fleet:
    def __init__(self, base, provider, pace, rents=5, silence="10m", start="", otherwise=UNFIT, later=0.1, more="", limits="",
                 every=EVERY):
        """`pace`: seconds a step on the first machine, `later` on the others. A file "two": two trained at once."""
        self.base, self.file, self.every = base, base + "/run.toml", every
        os.makedirs(base + "/machines")
        with open(self.file, "w") as file:
            file.write(SPEC.format(base=base, program=PROGRAM, practice=PRACTICE, pace=pace, provider=provider, rents=rents,
                                   silence=silence, wandb=WANDB, start=start, otherwise=otherwise, later=later, more=more,
                                   limits=limits))
        self.do("init", expect=[0])

    def start(self, *words):
        return subprocess.Popen([PROGRAM, "fleet", words[0], self.file, *words[1:], "--json"], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True,
                                env=dict(os.environ, MIDWATCH_FLEET_EVERY=self.every, WANDB_API_KEY="k" * 40))

    def do(self, *words, expect=(0, 8)):
        child = self.start(*words)
        out, err = child.communicate(timeout=120)
        assert child.returncode in expect, (words, child.returncode, out, err)
        return json.loads(out)

    def status(self):
        return self.do("status", expect=(0, 9))

    def watch_by_two(self):
        """Two controllers at once: what the run is like afterwards."""
        both = [self.start("watch", "--once"), self.start("watch", "--once")]
        for child in both:
            out, err = child.communicate(timeout=120)
            assert child.returncode in (0, 8, 9), (child.returncode, out, err)
        return self.status()

    @staticmethod
    def until(what, condition, seconds=60):
        """As wait_until, for conditions that start a program each time."""
        def now_and_then():
            time.sleep(0.3)
            return condition()
        wait_until(what, now_and_then, seconds)

    @contextlib.contextmanager
    def timers(self, count=2):
        """Whatever calls the controller again and again, from several machines at once."""
        over, wrong = threading.Event(), []

        def tick():
            while not over.wait(1):
                child = self.start("watch", "--once")
                out, err = child.communicate()
                if child.returncode not in (0, 8, 9):
                    wrong.append((child.returncode, out, err))
        threads = [threading.Thread(target=tick) for _ in range(count)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            over.set()
            for thread in threads:
                thread.join()
        assert not wrong, wrong

    def labels(self):
        return sorted(os.path.basename(place) for place in glob.glob(self.base + "/machines/midwatch-*"))


def processes_of(label):
    """All that runs for a machine."""
    found = []
    for place in glob.glob("/proc/[0-9]*"):
        try:
            with open(place + "/environ", "rb") as file:
                if f"MIDWATCH_FLEET_LABEL={label}".encode() in file.read().split(b"\0"):
                    found.append(int(place[6:]))
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            pass
    return found


def signal_all(label, number):
    for pid in processes_of(label):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def destroy(fleet, label):
    """The machine is gone from one moment to the next, with its disk."""
    def gone():
        signal_all(label, signal.SIGKILL)
        return not processes_of(label)
    wait_until("all of the machine's processes are gone", gone)
    remove(f"{fleet.base}/machines/{label}")


def final_weights(fleet):
    out = fleet.base + "/final"
    subprocess.run([PROGRAM, "checkpoint", "pull", fleet.base + "/share/run", out], check=True, capture_output=True, timeout=60)
    with open(out + "/trainer.safetensors", "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def ends_well(fleet, expected, machines):
    fleet.until("the run is finished", lambda: fleet.watch_by_two()["outcome"] == "finished", 180)
    status = fleet.status()
    assert len(status["rentals"]) == machines and all(one["gone"] for one in status["rentals"]), status
    assert status["newest_checkpoint"] == 40 and not status["person"], status
    assert final_weights(fleet) == expected
    assert not fleet.do("orphans", expect=[0])["orphans"]
    shown = subprocess.run([PROGRAM, "fleet", "status", fleet.file], capture_output=True, text=True, timeout=60, check=True,
                           env=dict(os.environ, MIDWATCH_FLEET_EVERY=EVERY, COLUMNS="80")).stdout
    assert shown.startswith("practice: FINISHED\n") and max(map(len, shown.splitlines())) <= 80, shown


def training(fleet, step):
    """The newest checkpoint in the store is at least of that step, and the machine is healthy."""
    def trains():
        fleet.do("watch", "--once")
        status = fleet.status()
        return (status["newest_checkpoint"] or 0) >= step and status["verdict"] == "healthy"
    fleet.until(f"a healthy machine that has shipped step {step}", trains, 120)


def text_of(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=120, check=True,
                          env=dict(os.environ, MIDWATCH_FLEET_EVERY=EVERY, COLUMNS="80")).stdout


def shipped_output(fleet):
    pieces = sorted(glob.glob(fleet.base + "/share/run/runs/*/output/train.log/*"))
    return "".join(open(path, errors="replace").read() for path in pieces)


def one_history(fleet):
    """What both machines did, from the store alone: one of them is gone with its disk."""
    first, second = fleet.status()["machines"]
    assert first["from"] == 0 and first["first_attempt"] == 1 and second["first_attempt"] == 1 + first["attempts"] == 2, (first, second)
    assert second["from"] >= 10 and second["step"] == 40 and second["redone"] is None, second
    # Its last heartbeat may be older than what it shipped.
    assert first["redone"] == max(0, first["step"] - second["from"]) and first["cost"] > 0 < second["cost"], first
    shown = text_of("fleet", "status", fleet.file)
    assert "machine 1" in shown and "machine 2" in shown and "attempt 2, from step" in shown, shown
    report = text_of("report", "--from", fleet.base + "/share/run")
    for words in ("# The run practice over 2 machines", f"| W&B run | {WANDB} |", "| Attempts | 2 |", "\n## Machine 1: attempt 1\n",
                  "\n## Machine 2: attempt 2\n", "epoch 1: rent", "epoch 1: fence", "epoch 3: rent", f"| {second['from']} |",
                  "its machine: "):
        assert words in report, (words, report)
    assert report.index("## Machine 1") < report.index("## Machine 2")
    assert not glob.glob(os.environ.get("TMPDIR", "/tmp") + f"/midwatch-history-*/*{first['run']}*"), "received logs are left"
    logs = json.loads(text_of("checkpoint", "logs", fleet.base + "/share/run", fleet.base + "/logs", "--json"))["runs"]
    outputs = {}
    for one in logs:
        with open(one["folder"] + "/output/train.log", errors="replace") as file:
            outputs[one["run"]] = file.read()
    assert f"wandb run {WANDB} new" in outputs[first["run"]] and f"wandb run {WANDB} allow" in outputs[second["run"]], outputs


def listed(fleet):
    """The run in the list of all: by the store alone, and by a folder of specifications."""
    listing = json.loads(text_of("fleet", "status", "--store", fleet.base + "/share", "--json"))["runs"]
    assert [(one["run"], one["state"], one["newest_checkpoint"], one["machines"]) for one in listing] == [
        ("practice", "finished", 40, 2)], listing
    for words in (["--store", fleet.base + "/share"], [os.path.dirname(fleet.file)]):
        shown = text_of("fleet", "status", *words)
        assert "practice" in shown and "finished" in shown and max(map(len, shown.splitlines())) <= 80, shown


def machine_destroyed(base, expected):
    fleet = Fleet(base, f'kind = "local"\nfolder = "{base}/machines"\nprice = 0.5', 0.8,
                  more=wandb())
    assert fleet.status()["phase"] == "stopped"
    assert fleet.do("watch", "--once", expect=[0])["rentals"] == []  # nobody launched it
    launched = fleet.do("launch", expect=[8])
    assert len(launched["rentals"]) == 1, launched
    training(fleet, 10)
    fleet.until("its record is in the store", lambda: shipped_output(fleet).count("step:") > 5)
    with fleet.timers():
        (first,) = fleet.labels()
        fleet.until("W&B is asked, and ends nothing", lambda: any(
            "W&B says running, last step 98, logged 2h 2" in one for one in fleet.status()["reasons"]))
        assert len(fleet.status()["rentals"]) == 1
        destroy(fleet, first)
        fleet.until("the run is finished", lambda: fleet.status()["outcome"] == "finished", 180)
    assert not any(map(processes_of, fleet.labels()))
    ends_well(fleet, expected, 2)
    one_history(fleet)
    listed(fleet)
    journal = "".join(open(path).read() for path in sorted(glob.glob(base + "/share/run/fleet/journal/*")))
    assert journal.count('"what":"rent"') == 2 and journal.count('"what":"fence"') == 2, journal


def wakes_up_again(base, expected):
    """A machine is taken for dead and lives: it ends its trainer when it sees that, and latest is the other one's."""
    with open(base + "/provider.py", "w") as file:
        file.write(PROVIDER)
    fleet = Fleet(base, f'kind = "command"\ncommand = ["{sys.executable}", "{base}/provider.py"]', 0.5)
    fleet.do("launch", expect=[8])
    training(fleet, 5)
    (first,) = fleet.labels()
    signal_all(first, signal.SIGSTOP)
    with open(base + "/lost-" + first, "w"):
        pass
    fleet.until("another machine", lambda: len(fleet.watch_by_two()["rentals"]) > 1, 120)
    signal_all(first, signal.SIGCONT)
    wait_until("the machine that woke up ends its trainer", lambda: not processes_of(first), 120)
    with open(f"{base}/machines/{first}/log") as file:
        log = file.read()
    assert "another machine goes on with this run" in log, log
    os.remove(base + "/lost-" + first)  # the provider finds it again: it is given back
    ends_well(fleet, expected, 2)
    assert not fleet.labels() and os.path.exists(base + "/ended-" + first), os.listdir(base)


def taken_away(base, _):
    """A file gives notice of the machine's end: the trainer is ended, its checkpoint is in the store, and no silence is waited for."""
    fleet = Fleet(base, f'kind = "local"\nfolder = "{base}/machines"', 0.5)
    fleet.do("launch", expect=[8])
    training(fleet, 5)
    with open(f"{base}/going-{fleet.status()['rentals'][0]['epoch']}", "w"):
        pass
    wait_until("another machine", lambda: len(fleet.watch_by_two()["rentals"]) > 1, 120)
    status = fleet.status()
    assert "it is being taken away" in status["rentals"][0]["end"] and "going-" in status["rentals"][0]["end"], status
    assert status["newest_checkpoint"] >= 5 and not status["rentals"][0]["failed"], status
    fleet.do("stop", expect=[8])
    wait_until("it is given back", lambda: fleet.do("watch", "--once", expect=(0, 8))["outcome"] == "stopped")


def stopped_by_hand(base, _):
    fleet = Fleet(base, f'kind = "local"\nfolder = "{base}/machines"', 0.3, rents=1)
    fleet.do("launch", expect=[8])
    (label,) = fleet.labels()
    wait_until("the machine runs", lambda: processes_of(label))
    assert fleet.do("stop", expect=[8])["outcome"] in ("", "stopped")
    fleet.until("it is given back", lambda: fleet.do("watch", "--once", expect=(0, 8))["outcome"] == "stopped")
    assert not processes_of(label)
    waits = fleet.do("launch", expect=[9])  # the number of machines is limited
    assert "limit" in waits["waits"] and len(waits["rentals"]) == 1, waits
    # The limits are those of the file that was put into the store.
    with open(fleet.file, "a") as file:
        file.write("# changed\n")
    child = fleet.start("watch", "--once")
    assert "not the one in the store" in child.communicate(timeout=60)[1] and child.returncode == 2


def first_step(base, _):
    """Whoever looks sees that it trains when it trains, however far apart the heartbeats are."""
    fleet = Fleet(base, f'kind = "local"\nfolder = "{base}/machines"', 0.5, rents=1, every="10m")
    fleet.do("launch", expect=[8])
    fleet.until("it is seen to train", lambda: any("says training at step" in one for one in fleet.status()["reasons"]), 90)
    fleet.do("stop", expect=[8])
    fleet.until("it is given back", lambda: fleet.do("watch", "--once", expect=(0, 8))["outcome"] == "stopped")


if __name__ == "__main__":
    weights_expected = undisturbed()
    for test in (machine_destroyed, wakes_up_again, taken_away, stopped_by_hand, first_step):
        if sys.argv[3:] and test.__name__ not in sys.argv[3:]:
            continue
        with Scratch() as scratch:
            test(scratch, weights_expected)
        print(f"ok: {test.__name__}", flush=True)
