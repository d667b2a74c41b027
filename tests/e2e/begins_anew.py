"""midwatch run of trainers that say as much of their saves as real ones do: verl's own loop says that a save begins and never that it is done,
so that only the disk shows it. An attempt that begins from nothing is ended before it saves over what an earlier one left; a rule of the user's own
rolls back. Those that only look as if they began anew go on.

begins_anew.py MIDWATCH PRACTICE_RUN
"""
import concurrent.futures
import glob
import hashlib
import json
import os
import sys
import time

from running import Run, midwatch, output
from watching import Scratch

# Words: how it speaks (verl, trl, anew, elsewhere), its last step, after how many it saves, in which attempt and at which step it dies,
# whether it resumes, and from which step on the first attempt's reward is 2.
TRAINER = r'''
import os, re, signal, sys, time, zipfile
speak, steps, every, dies, resumes, bad = sys.argv[1], *map(int, sys.argv[2:7])
attempt = int(os.environ["MIDWATCH_ATTEMPT"])
folder = {"elsewhere": "ck%d" % attempt, "first": "one", "second": "two"}.get(speak, "ck")
pointer = folder + "/latest_checkpointed_iteration.txt"
names = "checkpoint-%d" if speak == "trl" else "global_step_%d"
say = lambda text: print(text, flush=True)
signal.signal(signal.SIGINT, lambda *_: (save(now), sys.exit(130)))  # it saves when it is asked to end
def pt(path):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.pkl", b"\x80\x02}q\x00."); file.writestr("archive/version", "3\n"); file.writestr("archive/data/0", os.urandom(100000))
def save(step):
    place = folder + "/" + names % step
    if speak == "trl":
        os.makedirs(place, exist_ok=True)
        for name in ("optimizer.pt", "scheduler.pt", "rng_state.pth", "training_args.bin", "pytorch_model.bin"): pt(place + "/" + name)
        open(place + "/trainer_state.json", "w").write('{"global_step": %d, "epoch": 0.1}' % step)
        open(place + "/config.json", "w").write("{}")
        return
    say("local_global_step_folder: %s/%s" % (folder, names % step))
    os.makedirs(place + "/actor", exist_ok=True)
    for kind in ("model", "optim", "extra_state"): pt("%s/actor/%s_world_size_1_rank_0.pt" % (place, kind))
    pt(place + "/data.pt")
    open(pointer, "w").write(str(step))
first = int(open(pointer).read()) if os.path.exists(pointer) else 0
if not resumes: first = 0
if first and speak != "anew": say("Setting global step to %d" % first)
if speak != "trl": say("{'trainer': {'default_local_dir': '%s', 'save_freq': %d}}\nTotal training steps: %d" % (folder, every, steps))
for now in range(first + 1, steps + 1):
    time.sleep(0.3 if attempt == 1 or resumes else 0.6)  # on a busy machine, too, it is seen before it saves
    reward = 2 if bad and attempt == 1 and now >= bad else 0.3 + 0.01 * now
    if speak == "trl":
        say("{'loss': 0.0231, 'grad_norm': 0.4, 'learning_rate': 1e-06, 'completions/mean_length': 250.1, 'reward': %.3f, 'reward_std': 0.1, 'kl': 0.001, 'epoch': %.3f}" % (reward, now / steps))
        say("%3d%%|##   | %d/%d [00:0%d<01:00,  0.3s/it]" % (100 * now // steps, now, steps, now % 10))
    else:
        shown = now - first if speak == "anew" else now
        say("step:%d - actor/entropy:0.61 - actor/pg_loss:0.021 - actor/grad_norm:0.2 - critic/score/mean:%.3f - critic/rewards/mean:%.3f - response_length/mean:410.5 - timing_s/step:0.3 - data/num_tokens:%d" % (shown, reward, reward, 1000 * now))
    if now % every == 0: save(now)
    if attempt == 1 and now == dies: sys.exit(3)
say("Final validation metrics: {}")
'''
RULE = '[run]\nfirst_wait = "0.2s"\n[rule.hi]\nsignal = "reward.mean"\nabove = 1.5\nfor = 3\nseverity = "critical"\nbreaker = true\n'


def begin(base, *words, options=(), after=()):
    script = os.path.join(base, "train.py")
    with open(script, "w") as file:
        file.write(TRAINER)
    return Run(base, [sys.executable, script, *[str(word) for word in words], *after], "--first-wait", "0.2s", *options)


def bytes_of(base, step, names="ck/global_step_%d"):
    return {path: hashlib.sha256(open(path, "rb").read()).hexdigest()
            for path in glob.glob(os.path.join(base, names % step, "**", "*.*"), recursive=True)}


def incidents(base, kind):
    code, text = midwatch(base, "status", "--json", "--run", "newest")
    assert text.startswith("{"), (code, text)
    return [one for one in json.loads(text)["incidents"] if one["kind"] == kind]


def await_saved(run, base, path):
    while not os.path.exists(os.path.join(base, path)):
        assert run.process.poll() is None, run.process.communicate()
        time.sleep(0.05)


def ended(base, run, step, path):
    """Its second attempt was ended, and what the first one saved lies there as it did."""
    await_saved(run, base, path)
    while "attempt 1 ended" not in output(run):
        time.sleep(0.05)
    names = os.path.dirname(path) if path.endswith(".json") else "ck/global_step_%d"
    names = "ck/checkpoint-%d" if "checkpoint-" in names else "ck/global_step_%d"
    before = bytes_of(base, step, names)
    code = run.end()
    assert code != 0 and "2 attempts." in run.err and "must request a resume" in run.err, (code, run.err)
    assert before and bytes_of(base, step, names) == before, "it was saved over"
    assert "#2 restart-from-scratch  critical" in run.err and "which it would save over" in run.err, run.err
    assert "is over: resolved by itself" not in run.err and "attempt 3" not in run.err, run.err


