"""Failures, each put into a healthy run at a chance onset, with chance speed and size, and large enough that a careful
reader of the curves would name it. A fault returns None when its run happens to be unfit, and is tried again."""
import math

import runs

NAN = float("nan")


class Case:
    """A run, the kinds that name what happened (any of them), where it began, and which other kinds may be reported."""

    def __init__(self, run, kinds, first, last, allowed=(), needed=(), before=()):
        self.run, self.kinds, self.allowed = run, set(kinds), set(allowed) | set(kinds)
        self.window = (run.steps[first], run.steps[min(last, len(run) - 1)])
        self.needed = list(needed)
        if run.hardly_learns():
            self.allowed.add("no-learning")
        self.before = set(before)  # kinds that may be reported at any onset


FALLS = ("reward-collapse", "zero-reward", "instability", "no-learning")


def onset_of(rng, n, least_before=8, least_after=6):
    """A record of the early, middle or late part; late leaves a tail of 5 to 10 % of the run."""
    part = rng.choice(("early", "middle", "middle", "late", "tail"))
    share = {"early": (0.1, 0.3), "middle": (0.3, 0.7), "late": (0.7, 0.9), "tail": (0.9, 0.95)}[part]
    at = round(n * rng.uniform(*share))
    return min(max(at, least_before), n - least_after)


def speed_of(rng, n, at):
    """Records that the change takes."""
    left = n - at
    kind = rng.choice(("sudden", "quick", "slow"))
    if kind == "sudden":
        return 1
    return max(2, round(left * (rng.uniform(0.02, 0.15) if kind == "quick" else rng.uniform(0.2, 0.6))))


def blend(before, after, i, at, speed):
    return before + (after - before) * min(1.0, (i - at + 1) / speed)


def level_before(run, at):
    return sum(run.skill[max(0, at - 10):at]) / len(run.skill[max(0, at - 10):at])


def visible(run, level, low, tail):
    """The drop stands far out of the noise of what is left of the run."""
    sigma = max(run.sigma(level), run.sigma(low), 1e-9)
    drop = (level - low) * (run.high - run.low)
    return drop * math.sqrt(tail) / sigma > 8 and drop > 1.2 * sigma


def drop_skill(run, at, speed, low):
    level = level_before(run, at)
    skill = run.skill[:at] + [blend(level, low, i, at, speed) for i in range(at, len(run))]
    run.set_skill(skill, at)


def at_limits(n, at, speed):
    return at, at + round(0.6 * speed)


def reward_falls(rng, share):
    """Keeps `share` (a range) of the level above the floor."""
    run = runs.healthy(rng)
    n = len(run)
    at = onset_of(rng, n)
    speed = speed_of(rng, n, at)
    level = level_before(run, at)
    low = level * rng.uniform(*share)
    tail = n - at - round(0.7 * speed)
    if tail < 5 or not visible(run, level, low, tail):
        return None
    drop_skill(run, at, speed, low)
    return Case(run, ("reward-collapse", "zero-reward"), *at_limits(n, at, speed), allowed=FALLS)


def reward_collapse(rng):
    return reward_falls(rng, (0.0, 0.2))


