"""One odd but healthy run: the figures of a healthy run (tests/curves/runs.py), and what happens around them.

A family makes a Story; `told` has a tongue tell it: (seconds, text) lines, of which the last says that training is done.
"""
import collections
import random

from speak import BEGIN, Tongue
from speak_more import TONGUES

import runs  # of tests/curves: speak.py puts that folder on the path

NAN, INF = float("nan"), float("inf")
GROUPS = ("binary", "penalty", "parts", "model-score", "ten-points")  # rewards that lie well off their floor
SAVE_EVERY, EVAL_EVERY, STEP_S = 10, 20, (20.0, 60.0)


class Story:
    """What a family changes: `run.series` (what is told of each record) and what is said before and after a record."""

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
        self.before = collections.defaultdict(list)       # record -> [what a tongue does before it]
        self.after = collections.defaultdict(list)
        self.opening = []                                 # what a tongue does once training has started
        self.evals = {i for i in range(n) if i % EVAL_EVERY == EVAL_EVERY - 1}
        self.saves = {i for i in range(n) if i % SAVE_EVERY == SAVE_EVERY - 1}
        self.save_s = 1.0
        self.eval_value = None                            # of every evaluation, instead of what the skill gives
        self.deeds = []                                   # of real processes: (record, deed, {...}); see feeder.py
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
        self.before[at].append(lambda tongue: tongue.say(text, level))

    def print_before(self, at, text):
        self.before[at].append(lambda tongue: tongue.raw(text))

    def sample_before(self, at, text):
        self.before[at].append(lambda tongue: tongue.sample(text))

    def wait_before(self, at, steps):
        """Nothing for so many usual steps."""
        self.before[at].append(lambda tongue: tongue.wait(steps * self.usual))

    def deed(self, at, what, **how):
        """A deed of real processes, done when the record is told."""
        self.deeds.append((at, what, how))

    def told(self, tongue):
        """The tongue tells the story; returns deeds as (line, what, how)."""
        deeds, done = [], set()
        tongue.start(len(self))
        for act in self.opening:
            act(tongue)
        tongue.wait(self.usual)
        for i in self.order:
            again, step = i in done, self.run.steps[i]
            done.add(i)
            for act in [] if again else self.before[i]:
                act(tongue)
            deeds += [(len(tongue.lines), what, how) for at, what, how in self.deeds if at == i and not again]
            tongue.ready(step)
            row = {s: v[i] for s, v in sorted(self.series.items()) if s in tongue.shows and v[i] is not None}
            tongue.wait(self.series["time.step"][i])
            if i not in self.silent:
                tongue.step(step, row, self.extra[i])
            for act in [] if again else self.after[i]:
                act(tongue)
            if i in self.evals and not again:
                tongue.wait(2 * self.usual)
                p = 0.2 + 0.6 * min(max(self.run.skill[i], 0.0), 1.0)
                tongue.evaluated(step, "math", self.eval_value if self.eval_value is not None else round(p, 4))
            if i in self.saves and not again:
                tongue.saved(step, self.save_s)
        tongue.wait(self.usual)
        tongue.finish()
        return deeds


class Made:
    """A run as written: its lines, and what the runner must know of it."""

    def __init__(self, family, variant, framework, lines, deeds, story):
        self.family, self.variant, self.framework = family, variant, framework
        self.lines, self.deeds, self.allowed = lines, deeds, tuple(story.allowed)
        self.usual, self.live_step_s = story.usual, story.live_step_s
        self.steps = len(story)

    def name(self):
        return f"{self.family}-{self.variant}-{self.framework}"


def make(name, family, variant, seed, begin=BEGIN, pace=1.0):
    """The run of a family and a variant, always the same for a seed. `family.tongues`, where it has them, can tell it."""
    rng = random.Random(f"{seed}/{name}/{variant}")
    able = getattr(family, "tongues", None) or tuple(TONGUES)
    tongue = TONGUES[able[variant % len(able)]](begin, pace)
    story = family(rng, tongue)
    deeds = story.told(tongue)
    return Made(name, variant, tongue.name, tongue.lines, deeds, story)


def spoken_by(*names):
    """Marks a family that not every framework can tell."""
    def mark(family):
        family.tongues = names
        return family
    return mark


def shown_by(*signals):
    """Marks a family for the frameworks that show these signals."""
    return spoken_by(*(name for name, kind in TONGUES.items() if all(s in kind.shows for s in signals)))


__all__ = ["INF", "NAN", "Made", "Story", "Tongue", "make", "runs", "shown_by", "spoken_by"]
