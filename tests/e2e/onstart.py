"""A run with a store: what it saves is shipped while it goes on, and a lost machine's run goes on elsewhere.

onstart.py MIDWATCH PRACTICE_RUN
"""
import concurrent.futures
import glob
import json
import os
import signal
import subprocess
import sys

from machines import checkpoint, lost_machine, machine, onstart, shipped, undisturbed
from running import PROGRAM, Run, output, training, wait_until, weights
from watching import Scratch


def status(base):
    done = subprocess.run([PROGRAM, "status", "--json", "--home", base + "/home"], capture_output=True, text=True, timeout=60,
                          check=False)
    return json.loads(done.stdout) if done.stdout.startswith("{") else {}


def hidden(folder):
    return [name for name in os.listdir(folder) if name.startswith(".midwatch")]


def ships(base, _):
    """All that stays is shipped, the last save above all, with the journal and the logs of the run."""
    store = base + "/share/run"
    run = Run(base, training(base, pace=0.05), "--quiet", "--store", store)
    assert run.end() == 0, run.err
    steps, latest = shipped(store)
    assert latest == [40] and 40 in steps, (steps, latest, run.err)
    how = status(base)
    assert how["store"] == store and how["last_shipped"] == 40 and how["last_shipped_at"], how
    assert {one["state"] for one in how["shipments"] if one["step"] in steps} == {"shipped"}, how["shipments"]
    listed = checkpoint("list", "--json", "--home", base + "/home")["checkpoints"]
    assert [one["shipped"] for one in listed if one["step"] == 40] == ["shipped"], listed
    assert not hidden(base + "/checkpoints"), hidden(base + "/checkpoints")
    # Somebody else receives the journal: it ends with the end of the run.
    runs = checkpoint("logs", store, base + "/lost", "--json")["runs"]
    assert len(runs) == 1, runs
    shown = subprocess.run([PROGRAM, "report", "--run", runs[0]["folder"]], capture_output=True, text=True, timeout=60, check=False)
    assert "shipped" in shown.stdout and "40" in shown.stdout, shown.stdout + shown.stderr
    for name in os.listdir(run.folder() + "/output"):
        with open(f"{run.folder()}/output/{name}", "rb") as one, open(f"{runs[0]['folder']}/output/{name}", "rb") as other:
            assert one.read() == other.read(), name


def store_fails(base, expected):
    """The store cannot be written for a while: training goes on, the reason is seen, and later all is made up for."""
    store = base + "/share/run"
    with open(base + "/share", "w"):  # a file where the folder should be
        pass
    run = Run(base, training(base, pace=0.5), "--quiet", "--store", store)
    wait_until("a failure that is reported",
               lambda: any(one["state"] == "failed" and one["text"] for one in status(base).get("shipments", [])))
    shown = subprocess.run([PROGRAM, "status", "--home", base + "/home"], capture_output=True, text=True, timeout=60, check=False).stdout
    assert "nothing yet, to" in shown and "failed" in shown, shown
    before = output(run).count(" step:")
    wait_until("training goes on", lambda: output(run).count(" step:") > before)
    os.remove(base + "/share")
    assert run.end() == 0, run.err
    assert shipped(store)[1] == [40], run.err
    assert weights(base) == expected


TRAINER = """
import os, shutil, sys, time
root, saves, keep, pace = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
finite = bytes(i & 0x3f for i in range(256))  # of any bytes, one number in 256 would be NaN
for step in range(1, saves + 1):
    folder = f"{root}/global_step_{step}"
    os.makedirs(folder)
    for name in ("model", "optim"):
        header = b'{"w":{"dtype":"F32","shape":[125000],"data_offsets":[0,500000]}}'
        with open(f"{folder}/{name}.safetensors", "wb") as file:
            file.write(len(header).to_bytes(8, "little") + header + os.urandom(500000).translate(finite))
    with open(f"{root}/latest_checkpointed_iteration.txt", "w") as file:
        file.write(str(step))
    print(f"local_global_step_folder: {folder}", flush=True)
    print(f"Update latest_checkpointed_iteration.txt to step {step}", flush=True)
    print(f"step:{step} - critic/rewards/mean:0.5", flush=True)
    if keep and step > keep:
        shutil.rmtree(f"{root}/global_step_{step - keep}")
    time.sleep(pace)
until = time.monotonic() + (200 if sys.argv[5:] == ["waits"] else 0)  # for the first one to be removed
while os.path.exists(f"{root}/global_step_1") and time.monotonic() < until:
    time.sleep(0.1)
"""


