"""What lies on the machine already when a run goes on: its own newer checkpoints, broken ones, a run that lives there.

onstart_local.py MIDWATCH PRACTICE_RUN
"""
import glob
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
import zipfile

from machines import checkpoint, shipped
from running import PROGRAM, wait_until
from watching import Scratch

TRAINER = '''
import os, sys, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from saves import save, highest
kind, root, steps, pace = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
os.makedirs(root, exist_ok=True)
start = highest(kind, root)
print("Training from scratch" if not start else
      f"Setting global step to {start}" if kind == "verl" else f"  Continuing training from global step {start}", flush=True)
print(f"BEGAN {start}", flush=True)
for step in range(start + 1, steps + 1):
    time.sleep(pace)
    if step % 10 == 0:
        save(kind, root, step)
    print(f"step:{step} - critic/rewards/mean:0.5 - actor/grad_norm:0.5" if kind == "verl" else
          {"loss": 0.5, "grad_norm": 1.0, "learning_rate": 1e-5, "reward": 0.5, "epoch": step / steps}, flush=True)
'''


def save(kind, root, step):
    folder = f"{root}/global_step_{step}/actor" if kind == "verl" else f"{root}/checkpoint-{step}"
    os.makedirs(folder, exist_ok=True)

    def torch(name, content):
        with zipfile.ZipFile(f"{folder}/{name}", "w") as file:
            file.writestr("archive/data.pkl", pickle.dumps(content, 2))
            file.writestr("archive/version", "3\n")
            file.writestr("archive/data/0", os.urandom(4096))

    def text(name, content):
        with open(f"{folder}/{name}", "w") as file:
            file.write(content)

    header = b'{"w":{"dtype":"F32","shape":[1000],"data_offsets":[0,4000]}}'
    finite = bytes(i & 0x3f for i in range(256))  # of any bytes, one number in 256 would be NaN
    if kind == "trl":
        with open(f"{folder}/model.safetensors", "wb") as file:
            file.write(len(header).to_bytes(8, "little") + header + os.urandom(4000).translate(finite))
        torch("optimizer.pt", {"state": {}})
        torch("scheduler.pt", {"last_epoch": step})
        torch("rng_state.pth", {"python": 1})
        text("config.json", '{"model_type": "qwen2"}')
        text("trainer_state.json", '{"global_step": %d, "max_steps": 1000, "log_history": []}' % step)
        return
    torch("model_world_size_1_rank_0.pt", {"w": 1})
    torch("optim_world_size_1_rank_0.pt", {"state": {}})
    torch("extra_state_world_size_1_rank_0.pt", {"rng": 1})
    text("fsdp_config.json", '{"FSDP_version": 1, "world_size": 1}')
    with zipfile.ZipFile(f"{root}/global_step_{step}/data.pt", "w") as file:
        file.writestr("archive/data.pkl", pickle.dumps({"_num_yielded": step}, 2))
    with open(f"{root}/latest_checkpointed_iteration.txt", "w") as file:
        file.write(str(step))


def highest(kind, root):
    if kind == "verl":
        try:
            with open(f"{root}/latest_checkpointed_iteration.txt") as file:
                step = int(file.read())
        except FileNotFoundError:
            return 0
        return step if os.path.isdir(f"{root}/global_step_{step}") else 0
    steps = [int(name[11:]) for name in os.listdir(root) if name.startswith("checkpoint-")]
    for step in steps[-1:] and [max(steps)]:
        with zipfile.ZipFile(f"{root}/checkpoint-{step}/optimizer.pt"):  # a real one fails on what is cut, too
            return step
    return 0


def trainer(base, kind, steps, pace=0.0):
    with open(base + "/trainer.py", "w") as file:
        file.write(TRAINER)
    with open(__file__) as own, open(base + "/saves.py", "w") as file:
        text = own.read()
        file.write("import os, pickle, zipfile\n\n" + text[text.index("def save("):text.index("def trainer(")])
    return [sys.executable, base + "/trainer.py", kind, base + "/out", str(steps), str(pace)]


