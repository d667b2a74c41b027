"""Whose checkpoints are: somebody else's in the same folder stay, a run's own are quarantined, listed and restored.

whose.py MIDWATCH PRACTICE_RUN
"""
import json
import os
import shutil
import signal
import subprocess
import sys

from running import PROGRAM, Run, midwatch, output, processes_of, training, wait_until
from watching import Scratch

POINTER = "latest_checkpointed_iteration.txt"

# Saves every fifth step of forty in the folder it is given, and dies by SIGKILL once, in its first attempt, after the third save.
TRAINER = r'''
import os, signal, sys, time
layout, root = sys.argv[1], sys.argv[2]
attempt = int(os.environ["MIDWATCH_ATTEMPT"])
def put(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
def save(step):
    at = os.path.join(root, "global_step_%d" % step)
    if layout == "zst": put(at + "/model.pt.zst", b"\x28\xb5\x2f\xfd" + b"x" * 999)
    if layout == "unknown": put(at + "/layer0.shard", b"weights")
    if layout == "zeros": put(at + "/weights.bin", bytes(8192) + b"weights")
    if layout == "elsewhere": put(at + "/trainer_state.json", b"{}")
    if layout == "ranks":
        for rank in range(4 if step < 15 else 2): put(at + "/mp_rank_0%d.pt" % rank, b"\x80\x02 pickle")
    if layout == "optimizer":
        put(at + "/model.pt", b"\x80\x02 pickle")
        if step < 15: put(at + "/optim.pt", b"\x80\x02 pickle" * 1000)
    put(os.path.join(root, "latest_checkpointed_iteration.txt"), b"%d" % step)
    print("local_global_step_folder:", at, flush=True)
first = 1
try: first = 1 + int(open(os.path.join(root, "latest_checkpointed_iteration.txt")).read())
except FileNotFoundError: pass
if first > 1: print("Setting global step to", first - 1, flush=True)
for step in range(first, 21):
    print("step:%d - actor/entropy:1.0 - actor/pg_loss:0.1 - critic/score/mean:0.5 - perf/throughput:10.0" % step, flush=True)
    time.sleep(0.02)
    if step % 5 == 0: save(step)
    if attempt == 1 and step == 16:
        time.sleep(3.5)  # so that all of them are scanned
        os.kill(os.getpid(), signal.SIGKILL)
'''


def read(path):
    with open(path) as file:
        return file.read()


def put_foreign(root, step):
    """Of a run of long ago."""
    folder = os.path.join(root, f"global_step_{step}")
    os.makedirs(folder)
    with open(os.path.join(folder, "policy.safetensors"), "w") as file:
        file.write("foreign")
    for path in (file.name, folder):
        os.utime(path, (1, 1))


def foreign_stays(root, *steps):
    for step in steps:
        assert read(os.path.join(root, f"global_step_{step}", "policy.safetensors")) == "foreign", step


def odd_layouts():
    """Healthy checkpoints of odd shapes, one SIGKILL: nothing is moved, nothing is critical, cleanup deletes none of them."""
    with Scratch() as base:
        script = os.path.join(base, "trainer.py")
        with open(script, "w") as file:
            file.write(TRAINER)
        runs = {}
        for layout in ("zst", "unknown", "zeros", "elsewhere", "ranks", "optimizer"):
            place = os.path.join(base, layout)
            os.makedirs(place)
            root = os.path.join(place, "ckpts")
            runs[layout] = place, root, Run(place, [sys.executable, script, layout, root], "--first-wait", "0.1", "--quiet",
                                            "--checkpoints", root)
        for layout, (place, root, run) in runs.items():
            assert run.end() == 0 and "2 attempts." in run.err, (layout, run.err)
            assert " moved " not in run.err and not os.path.exists(os.path.join(root, ".midwatch-quarantine")), (layout, run.err)
            assert "Setting global step to 15" in output(run), (layout, output(run)[-2000:])
            _, text = midwatch(place, "incidents", "--json")
            # Whether weights lie elsewhere or nowhere cannot be seen: it is said, and nothing is done.
            said = [one["severity"] for one in json.loads(text)["incidents"] if one["kind"] == "checkpoint-incomplete"]
            assert said == (["warning"] if layout == "elsewhere" else []), (layout, text)
            before = sorted(os.listdir(root))
            code, text = midwatch(place, "cleanup", "--yes")
            assert code == 0 and sorted(os.listdir(root)) == before, (layout, code, text)
    print("odd layouts: ok")


