"""Healthy runs from first principles: a skill that grows, rewards sampled in batches, and the signals that go with it.

A run is made of `steps` and of `series` (signal -> one value per record, None where there is none). What is random comes
from the generator that the run is given, so the same seed gives the same run everywhere.
"""
import math

# name -> floor and ceiling of one sample's reward, range of the skill at the start, and of its gain. `spread` is the
# deviation of one sample where rewards are continuous; None means that a sample is either floor or ceiling.
FAMILIES = {
    "binary": dict(low=0.0, high=1.0, start=(0.05, 0.5), gain=(0.15, 0.45), spread=None),
    "signed": dict(low=-1.0, high=1.0, start=(0.05, 0.5), gain=(0.15, 0.45), spread=None),
    "penalty": dict(low=-0.5, high=1.0, start=(0.05, 0.5), gain=(0.15, 0.45), spread=None),
    "all-negative": dict(low=-3.0, high=0.0, start=(0.1, 0.4), gain=(0.2, 0.5), spread=0.6),
    "sparse": dict(low=0.0, high=1.0, start=(0.01, 0.04), gain=(0.06, 0.15), spread=None),
    "nearly-solved": dict(low=0.0, high=1.0, start=(0.8, 0.9), gain=(0.06, 0.09), spread=None),
    "model-score": dict(low=-4.0, high=6.0, start=(0.2, 0.4), gain=(0.15, 0.35), spread=2.0),
    "log-prob": dict(low=-6.0, high=0.0, start=(0.5, 0.7), gain=(0.1, 0.2), spread=1.2),
    "ten-points": dict(low=0.0, high=10.0, start=(0.1, 0.5), gain=(0.15, 0.4), spread=2.0),
    "parts": dict(low=0.0, high=2.0, start=(0.1, 0.5), gain=(0.2, 0.4), spread=0.5),
}
ALGORITHMS = ("grpo", "grpo", "dapo", "gspo", "ppo", "rloo", "reinforce++")
BATCHES = (16, 32, 64, 128, 256, 512, 1024)
EVERY = (1, 1, 1, 1, 2, 5, 10, 50)
GROUP = 8          # samples of one prompt
KINSHIP = 0.4      # share of a sample's variance that belongs to its prompt


