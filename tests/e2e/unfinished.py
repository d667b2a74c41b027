"""Failures that look like success: a pipeline whose status is 0 though its trainer died, damaged files, files of no run, and healthy runs
that look like them. Each run is a real trainer in a real pipeline under midwatch."""
import concurrent.futures
import datetime
import json
import os
import sqlite3
import subprocess
import sys

import skips
from running import PRACTICE, PROGRAM, Run, reattach
from watching import Scratch

# What dies below /tmp may be a tool's program: the trainer stands elsewhere, also where the whole project lies there.
BESIDE = os.path.dirname(os.path.abspath(PROGRAM))
HERE = os.path.expanduser("~") if BESIDE.startswith(("/tmp/", "/var/tmp/")) else BESIDE
AT_ONCE = 3

TRAINER = '''
import json, os, signal, sys, threading
speak, steps, until, how = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
resumed = int(sys.argv[5]) if len(sys.argv) > 5 else 0
say = lambda text: print(text, flush=True)
if speak == "verl": say(f"(TaskRunner pid=9) Total training steps: {steps}")
if speak == "own": say(f"Starting training: max_steps={steps}")
if speak == "hf": say(f"***** Running training *****\\n  Total optimization steps = {steps}")
if resumed: say(f"(TaskRunner pid=9) Setting global step to {resumed}")
class Tool(Exception): pass
def handled(step):
    import traceback
    try: raise TimeoutError("the tool took too long")
    except TimeoutError: say(traceback.format_exc())
for step in range(1, until + 1):
    if how == "handled" and step == 7: handled(step)
    reward, loss = 0.2 + 0.005 * step + 0.01 * (step % 3), 0.6 - 0.004 * step - 0.003 * (step % 2)
    if speak == "verl":
        say(f"(TaskRunner pid=9) step:{step} - actor/pg_loss:{loss:.4f} - critic/score/mean:{reward:.4f} - training/global_step:{step}")
    elif speak == "hf":
        say(repr({"loss": round(loss, 4), "grad_norm": 0.4 + 0.01 * (step % 5), "reward": round(reward, 4), "step": step}))
    elif speak == "bare":
        say(f"step {step} reward={reward:.4f} loss={loss:.4f}")
    else:
        say(f"Step {step}/{steps} reward={reward:.4f} loss={loss:.4f}")
if how == "raise": raise RuntimeError("the sampler is gone")
if how == "kill": os.kill(os.getpid(), signal.SIGKILL)
if how == "status": sys.exit(3)
if how == "early": say("Early stopping: no improvement for 5 evaluations")
if how == "target": say("Target reward 0.95 reached, saving the policy")
if how == "slurm": say("slurmstepd: error: *** JOB 4711 ON node7 CANCELLED AT 2026-11-30T02:00:00 DUE TO TIME LIMIT ***")
if how == "preempted": say("slurmstepd: error: *** JOB 4711 ON node7 CANCELLED AT 2026-11-30T02:00:00 DUE TO PREEMPTION ***")
if how == "signal": say("Received SIGTERM, saving a checkpoint before the exit")
if how == "requeued": say("state saved"); say("submitit INFO (2026-03-01 14:10:13,220) - Requeued job 88123 (2 remaining timeouts)")
if how == "warned": say("[rank 0] SIGUSR1 caught, writing a checkpoint before requeueing")
if how in ("done", "atexit", "thread", "late"): say("Training finished")
if how == "atexit":
    import atexit
    atexit.register(lambda: {}["the logger is closed"])
if how == "thread":
    loop = threading.Thread(target=lambda: {}["the queue is closed"]); loop.start(); loop.join()
if how == "late": raise ConnectionError("the tracker does not answer")
'''


def supervised(base, speak, until, how, steps=40, more="", options=(), pipe=" | tee log"):
    """A trainer at the left end of a pipeline; returns the exit status, what came over standard error, and attempts."""
    script = os.path.join(base, "train.py")
    with open(script, "w") as file:
        file.write(TRAINER)
    command = f"{sys.executable} {script} {speak} {steps} {until} {how} {more} 2>&1{pipe}"
    run = Run(base, ["bash", "-c", command], "--quiet", "--no-host", "--first-wait", "0.1", "--restarts", "1", *options)
    return run.end(), run.err, run