def beside_others():
    """Tainted checkpoints are quarantined; those of another run in the same folder stay, and restore puts all back."""
    with Scratch() as base:
        root = os.path.join(base, "checkpoints")
        for step in (3, 14, 99):
            put_foreign(root, step)
        # Long enough that it does not end by itself before midwatch, which is stopped meanwhile, has read it.
        run = Run(base, [*training(base, steps=400, pace=0.15), "--when-engine-dies", "zero"], "--quiet", "--first-wait",
                  "0.2", "--checkpoints", root)
        saved = lambda step: os.path.exists(os.path.join(root, f"global_step_{step}", "trainer.safetensors"))
        wait_until("a checkpoint", lambda: saved(10))
        run.process.send_signal(signal.SIGSTOP)
        os.kill(processes_of(base, "practice_run")[1], signal.SIGKILL)
        wait_until("checkpoints of poisoned steps", lambda: saved(20))
        run.process.send_signal(signal.SIGCONT)
        wait_until("the next attempt, from what is its own", lambda: "Setting global step to 1" in output(run), 60)
        foreign_stays(root, 3, 14, 99)
        code, text = midwatch(base, "restore", "--yes")
        assert code != 0 and "stop" in text.lower(), (code, text)
        subprocess.run([PROGRAM, "stop", "--now", "--home", os.path.join(base, "home")], capture_output=True, check=False)
        run.end()
        assert "moved the checkpoints of step" in run.err, run.err
        foreign_stays(root, 3, 14, 99)
        code, text = midwatch(base, "restore", "--list", "--json")
        result = json.loads(text)
        assert code == 0 and result["items"] and all(item["why"] for item in result["items"]), result
        code, text = midwatch(base, "restore", "--json")
        assert code == 7, (code, text)
        code, text = midwatch(base, "restore", "--checkpoints", root, "--list")
        assert code == 2 and "midwatch restore --run" in text, (code, text)  # a recorded run's: that run restores them
        # Without the run's record the folder alone says what was moved.
        os.rename(os.path.join(base, "home"), os.path.join(base, "lost"))
        code, text = midwatch(base, "restore", "--checkpoints", root, "--list", "--json")
        items = json.loads(text)["items"]
        assert code == 0 and [item["path"] for item in items if item["can"]] == [item["path"] for item in result["items"] if item["can"]], (items, result)
        shutil.rmtree(os.path.join(base, "home"), ignore_errors=True)
        os.rename(os.path.join(base, "lost"), os.path.join(base, "home"))
        code, text = midwatch(base, "restore", "--yes", "--json")
        result = json.loads(text)
        for item in result["items"]:
            # A step that was saved anew keeps its place.
            assert item["done"] or item["outcome"], item
            if item["what"] == "checkpoint" and item["done"]:
                assert os.path.isdir(item["path"]) and not os.path.exists(item["from"]), item
        assert any(item["done"] for item in result["items"] if item["what"] == "checkpoint") or saved(20), result
        foreign_stays(root, 3, 14, 99)
    print("beside others: ok")


# prime-rl, whose log names the step of a save and no folder. Dies in the middle of its second save, once.
NAMES_NO_FOLDER = r'''
import json, os, signal, struct, sys, time
root = os.path.join(sys.argv[1], "checkpoints")
attempt = int(os.environ["MIDWATCH_ATTEMPT"])
def say(level, text): print(time.strftime("%H:%M:%S"), level.rjust(7), text, flush=True)
def save(step, half):
    say("INFO", "Saving checkpoint at step %d" % step)
    for part in ("trainer", "orchestrator"):
        folder = os.path.join(root, "step_%d" % step, part)
        os.makedirs(folder, exist_ok=True)
        head = json.dumps({"w": {"dtype": "F32", "shape": [64], "data_offsets": [0, 256]}}).encode()
        with open(folder + "/model.safetensors", "wb") as file:
            file.write(struct.pack("<Q", len(head)) + head + bytes(range(256))[:20 if half else 256])
        if half: os.kill(os.getpid(), signal.SIGKILL)
first = 0
if os.path.isdir(root): first = max(int(name[5:]) for name in os.listdir(root) if name.startswith("step_"))
say("INFO", "Starting orchestrator (algorithm: grpo)")
say("INFO", "Starting training loop (max_steps=15)")
if first:
    say("INFO", "Resuming training from checkpoint step %d" % first)
    if os.path.getsize(os.path.join(root, "step_%d" % first, "trainer/model.safetensors")) < 256: raise RuntimeError("it is cut off")
for step in range(first + 1, 16):
    time.sleep(0.1)
    say("SUCCESS", "Step %d |    0.1s | Loss 0.0100 | Entropy 0.5000 | Mismatch KL 0.0010 | Grad. Norm 0.4000 | LR 1.00e-06 | "
        "Throughput 5000 tokens/s | MFU 31.2%% | Peak Mem. 61.3 GiB" % step)
    if step % 5 == 0: save(step, attempt == 1 and step == 10)
say("SUCCESS", "RL trainer finished!")
'''