def small_trainer(base, saves, keep, pace):
    """Saves each step, two files a time; with a limit of bytes a second an upload lasts as long as the test wants."""
    with open(base + "/trainer.py", "w") as file:
        file.write(TRAINER)
    return [sys.executable, base + "/trainer.py", base + "/checkpoints", str(saves), str(keep), str(pace)]


def settings(base, limit, wait):
    with open(base + "/midwatch.toml", "w") as file:
        file.write(f'[run]\nframework = "verl"\ncheckpoints = ["checkpoints"]\n'
                   f'[store]\nplace = "{base}/share/run"\nlimit = "{limit}"\nwait = "{wait}"\n')
    return base + "/share/run"


def deleted_meanwhile(base, _):
    """The trainer keeps one checkpoint for less time than an upload takes: something whole is shipped all the same."""
    store = settings(base, "200KB", "10m")  # five seconds each, of which the trainer deletes it after about two
    run = Run(base, small_trainer(base, 4, 1, 4.5), "--quiet")
    assert run.end() == 0, run.err
    steps, latest = shipped(store)
    assert latest == [4] and len(steps) >= 2, (steps, latest, run.err)
    assert checkpoint("pull", store, base + "/out", "--json")["step"] == 4
    ids = {one["checkpoint"] for one in checkpoint("remote", store, "--json")["checkpoints"]}
    there = set(os.listdir(store + "/checkpoints"))
    assert there == ids, f"objects of a checkpoint that was deleted are left: {there - ids}"
    assert not hidden(base + "/checkpoints"), hidden(base + "/checkpoints")


def stops(base, _):
    """A stop does not wait for an upload that lasts: the next push goes on with it."""
    store = settings(base, "50KB", "2s")  # 20 s each
    run = Run(base, small_trainer(base, 100, 0, 1), "--quiet", "--grace", "2")
    wait_until("an upload", lambda: any(one["state"] == "sending" for one in status(base).get("shipments", [])))
    wait_until("a forecast of the next save", lambda: (status(base).get("next_save") or {}).get("fits"))
    run.process.send_signal(signal.SIGTERM)
    run.end(60)
    assert shipped(store) == ([], []), run.err
    failed = [one for one in status(base)["shipments"] if one["state"] == "failed"]
    assert failed and "the next push goes on with it" in failed[-1]["text"], status(base)["shipments"]
    assert not hidden(base + "/checkpoints"), hidden(base + "/checkpoints")
    assert checkpoint("push", failed[-1]["path"], store, "--json")["latest"] == "moved"


def taken_away_receiving(base, _):
    """A rented machine that is taken away while its checkpoint comes says so: it is not one that is not fit for the run."""
    store = settings(base, "50KB", "10m")  # ten seconds from the first file to the second one
    assert Run(base, small_trainer(base, 1, 0, 0), "--quiet").end() == 0
    beats = store + "/fleet/machines/0123456789abcdef.json"
    said = lambda: json.load(open(beats))["content"] if os.path.exists(beats) else {"phase": ""}
    rented = {"MIDWATCH_FLEET_STORE": store, "MIDWATCH_FLEET_EPOCH": "1", "MIDWATCH_FLEET_MACHINE": "0123456789abcdef",
              "MIDWATCH_FLEET_EVERY": "1s", "MIDWATCH_HOME": base + "/second/home"}
    run = machine(base + "/second", ["onstart", "--config", base + "/midwatch.toml", "--checkpoints", base + "/second/checkpoints"],
                  ["true"], **rented)
    wait_until("it receives", lambda: said()["phase"] == "receiving")
    run.process.send_signal(signal.SIGTERM)
    code = run.end(5)
    assert code == -signal.SIGTERM, (code, run.err)
    assert said()["phase"] == "preempted" and said()["reason"] == "midwatch got SIGTERM", said()
    # What its start script says then changes nothing.
    subprocess.run([PROGRAM, "fleet", "unfit", "onstart failed"], env=dict(os.environ, **rented), check=False, capture_output=True)
    assert said()["phase"] == "preempted", said()


