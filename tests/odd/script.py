"""One odd but healthy run: the figures of a healthy run (tests/curves/runs.py), and what happens around them.

A family makes a Script; `play` writes it to a TrainerLog: (seconds, text) lines, the last of which says that training is done.
"""
import collections
import random

from trainer_logs import BEGIN, TrainerLog
from more_trainer_logs import LOGS

import runs  # of tests/curves: trainer_logs.py puts that folder on the path

NAN, INF = float("nan"), float("inf")
GROUPS = ("binary", "penalty", "parts", "model-score", "ten-points")  # rewards that lie well off their floor
SAVE_EVERY, EVAL_EVERY, STEP_S = 10, 20, (20.0, 60.0)


class Script:
    """What a family changes: `run.series` (what is logged of each record) and what is written before and after a record."""

    def __init__(self, rng, records=None, family=None, gain=None, batch=None):
        self.rng = rng
        n = records or rng.randint(45, 60)
        self.run = runs.healthy(rng, records=n, every=1, family=family or rng.choice(GROUPS), algorithm="grpo",
                                gain=gain, batch=batch or rng.choice((64, 128, 256)))
        self.run.steps = [1 + i for i in range(n)]
        self.run.evals = {}
        usual = rng.uniform(*STEP_S)
        self.run.series["time.step"] = [usual * rng.uniform(0.9, 1.1) for _ in range(n)]
        self.usual = usual
        self.order = list(range(n))                       # records in the order in which they are trained
        self.silent = set()                               # records of which nothing is logged
        self.extra = collections.defaultdict(dict)        # record -> the trainer's own name -> value
        self.before = collections.defaultdict(list)       # record -> [what is written before it: call of the log]
        self.after = collections.defaultdict(list)
        self.opening = []                                 # what is written once training has started
        self.evals = {i for i in range(n) if i % EVAL_EVERY == EVAL_EVERY - 1}
        self.saves = {i for i in range(n) if i % SAVE_EVERY == SAVE_EVERY - 1}
        self.save_s = 1.0
        self.eval_value = None                            # of every evaluation, instead of what the skill gives
        self.actions = []                                 # of real processes: (record, action, {...}); see feeder.py
        self.allowed = ()                                 # kinds of incident that are true here, though the run is well
        self.live_step_s = None                           # of a usual step when fed live; None: as the runner likes

    def __len__(self):
        return len(self.run)

    @property
    def series(self):
        return self.run.series

    def middle(self, least=8, left=8):
        """A record well inside the run."""
        return self.rng.randrange(least, len(self) - left)

    def say_before(self, at, text, level="INFO"):
        self.before[at].append(lambda log: log.say(text, level))

    def print_before(self, at, text):
        self.before[at].append(lambda log: log.raw(text))

    def sample_before(self, at, text):
        self.before[at].append(lambda log: log.sample(text))

    def wait_before(self, at, steps):
        """Nothing for so many usual steps."""
        self.before[at].append(lambda log: log.wait(steps * self.usual))

    def action(self, at, what, **how):
        """An action of real processes, done when the record is written."""
        self.actions.append((at, what, how))

    def play(self, log):
        """Writes the script to the log; returns actions as (line, what, how)."""
        actions, done = [], set()
        log.start(len(self))
        for act in self.opening:
            act(log)
        log.wait(self.usual)
        for i in self.order:
            again, step = i in done, self.run.steps[i]
            done.add(i)
            for act in [] if again else self.before[i]:
                act(log)
            actions += [(len(log.lines), what, how) for at, what, how in self.actions if at == i and not again]
            log.ready(step)
            row = {s: v[i] for s, v in sorted(self.series.items()) if s in log.shows and v[i] is not None}
            log.wait(self.series["time.step"][i])
            if i not in self.silent:
                log.step(step, row, self.extra[i])
            for act in [] if again else self.after[i]:
                act(log)
            if i in self.evals and not again:
                log.wait(2 * self.usual)
                p = 0.2 + 0.6 * min(max(self.run.skill[i], 0.0), 1.0)
                log.evaluated(step, "math", self.eval_value if self.eval_value is not None else round(p, 4))
            if i in self.saves and not again:
                log.saved(step, self.save_s)
        log.wait(self.usual)
        log.finish()
        return actions


class Made:
    """A run as written: its lines, and what the runner must know of it."""

    def __init__(self, family, variant, framework, lines, actions, script):
        self.family, self.variant, self.framework = family, variant, framework
        self.lines, self.actions, self.allowed = lines, actions, tuple(script.allowed)
        self.usual, self.live_step_s = script.usual, script.live_step_s
        self.steps = len(script)

    def name(self):
        return f"{self.family}-{self.variant}-{self.framework}"


def make(name, family, variant, seed, begin=BEGIN, pace=1.0):
    """The run of a family and a variant, always the same for a seed; in one of `family.frameworks`, where it has them."""
    rng = random.Random(f"{seed}/{name}/{variant}")
    able = getattr(family, "frameworks", None) or tuple(LOGS)
    log = LOGS[able[variant % len(able)]](begin, pace)
    script = family(rng, log)
    actions = script.play(log)
    return Made(name, variant, log.name, log.lines, actions, script)


def for_frameworks(*names):
    """Limits a family to the frameworks of these names."""
    def limited(family):
        family.frameworks = names
        return family
    return limited


def shown_by(*signals):
    """Limits a family to the frameworks that show these signals."""
    return for_frameworks(*(name for name, kind in LOGS.items() if all(s in kind.shows for s in signals)))


__all__ = ["INF", "NAN", "Made", "Script", "TrainerLog", "for_frameworks", "make", "runs", "shown_by"]