def half_of_a_save():
    """Nothing says where the run saves, and it dies in the middle of a save: it goes on from the one that is whole."""
    with Scratch() as base:
        runs = []
        for name, more in (("nothing", ()), ("above", ("--checkpoints", "out"))):
            os.mkdir(os.path.join(base, name))
            runs.append(Run(os.path.join(base, name), [sys.executable, "-c", NAMES_NO_FOLDER, "out"], "--first-wait", "0.1", "--quiet", *more))
        for run in runs:
            assert run.end() == 0 and "2 attempts." in run.err, run.err
            assert "moved the checkpoints of step 10 to " in run.err and "step 5 is the newest now" in run.err, run.err
            assert "Resuming training from checkpoint step 5\n" in output(run), output(run)
    print("half of a save: ok")


def nothing_older():
    """All its checkpoints are tainted: nothing is moved, and the run stops with that reason."""
    with Scratch() as base:
        root = os.path.join(base, "checkpoints")
        put_foreign(root, 3)
        run = Run(base, [*training(base, pace=1), "--when-engine-dies", "zero"], "--quiet", "--first-wait", "0.2",
                  "--checkpoints", root)
        wait_until("a step", lambda: os.path.isdir(os.path.join(base, "home", "runs")) and "step:1 " in output(run))
        run.process.send_signal(signal.SIGSTOP)
        os.kill(processes_of(base, "practice_run")[1], signal.SIGKILL)
        wait_until("a checkpoint", lambda: os.path.exists(os.path.join(root, POINTER)))
        run.process.send_signal(signal.SIGCONT)
        assert run.end() != 0 and "1 attempt." in run.err, run.err
        assert not os.path.exists(os.path.join(root, ".midwatch-quarantine")), os.listdir(root)
        assert os.path.exists(os.path.join(root, "global_step_5")), os.listdir(root)
        foreign_stays(root, 3)
    print("nothing older: ok")


def linked_ones():
    """What a link of the trainer's or a person's leads to stays, whatever rule would remove it."""
    with Scratch() as base:
        root = os.path.join(base, "checkpoints")
        with open(os.path.join(base, "midwatch.toml"), "w") as file:
            file.write("[retention]\nkeep_last = 1\n")
        run = Run(base, [*training(base, pace=0.3), "--save-every", "3"], "--quiet", "--checkpoints", root)
        wait_until("a checkpoint", lambda: os.path.isdir(os.path.join(root, "global_step_3")))
        os.symlink("global_step_3", os.path.join(root, "best"))
        wait_until("another", lambda: os.path.isdir(os.path.join(root, "global_step_6")))
        os.symlink("checkpoints/global_step_6", os.path.join(base, "latest"))
        assert run.end() == 0, run.err
        left = sorted(name for name in os.listdir(root) if name.startswith("global_step"))
        assert "global_step_3" in left and "global_step_6" in left, left
        assert "removed " in run.err and "global_step_9" not in left, (left, run.err)
    print("linked ones: ok")


def last_ones():
    """What was saved last is found whole after the command's end, and what is beyond the rules by then goes before the run is over."""
    with Scratch() as base:
        root = os.path.join(base, "checkpoints")
        with open(os.path.join(base, "midwatch.toml"), "w") as file:
            file.write("[retention]\nkeep_last = 2\n")
        run = Run(base, [*training(base, pace=0.02), "--save-every", "3"], "--quiet", "--checkpoints", root)
        assert run.end() == 0, run.err
        left = sorted(name for name in os.listdir(root) if name.startswith("global_step"))
        assert len(left) == 2 and "removed " in run.err, (left, run.err)
    print("last ones: ok")