def prunes(base, _):
    """By hand and by itself: never the last whole one, also while the next is being written."""
    store = settings(base, "50MB", "10m")
    with open(base + "/midwatch.toml", "a") as file:
        file.write("[retention]\nkeep_last = 2\n")
    run = Run(base, [*small_trainer(base, 6, 0, 1), "waits"], "--quiet")
    left = lambda: sorted(int(name[12:]) for name in os.listdir(base + "/checkpoints") if name.startswith("global_step_"))
    assert run.end(300) == 0, run.err
    assert left()[-2:] == [5, 6] and len(left()) < 6, left()
    assert shipped(store)[1] == [6], run.err
    with open(base + "/midwatch.toml") as file:  # what its rules would remove now stands in the list
        text = file.read()
    with open(base + "/midwatch.toml", "w") as file:
        file.write(text.replace("keep_last = 2", "keep_last = 1"))
    listed = checkpoint("list", "--json", "--home", base + "/home")["checkpoints"]
    assert [one["step"] for one in listed if one["removable"]] == left()[:-1], listed
    shown = subprocess.run([PROGRAM, "checkpoint", "list", "--home", base + "/home"], capture_output=True, text=True, check=False).stdout
    assert "removable" in shown and "by [retention]: step" in shown, shown
    os.makedirs(base + "/checkpoints/global_step_7")
    with open(base + "/checkpoints/global_step_7/model.safetensors", "wb"):
        pass  # as a save that has just begun
    words = [PROGRAM, "checkpoint", "prune", "--home", base + "/home", "--keep-last", "1"]
    plan = subprocess.run([*words, "--dry-run", "--json"], capture_output=True, text=True, timeout=60, check=False)
    plan = json.loads(plan.stdout)
    assert [os.path.basename(one["path"]) for one in plan["items"]] == [f"global_step_{step}" for step in left()[:-2]], plan
    # What somebody reads stays, were it the oldest.
    oldest = f"{base}/checkpoints/global_step_{left()[0]}"
    with open(os.path.join(oldest, os.listdir(oldest)[0]), "rb"):
        reading = json.loads(subprocess.run([*words, "--dry-run", "--json"], capture_output=True, text=True, timeout=60, check=False).stdout)
    assert [one["path"] for one in reading["items"]] == [one["path"] for one in plan["items"]][1:], reading
    # The folder of the checkpoints names the run, too; one of which no run is known names nothing.
    words.append(base + "/checkpoints")
    by_path = subprocess.run([*words, "--dry-run", "--json"], capture_output=True, text=True, timeout=60, check=False)
    assert by_path.returncode == 0 and json.loads(by_path.stdout)["items"] == plan["items"], by_path.stdout + by_path.stderr
    elsewhere = subprocess.run([*words[:-1], base + "/share", "--yes"], capture_output=True, text=True, timeout=60, check=False)
    assert elsewhere.returncode == 2 and "no recorded run declared" in elsewhere.stderr, elsewhere.stdout + elsewhere.stderr
    done = subprocess.run([*words, "--yes"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert left() == [6, 7], left()
    again = subprocess.run([*words, "--yes"], capture_output=True, text=True, timeout=60, check=False)
    assert again.returncode == 0 and left() == [6, 7], again.stdout + again.stderr
    assert not hidden(base + "/checkpoints"), hidden(base + "/checkpoints")
    # Of a program whose framework is not known neither are the names.
    own = ["--home", base + "/own"]
    subprocess.run([PROGRAM, "run", "--quiet", *own, "--checkpoints", base + "/ck", "--", "true"], capture_output=True, check=True, timeout=60)
    plan = subprocess.run([PROGRAM, "checkpoint", "prune", *own, "--keep-last", "1"], capture_output=True, text=True, timeout=60, check=False)
    assert "Start the next one with --framework NAME" in plan.stdout, plan.stdout + plan.stderr


def empty_store(base, expected):
    # A share that is not mounted is no empty store.
    run = onstart(base + "/unmounted", base + "/share/run", ["true"])
    assert run.end() == 3 and "Is the share mounted here?" in run.err and not os.path.exists(base + "/share"), run.err
    os.makedirs(base + "/share/run")
    run = onstart(base + "/machine", base + "/share/run", training(base + "/machine", pace=0))
    assert run.end() == 0, run.err
    assert "begins from scratch" in run.err, run.err
    assert weights(base + "/machine") == expected
    # What is there and not whole is not passed over in silence.
    for folder, _, files in os.walk(base + "/share/run/checkpoints"):
        for name in files:
            os.remove(os.path.join(folder, name))
    run = onstart(base + "/other", base + "/share/run", ["true"])
    assert run.end() == 3 and "is whole" in run.err, run.err


def passes_over(base, expected):
    """The newest in the store is not what was pushed, which shows in its bytes alone: the machine begins from the one before."""
    store = base + "/share/run"
    run = Run(base, training(base, pace=0.05), "--quiet", "--store", store)
    assert run.end() == 0, run.err
    steps = sorted(shipped(store)[0])
    newest, = glob.glob(f"{store}/checkpoints/step_{steps[-1]}-*/trainer.safetensors")
    with open(newest, "r+b") as file:
        file.seek(-8, 2)
        byte = file.read(1)
        file.seek(-8, 2)
        file.write(bytes([byte[0] ^ 1]))
    run = onstart(base + "/machine", store, training(base + "/machine", pace=0))
    assert run.end() == 0, run.err
    assert "is passed over: trainer.safetensors is not what its manifest says" in run.err, run.err
    assert f"step {steps[-2]} was received" in run.err, run.err
    assert not [name for name in os.listdir(base + "/machine/checkpoints") if "partial" in name]
    assert weights(base + "/machine") == expected


def lost(base, expected):
    lost_machine(base, base + "/share/run", expected)


def says_what_differs(base, _):
    """Another command, another environment: the machine that goes on says and records what is not as it was, and no secret."""
    store = base + "/share/run"
    first = machine(base + "/first", ["run", "--store", store], training(base + "/first", pace=0.05), LEARNING_RATE="1e-6",
                    MY_API_KEY="sk-proj-0123456789abcdef0123456789abcdef0123456789abcdef")
    assert first.end() == 0, first.err
    kept, = os.listdir(store + "/fingerprints")
    with open(f"{store}/fingerprints/{kept}") as file:
        text = file.read()
    assert "1e-6" in text and "0123456789abcdef0123456789abcdef" not in text, text
    for manifest in glob.glob(store + "/manifests/*.json")[-1:]:
        with open(manifest) as file:
            facts = json.load(file)["content"]["run"]
        assert facts["fingerprint"] + ".json" == kept and len(facts["configuration"]) == 32, facts
    os.makedirs(base + "/second")
    words = ["onstart", "--from", store, "--checkpoints", base + "/second/checkpoints", "--home", base + "/second/home", "--"]
    done = subprocess.run([PROGRAM, *words, *training(base + "/second", steps=45, pace=0)], cwd=base + "/second", text=True, timeout=60,
                          env=dict(os.environ, LEARNING_RATE="5e-6"), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    said = [line for line in (done.stdout + done.stderr).splitlines() if "differs from the run that shipped its checkpoint: command" in line]
    assert len(said) == 1, done.stdout + done.stderr
    folder, = glob.glob(base + "/second/home/runs/*")
    shown = subprocess.run([PROGRAM, "report", "--run", folder], capture_output=True, text=True, timeout=60, check=False).stdout
    assert "| 1 | environment | LEARNING_RATE | `1e-6` | `5e-6` |" in shown and "--steps 45" in shown, shown
    # What is not what was put there is not believed.
    for name in os.listdir(store + "/fingerprints"):
        with open(f"{store}/fingerprints/{name}", "w") as file:
            file.write("{}")
    again = onstart(base + "/third", store, training(base + "/third", steps=45, pace=0))
    assert again.end() == 0 and "differs from" not in again.err, again.err


def in_scratch(case, expected):
    with Scratch() as base:
        case(base, expected)
    print(case.__name__, "ok", flush=True)


def main():
    expected = undisturbed()
    cases = [case for case in (lost, says_what_differs, deleted_meanwhile, ships, store_fails, stops, prunes, empty_store, passes_over, taken_away_receiving)
             if not sys.argv[3:] or case.__name__ in sys.argv[3:]]
    with concurrent.futures.ThreadPoolExecutor(max_workers=4) as several:  # they wait most of the time
        for done in [several.submit(in_scratch, case, expected) for case in cases]:
            done.result()
    return 0


sys.exit(main())
