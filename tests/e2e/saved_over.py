"""An attempt that went back saves a step anew, over the save of the attempt before, and ends in the middle of it: every file is whole, and the
checkpoint is of two saves. The next attempt does not resume from it. What was saved over to its end stays."""
import os
import pathlib
import subprocess
import sys

from running import PROGRAM, Run
from watching import Scratch

SAMPLES = pathlib.Path(__file__).resolve().parent.parent / "checkpoints" / "samples"

# As transformers' Trainer writes and logs. The first attempt's saves are dated back, as if half an hour lay between the two.
TRAINER = '''
import os, shutil, sys, time
root, samples, to_its_end = sys.argv[1], sys.argv[2], sys.argv[3] == "whole"
def say(text): print(text, flush=True)
with open("attempts", "a") as file: file.write("x")
attempt = os.path.getsize("attempts")
def save(step, files, ago):
    folder = f"{root}/checkpoint-{step}"
    say(f"[INFO|trainer.py:4000] 2026-11-30 10:00:00,123 >> Saving model checkpoint to {folder}")
    os.makedirs(folder, exist_ok=True)
    for name in files:
        shutil.copyfile(f"{samples}/checkpoint-{step}/{name}", f"{folder}/{name}")
        os.utime(f"{folder}/{name}", (time.time() - ago, time.time() - ago))
every = ["config.json", "model.safetensors", "optimizer.pt", "scheduler.pt", "rng_state.pth", "trainer_state.json"]
saved = sorted(int(name[11:]) for name in os.listdir(root) if name.startswith("checkpoint-")) if os.path.isdir(root) else []
begin = 10 if attempt == 2 else max(saved, default=0)
say("[INFO|trainer.py:2420] 2026-11-30 10:00:00,123 >> ***** Running training *****")
say("[INFO|trainer.py:2425] 2026-11-30 10:00:00,123 >>   Total optimization steps = 24")
if begin: say(f"[INFO|trainer.py:2430] 2026-11-30 10:00:00,123 >>   Resuming training from checkpoint with epoch 0 and global step {begin}")
for step in range(begin + 1, 25):
    time.sleep(0.1)
    say("{'loss': 0.0123, 'grad_norm': 0.4521, 'learning_rate': 1e-06, 'reward': %.4f, 'reward_std': 0.31, 'entropy': 0.41, 'epoch': %.3f}" % (0.3 + step / 500, step / 500))
    say("%3d%%|###       | %d/24 [00:%02d<01:00,  1.00s/it]" % (100 * step // 24, step, step))
    half = attempt == 2 and not to_its_end
    if step in (10, 20): save(step, every[:3] if half else every, 1800 if attempt == 1 else 0)
    if (attempt == 1 and step == 22) or (attempt == 2 and step == 20):
        say('Traceback (most recent call last):\\n  File "train.py", line 1, in <module>\\nRuntimeError: CUDA error: an illegal memory access was encountered')
        sys.exit(1)
'''


def run_of(base, how):
    pathlib.Path(base + "/train.py").write_text(TRAINER, encoding="utf-8")
    run = Run(base, [sys.executable, "train.py", base + "/ck", str(SAMPLES / "trl"), how], "--name", "one", "--no-host", "--unattended",
              "--first-wait", "1s", "--checkpoints", base + "/ck")
    assert run.end() == 0, run.err
    return run


def what_was_half_saved_over_is_gone_back_behind(base):
    run = run_of(base, "half")
    assert "moved the checkpoints of step 20" in run.err, run.err
    moved = list(pathlib.Path(base + "/ck/.midwatch-quarantine").rglob("checkpoint-20"))
    assert len(moved) == 1, moved
    assert "step 10 is the newest now" in run.err and run.out.count("from checkpoint with epoch 0 and global step 10") == 2, (run.err, run.out)
    shown = subprocess.run([PROGRAM, "checkpoint", "verify", str(moved[0]), "--home", base + "/home"], capture_output=True, text=True, timeout=60,
                           check=False).stdout
    assert "a save over an earlier one of this step was cut" in " ".join(shown.split()), shown


def what_was_saved_over_to_its_end_stays(base):
    run = run_of(base, "whole")
    assert "moved the checkpoints" not in run.err, run.err
    assert not os.path.exists(base + "/ck/.midwatch-quarantine"), os.listdir(base + "/ck")


def main():
    for case in (what_was_half_saved_over_is_gone_back_behind, what_was_saved_over_to_its_end_stays):
        with Scratch() as base:
            case(base)
        print(f"{case.__name__}: ok")


main()
sys.exit(0)