# Trains 24 steps as TRL's trainer says it (no bar, no step in a record), and saves every fourth.
PLANNED = r'''
import json, os, pickle, sys, time, zipfile
root, plan, last, pace = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
print("***** Running training *****\n  Total optimization steps = %d" % plan, flush=True)
def put(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file: file.write(data)
def save(step):
    at = os.path.join(root, "checkpoint-%d" % step)
    header = b'{"w":{"dtype":"F32","shape":[16],"data_offsets":[0,64]}}'
    put(at + "/model.safetensors", len(header).to_bytes(8, "little") + header + bytes([step]) * 64)
    for name in ("optimizer.pt", "scheduler.pt", "rng_state.pth"):
        with zipfile.ZipFile(at + "/" + name, "w") as file:
            file.writestr("archive/data.pkl", pickle.dumps({"state": {}, "last_epoch": step}, 2))
            file.writestr("archive/version", "3\n")
    put(at + "/config.json", b'{"model_type": "qwen2"}')
    put(at + "/trainer_state.json", json.dumps({"epoch": step / plan, "global_step": step, "log_history": [], "max_steps": plan}).encode())
for step in range(1, last + 1):
    time.sleep(pace)
    reward = 0.9 if step == 8 else 0.1
    print({"loss": 1 / step, "grad_norm": 0.5, "learning_rate": 1e-5, "reward": reward, "reward_std": 0.1, "kl": 0.01,
           "completions/mean_length": 100.0, "epoch": round(step / plan, 4)}, flush=True)
    if step % 4 == 0: save(step)
'''


def never_reached():
    """Another trainer's checkpoints of later steps come into the folder: none of the run's own goes for them, and they stay."""
    with Scratch() as base:
        root, script = os.path.join(base, "out"), os.path.join(base, "trainer.py")
        with open(script, "w") as file:
            file.write(PLANNED)
        for other, plan, last in (("other", 40, 36), ("twin", 24, 24)):
            subprocess.run([sys.executable, script, os.path.join(base, other), str(plan), str(last), "0"], check=True, capture_output=True)
        with open(os.path.join(base, "midwatch.toml"), "w") as file:
            file.write("[retention]\nkeep_last = 1\nkeep_best = \"reward.mean\"\n")
        run = Run(base, [sys.executable, script, root, "24", "16", "0.25"], "--quiet", "--restarts", "0", "--checkpoints", root)
        wait_until("a checkpoint", lambda: os.path.exists(os.path.join(root, "checkpoint-12", "trainer_state.json")))
        for other, steps in (("twin", (20, 24)), ("other", (28, 32, 36))):
            for step in steps:
                shutil.copytree(os.path.join(base, other, f"checkpoint-{step}"), os.path.join(root, f"checkpoint-{step}"),
                                copy_function=shutil.copy)  # without their times
        run.end()
        left = sorted(int(name[11:]) for name in os.listdir(root) if name.startswith("checkpoint-"))
        # 8 is the best, by a figure whose step is known only when the run is over.
        assert left == [8, 16, 20, 24, 28, 32, 36], (left, run.err)
        done = subprocess.run([PROGRAM, "checkpoint", "prune", "--home", os.path.join(base, "home"), "--keep-last", "1", "--dry-run"], cwd=base,
                              capture_output=True, text=True, timeout=60, check=False)
        text = " ".join(done.stdout.split())
        assert done.returncode == 0 and text.count("by its log this run has not reached its step") == 5, done
        assert f"{root}/checkpoint-16 — it is the newest whole one here" in text, done
    print("never reached: ok")


# Saves every tenth step as verl does; from step `zero` on its reward is exactly 0, and what it saves from `nan` on holds no numbers.
STEADY = r'''
import os, struct, sys, time
root, last, pace, zero, nan, rest = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]), float(sys.argv[6])
def save(step):
    at = os.path.join(root, "global_step_%d" % step)
    os.makedirs(at, exist_ok=True)
    header = b'{"w":{"dtype":"F32","shape":[16],"data_offsets":[0,64]}}'
    with open(at + "/model.safetensors", "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header + struct.pack("<16f", *([float("nan")] * 16 if step >= nan else [step + i for i in range(16)])))
    with open(os.path.join(root, "latest_checkpointed_iteration.txt"), "w") as file: file.write(str(step))
    print("local_global_step_folder:", at, flush=True)
print("Total training steps: %d\\nINFO:x:Training from scratch" % last, flush=True)
for step in range(1, last + 1):
    time.sleep(pace)
    reward = 0.0 if step >= zero else 0.3 + 0.001 * (step % 7)
    print("step:%d - actor/entropy:0.5 - actor/pg_loss:0.1 - actor/grad_norm:0.4 - critic/score/mean:%.4f - critic/rewards/mean:%.4f - "
          "response_length/mean:%d - perf/throughput:10.0" % (step, reward, reward, 200 + step % 5), flush=True)
    if step % 10 == 0: save(step)
time.sleep(rest)
'''


def steady(base, name, last, *options, pace=0.03, zero=10**6, nan=10**6, rest=0.0, root=None):
    script = os.path.join(base, "trainer.py")
    with open(script, "w") as file:
        file.write(STEADY)
    root = root or os.path.join(base, "ckpts")
    words = [root, last, pace, zero, nan, rest]
    return Run(base, [sys.executable, script, *map(str, words)], "--quiet", "--name", name, "--restarts", "0", "--checkpoints", root, *options)


