"""Kill anything, anywhere, any time: midwatch, keeper, launcher, trainer or engine get SIGKILL, half of them within the first 50 ms
of their lives. The launcher starts the trainer and a worker in sessions of their own, as torchrun and Ray do. Every run comes to the
weights of the undisturbed one; no two trainers ever live at once, no attempt begins twice, nothing is left, nothing is lost.

soak.py MIDWATCH PRACTICE [KILLS [SEED]]: scripts/test does a few kills, scripts/soak hundreds and thousands."""
import glob
import json
import os
import random
import re
import signal
import sys
import time

from running import Run, midwatch, reattach, training, wait_until, weights
from watching import Scratch, event_type, journal_of

KILLS = int(sys.argv[3]) if len(sys.argv) > 3 else 20
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 1
STEPS = 60       # of a world: checkpoints of its own, and as many runs as it takes
OF_A_WORLD = 20  # kills; then it may come to its end
OPTIONS = ["--quiet", "--first-wait", "0.05", "--restarts", "1000", "--no-host"]
KINDS = ["midwatch", "keeper", "launcher", "trainer", "engine"]
WEIGHTS = [2, 3, 3, 3, 3]  # a killed midwatch is soon followed by another, which is easy prey
WORKER_S = "98765"
# What two kills at one step look like: the run is begun anew, on the same checkpoints.
LOOKS_BROKEN = ("twice at step", "right after resuming", "before the first step: a restart would repeat it",
                "no step was ever done: it would happen again")
LAUNCHER = f"""
echo "$MIDWATCH_RUN $MIDWATCH_ATTEMPT $$" >> starts
setsid sleep {WORKER_S} & worker=$!
setsid "$@" & trainer=$!
trap 'kill -9 $worker $trainer' INT TERM
wait $trainer; code=$?
kill -9 $worker
exit $code
"""


def processes(base):
    """What lives of this world, by kind: pids, the oldest first. A trainer leads its session, its engine does not."""
    found = {kind: [] for kind in [*KINDS, "worker"]}
    for place in glob.glob("/proc/[0-9]*"):
        try:
            if not os.readlink(place + "/cwd").startswith(base):
                continue
            with open(place + "/stat") as file:
                stat = file.read().rsplit(")", 1)[1].split()
            with open(place + "/cmdline", "rb") as file:
                words = file.read().decode(errors="replace").split("\0")
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        if stat[0] == "Z":
            continue
        pid = int(place[6:])
        kind = ("worker" if words[:2] == ["sleep", WORKER_S] else "keeper" if words[1:2] == ["keep"]
                else "midwatch" if words[1:2] == ["run"] else "launcher" if words[0] == "sh" and words[1:2] == [base + "/launch.sh"]
                else None if not words[0].endswith("practice_run") else "trainer" if int(stat[3]) == pid else "engine")
        if kind:
            found[kind].append((int(stat[19]), pid))
    return {kind: [pid for _, pid in sorted(of_kind)] for kind, of_kind in found.items()}