def begin(base, verb, name, command, *words):
    return subprocess.Popen([PROGRAM, verb, "--home", base + "/home", "--name", name, "--no-host", "--config", "none", "--first-wait", "1s",
                             "--checkpoints", base + "/out", *words, "--", *command],
                            cwd=base, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def through(base, verb, name, command, *words):
    run = begin(base, verb, name, command, *words)
    text, _ = run.communicate(timeout=120)
    return run.returncode, text


def pointer(base):
    with open(base + "/out/latest_checkpointed_iteration.txt") as file:
        return file.read()


def fill_store(base, kind, steps):
    """Steps of another folder that was there before, in the store; nothing of them stays here."""
    store = base + "/share/run"
    for step in steps:
        save(kind, base + "/first", step)
        folder = f"{base}/first/" + (f"global_step_{step}" if kind == "verl" else f"checkpoint-{step}")
        done = checkpoint("push", folder, store, "--json")
        assert done.get("step") == step, done
    return store


def cut(path):
    os.truncate(path, os.path.getsize(path) // 2)


def further_here(base):
    """The disk is still there after a reboot, and shipping lagged: the run goes on from what is further here."""
    store = fill_store(base, "verl", [20])
    command = trainer(base, "verl", 60)
    for step in (20, 30, 40):
        save("verl", base + "/out", step)
    changed = os.stat(base + "/out/latest_checkpointed_iteration.txt").st_mtime_ns
    os.makedirs(base + "/out/global_step_50/actor")  # a save that the reboot cut off: the pointer does not name it
    code, text = through(base, "onstart", "two", [*command[:4], "40", "0"], "--from", store)
    assert code == 0 and "BEGAN 40" in text, text
    assert "step 40 is here and whole, and further than step 20, the newest whole one in" in text, text
    assert pointer(base) == "40" and os.stat(base + "/out/latest_checkpointed_iteration.txt").st_mtime_ns == changed
    # What the pointer names is broken by now: the whole one before it is still further than the store's.
    cut(base + "/out/global_step_40/actor/optim_world_size_1_rank_0.pt")
    code, text = through(base, "onstart", "three", [*command[:4], "35", "0"], "--from", store)
    assert code == 0 and "BEGAN 30" in text and "global_step_40 is not gone on from" in text, text
    assert pointer(base) == "30" and "names it (it said 40)" in text, text


def not_what_was_shipped(base):
    """Under the name of the store's newest lies something else, whole by its structure: the shipped one is received."""
    store = fill_store(base, "verl", [20])
    command = trainer(base, "verl", 20)
    shutil.copytree(base + "/first/global_step_20", base + "/out/global_step_20")
    code, text = through(base, "onstart", "same", command, "--from", store)
    assert code == 0 and "step 20 is here already, as it was shipped" in text, text
    data = base + "/out/global_step_20/actor/optim_world_size_1_rank_0.pt"
    with open(data, "r+b") as file:
        bytes_ = file.read()
        at = bytes_.index(b"archive/data/0") + 2000
        file.seek(at)
        file.write(bytes([bytes_[at] ^ 1]))
    code, text = through(base, "onstart", "other", command, "--from", store)
    assert code == 0 and "global_step_20 is not what was shipped (actor/optim_world_size_1_rank_0.pt has other bytes): moved to" in text, text
    assert "step 20 was received" in text, text
    with open(base + "/first/global_step_20/actor/optim_world_size_1_rank_0.pt", "rb") as shipped_one, open(data, "rb") as received:
        assert shipped_one.read() == received.read()
    assert len(glob.glob(base + "/out/.midwatch-quarantine/*/global_step_20")) == 1


def content(folder):
    files = {}
    for root, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(root, name), "rb") as file:
                files[os.path.relpath(os.path.join(root, name), folder)] = file.read()
    return files


def store_is_rotten(base):
    """What lies here leaves its place only for one that has come and is right; without a record of the run it is put back, too."""
    store = fill_store(base, "verl", [20])
    command = trainer(base, "verl", 20)
    save("verl", base + "/out", 20)
    own = base + "/out/global_step_20"
    before = content(own)
    shutil.copytree(store, base + "/share/rotten")
    kept = glob.glob(base + "/share/rotten/checkpoints/*/actor/optim_world_size_1_rank_0.pt") + \
        glob.glob(base + "/share/rotten/checkpoints/*/files/actor/optim_world_size_1_rank_0.pt")
    with open(kept[0], "r+b") as file:
        file.seek(1000)
        byte = file.read(1)
        file.seek(1000)
        file.write(bytes([byte[0] ^ 1]))
    for words in ([store + "/../rotten"], [store, "--framework", "nope"]):
        code, text = through(base, "onstart", "one", command, "--from", *words)
        assert code in (2, 3) and "quarantine" not in text, (code, text)
        assert content(own) == before and not os.path.exists(base + "/out/.midwatch-quarantine"), text
    code, text = through(base, "onstart", "two", command, "--from", store)
    assert code == 0 and "global_step_20 is not what was shipped" in text and "step 20 was received" in text, text
    shutil.rmtree(base + "/home/runs/two")
    shutil.rmtree(own)
    done = subprocess.run([PROGRAM, "restore", "--checkpoints", base + "/out", "--home", base + "/home", "--yes"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0 and "it is back" in done.stdout and "before the first attempt" in " ".join(done.stdout.split()), done.stdout
    assert content(own) == before


def insane_or_foreign_here(base):
    """What is further here is read before it is gone on from, and must have the files that the run has in the store."""
    store = fill_store(base, "trl", [20])
    command = trainer(base, "trl", 30)
    save("trl", base + "/out", 40)
    with open(base + "/out/checkpoint-40/model.safetensors", "r+b") as file:
        file.seek(-4000, 2)
        file.write(b"\xff" * 4000)  # NaN
    code, text = through(base, "onstart", "nan", command, "--from", store, "--framework", "trl")
    assert code == 0 and "BEGAN 20" in text and "checkpoint-40 is broken (" in text and "NaN" in text, text
    assert not os.path.exists(base + "/out/checkpoint-40")
    for step, size, root in ((50, 100_000, base + "/first"), (70, 300_000, base + "/out")):
        save("trl", root, step)
        with open(f"{root}/checkpoint-{step}/extra.dat", "wb") as file:
            file.write(b"1" * size)
        if step == 50:
            assert checkpoint("push", f"{root}/checkpoint-50", store, "--json").get("step") == 50
            time.sleep(1.5)
    code, text = through(base, "onstart", "foreign", command, "--from", store, "--framework", "trl")
    assert code == 3 and "seems to be another run's: extra.dat has " in text and "Nothing was changed" in text, (code, text)


def another_run_lives(base):
    """A start-up script that runs twice: the second one says who has the folder, and changes nothing."""
    store = fill_store(base, "verl", [20])
    command = trainer(base, "verl", 400, 0.1)
    first = begin(base, "onstart", "one", command, "--from", store, "--quiet")
    wait_until("it saves", lambda: os.path.isdir(base + "/out/global_step_30") and pointer(base) == "30")
    before = sorted(os.listdir(base + "/out"))
    code, text = through(base, "onstart", "two", command, "--from", store)
    assert code == 11 and f"process {first.pid}, a midwatch onstart of" in text and "has " + base + "/out" in text, (code, text)
    other = subprocess.run([PROGRAM, "onstart", "--name", "two", "--no-host", "--config", "none", "--checkpoints", base + "/out", "--from", store, "--",
                            *command], cwd=base, env={**os.environ, "MIDWATCH_HOME": base + "/other"}, capture_output=True, text=True, timeout=120,
                           check=False)
    assert other.returncode == 11 and f"process {first.pid}, a midwatch onstart of" in other.stdout + other.stderr, other
    assert int(pointer(base)) >= 30 and set(before) <= set(os.listdir(base + "/out"))
    assert not os.path.exists(base + "/home/runs/two") and not os.path.exists(base + "/other/runs/two"), "a run was begun"
    # midwatch is gone, and the trainer lives on under its keeper.
    first.kill()
    first.communicate()
    code, text = through(base, "onstart", "two", command, "--from", store)
    assert code == 11 and "run one lives and keeps its checkpoints in" in text, (code, text)
    stop = begin_reattached(base)
    stop.send_signal(signal.SIGINT)
    stop.communicate(timeout=60)
    # What has ended holds nobody up.
    code, text = through(base, "onstart", "two", [*command[:4], "30", "0"], "--from", store)
    assert code == 0, (code, text)


def begin_reattached(base):
    run = subprocess.Popen([PROGRAM, "run", "--reattach", "one", "--home", base + "/home", "--quiet", "--config", "none"], cwd=base,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    watcher = base + "/home/runs/one/watcher.json"

    def watches():
        with open(watcher) as file:
            return json.load(file)["pid"] == run.pid

    wait_until("it is watched again", watches)
    return run


def at_once(base):
    """Two at the same instant: one receives and runs, the other says why it does not."""
    store = fill_store(base, "verl", [20])
    command = trainer(base, "verl", 40, 0.1)
    both = [begin(base, "onstart", name, command, "--from", store, "--quiet") for name in ("one", "two")]
    texts = [run.communicate(timeout=120)[0] for run in both]
    assert sorted(run.returncode for run in both) == [0, 11], texts
    assert "cannot list" not in "".join(texts), texts
    assert pointer(base) == "40"


def broken_here(base):
    """The trainer takes the highest number: a broken one there is quarantined before the first attempt."""
    store = fill_store(base, "trl", [20, 30])
    command = trainer(base, "trl", 50)
    for step in (30, 40):
        save("trl", base + "/out", step)
    for step in (30, 40):
        cut(f"{base}/out/checkpoint-{step}/optimizer.pt")
    with open(base + "/ask.toml", "w") as file:
        file.write('[actions]\nrestart = "ask"\n')
    asks = [PROGRAM, "onstart", "--home", base + "/home", "--name", "asks", "--no-host", "--config", base + "/ask.toml", "--checkpoints",
            base + "/out", "--from", store, "--framework", "trl", "--", *command]
    done = subprocess.run(asks, cwd=base, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 3 and "Nothing is written over. Move it away, and run this again: mv " in done.stderr, (done.returncode, done.stderr)
    assert sorted(os.listdir(base + "/out")) == ["checkpoint-30", "checkpoint-40"]
    code, text = through(base, "onstart", "two", command, "--from", store, "--framework", "trl")
    assert code == 0 and "BEGAN 30" in text and "step 30 was received" in text, text
    for step in (30, 40):
        assert f"checkpoint-{step} is broken (" in text, text
    assert len(glob.glob(base + "/out/.midwatch-quarantine/*/checkpoint-*")) == 2
    shutil.move(base + "/out/checkpoint-40", base + "/newer-40")  # its name is to be free
    back = subprocess.run([PROGRAM, "restore", "--run", "two", "--home", base + "/home", "--yes"], capture_output=True, text=True, timeout=60,
                          check=False)
    assert os.path.isdir(base + "/out/checkpoint-40"), back.stdout + back.stderr


def another_runs(base):
    """What a recorded run of another store saved there is not gone on from: two runs in one folder are for a person."""
    store = fill_store(base, "verl", [20])
    command = trainer(base, "verl", 40, 0.05)
    code, text = through(base, "run", "other", command, "--store", base + "/share/other")
    assert code == 0 and pointer(base) == "40", text
    before = sorted(os.listdir(base + "/out"))
    code, text = through(base, "onstart", "one", command, "--from", store)
    assert code == 3 and "run other, which ships to another place, saved it" in text and "Nothing was changed" in text, (code, text)
    assert pointer(base) == "40" and sorted(os.listdir(base + "/out")) == before
    # Of its own store the same is its own, though nothing of it came there.
    os.rename(base + "/share/other", base + "/share/lost")
    code, text = through(base, "onstart", "two", [*command[:4], "50", "0"], "--from", base + "/share/other")
    assert code == 0 and "BEGAN 40" in text and "and there is no checkpoint in" in text, text


def empty_store(base):
    """Nothing was shipped, and something lies here: that is said, and not called a beginning from scratch."""
    command = trainer(base, "verl", 40)
    save("verl", base + "/out", 30)
    code, text = through(base, "onstart", "one", command, "--from", base + "/share/run")
    assert code == 3 and "Is the share mounted here?" in text and "BEGAN" not in text, text  # there is no store
    os.makedirs(base + "/share/run")
    code, text = through(base, "onstart", "one", command, "--from", base + "/share/run")
    assert code == 0 and "BEGAN 30" in text and "from scratch\n" not in text.split("BEGAN")[0], text
    assert "global_step_30 lies there, whole; that it is this run's is not proven" in text and "nothing is received" in text, text
    # What a recorded run of this store saved there is this run's.
    shutil.rmtree(base + "/share")
    os.makedirs(base + "/share/run")
    code, text = through(base, "onstart", "two", [*command[:4], "50", "0"], "--from", base + "/share/run")
    assert code == 0 and "step 40 is here and whole, and there is no checkpoint in" in text and "BEGAN 40" in text, text


def one_folder_too_high(base):
    """Where nothing is in the place, and runs lie below it, a person named the folder above: nothing is begun or shipped there."""
    fill_store(base, "verl", [20])
    share = base + "/share"
    code, text = through(base, "onstart", "one", trainer(base, "verl", 20), "--from", share)
    assert code == 3 and "runs lie below it: run" in text and "BEGAN" not in text, text
    assert not os.path.exists(share + "/checkpoints") and not os.path.exists(share + "/runs"), os.listdir(share)
    for words in (("pull", share, base + "/got"), ("remote", share)):
        done = subprocess.run([PROGRAM, "checkpoint", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        assert done.returncode != 0 and "runs lie below it: run" in done.stdout, done.stdout
    # A folder's own name does not say its step where its files do.
    save("trl", base + "/first", 20)
    shutil.copytree(base + "/first/checkpoint-20", base + "/restored2")
    done = checkpoint("push", base + "/restored2", base + "/share/other", "--json")
    assert done.get("step") == 20, done
    # What has no weights is not shipped, whatever else it holds.
    os.unlink(base + "/restored2/model.safetensors")
    done = subprocess.run([PROGRAM, "checkpoint", "push", base + "/restored2", base + "/share/third"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 2 and "there are no weights in it" in done.stdout, done.stdout


def begins_from_nothing(base):
    """The trainer does not resume: it is ended before it saves over what was received, and what it saves elsewhere is not shipped over it."""
    store = fill_store(base, "verl", [20, 30])
    command = trainer(base, "verl", 45, 0.4)
    with open(base + "/trainer.py", "w") as file:
        tracker = 'print(f"Checkpoint tracker file does not exist: {root}/latest_checkpointed_iteration.txt", flush=True)'
        file.write(TRAINER.replace("start = highest(kind, root)", f"start = 0\n{tracker}"))
    code, text = through(base, "onstart", "one", command, "--from", store)
    assert code != 0 and "although the checkpoint of step 30 was there to go on from" in text and "1 attempt." in text, (code, text)
    assert "must request a resume" in text and pointer(base) == "30" and not os.path.exists(base + "/out/global_step_10"), text
    assert shipped(store)[1] == [30], shipped(store)
    shutil.move(base + "/out", base + "/received")
    elsewhere = [*command[:3], base + "/elsewhere", "45", "0.1"]
    code, text = through(base, "onstart", "two", elsewhere, "--from", store)
    assert code == 0 and "restart-from-scratch  warning" in text and "not shipped over it" in text, (code, text)
    assert shipped(store)[1] == [30], shipped(store)


def passed_over(base):
    """What of the store is not whole is named, each in one sentence."""
    store = fill_store(base, "verl", [10, 20, 30, 40])
    one, = glob.glob(store + "/checkpoints/step_40-*/data.pt")
    cut(one)
    two, = glob.glob(store + "/checkpoints/step_30-*/data.pt")
    os.remove(two)
    three, = glob.glob(store + "/manifests/step_20-*.json")
    os.truncate(three, 0)
    code, text = through(base, "onstart", "one", trainer(base, "verl", 20), "--from", store)
    assert code == 0 and "step 10 was received" in text, text
    for step in (20, 30, 40):
        assert text.count(f"step_{step}-") >= 1 and any(f"step_{step}-" in line and "is passed over" in line for line in text.splitlines()), text


def main():
    cases = (another_runs, further_here, not_what_was_shipped, store_is_rotten, insane_or_foreign_here, another_run_lives, at_once, broken_here, empty_store, one_folder_too_high, passed_over,
             begins_from_nothing)
    for case in cases:
        if sys.argv[3:] and case.__name__ not in sys.argv[3:]:
            continue
        with Scratch() as base:
            os.environ["HOME"] = base + "/user"
            os.environ.pop("XDG_STATE_HOME", None)
            began = time.monotonic()
            case(base)
        print(case.__name__, f"ok {time.monotonic() - began:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