class Run:
    def __init__(self, rng):
        self.rng = rng
        self.steps = []
        self.series = {}
        self.evals = {}       # name -> {record: value}
        self.algorithm = ""
        self.family = ""
        self.batch = 0
        self.low = self.high = 0.0
        self.skill = []
        self.resumed = None   # (record at which the run was resumed, records it went back)
        self.method = ""       # what is trained where it is not RL: distillation

    def __len__(self):
        return len(self.steps)

    def sigma(self, skill):
        """Standard deviation of the batch's mean reward at a skill."""
        shape = FAMILIES[self.family]
        one = shape["spread"] if shape["spread"] is not None else math.sqrt(max(skill * (1 - skill), 1e-9)) * (
            self.high - self.low)
        prompts = max(1, self.batch // GROUP)
        return one * math.sqrt(KINSHIP / prompts + (1 - KINSHIP) / self.batch)

    def reward_at(self, skill):
        """One record of the mean reward."""
        skill = min(max(skill, 0.0), 1.0)
        mean = self.low + (self.high - self.low) * skill
        if FAMILIES[self.family]["spread"] is not None:
            return self.rng.gauss(mean, self.sigma(skill))
        prompts = max(1, self.batch // GROUP)
        shares = [min(max(self.rng.gauss(skill, math.sqrt(KINSHIP * skill * (1 - skill))), 0.0), 1.0)
                  for _ in range(min(prompts, 16))]
        near = sum(shares) / len(shares) if prompts <= 16 else self.rng.gauss(skill, self.sigma(skill))
        near = min(max(near, 0.0), 1.0)
        hits = sum(self.rng.random() < near for _ in range(self.batch)) if self.batch <= 64 else round(
            self.batch * min(max(self.rng.gauss(near, math.sqrt(near * (1 - near) / self.batch)), 0.0), 1.0))
        return self.low + (self.high - self.low) * hits / self.batch

    def hardly_learns(self):
        """So little gain against the noise that "has not learned" is arguable."""
        third = max(1, len(self) // 3)
        gain = sum(self.skill[-third:]) / third - sum(self.skill[:third]) / third
        noise = self.sigma(self.skill[third]) / (self.high - self.low) * math.sqrt(2 / third)
        return gain < 4 * noise or gain < 0.08

    def set_skill(self, skill, begin=0):
        """Sets the skill from record `begin` on and samples the rewards that follow from it."""
        self.skill[begin:] = skill[begin:]
        for i in range(begin, len(self)):
            self.series["reward.mean"][i] = self.reward_at(self.skill[i])
        if "reward.std" in self.series:
            spread = FAMILIES[self.family]["spread"]
            for i in range(begin, len(self)):
                chance = self.skill[i] * (1 - self.skill[i])
                one = spread if spread is not None else math.sqrt(max(chance, 0.0)) * (self.high - self.low)
                self.series["reward.std"][i] = one * math.sqrt(1 - KINSHIP) * self.rng.uniform(0.9, 1.1)
        if "reward.zero_std_groups" in self.series:
            for i in range(begin, len(self)):
                self.series["reward.zero_std_groups"][i] = self.uniform_share(self.skill[i])

    def uniform_share(self, skill):
        """Share of groups whose rewards are all equal, for prompts of differing difficulty."""
        if FAMILIES[self.family]["spread"] is not None:
            return 0.0
        groups = max(1, self.batch // GROUP)
        share = 0.0
        for part in range(1, 8):
            p = min(max(skill + (part - 4) / 8, 0.01), 0.99)
            share += (p ** GROUP + (1 - p) ** GROUP) / 7
        return min(max(round(groups * self.rng.gauss(share, math.sqrt(share * (1 - share) / groups))) / groups, 0.0), 1.0)


def curve(rng, n, start, gain):
    """Skill over the run: saturating, sigmoid, linear, or late."""
    shape = rng.choice(("saturating", "saturating", "sigmoid", "linear", "late"))
    knee = rng.uniform(0.1, 0.35)
    out = []
    for i in range(n):
        t = i / max(1, n - 1)
        if shape == "saturating":
            part = (1 - math.exp(-t / knee)) / (1 - math.exp(-1 / knee))
        elif shape == "linear":
            part = t
        else:
            middle = 0.35 if shape == "sigmoid" else 0.55
            part = 1 / (1 + math.exp(-(t - middle) / (0.4 * knee)))
        out.append(start + gain * part)
    return out


def drift(rng, values, size):
    """Values times a slow wander and white noise, both of relative size `size`."""
    slow, out = 0.0, []
    for value in values:
        slow = 0.95 * slow + rng.gauss(0, 0.3 * size)
        out.append(value * math.exp(slow + rng.gauss(0, size)))
    return out


def wander(rng, n, size):
    """A slow relative drift of the difficulty, with a memory of about ten records."""
    slow, out = 0.0, []
    for _ in range(n):
        slow = 0.9 * slow + rng.gauss(0, 0.44 * size)
        out.append(math.exp(slow))
    return out


def ramp(n, first, last):
    return [first * (last / first) ** (i / max(1, n - 1)) for i in range(n)]


def policy_signals(run):
    rng, n, out = run.rng, len(run), run.series
    warm = rng.choice((0, 0, 3, 10))
    rate = 10 ** rng.uniform(-6.5, -5)
    decay = rng.choice(("none", "linear", "cosine"))
    out["lr"] = []
    for i in range(n):
        t = i / max(1, n - 1)
        left = {"none": 1.0, "linear": 1 - 0.95 * t, "cosine": 0.525 + 0.475 * math.cos(math.pi * t)}[decay]
        out["lr"].append(rate * left * min(1.0, (i + 1) / (warm + 1)))
    first = rng.uniform(0.2, 1.4)
    out["entropy"] = drift(rng, ramp(n, first, first * rng.uniform(0.3, 0.95)), rng.uniform(0.01, 0.06))
    norm = 10 ** rng.uniform(-1.5, 0.7)
    out["grad_norm"] = drift(rng, ramp(n, norm, norm * rng.uniform(0.5, 1.6)), rng.uniform(0.1, 0.35))
    for i in range(min(3, n)):
        out["grad_norm"][i] *= rng.uniform(1, 5)
    top = 10 ** rng.uniform(-2.5, -0.7)
    out["kl.ref"] = drift(rng, [top * (i + 0.3) / n for i in range(n)], rng.uniform(0.05, 0.25))
    on_policy = rng.random() < 0.3
    out["loss.policy"] = [0.0 if on_policy and rng.random() < 0.8 else rng.gauss(0, 0.01) for _ in range(n)]
    usual = rng.uniform(0.1, 0.25) if run.algorithm == "gspo" else 10 ** rng.uniform(-3.5, -1.7)
    out["clip.frac"] = [0.0] * n if on_policy else drift(rng, [usual] * n, 0.3)


def sample_signals(run):
    rng, n, out = run.rng, len(run), run.series
    first = 10 ** rng.uniform(2, 3.4)
    out["response.length"] = drift(rng, ramp(n, first, first * rng.uniform(0.7, 1.9)), rng.uniform(0.02, 0.08))
    cut = rng.uniform(0.0, 0.12)
    out["response.truncated"] = [min(1.0, max(0.0, rng.gauss(cut, math.sqrt(cut * (1 - cut) / run.batch))))
                                 for _ in range(n)]
    fixed = rng.uniform(5, 40)
    long = rng.choice((0, 10, 25))
    usual = [fixed + value * rng.uniform(0.04, 0.05) for value in out["response.length"]]
    out["time.step"] = drift(rng, usual, 0.06)
    out["time.step"][0] *= rng.uniform(1.5, 4)
    for i in range(n):
        if long and i % long == long - 1:
            out["time.step"][i] *= 1.6
    out["mismatch.logp_diff"] = drift(rng, ramp(n, 0.006, rng.uniform(0.006, 0.014)), 0.15)
    out["staleness"] = [max(0.0, rng.gauss(rng.choice((1, 2)), 0.3)) for _ in range(n)]
    learned = rng.uniform(0.02, 0.3)
    out["format.pass_rate"] = [min(1.0, 0.97 - 0.5 * math.exp(-i / max(2.0, learned * n)) + rng.gauss(0, 0.015))
                               for i in range(n)]


def evaluations(run):
    """An accuracy on a held-out set of `size` tasks, that follows the skill."""
    rng, n = run.rng, len(run)
    every, size = max(2, n // rng.randint(5, 20)), rng.choice((100, 200, 500, 1000))
    base = rng.uniform(0.1, 0.3)
    run.evals["accuracy"] = {}
    for i in range(0, n, every):
        p = min(max(base + 0.6 * run.skill[i], 0.01), 0.99)
        run.evals["accuracy"][i] = min(1.0, max(0.0, rng.gauss(p, math.sqrt(p * (1 - p) / size))))


def healthy(rng, records=None, family=None, algorithm=None, gain=None, batch=None, every=None):
    run = Run(rng)
    run.family = family or rng.choice(sorted(FAMILIES))
    run.algorithm = algorithm or rng.choice(ALGORITHMS)
    run.batch = batch or rng.choice(BATCHES)
    n = records or round(10 ** rng.uniform(1.2, 2.6))
    every = every or rng.choice([e for e in EVERY if n * e <= 5000])
    begin = every if rng.random() < 0.7 else rng.choice((0, 1))
    run.steps = [begin + i * every for i in range(n)]
    shape = FAMILIES[run.family]
    run.low, run.high = shape["low"], shape["high"]
    start = rng.uniform(*shape["start"])
    run.skill = curve(rng, n, start, rng.uniform(*shape["gain"]) if gain is None else gain)
    slow = wander(rng, n, rng.choice((0.0, 0.03, 0.06)))
    if shape["spread"] is None:
        run.skill = [min(s * w, 1.0) for s, w in zip(run.skill, slow)]
    else:  # of what is learned: a score has no zero of its own
        run.skill = [s + 0.25 * (w - 1) for s, w in zip(run.skill, slow)]
    run.series = {"reward.mean": [0.0] * n}
    if rng.random() < 0.5:
        run.series["reward.std"] = [0.0] * n
    if rng.random() < 0.4:
        run.series["reward.zero_std_groups"] = [0.0] * n
    run.set_skill(run.skill)
    policy_signals(run)
    sample_signals(run)
    if rng.random() < 0.4:
        evaluations(run)
    return run


def thin_out(run, keep):
    """Trainers log different things: leaves out some signals that the case does not need."""
    for name in sorted(run.series):
        if name not in keep and name != "reward.mean" and run.rng.random() < 0.35:
            del run.series[name]
    if "response.length" not in run.series and "time.step" not in keep:
        run.series.pop("time.step", None)  # nothing would say why steps take longer
    if run.evals and "eval" not in keep and run.rng.random() < 0.5:
        run.evals = {}