def status(base):
    done = subprocess.run([PROGRAM, "status", "--json", "--home", os.path.join(base, "home")], capture_output=True, cwd=base)
    return json.loads(done.stdout)


def each(check, cases):
    """check(*case) for every case, a few at once."""
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for done in [pool.submit(check, *case) for case in cases]:
            done.result()


def died(speak, how):
    with Scratch(HERE) as place:
        code, err, _ = supervised(place, speak, 20, how)
        shown = status(place)
        assert code == 1, (speak, how, code, err)
        assert shown["verdict"] == ("crashed" if how == "raise" else "ended-early"), (speak, how, shown["verdict"])
        assert ("CRASHED" if how == "raise" else "ENDED EARLY") in err and "FINISHED" not in err, err
        assert shown["attempt"] == 2 or "a person must look" in shown["decision"], (speak, how, shown["attempt"], shown["decision"])


def died_in_a_pipeline(base):
    """Nine ways to die at step 20 of 40 while the pipeline says 0: three trainers, three deaths."""
    each(died, [(speak, how) for speak in ("verl", "own", "hf") for how in ("raise", "kill", "status")])


def goes_on_after_death(base):
    """A death that the pipeline hides is answered like any other: the trainer resumes and comes to its end."""
    once = os.path.join(base, "died-once")
    script = os.path.join(base, "once.sh")
    checkpoints = os.path.join(base, "checkpoints")
    with open(script, "w") as file:
        file.write(f'''if [ -e {once} ]; then exec {PRACTICE} --speak verl --out - --steps 40 --save-every 5 --pace 0 --checkpoints {checkpoints}; fi
touch {once}
{PRACTICE} --speak verl --out - --steps 40 --save-every 5 --pace 0.05 --checkpoints {checkpoints} &
trainer=$!
while [ ! -e {checkpoints}/global_step_10 ]; do sleep 0.02; done
kill -9 $(pgrep -P $trainer) $trainer
''')
    run = Run(base, ["bash", "-c", f"bash {script} | tee log"], "--quiet", "--no-host", "--first-wait", "0.1")
    assert run.end() == 0, run.err
    assert "2 attempts." in run.err and "exit status 0 at step" in run.err, run.err
    assert status(base)["verdict"] == "finished"


def ends_well(speak, until, how, more):
    with Scratch(HERE) as place:
        code, err, _ = supervised(place, speak, until, how, more=more)
        shown = status(place)
        assert code == 0 and shown["attempt"] == 1, (speak, until, how, code, shown["attempt"], err)
        assert shown["verdict"] == "finished", (speak, until, how, shown["verdict"], err)
        assert not [i for i in shown["incidents"] if i["severity"] != "info"], (speak, until, how, err)


def healthy(base):
    """What ends with 0, and well: silence, one attempt, status 0."""
    cases = [("verl", 40, "none", ""), ("own", 40, "none", ""), ("hf", 40, "done", ""), ("bare", 40, "none", ""), ("verl", 37, "none", ""),
             ("verl", 20, "early", ""), ("own", 20, "target", ""), ("verl", 20, "done", ""), ("verl", 20, "none", "20"),
             ("verl", 40, "handled", ""), ("bare", 40, "handled", ""), ("verl", 40, "atexit", ""), ("bare", 40, "atexit", ""),
             ("bare", 40, "thread", ""), ("bare", 40, "late", ""), ("verl", 0, "none", "")]
    each(ends_well, cases)


def ends_from_outside(how):
    with Scratch(HERE) as place:
        code, err, _ = supervised(place, "verl", 20, how)
        shown = status(place)
        assert code == 1 and shown["attempt"] == 1, (how, code, shown["attempt"], err)
        assert "stopped from outside" in err, (how, err)


def stopped_from_outside(base):
    """Whoever stopped it, the plan is open: what stands behind `midwatch run && ` is not begun, and nothing is started again."""
    each(ends_from_outside, [("slurm",), ("preempted",), ("signal",), ("requeued",), ("warned",)])


