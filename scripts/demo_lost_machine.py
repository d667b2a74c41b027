"""The last act of scripts/demo: a rented machine is destroyed in mid-step, and its run goes on elsewhere by itself.

demo_lost_machine.py MIDWATCH PRACTICE_RUN FOLDER

The machines here are folders on this one, and the store is a folder; nothing of it is outside FOLDER, and no account is
needed. Whatever it waits for it waits for by condition, up to LIMIT.
"""
import glob
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time

LIMIT = 600  # seconds
STEPS, SAVE_EVERY, LOST_AFTER = 40, 5, 12

SPEC = """name = "demo"
store = "{base}/store/demo"
environment = ["MIDWATCH_FLEET_EVERY"]
start = '''
pace=0.1; [ "$MIDWATCH_FLEET_EPOCH" != 1 ] || pace=0.8   # the first machine lasts long enough to be destroyed
"{midwatch}" onstart --from "{base}/store/demo" --home "$PWD/home" --checkpoints "$PWD/checkpoints" --config none --quiet -- \\
  "{practice}" --speak verl --out - --steps {steps} --save-every {every} --pace $pace --checkpoints "$PWD/checkpoints"
'''
[limits]
price_per_hour = 6
spend = 100
[patience]
settle = "1s"
[[provider]]
kind = "local"
folder = "{base}/machines"
price = 5.73
"""

midwatch, practice = (os.path.abspath(path) for path in sys.argv[1:3])
base = os.path.abspath(sys.argv[3])
environment = {name: value for name, value in os.environ.items() if not name.startswith(("MIDWATCH_", "WANDB_"))}
environment["MIDWATCH_FLEET_EVERY"] = "500ms"
environment["MIDWATCH_HOME"] = base + "/home"  # what it remembers of this store goes with it, for the next demo


def ask(*words):
    done = subprocess.run([midwatch, *words], capture_output=True, text=True, env=environment, timeout=LIMIT, check=False)
    if done.returncode not in (0, 8, 9):
        raise SystemExit(f"demo: midwatch {' '.join(words)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def status():
    return json.loads(ask("fleet", "status", base + "/run.toml", "--json"))


def wait_for(what, condition):
    until = time.monotonic() + LIMIT
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > until:
            raise SystemExit(f"demo: not within {LIMIT} s: {what}")
        time.sleep(0.3)


def processes_of(label):
    found = []
    for place in glob.glob("/proc/[0-9]*"):
        try:
            with open(place + "/environ", "rb") as file:
                if f"MIDWATCH_FLEET_LABEL={label}".encode() in file.read().split(b"\0"):
                    found.append(int(place[6:]))
        except OSError:
            pass
    return found


def destroy(label):
    """Power off: every process at once, and the disk with it."""
    killed = set()

    def gone():
        for pid in processes_of(label):
            killed.add(pid)
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return not processes_of(label)
    wait_for("the machine's end", gone)
    shutil.rmtree(f"{base}/machines/{label}", ignore_errors=True)
    return len(killed)


def weights(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:16]


def undisturbed():
    """What the same training comes to when nobody disturbs it."""
    subprocess.run([practice, "--speak", "verl", "--out", base + "/alone.log", "--steps", str(STEPS), "--save-every", str(SAVE_EVERY),
                    "--pace", "0", "--checkpoints", base + "/alone"], check=True, stdout=subprocess.DEVNULL)
    return weights(f"{base}/alone/global_step_{STEPS}/trainer.safetensors")


def say(text):
    print(text, flush=True)


def main():
    shutil.rmtree(base, ignore_errors=True)
    os.makedirs(base + "/machines")
    with open(base + "/run.toml", "w") as file:
        file.write(SPEC.format(base=base, midwatch=midwatch, practice=practice, steps=STEPS, every=SAVE_EVERY))
    say("\nLast: a rented machine is lost. Its run ships each checkpoint to a store; a controller looks at the store, as cron would.")
    ask("fleet", "init", base + "/run.toml")
    say("\n$ midwatch fleet launch run.toml               # rents one machine; here that is a folder and its processes")
    say("  " + json.loads(ask("fleet", "launch", base + "/run.toml", "--json"))["done"][-1])

    def far_enough():
        now = status()
        return now if (now["step"] or 0) >= LOST_AFTER and (now["newest_checkpoint"] or 0) >= LOST_AFTER - SAVE_EVERY + 1 else None
    before = wait_for(f"step {LOST_AFTER}", far_enough)
    label = next(iter(os.listdir(base + "/machines")))
    say(f"\n  It is at step {before['step']} of {STEPS}, and step {before['newest_checkpoint']} is verified in the store. Now its power goes:")
    count = destroy(label)
    lost = time.monotonic()
    say(f"  kill -9 of its {count} processes, its midwatch among them, and its disk is deleted.")
    say("\n$ midwatch fleet watch run.toml --once         # again and again; what it did:")

    def another():
        check = json.loads(ask("fleet", "watch", base + "/run.toml", "--once", "--json"))
        for done in check["done"]:
            say("  " + done)
        return len(check["rentals"]) > 1
    wait_for("another machine", another)
    noticed = time.monotonic() - lost
    wait_for("the end of the run",
             lambda: json.loads(ask("fleet", "watch", base + "/run.toml", "--once", "--json"))["outcome"] == "finished")
    say("\n$ midwatch fleet status run.toml               # both machines are one history\n")
    say(ask("fleet", "status", base + "/run.toml").rstrip())
    ask("report", "--from", base + "/store/demo", "-o", base + "/report.md")
    ask("checkpoint", "pull", base + "/store/demo", base + "/final", "--quiet")
    after, expected, found = status(), undisturbed(), weights(base + "/final/trainer.safetensors")
    second = after["machines"][-1]
    say("\nWhat was saved")
    say(f"  1. The machine was destroyed at step {before['step']} or later of {STEPS}; what it had shipped stayed: checkpoints, journal, logs.")
    say(f"  2. {noticed:.0f} s later one other machine was there, rented once: {len(after['rentals'])} in all, none is left.")
    say(f"  3. It went on from step {second['from']}: {second['from']} steps were kept, the others were done again.")
    say(f"  4. The final weights are {'those' if found == expected else 'NOT those'} of a run that nobody disturbed ({found}).")
    say(f"  5. The report over both machines: {os.path.relpath(base)}/report.md")
    return 0 if found == expected and len(after["rentals"]) == 2 else 1


sys.exit(main())
