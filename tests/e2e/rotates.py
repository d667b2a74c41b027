"""midwatch run of a trainer that rotates as OpenRLHF does: before each save every folder beside the checkpoints whose name does not begin with
"best" counts as one; those without a metric go first, then the worst, then the oldest. What midwatch quarantines outlives that, and takes no
place among those that the trainer keeps.

rotates.py MIDWATCH PRACTICE_RUN
"""
import glob
import hashlib
import os
import shutil
import subprocess
import sys
import time

from running import PROGRAM, Run, midwatch, output
from watching import Scratch

# Words: its last step, from which step on the first attempt's reward is too high, and perhaps before what that attempt dies at the save of
# step 40: "_critic" (the actor's is done) or "latest" (the critic's is written, and its pointer is not).
TRAINER = r'''
import json, os, shutil, sys, time, zipfile
steps, bad, dies = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
attempt, keeps = int(os.environ["MIDWATCH_ATTEMPT"]), 3
say = lambda text: print("(PPOTrainer pid=77) INFO ppo_trainer.py:288 -- " + text, flush=True)
def pt(path):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.pkl", b"\x80\x02}q\x00."); file.writestr("archive/version", "3\n"); file.writestr("archive/data/0", os.urandom(50000))
def rotate(root):
    def order(path):
        metric = path + "/metric.json"
        value = json.load(open(metric))["metric_value"] if os.path.exists(metric) else None
        return (value is not None, value or 0, os.path.getmtime(path))
    while True:
        folders = [one.path for one in os.scandir(root) if one.is_dir() and not one.name.startswith("best")]
        if len(folders) < keeps: return
        oldest = min(folders, key=order)
        print("rotated away", os.path.relpath(oldest, "ck"), "of", len(folders), flush=True)
        shutil.rmtree(oldest)
def die_at(place, step):
    if attempt == 1 and step == 40 and dies == place: os.kill(os.getpid(), 9)
def save(step):
    for role in ("_actor", "_critic"):
        root = "ck/" + role
        die_at(role, step)
        os.makedirs(root, exist_ok=True)
        rotate(root)
        place = "%s/global_step%d" % (root, step)
        os.makedirs(place, exist_ok=True)
        pt(place + "/mp_rank_00_model_states.pt"); pt(place + "/bf16_zero_pp_rank_0_mp_rank_00_optim_states.pt")
        if role == "_critic": die_at("latest", step)
        open(root + "/latest", "w").write("global_step%d" % step)
        json.dump({"metric_key": "eval_pass1", "metric_value": 0.5}, open(place + "/metric.json", "w"))
first, critic = [int(open(one).read()[11:]) if os.path.exists(one) else 0 for one in ("ck/_actor/latest", "ck/_critic/latest")]
print("goes on from", first, flush=True)
if first != critic: sys.exit("the actor is at step %d and the critic at step %d" % (first, critic))
for now in range(first + 1, steps + 1):
    time.sleep(0.25)
    reward = 2 if attempt == 1 and now >= bad else 0.3 + 0.004 * now
    say("✨ Global step %d: {'policy_loss': -0.0077, 'actor_lr': 1.000e-06, 'ppo_clip_ratio': 0.0448, 'ppo_kl': 0.0056, 'entropy_loss': 0.8948, "
        "'actor_grad_norm': 0.0948, 'reward': %.4f, 'return': 0.2367, 'response_length': 210.3, 'total_length': 318.3, 'truncated': 0.0}" % (now, reward))
    if now % 10 == 0: save(now)
print("done", flush=True)
'''
RULE = '[run]\nfirst_wait = "0.2s"\n[rule.hi]\nsignal = "reward.mean"\nabove = 1.5\nfor = 3\nseverity = "critical"\nbreaker = true\n'
ROLES = ("_actor", "_critic")


def begin(base, steps, bad, *declared, dies="never", resume="{resume}"):
    for name, text in (("openrlhf.cli.train_ppo_ray.py", TRAINER), ("own.toml", RULE)):
        with open(os.path.join(base, name), "w") as file:
            file.write(text)
    return Run(base, [sys.executable, "openrlhf.cli.train_ppo_ray.py", str(steps), str(bad), dies, "--ckpt.path", "ck", resume],
               *[word for one in declared for word in ("--checkpoints", one)], "--config", "own.toml")


def json_of(base):
    found = ""
    for path in glob.glob(os.path.join(base, "ck/.midwatch-quarantine/**/manifest.json"), recursive=True):
        with open(path) as file:
            found += file.read()
    return found


def bytes_of(folder):
    return {os.path.relpath(path, folder): hashlib.sha256(open(path, "rb").read()).hexdigest()
            for path in glob.glob(os.path.join(folder, "**", "*.*"), recursive=True)}