def early_by_a_rule_that_nobody_names(base):
    """Short of the plan, again and again, and never an error: after the second time it is left to a person."""
    code, err, _ = supervised(base, "verl", 20, "none", options=("--restarts", "5"))
    assert code == 1 and "2 attempts." in err and "3 attempts." not in err, err


def in_json(base):
    """What --json and --reattach say of it."""
    script = os.path.join(base, "train.py")
    with open(script, "w") as file:
        file.write(TRAINER)
    run = Run(base, ["bash", "-c", f"{sys.executable} {script} verl 40 20 raise 2>&1 | tee log"], "--json", "--no-host", "--first-wait", "0.1")
    assert run.end() == 1, run.err
    over = json.loads(run.out.splitlines()[-1])
    assert over["event"] == "over" and over["code"] == 0 and over["unfinished"] is True, over
    again = reattach(base, "--quiet", "--no-host")
    assert again.end() == 1, again.err


def replay(*paths):
    done = subprocess.run([PROGRAM, "replay", "--json", *paths], capture_output=True, timeout=120)
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr.decode()


TRACE = '''Traceback (most recent call last):
  File "/app/train.py", line 120, in <module>
    main()
  File "/app/train.py", line 80, in main
    loss.backward()
RuntimeError: CUDA error: an illegal memory access was encountered
'''


def json_lines(base):
    """Metrics that end with a traceback, as raw text and inside a log's record; and errors that are not the run's."""
    records = [json.dumps({"step": s, "reward": 0.2 + s / 100 + 0.01 * (s % 3), "loss": 0.5 - s / 200 - 0.003 * (s % 2)}) for s in range(1, 31)]
    crashes = {"raw": TRACE, "exc_info": json.dumps({"level": "ERROR", "message": "training failed", "exc_info": TRACE}) + "\n",
               "message": json.dumps({"message": TRACE, "time": "2026-01-15T08:00:00Z"}) + "\n",
               "words": json.dumps({"levelname": "CRITICAL", "msg": TRACE.splitlines()[-1]}) + "\n"}
    for name, words in crashes.items():
        path = os.path.join(base, name + ".jsonl")
        with open(path, "w") as file:
            file.write("\n".join(records) + "\n" + words)
        code, replayed, err = replay(path)
        assert code == 0 and replayed["run"]["verdict"] == "crashed", (name, replayed["run"], err)
        assert any(i["kind"] == "gpu-fault" and i["severity"] == "critical" for i in replayed["incidents"]), (name, replayed["incidents"])
    tool = json.dumps({"tool": "python", "error": TRACE})
    for name, lines in {"tool": records + [tool], "handled": records[:20] + [TRACE.strip()] + records[20:]}.items():
        path = os.path.join(base, name + ".jsonl")
        with open(path, "w") as file:
            file.write("\n".join(lines) + "\n")
        code, replayed, err = replay(path)
        assert code == 0 and replayed["run"]["verdict"] != "crashed", (name, replayed["run"], err)
        assert not [i for i in replayed["incidents"] if i["severity"] == "critical"], (name, replayed["incidents"])


def damage(content):
    """name, bytes, exit status that is due"""
    half, third = len(content) // 2, len(content) // 3
    flipped = bytearray(content)
    flipped[half] ^= 0x40
    yield "cut", content[:half], 0
    yield "flipped", bytes(flipped), 5
    yield "zero-page", content[:third] + bytes(4096) + content[third + 4096:], 5
    yield "head-zero", bytes(512) + content[512:], 5
    yield "head-gone", content[100:], 5
    yield "piece-gone", content[:third] + content[third + 1000:], 5


def shared_files():
    """Small real files of each binary kind; nothing where the data is not at hand."""
    data = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "shared", "data")
    if not os.path.isdir(data):
        skips.skip("damaged files of real runs", "there is no ../shared/data")
        return
    wanted = {".wandb": 1, "tfevents": 1}
    for folder, _, names in sorted(os.walk(data)):
        for name in sorted(names):
            for kind in wanted:
                path = os.path.join(folder, name)
                if wanted[kind] > 0 and (name.endswith(kind) or kind in name) and 50_000 < os.path.getsize(path) < 3_000_000:
                    wanted[kind] -= 1
                    yield name, path