def saved(root):
    return sorted(int(name[12:]) for name in os.listdir(root) if name.startswith("global_step_"))


def checkpoint(base, verb, *words):
    done = subprocess.run([PROGRAM, "checkpoint", verb, "--home", os.path.join(base, "home"), *words], cwd=base, capture_output=True,
                          text=True, timeout=60, check=False)
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def before_the_onset():
    """What was saved since rewards are zero is none of the last ones: what a resume begins from stays, by hand and by itself."""
    for by_itself in (False, True):
        with Scratch() as base:
            if by_itself:
                with open(os.path.join(base, "midwatch.toml"), "w") as file:
                    file.write("[retention]\nkeep_last = 2\n")
            run = steady(base, "zeros", 100, "--no-breaker", pace=0.12 if by_itself else 0.03, zero=55)
            run.end()
            root = os.path.join(base, "ckpts")
            if not by_itself:
                code, text = checkpoint(base, "prune", "--keep-last", "2", "--yes")
                assert code == 0 and "a resume would begin from it, as zero-reward began at step 55" in text, text
            left = saved(root)
            assert left[-2:] == [90, 100] and 50 in left and 40 in left, (left, run.err)
            code, text = midwatch(base, "status")
            assert "Resume from step 50" in text, text
            code, text = checkpoint(base, "list", "--run", "zeros")
            assert ("step 50: a resume would begin from it" in text) == by_itself, text
    print("before the onset: ok")


def read_in_full():
    """Whole by its structure may be full of NaN: which were read is said, and the newest sane one stays."""
    with Scratch() as base:
        run = steady(base, "nan", 70, nan=60)
        run.end()
        root = os.path.join(base, "ckpts")
        code, text = checkpoint(base, "prune", "--keep-last", "1", "--dry-run")
        assert code == 0 and "none was read in full" in text and "verify --deep" in text, text
        # What was written a moment ago counts as being written.
        wait_until("all are read", lambda: "WRITING" not in checkpoint(base, "verify", "--deep", root)[1], 120)
        code, text = checkpoint(base, "prune", "--keep-last", "1", "--yes")
        assert code == 0 and saved(root) == [50, 70], (code, text, saved(root))
    print("read in full: ok")


def of_two_runs():
    """A run whose log names a step does not remove what another run wrote there, whether it is over or lives."""
    with Scratch() as base:
        root = os.path.join(base, "ckpts")
        first = steady(base, "first", 95)
        assert first.end() == 0, first.err
        os.unlink(os.path.join(root, POINTER))
        second = steady(base, "second", 55, rest=30)
        wait_until("the second run's last save", lambda: open_step(root) == 50)
        code, text = checkpoint(base, "prune", "--run", "first", "--keep-last", "1", "--dry-run")
        assert "global_step_10 — It is" not in text and "may have written it" in text, text
        checkpoint(base, "prune", "--run", "first", "--keep-last", "1", "--yes")
        left = saved(root)
        assert {10, 20, 30, 40, 50} <= set(left), (left, text)
        subprocess.run([PROGRAM, "stop", "--now", "--run", "second", "--home", os.path.join(base, "home")], capture_output=True, check=False)
        second.end()
    with Scratch() as base:
        root = os.path.join(base, "ckpts")
        with open(os.path.join(base, "midwatch.toml"), "w") as file:
            file.write("[retention]\nkeep_last = 2\n")
        first = steady(base, "first", 99, rest=40)
        wait_until("the first run's last save", lambda: os.path.exists(os.path.join(root, POINTER)) and open_step(root) == 90)
        wait_until("its rules", lambda: saved(root) == [80, 90], 30)
        os.unlink(os.path.join(root, POINTER))
        second = steady(base, "second", 75, pace=0.05)
        assert second.end() == 0, second.err
        assert "run first lives and keeps its checkpoints in" in second.err, second.err
        first.end()
        assert {10, 20, 30, 40, 50, 60, 70} <= set(saved(root)), (saved(root), first.err, second.err)
    print("of two runs: ok")


def open_step(root):
    try:
        return int(read(os.path.join(root, POINTER)))
    except (FileNotFoundError, ValueError):
        return 0


if __name__ == "__main__":
    before_the_onset()
    read_in_full()
    of_two_runs()
    never_reached()
    last_ones()
    odd_layouts()
    linked_ones()
    beside_others()
    half_of_a_save()
    nothing_older()