def begins_anew(base):
    run = begin(base, "verl", 40, 10, 15, 0, 0, options=["--checkpoints", "ck"])
    ended(base, run, 10, "ck/latest_checkpointed_iteration.txt")
    assert open(os.path.join(base, "ck/latest_checkpointed_iteration.txt")).read() == "10"  # it was not asked to end: it would have saved
    assert os.listdir(os.path.join(base, "ck")).count("global_step_20") == 0


def folder_not_declared(base):
    ended(base, begin(base, "verl", 40, 10, 15, 0, 0), 10, "ck/latest_checkpointed_iteration.txt")


def heeds_no_resume(base):
    """midwatch says what to resume from, and the trainer does not listen."""
    run = begin(base, "verl", 40, 10, 15, 0, 0, options=["--checkpoints", "ck"], after=["{resume}"])
    ended(base, run, 10, "ck/latest_checkpointed_iteration.txt")
    assert "trainer.resume_from_path=" in run.err, run.err


def trl_begins_anew(base):
    """Records without a step, and a bar: the next attempt's bar is another one."""
    run = begin(base, "trl", 40, 10, 15, 0, 0, options=["--checkpoints", "ck"])
    ended(base, run, 10, "ck/checkpoint-10/trainer_state.json")


def may_begin_anew(base):
    run = begin(base, "verl", 24, 10, 15, 0, 0, options=["--checkpoints", "ck", "--from-scratch"])
    assert run.end() == 0 and "2 attempts." in run.err, run.err
    assert "restart-from-scratch  critical" not in run.err and "which it would save over" not in run.err, run.err


def nothing_was_saved(base):
    run = begin(base, "verl", 20, 18, 12, 0, 0, options=["--checkpoints", "ck"])
    assert run.end() == 0 and "2 attempts." in run.err and "circuit breaker" not in run.err, run.err


def resumes(base):
    run = begin(base, "verl", 30, 10, 15, 1, 0, options=["--checkpoints", "ck"])
    assert run.end() == 0 and "2 attempts." in run.err and "restart-from-scratch" not in run.err, run.err


def counts_anew(base):
    """It resumed without a word and counts its steps from 1; the tokens that it counts go on."""
    run = begin(base, "anew", 30, 10, 15, 1, 0, options=["--checkpoints", "ck"])
    assert run.end() == 0 and "2 attempts." in run.err, run.err
    assert "circuit breaker" not in run.err and "restart-from-scratch  critical" not in run.err, run.err


def saves_elsewhere(base):
    run = begin(base, "elsewhere", 24, 10, 15, 0, 0)
    assert run.end() == 0 and "2 attempts." in run.err, run.err
    assert "circuit breaker" not in run.err and "restart-from-scratch  critical" not in run.err, run.err


def only_save(base):
    """One save, of which nothing is said, in a folder that only the command names."""
    run = begin(base, "trl", 40, 10, 14, 0, 0, after=["--output_dir", "ck"])
    ended(base, run, 10, "ck/checkpoint-10/trainer_state.json")


def two_stages(base):
    """One script trains two models, one after the other; the second one fails before it saves, and is begun again."""
    with open(os.path.join(base, "train.py"), "w") as file:
        file.write(TRAINER)
    line = ("[ -e done ] || {0} train.py first 14 7 0 0 0 || exit 1; touch done; {0} train.py second 14 7 4 0 0").format(sys.executable)
    run = Run(base, ["bash", "-c", line], "--first-wait", "0.2s")
    assert run.end() == 0 and "2 attempts." in run.err, run.err
    assert "circuit breaker" not in run.err and "which it would save over" not in run.err, run.err


def rule_rolls_back(base):
    """The reward is too high from step 38 on, and step 40 is saved by the time that the rule is broken."""
    with open(os.path.join(base, "own.toml"), "w") as file:
        file.write(RULE)
    run = begin(base, "verl", 45, 10, 0, 1, 38, options=["--checkpoints", "ck", "--config", "own.toml"])
    assert run.end() == 0 and "2 attempts." in run.err, run.err
    assert "moved the checkpoints of step 40" in run.err and "says 30 now" in run.err, run.err
    assert "Setting global step to 30" in output(run), output(run)
    moved = [os.path.basename(one) for one in glob.glob(base + "/ck/.midwatch-quarantine/*/global_step_*")]
    assert "global_step_40" in moved and "global_step_30" not in moved, moved  # with what it saves where it is asked to end


def rule_has_nothing_before(base):
    """The rule is broken before anything was saved: a person must look, and nobody is sent to what was saved since."""
    with open(os.path.join(base, "own.toml"), "w") as file:
        file.write(RULE)
    run = begin(base, "verl", 30, 10, 0, 1, 8, options=["--checkpoints", "ck", "--config", "own.toml"])
    code = run.end()
    assert code != 0 and "1 attempt." in run.err, (code, run.err)
    assert "Resume from step 10" not in run.err, run.err


def in_scratch(test):
    with Scratch() as base:
        began = time.monotonic()
        test(base)
        return f"{test.__name__} ok, {time.monotonic() - began:.1f} s"


TESTS = (begins_anew, folder_not_declared, heeds_no_resume, trl_begins_anew, may_begin_anew, nothing_was_saved, resumes, counts_anew, saves_elsewhere, only_save, two_stages,
         rule_rolls_back, rule_has_nothing_before)
with concurrent.futures.ThreadPoolExecutor(4) as several:
    for done in [several.submit(in_scratch, test) for test in TESTS if not sys.argv[3:] or test.__name__ in sys.argv[3:]]:
        print(done.result(), flush=True)