def damaged(base):
    """Binary files, damaged in each way: said, with place and size, and exit status 5; a missing end is only a note."""
    store = os.path.join(base, "trackio", "run.db")
    os.mkdir(os.path.dirname(store))
    with sqlite3.connect(store) as database:
        database.execute("CREATE TABLE metrics(id INTEGER PRIMARY KEY, timestamp TEXT, run_name TEXT, step INTEGER, metrics TEXT)")
        for step in range(3000):
            database.execute("INSERT INTO metrics(timestamp, run_name, step, metrics) VALUES('2026-01-02T03:04:05', 'a', ?, ?)",
                             (step, json.dumps({"reward": 0.1 + step / 10000, "loss": 0.5 - step / 10000})))
    files = [("run.db", store), *shared_files()]
    for name, path in files:
        with open(path, "rb") as file:
            content = file.read()
        assert replay(path)[0] == 0, f"{name} is whole"
        for what, bad, due in damage(content):
            place = os.path.join(base, "trackio", f"{what}-{name}")
            with open(place, "wb") as file:
                file.write(bad)
            code, _, err = replay(place)
            if name.endswith(".db") and what == "cut":
                due = 5  # pages of a database lie in no order: what is missing is not its end
            if name.endswith(".db") and what == "flipped" and code == 0:
                continue  # in a number: SQLite keeps no checksums
            assert code == due, (name, what, code, err)
            assert "note: " in err and place in err, (name, what, err)
            os.remove(place)


def nothing_of_a_run(base):
    """Files that no run wrote are refused, and a command that cannot be started is no run without trouble."""
    code, _, err = replay("/etc/passwd")
    assert code == 4 and "nothing in" in err, (code, err)
    plain = subprocess.run([PROGRAM, "replay", "/etc/passwd"], capture_output=True)
    assert plain.returncode == 4 and plain.stdout == b"", plain
    for words in (["report"], ["incidents"], ["why", "1"], ["compare", "/etc/passwd"]):
        refused = subprocess.run([PROGRAM, *words, "/etc/passwd"], capture_output=True)
        assert refused.returncode == 4 and refused.stdout == b"" and b"nothing in" in refused.stderr, (words, refused)
    run = Run(base, [os.path.join(base, "no-such-program")], "--quiet", "--no-host")
    assert run.end() == 127 and "NO TROUBLE SEEN" not in run.err and "could not be started" in run.err, run.err
    log = os.path.join(base, "young.log")
    with open(log, "w") as file:
        file.write("2026-01-15 08:00:00,123 INFO loading the model\n2026-01-15 08:00:09,456 INFO model loaded\n")
    assert replay(log)[0] == 0, "a log that has only begun is a log"


def read_while_it_runs(base):
    """A log whose last line is minutes old is that of a run that goes on; the same log, hours old, stops in mid-flight."""
    for hours, word in ((0, "RUNNING"), (9, "WARNING")):
        at = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=hours)
        log = os.path.join(base, f"train-{hours}.log")
        with open(log, "w") as file:
            for step in range(1, 61):
                stamp = (at - datetime.timedelta(seconds=20 * (60 - step))).strftime("%Y-%m-%d %H:%M:%S")
                file.write(f"{stamp} INFO trainer: Step {step}/200 reward={0.2 + 0.005 * step + 0.01 * (step % 3):.4f} loss={0.6 - 0.004 * step:.4f}\n")
        code, said, _ = replay(log)
        assert code == 0 and said["status"]["word"] == word, (hours, said["status"])
        assert ("died-silently" in [incident["kind"] for incident in said["incidents"]]) == (hours > 0), (hours, said["incidents"])


def main():
    for part in (read_while_it_runs, died_in_a_pipeline, goes_on_after_death, healthy, stopped_from_outside, early_by_a_rule_that_nobody_names, in_json, json_lines, damaged, nothing_of_a_run):
        with Scratch(HERE) as base:
            part(base)
        print(f"{part.__name__}: well", flush=True)
    sys.exit(skips.status())


main()