class World:
    def __init__(self, base, dice, tally):
        self.base, self.dice, self.tally = base, dice, tally
        self.kills, self.number, self.seen, self.awaited, self.until = 0, 0, set(), None, 0
        with open(os.path.join(base, "launch.sh"), "w") as file:
            file.write(LAUNCHER)
        self.begin()

    def begin(self):
        self.number += 1
        name = f"run{self.number}"
        command = ["sh", os.path.join(self.base, "launch.sh"), *training(self.base, steps=STEPS, pace=0.02)]
        self.run = Run(self.base, command, *OPTIONS, "--name", name)
        # Before its journal begins there is no run that anybody could go on with.
        wait_until("the run", lambda: glob.glob(os.path.join(self.base, "home", "runs", name, "journal", "*")))

    def look(self):
        now = processes(self.base)
        assert len(now["trainer"]) <= 1, f"two trainers: {now}"
        return now

    def kill(self, pid, kind, early):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return False
        self.kills += 1
        key = kind + (" early" if early else "")
        self.tally[key] = self.tally.get(key, 0) + 1
        return True

    def kill_one(self):
        """Anybody; or who brings forth one of another kind, and then that one within 50 ms of when it is first seen."""
        now = self.look()
        fresh = {kind: [pid for pid in now[kind] if pid not in self.seen] for kind in KINDS}
        for kind in KINDS:
            self.seen.update(now[kind])
        if self.awaited and time.monotonic() < self.until:
            if not fresh[self.awaited]:
                return False
            time.sleep(self.dice.uniform(0, 0.05))
            kind, self.awaited = self.awaited, None
            return self.kill(fresh[kind][0], kind, True)
        kind = self.dice.choices(KINDS, WEIGHTS)[0]
        self.awaited, self.until = kind, time.monotonic() + 2
        victim = kind if kind in ("midwatch", "keeper") else self.dice.choice(["launcher", "trainer", "trainer"])
        if self.dice.random() < 0.4:
            self.awaited, victim = None, kind
        if not now[victim]:
            return False
        time.sleep(self.dice.uniform(0, 0.2))
        return self.kill(self.dice.choice(now[victim]), victim, False)

    def goes_on(self):
        """False when it is trained. A killed midwatch is followed by another."""
        if self.run.process.poll() is None:
            return True
        code = self.run.process.returncode
        self.run.out, self.run.err = (part.decode() for part in self.run.process.communicate())
        if code == 0 or "says that it was complete" in self.run.err:
            return False
        if code == -signal.SIGKILL:
            self.run = reattach(self.base, "--quiet", "--no-host")
            return True
        assert any(words in self.run.err for words in LOOKS_BROKEN), (code, self.run.err)
        left = {kind: pids for kind, pids in processes(self.base).items() if pids}
        assert not left, f"it is over, and something is left: {left}"
        self.begin()
        return True

    def check(self, expected):
        left = {kind: pids for kind, pids in processes(self.base).items() if pids}
        assert not left, f"something is left: {left}"
        assert weights(self.base, STEPS) == expected, "the weights differ from those of the undisturbed run"
        with open(os.path.join(self.base, "starts")) as file:
            starts = [" ".join(line.split()[:2]) for line in file]
        assert len(set(starts)) == len(starts), f"an attempt began twice: {starts}"
        return sum(self.check_run(name) for name in os.listdir(os.path.join(self.base, "home", "runs")))

    def check_run(self, name):
        """Of each attempt one beginning and one judgement; every action has its outcome; each id occurs once."""
        folder = os.path.join(self.base, "home", "runs", name)
        text = "".join(open(part, errors="replace").read() for part in sorted(glob.glob(folder + "/output/train.log*")))
        attempts = len(os.listdir(folder + "/attempts"))
        decided = {event["attempt"] for event in journal_of(folder) if event_type(event) == "decided"}
        for attempt in range(1, attempts + 1):
            assert len(re.findall(rf"^=== midwatch: attempt {attempt} began", text, re.M)) == 1, (name, attempt)
            assert attempt in decided, (name, attempt, decided)
        code, shown = midwatch(self.base, "status", "--json", "--run", name)
        assert code == 0, shown
        actions = json.loads(shown)["actions"]
        assert len({action["id"] for action in actions}) == len(actions), actions
        assert all(action["done"] for action in actions), [action for action in actions if not action["done"]]
        return attempts


with Scratch() as scratch:
    first = Run(scratch, training(scratch, steps=STEPS, pace=0), "--quiet", "--no-host")
    assert first.end(300) == 0, first.err
    reference = weights(scratch, STEPS)
dice, tally, kills, worlds, runs, attempts, began = random.Random(SEED), {}, 0, 0, 0, 0, time.monotonic()
while kills < KILLS:
    with Scratch() as scratch:
        world = World(scratch, dice, tally)
        allowed = min(OF_A_WORLD, KILLS - kills)
        deadline = time.monotonic() + 180 + 10 * allowed
        while world.goes_on():
            assert time.monotonic() < deadline, f"not trained in time after {world.kills} kills: {processes(scratch)}"
            if world.kills >= allowed:
                world.look()
                time.sleep(0.2)
            elif not world.kill_one():
                time.sleep(0.02)
        attempts += world.check(reference)
        kills, worlds, runs = kills + world.kills, worlds + 1, runs + world.number
spent = time.monotonic() - began
of_kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(tally.items()))
print(f"{kills} kills ({of_kinds}) in {spent:.0f} s, {spent / kills:.2f} s each: {worlds} worlds, {runs} runs, {attempts} attempts, all "
      f"trained to the weights of the undisturbed one; never two trainers, nothing left, nothing twice")