def reward_forgets(rng):
    """Back to where it began, or nearly, after a real gain."""
    run = runs.healthy(rng, gain=rng.uniform(0.3, 0.5), family=rng.choice(("binary", "signed", "penalty", "model-score",
                                                                          "log-prob", "all-negative", "parts")))
    n = len(run)
    at = onset_of(rng, n, least_before=max(8, n // 3))
    speed = speed_of(rng, n, at)
    level, low = level_before(run, at), run.skill[0] * rng.uniform(0.8, 1.05)
    tail = n - at - round(0.7 * speed)
    if tail < 5 or level - low < 0.2 or not visible(run, level, low, tail):
        return None
    drop_skill(run, at, speed, low)
    return Case(run, ("reward-collapse", "zero-reward"), *at_limits(n, at, speed), allowed=FALLS)


def reward_falls_jagged(rng):
    """Collapses and twitches: a record now and then still comes near the old level."""
    run = runs.healthy(rng, records=rng.randint(30, 300))
    n = len(run)
    at = onset_of(rng, n, least_after=10)
    level = level_before(run, at)
    low = level * rng.uniform(0.0, 0.3)
    if n - at < 10 or not visible(run, level, low, n - at):
        return None
    skill = run.skill[:at] + [level * rng.uniform(0.5, 0.9) if rng.random() < 0.12 else low for _ in range(at, n)]
    run.set_skill(skill, at)
    return Case(run, ("reward-collapse", "zero-reward"), at, at, allowed=FALLS)


def reward_ends_low(rng):
    """The last three to five records only."""
    run = runs.healthy(rng, records=rng.randint(20, 120))
    n = len(run)
    at = n - rng.choice((3, 4, 5))
    level = level_before(run, at)
    low = level * rng.uniform(0.0, 0.15)
    if not visible(run, level, low, n - at):
        return None
    drop_skill(run, at, 1, low)
    return Case(run, ("reward-collapse", "zero-reward"), at, at, allowed=FALLS)


def reward_sags(rng):
    return reward_falls(rng, (0.35, 0.6))


def reward_fails_again(rng):
    """A dip that recovers, then one that does not."""
    run = runs.healthy(rng, records=rng.randint(60, 300))
    n = len(run)
    dip, at = round(n * rng.uniform(0.2, 0.35)), round(n * rng.uniform(0.6, 0.85))
    level = level_before(run, at)
    low = level * rng.uniform(0.0, 0.25)
    if not visible(run, level, low, n - at):
        return None
    width = max(3, round(0.06 * n))
    skill = list(run.skill)
    for i in range(dip, dip + width):
        skill[i] *= 0.1
    for i in range(at, n):
        skill[i] = low
    run.set_skill(skill)
    return Case(run, ("reward-collapse", "zero-reward"), at, at, allowed=FALLS, before=FALLS)


def zero_from_start(rng):
    """Nothing is ever rewarded."""
    run = runs.healthy(rng, records=rng.randint(12, 200), family=rng.choice(("binary", "signed", "penalty", "ten-points")))
    if run.steps[-1] - run.steps[0] < 20:
        return None
    for i in range(len(run)):
        run.series["reward.mean"][i] = run.low
        run.series["grad_norm"][i] = 0.0
        run.series["loss.policy"][i] = 0.0
        for name, value in (("reward.std", 0.0), ("reward.zero_std_groups", 1.0)):
            if name in run.series:
                run.series[name][i] = value
    run.evals = {}
    return Case(run, ("zero-reward", "zero-advantage", "no-learning"), 0, 4, allowed=FALLS)


def zero_later(rng):
    run = runs.healthy(rng, family=rng.choice(("binary", "signed", "penalty", "ten-points", "parts")))
    n = len(run)
    at = onset_of(rng, n)
    level = level_before(run, at)
    if not visible(run, level, 0, n - at):
        return None
    for i in range(at, n):
        run.series["reward.mean"][i] = run.low
        for name, value in (("reward.std", 0.0), ("reward.zero_std_groups", 1.0)):
            if name in run.series:
                run.series[name][i] = value
    return Case(run, ("zero-reward", "reward-collapse"), at, at, allowed=FALLS + ("zero-advantage",))


def flat(rng):
    """Long enough, and no gain at all."""
    run = runs.healthy(rng, records=rng.randint(60, 400), gain=0.0, batch=rng.choice((64, 128, 256, 512)),
                       family=rng.choice(("binary", "signed", "penalty", "model-score", "parts")))
    if run.steps[-1] - run.steps[0] < 300:
        return None
    run.evals = {}
    return Case(run, ("no-learning",), 0, len(run) // 2)


def uniform_groups(rng):
    """Every group agrees with itself: the policy has become one answer per prompt."""
    run = runs.healthy(rng, family="binary", records=rng.randint(40, 300))
    n = len(run)
    at = onset_of(rng, n, least_after=14)
    level = level_before(run, at)
    if not 0.15 < level < 0.8:
        return None
    run.series.setdefault("reward.zero_std_groups", [run.uniform_share(s) for s in run.skill])
    for i in range(at, n):
        run.series["reward.zero_std_groups"][i] = min(1.0, rng.uniform(0.97, 1.02))
        run.series["reward.mean"][i] = run.low + (run.high - run.low) * min(1, max(0, rng.gauss(level, 0.03)))
        if "reward.std" in run.series:
            run.series["reward.std"][i] = 0.0
    if max(run.series["reward.zero_std_groups"][:at]) > 0.9:
        return None
    return Case(run, ("zero-advantage",), at, at, allowed=("entropy-collapse", "no-learning", "reward-collapse"),
                needed=("reward.zero_std_groups",))


def entropy_falls(rng):
    run = runs.healthy(rng, records=rng.randint(40, 300), family=rng.choice(("binary", "signed", "parts")))
    n = len(run)
    at = onset_of(rng, n, least_after=10)
    speed = max(3, round((n - at) * rng.uniform(0.1, 0.5)))
    if n - at - speed < 6 or level_before(run, at) > 0.7:
        return None
    low = run.series["entropy"][0] * rng.uniform(0.005, 0.05)
    level = level_before(run, at)
    for i in range(at, n):
        run.series["entropy"][i] = math.exp(blend(math.log(run.series["entropy"][at - 1]), math.log(low), i, at, speed)
                                            + rng.gauss(0, 0.05))
    run.set_skill(run.skill[:at] + [level * rng.uniform(0.9, 1.0)] * (n - at), at)
    return Case(run, ("entropy-collapse",), at, at + speed, needed=("entropy",),
                allowed=("no-learning", "reward-collapse", "zero-advantage"))


def entropy_rises(rng):
    run = runs.healthy(rng)
    n = len(run)
    at = onset_of(rng, n)
    speed = speed_of(rng, n, at)
    if n - at - speed < 5:
        return None
    top = max(run.series["entropy"][at - 1] * rng.uniform(3, 10), run.series["entropy"][at - 1] + rng.uniform(0.8, 4))
    last = run.series["entropy"][at - 1]
    for i in range(at, n):
        run.series["entropy"][i] = blend(last, top, i, at, speed) * math.exp(rng.gauss(0, 0.05))
    drop_skill(run, at, speed, level_before(run, at) * rng.uniform(0.0, 0.6))
    return Case(run, ("entropy-explosion",), *at_limits(n, at, speed), needed=("entropy",), allowed=FALLS)


def kl_runs(rng):
    run = runs.healthy(rng, records=rng.randint(50, 300))
    n = len(run)
    at = onset_of(rng, n, least_before=25)
    speed = speed_of(rng, n, at)
    if n - at - speed < 5:
        return None
    last = max(run.series["kl.ref"][at - 1], 1e-3)
    top = max(last * rng.uniform(15, 100), rng.uniform(1.5, 20))
    for i in range(at, n):
        run.series["kl.ref"][i] = math.exp(blend(math.log(last), math.log(top), i, at, speed) + rng.gauss(0, 0.1))
    slow = speed > 0.2 * (n - at)
    low = level_before(run, at) * rng.uniform(0.2, 0.6 if slow else 0.97)
    if slow and not visible(run, level_before(run, at), low, n - at - speed):
        return None
    drop_skill(run, at, max(speed, 2), low)
    return Case(run, ("kl-runaway",), at, at + speed, needed=("kl.ref",), allowed=FALLS)


def gradient_spike(rng):
    """One enormous spike, several large ones, or a level that rises for good while the reward falls."""
    run = runs.healthy(rng, records=rng.randint(40, 300))
    n = len(run)
    at = onset_of(rng, n, least_before=22)
    norms = run.series["grad_norm"]
    shape = rng.choice(("one", "several", "level"))
    usual = sorted(norms[max(0, at - 30):at])[-3]
    if shape == "one":
        norms[at] = usual * 10 ** rng.uniform(2, 4)
    elif shape == "several":
        for i in range(at, min(n, at + 30), rng.randint(2, 6)):
            norms[i] = usual * rng.uniform(15, 60)
    else:
        for i in range(at, n):
            norms[i] *= rng.uniform(6, 30)
        drop_skill(run, at, speed_of(rng, n, at), level_before(run, at) * rng.uniform(0.1, 0.6))
    return Case(run, ("gradient-spike",), at, at, needed=("grad_norm",), allowed=FALLS if shape == "level" else ())


def preference_run(rng, records=None):
    """DPO or supervised: a loss with a level, no reward."""
    run = runs.healthy(rng, records=records or rng.randint(40, 300))
    n = len(run)
    first = rng.choice((0.693, rng.uniform(1.2, 2.5)))
    run.series = {name: run.series[name] for name in ("grad_norm", "lr")}
    run.series["loss.total"] = runs.drift(rng, runs.ramp(n, first, first * rng.uniform(0.4, 0.8)), 0.03)
    run.evals = {}
    run.algorithm = "dpo"
    return run


def loss_jumps(rng):
    """A supervised loss jumps and stays."""
    run = preference_run(rng)
    n = len(run)
    at = onset_of(rng, n, least_before=22, least_after=8)
    for i in range(at, n):
        run.series["loss.total"][i] *= rng.uniform(2.8, 3.2)
    run.series["reward.mean"] = [None] * n
    return Case(run, ("loss-spike", "instability"), at, at, needed=("loss.total",))


def policy_loss_jumps(rng):
    run = runs.healthy(rng, records=rng.randint(40, 300))
    n = len(run)
    at = onset_of(rng, n, least_before=22, least_after=8)
    for i in range(len(run)):
        run.series["loss.policy"][i] = rng.gauss(0, 0.01) if i < at else rng.gauss(0, 1) + rng.choice((-8, 8, 12))
    return Case(run, ("loss-spike",), at, at, needed=("loss.policy",), allowed=("instability",))


def clip_saturates(rng):
    run = runs.healthy(rng)
    n = len(run)
    at = onset_of(rng, n, least_after=8)
    speed = speed_of(rng, n, at)
    if n - at - speed < 7:
        return None
    top = rng.uniform(0.75, 0.95) if run.algorithm == "gspo" else rng.uniform(0.4, 0.9)
    last = run.series["clip.frac"][at - 1]
    for i in range(at, n):
        run.series["clip.frac"][i] = min(1.0, blend(last, top, i, at, speed) * rng.uniform(0.92, 1.08))
    return Case(run, ("clip-saturation",), at, at + speed, needed=("clip.frac",))


def length_changes(rng, factor, reward):
    run = runs.healthy(rng)
    n = len(run)
    at = onset_of(rng, n)
    speed = speed_of(rng, n, at)
    if n - at - speed < 5:
        return None, 0, 0
    level = level_before(run, at)
    last = run.series["response.length"][at - 1]
    for i in range(at, n):
        run.series["response.length"][i] = math.exp(
            blend(math.log(last), math.log(last * factor), i, at, speed) + rng.gauss(0, 0.05))
        run.series["time.step"][i] *= run.series["response.length"][i] / last
    low = level * reward
    if not visible(run, level, low, n - at - speed):
        return None, 0, 0
    drop_skill(run, at, speed, low)
    return run, at, speed


def length_explodes(rng):
    run, at, speed = length_changes(rng, rng.uniform(3, 8), rng.uniform(0.2, 0.7))
    if run is None:
        return None
    return Case(run, ("length-explosion", "truncation"), *at_limits(len(run), at, speed), needed=("response.length",),
                allowed=FALLS + ("throughput-drop",))


def length_collapses(rng):
    run, at, speed = length_changes(rng, 1 / rng.uniform(3.5, 15), rng.uniform(0.1, 0.7))
    if run is None or run.series["response.length"][at - 1] < 80:
        return None
    return Case(run, ("length-collapse",), *at_limits(len(run), at, speed), needed=("response.length",), allowed=FALLS)


def length_games(rng):
    """Answers shrink to a stub that the reward likes, while what it should measure falls."""
    run = runs.healthy(rng, records=rng.randint(40, 300), batch=rng.choice((64, 128, 256, 512)),
                       family=rng.choice(("binary", "signed", "parts", "ten-points")))
    n = len(run)
    at = onset_of(rng, n, least_before=12, least_after=14)
    speed = max(2, round((n - at) * rng.uniform(0.05, 0.3)))
    level = level_before(run, at)
    if n - at - speed < 12 or level > 0.7:
        return None
    factor, last = 1 / rng.uniform(5, 20), run.series["response.length"][at - 1]
    for i in range(at, n):
        run.series["response.length"][i] = math.exp(
            blend(math.log(last), math.log(last * factor), i, at, speed) + rng.gauss(0, 0.05))
    run.set_skill(run.skill[:at] + [blend(level, level + 0.2, i, at, speed) for i in range(at, n)], at)
    top = rng.uniform(0.4, 0.7)
    signal = rng.choice(("reward.pass_rate", "reward.component.correct"))
    run.series[signal] = [min(1, max(0, rng.gauss(top if i < at else blend(top, 0.3 * top, i, at, speed), 0.03)))
                          for i in range(n)]
    run.evals = {}
    if last * factor > 0.4 * last or last < 80:
        return None
    return Case(run, ("length-collapse", "reward-hacking"), at, at + speed, needed=("response.length", signal))


def truncation(rng):
    run = runs.healthy(rng)
    n = len(run)
    at = onset_of(rng, n)
    speed = speed_of(rng, n, at)
    if n - at - speed < 6:
        return None
    top = rng.uniform(0.65, 1.0)
    last = run.series["response.truncated"][at - 1]
    for i in range(at, n):
        run.series["response.truncated"][i] = min(1.0, blend(last, top, i, at, speed) + rng.gauss(0, 0.02))
    return Case(run, ("truncation", "length-explosion"), at, at + speed, needed=("response.truncated",))


def repetition(rng):
    run = runs.healthy(rng)
    n = len(run)
    at = onset_of(rng, n)
    top = rng.uniform(0.3, 0.95)
    run.series["response.repetition"] = [max(0.0, rng.gauss(0.01, 0.005)) if i < at else
                                         min(1.0, max(0.0, rng.gauss(top, 0.04))) for i in range(n)]
    return Case(run, ("degenerate-output",), at, at, needed=("response.repetition",))


def mismatch(rng):
    run = runs.healthy(rng)
    n = len(run)
    at = onset_of(rng, n)
    speed = speed_of(rng, n, at)
    if n - at - speed < 5:
        return None
    signal = rng.choice(("mismatch.logp_diff", "mismatch.kl", "mismatch.ratio"))
    usual, top = {"mismatch.logp_diff": (0.01, rng.uniform(0.12, 1)), "mismatch.kl": (0.001, rng.uniform(0.1, 2)),
                  "mismatch.ratio": (1.002, rng.choice((0.5, 0.3, 0.1, 1.6)))}[signal]
    run.series.pop("mismatch.logp_diff", None)
    run.series[signal] = [(usual if i < at else blend(usual, top, i, at, speed)) * math.exp(rng.gauss(
        0, 0.002 if signal == "mismatch.ratio" else 0.12)) for i in range(n)]
    return Case(run, ("policy-mismatch",), *at_limits(n, at, speed), needed=(signal,))


def stale(rng):
    run = runs.healthy(rng)
    n = len(run)
    at = onset_of(rng, n, least_after=8)
    speed = speed_of(rng, n, at)
    if n - at - speed < 7:
        return None
    top = rng.uniform(14, 60)
    for i in range(at, n):
        run.series["staleness"][i] = blend(1.5, top, i, at, speed) * rng.uniform(0.95, 1.05)
    return Case(run, ("staleness",), at, at + speed, needed=("staleness",))


def hacked(rng):
    """The reward goes on rising while what it should measure falls: a correctness beside it, or held-out results."""
    run = runs.healthy(rng, records=rng.randint(60, 300), batch=rng.choice((64, 128, 256, 512)),
                       family=rng.choice(("binary", "signed", "model-score", "parts", "ten-points")))
    n = len(run)
    at = round(n * rng.uniform(0.25, 0.7))
    start, level = run.skill[0], run.skill[at]
    rise = [level + min(0.3, 0.95 - level) * (1 - math.exp(-4 * (i - at) / (n - at))) for i in range(at, n)]
    if level - start < 0.05 or level > 0.75:
        return None
    run.set_skill(run.skill[:at] + rise, at)
    top, low = rng.uniform(0.35, 0.7), rng.uniform(0.0, 0.6)
    truth = [top * (0.5 + 0.5 * (run.skill[i] - start) / (level - start)) if i < at else
             blend(top, top * low, i, at, max(2, round(0.6 * (n - at)))) for i in range(n)]
    signal = rng.choice(("eval", "reward.pass_rate", "reward.component.correct"))
    run.evals = {}
    if signal == "eval":
        every = max(2, n // 16)
        run.evals["accuracy"] = {i: min(1, max(0, rng.gauss(truth[i], 0.02))) for i in range(0, n, every)}
    else:
        run.series[signal] = [min(1, max(0, rng.gauss(value, 0.03))) for value in truth]
    return Case(run, ("reward-hacking", "eval-regression"), at, at + round(0.5 * (n - at)), needed=(signal,))


def eval_falls(rng):
    """Held-out results fall for good, the training reward stands still."""
    run = runs.healthy(rng, records=rng.randint(60, 300))
    n = len(run)
    every = max(2, n // rng.randint(8, 20))
    at = round(n * rng.uniform(0.3, 0.75))
    top, size = rng.uniform(0.3, 0.7), rng.choice((200, 500, 1000))
    low = top * rng.uniform(0.3, 0.7)
    after = [i for i in range(0, n, every) if i > at]
    if len(after) < 3 or (top - low) < 4 * math.sqrt(top * (1 - top) / size):
        return None
    speed = max(every, round(0.4 * (n - at)))
    run.evals = {"accuracy": {}}
    for i in range(0, n, every):
        p = top * (0.6 + 0.4 * i / at) if i < at else blend(top, low, i, at, speed)
        run.evals["accuracy"][i] = min(1.0, max(0.0, rng.gauss(p, math.sqrt(p * (1 - p) / size))))
    run.set_skill(run.skill[:at] + [level_before(run, at)] * (n - at), at)
    return Case(run, ("eval-regression", "reward-hacking"), at, at + speed, needed=("eval",))


def format_breaks(rng):
    run = runs.healthy(rng)
    n = len(run)
    at = onset_of(rng, n, least_before=12)
    speed = speed_of(rng, n, at)
    if n - at - speed < 5:
        return None
    series = run.series["format.pass_rate"]
    top, low = max(series[:at]), rng.uniform(0.0, 0.5)
    if top < 0.8 or series[at - 1] < 0.75:
        return None
    for i in range(at, n):
        series[i] = min(1.0, max(0.0, blend(series[at - 1], low, i, at, speed) + rng.gauss(0, 0.02)))
    return Case(run, ("format-failures",), at, at + speed, needed=("format.pass_rate",))


def slows_down(rng):
    run = runs.healthy(rng, records=rng.randint(30, 300))
    n = len(run)
    at = onset_of(rng, n, least_before=12, least_after=12)
    factor = rng.uniform(2.3, 6)
    for i in range(at, n):
        run.series["time.step"][i] *= factor
    return Case(run, ("throughput-drop",), at, at, needed=("time.step",))


def swings(rng):
    """High and low for long stretches, again and again."""
    run = runs.healthy(rng, records=rng.randint(120, 400), batch=rng.choice((64, 128, 256, 512)),
                       family=rng.choice(("binary", "signed", "penalty", "parts")))
    n = len(run)
    at, period = round(n * rng.uniform(0.1, 0.25)), max(24, round(n * rng.uniform(0.12, 0.18)))
    level = rng.uniform(0.5, 0.8)
    skill = list(run.skill)
    for i in range(at, n):
        skill[i] = level if (i - at) // (period // 2) % 2 == 0 else level * 0.1
    run.set_skill(skill)
    run.evals = {}
    return Case(run, ("instability", "reward-collapse"), at, n - 1, allowed=FALLS)


def not_a_number(rng):
    run = runs.healthy(rng)
    n = len(run)
    at = onset_of(rng, n, least_before=2, least_after=3)
    signal = rng.choice(("grad_norm", "loss.policy", "kl.ref", "entropy"))
    for i in range(at, n):
        run.series[signal][i] = NAN
        if signal in ("grad_norm", "loss.policy"):
            run.series["grad_norm"][i] = NAN
    return Case(run, ("non-finite",), at, at, needed=(signal,))


FAULTS = {
    "reward-collapse": reward_collapse, "reward-collapse, forgets": reward_forgets,
    "reward-collapse, jagged": reward_falls_jagged, "reward-collapse, at the end": reward_ends_low, "reward-collapse, partial": reward_sags,
    "reward-collapse, second": reward_fails_again, "zero-reward, from start": zero_from_start,
    "zero-reward, later": zero_later, "no-learning": flat, "zero-advantage": uniform_groups,
    "entropy-collapse": entropy_falls, "entropy-explosion": entropy_rises, "kl-runaway": kl_runs,
    "gradient-spike": gradient_spike, "loss-spike, supervised": loss_jumps, "loss-spike, policy": policy_loss_jumps,
    "clip-saturation": clip_saturates, "length-explosion": length_explodes, "length-collapse": length_collapses,
    "length-collapse, games": length_games,
    "truncation": truncation, "degenerate-output": repetition, "policy-mismatch": mismatch, "staleness": stale,
    "reward-hacking": hacked, "eval-regression": eval_falls, "format-failures": format_breaks,
    "throughput-drop": slows_down, "instability": swings, "non-finite": not_a_number,
}