def outlives_the_rotation(base):
    """The reward is too high from step 39 on, which is certain at 41, after the save of 40; step 40 is quarantined, the run saves 40, 50, 60 and 70 anew, and 40 comes back."""
    run = begin(base, 70, 39, "ck")
    places = {role: os.path.join(base, "ck/.midwatch-quarantine", role) for role in ROLES}
    while not glob.glob(places["_critic"] + "/*/global_step40"):
        assert run.process.poll() is None, (run.process.communicate(), output(run))
        time.sleep(0.05)
    while "goes on from 30" not in output(run):
        time.sleep(0.05)
    held = {role: bytes_of(glob.glob(places[role] + "/*/global_step40")[0]) for role in ROLES}
    assert run.end() == 0 and "2 attempts." in run.err, run.err
    assert "moved the checkpoints of step 40 to " in run.err and "MAY DELETE" not in run.err, run.err
    second = output(run).split("goes on from 30")[1]
    gone = [line for line in second.splitlines() if line.startswith("rotated away")]
    # Of each role 20 and 30 lay there: the first save of this attempt needs no room.
    assert gone == [f"rotated away {role}/global_step{step} of 3" for step in (20, 30, 40) for role in ROLES], gone
    for role in ROLES:
        there = sorted(os.listdir(os.path.join(base, "ck", role)))
        assert there == ["global_step50", "global_step60", "global_step70", "latest"], there
    listed = subprocess.run([PROGRAM, "checkpoint", "list", "--home", os.path.join(base, "home")], capture_output=True, check=False, timeout=60)
    text = listed.stdout.decode()
    assert "quarantine" not in text and text.count("\n       50  whole") == 2 and "Nothing is wrong with the structure of these 6" in text, text
    code, text = midwatch(base, "restore", "--run", os.path.basename(run.folder()), "--list")
    assert code == 0 and text.count("global_step40 lies in") == 2, text
    code, text = midwatch(base, "restore", "--run", os.path.basename(run.folder()), "--yes")
    assert code == 0 and text.count("it is back") == 2, (code, text)
    for role in ROLES:
        assert held[role] and bytes_of(os.path.join(base, "ck", role, "global_step40")) == held[role]


def cleaned_up(base):
    """What is quarantined beside goes when a person wants it, and only that; old checkpoints go by way of there, too."""
    run = begin(base, 60, 39, "ck/_actor", "ck/_critic")
    assert run.end() == 0, run.err
    other = os.path.join(base, "ck/.midwatch-quarantine/_actor/by-hand")
    shutil.copytree(os.path.join(base, "ck/_actor/global_step50"), os.path.join(other, "global_step50"))
    code, text = midwatch(base, "cleanup", "--run", os.path.basename(run.folder()), "--what", "quarantine", "--yes")
    assert code == 0, (code, text)
    left = glob.glob(os.path.join(base, "ck/.midwatch-quarantine/*/*"))
    assert left == [other], (left, text)
    pruned = subprocess.run([PROGRAM, "checkpoint", "prune", "--home", os.path.join(base, "home"), "--run", os.path.basename(run.folder()),
                             "--keep-last", "2", "--yes"], capture_output=True, check=False, timeout=60)
    assert pruned.returncode == 0, pruned
    for role in ROLES:
        there = sorted(os.listdir(os.path.join(base, "ck", role)))
        assert there == ["global_step50", "global_step60", "latest"], (there, pruned)
    assert not os.path.exists(os.path.join(base, "ck/.midwatch-removing"))


def resumes_both_from_one_step(base):
    """A save that dies between the roles leaves two pointers that name different steps: both roles go on from the one that both have."""
    runs = []
    for number, (dies, resume, declared) in enumerate((("_critic", "{resume}", "ck"), ("latest", "{resume}", "ck"),
                                                       ("_critic", "--ckpt.load_enable", "ck"), ("latest", "--ckpt.load_enable", "ck/_actor"))):
        place = os.path.join(base, str(number))
        os.mkdir(place)
        runs.append((place, dies, declared, begin(place, 50, 1000, declared, dies=dies, resume=resume)))
    for place, dies, declared, run in runs:
        assert run.end() == 0 and "2 attempts." in run.err, (dies, declared, run.err, output(run))
        assert "goes on from 30" in output(run) and "the critic at step" not in output(run), (dies, declared, output(run))
        assert "each role is resumed by its own pointer" in run.err + json_of(place), (dies, run.err)
        assert "_actor/latest said global_step40 and says global_step30 now" in run.err, run.err
        for role in ROLES:
            there = sorted(os.listdir(os.path.join(place, "ck", role)))
            assert there == ["global_step30", "global_step40", "global_step50", "latest"], there
            held = os.path.join(place, "ck/.midwatch-quarantine", role, "*/global_step40")
            assert len(glob.glob(held)) == (1 if role == "_actor" or dies == "latest" else 0), (dies, role, glob.glob(held))


for test in (outlives_the_rotation, cleaned_up, resumes_both_from_one_step):
    if sys.argv[3:] and test.__name__ not in sys.argv[3:]:
        continue
    with Scratch() as scratch:
        began = time.monotonic()
        test(scratch)
        print(f"{test.__name__} ok, {time.monotonic() - began:.1f} s", flush=True)
