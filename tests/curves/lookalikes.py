"""Healthy runs that resemble a failure a little and must stay silent at warning and critical."""
import math

import runs
from faults import preference_run


def plain(rng):
    return runs.healthy(rng)


def few_prompts(rng):
    """So few samples that every record jumps."""
    return runs.healthy(rng, batch=rng.choice((8, 16)), family=rng.choice(("binary", "signed", "penalty", "sparse")))


def short(rng):
    return runs.healthy(rng, records=rng.randint(4, 25))


def curriculum(rng):
    """Harder tasks come in: the reward steps down by a fifth or less and grows again."""
    run = runs.healthy(rng, records=rng.randint(60, 300), batch=rng.choice((64, 128, 256, 512)))
    n = len(run)
    skill = list(run.skill)
    bounded = runs.FAMILIES[run.family]["spread"] is None
    for at in rng.choice(((0.3,), (0.6,), (0.25, 0.65))):
        at = round(n * at)
        back = max(5, round(0.12 * n))
        step = 0.18 * skill[at] if bounded else 0.2 * max(0.0, skill[at] - skill[0])
        for i in range(at, n):
            skill[i] -= step * math.exp(-(i - at) / back)
    run.set_skill(skill)
    return run


def lone_spike(rng):
    """One record of one signal is far off, and the next is as before."""
    run = runs.healthy(rng, records=rng.randint(30, 300))
    n = len(run)
    for _ in range(rng.choice((1, 2, 3))):
        at = rng.randrange(n // 10 + 3, n)
        signal = rng.choice(("grad_norm", "kl.ref", "entropy", "response.length", "time.step", "loss.policy",
                             "mismatch.logp_diff", "clip.frac", "staleness"))
        factor = {"entropy": rng.uniform(1.5, 3), "response.length": rng.uniform(0.4, 2.5)}.get(
            signal, rng.uniform(3, 20))
        run.series[signal][at] *= factor
    return run


def lone_zeros(rng):
    """A batch here and there gets nothing (a sandbox hiccup, a hard batch)."""
    run = runs.healthy(rng, records=rng.randint(30, 300))
    n = len(run)
    for at in rng.sample(range(2, n), rng.choice((1, 2, 3))):
        run.series["reward.mean"][at] = run.low
    return run


def sharpening(rng):
    """Entropy is spent on a reward that rises."""
    run = runs.healthy(rng, gain=rng.uniform(0.3, 0.5), family=rng.choice(("binary", "signed", "penalty", "parts")))
    first = run.series["entropy"][0]
    low = first * rng.uniform(0.04, 0.2)
    begin, end = run.skill[0], run.skill[-1]
    run.series["entropy"] = runs.drift(
        rng, [first * (low / first) ** ((s - begin) / max(end - begin, 1e-6)) for s in run.skill], 0.05)
    return run


def reasoning_grows(rng):
    """Answers grow to several times their length as the reward rises; the steps grow with them."""
    run = runs.healthy(rng, gain=rng.uniform(0.25, 0.45))
    n = len(run)
    first = run.series["response.length"][0]
    grown = runs.drift(rng, runs.ramp(n, first, first * rng.uniform(2, 5)), 0.04)
    for i in range(n):
        run.series["time.step"][i] *= 0.3 + 0.7 * grown[i] / run.series["response.length"][i]
    run.series["response.length"] = grown
    return run


def economy(rng):
    """Answers get shorter while the reward rises."""
    run = runs.healthy(rng, gain=rng.uniform(0.2, 0.4))
    first = run.series["response.length"][0]
    short = runs.drift(rng, runs.ramp(len(run), first, first * rng.uniform(0.2, 0.5)), 0.04)
    for i in range(len(run)):
        run.series["time.step"][i] *= 0.3 + 0.7 * short[i] / run.series["response.length"][i]
    run.series["response.length"] = short
    return run


def learns_to_stop(rng):
    """A base model that runs into the limit at first."""
    run = runs.healthy(rng, records=rng.randint(40, 300))
    n = len(run)
    begin, fast = rng.uniform(0.4, 0.85), rng.uniform(0.05, 0.2) * n
    run.series["response.truncated"] = [min(1.0, max(0.0, 0.02 + begin * math.exp(-i / fast) + rng.gauss(0, 0.03)))
                                        for i in range(n)]
    return run


def evaluation_noise(rng):
    """A held-out set of few tasks."""
    run = runs.healthy(rng, records=rng.randint(40, 300))
    n, size = len(run), rng.choice((30, 50, 80))
    base = rng.uniform(0.2, 0.5)
    run.evals = {"accuracy": {}}
    for i in range(0, n, max(2, n // 20)):
        p = min(base + 0.4 * run.skill[i], 0.95)
        run.evals["accuracy"][i] = sum(rng.random() < p for _ in range(size)) / size
    return run


def resumed(rng):
    run = runs.healthy(rng, records=rng.randint(40, 200))
    run.resumed = (rng.randrange(25, len(run)), rng.choice((1, 5, 10, 20)))
    return run


def gspo(rng):
    run = runs.healthy(rng, algorithm="gspo")
    run.series["clip.frac"] = runs.drift(rng, [rng.uniform(0.15, 0.3)] * len(run), 0.2)
    return run


def kl_pays(rng):
    """KL grows to the same multiple of its start as the reward does."""
    run = runs.healthy(rng, gain=rng.uniform(0.25, 0.45), records=rng.randint(40, 300))
    top, begin, end = rng.uniform(0.3, 3), run.skill[0], run.skill[-1]
    run.series["kl.ref"] = runs.drift(
        rng, [top * (0.003 + (s - begin) / max(end - begin, 1e-6)) for s in run.skill], 0.1)
    return run


def distillation(rng):
    """On-policy distillation: the teacher's KL falls, the reward is zero by construction."""
    run = runs.healthy(rng, records=rng.randint(20, 200))
    n = len(run)
    run.series["reward.mean"] = [0.0] * n
    run.series.pop("reward.std", None)
    run.series.pop("reward.zero_std_groups", None)
    first = rng.uniform(0.3, 1.5)
    run.series["kl.ref"] = runs.drift(rng, runs.ramp(n, first, first * rng.uniform(0.1, 0.4)), 0.05)
    run.method, run.evals, run.skill = "distillation", {}, [0.5] * n
    run.series["teacher.kl"] = run.series.pop("kl.ref")
    return run


def solved(rng):
    """The reward nears its ceiling: groups agree, entropy and gradients are small."""
    run = runs.healthy(rng, family="binary", gain=rng.uniform(0.4, 0.5), records=rng.randint(40, 300))
    skill = [min(0.995, s * 1.5) for s in run.skill]
    if max(skill) < 0.95:
        return None
    run.set_skill(skill)
    first = run.series["entropy"][0]
    run.series["entropy"] = [max(1e-3, first * (1.03 - s)) * rng.uniform(0.9, 1.1) for s in skill]
    run.series["grad_norm"] = [g * (1.1 - s) for g, s in zip(run.series["grad_norm"], skill)]
    return run


def epochs(rng):
    """The data comes in the same order again: the reward swings with it by a tenth."""
    run = runs.healthy(rng, records=rng.randint(80, 300), batch=rng.choice((64, 128, 256)))
    period = rng.randint(12, 40)
    bounded = runs.FAMILIES[run.family]["spread"] is None
    size = 0.11 * run.skill[len(run) // 2] if bounded else 0.3 * abs(run.skill[-1] - run.skill[0])
    run.set_skill([s + size * math.sin(2 * math.pi * i / period) for i, s in enumerate(run.skill)])
    return run


def dips_first(rng):
    """A small dip in the first steps, before the policy finds its way."""
    run = runs.healthy(rng, records=rng.randint(40, 300))
    fast = max(3, 0.06 * len(run))
    run.set_skill([s * (1 - 0.2 * (i / fast) * math.exp(1 - i / fast)) for i, s in enumerate(run.skill)])
    return run


def cold_start(rng):
    """Nothing is solved in the first few records, then it learns."""
    run = runs.healthy(rng, family="binary", records=rng.randint(60, 300))
    late = rng.randint(2, 8)
    run.steps = [1 + i for i in range(len(run))]
    run.set_skill([0.0 if i < late else s * min(1.0, (i - late + 1) / 20) for i, s in enumerate(run.skill)])
    return run


def supervised(rng):
    """A falling loss with bumps; no reward."""
    run = preference_run(rng)
    n = len(run)
    for _ in range(3):
        run.series["loss.total"][rng.randrange(5, n)] *= rng.uniform(1.1, 1.5)
    run.series["reward.mean"] = [None] * n
    return run


def longer_context(rng):
    """The length limit is raised in the middle: answers, step time and entropy step up together, the reward goes on."""
    run = runs.healthy(rng, records=rng.randint(60, 300), gain=rng.uniform(0.25, 0.4))
    at = round(len(run) * rng.uniform(0.4, 0.6))
    factor = rng.uniform(1.3, 1.9)
    for i in range(at, len(run)):
        run.series["response.length"][i] *= factor
        run.series["time.step"][i] *= factor
        run.series["entropy"][i] *= 1.2
    return run


KEEP_LENGTH = ("reasoning grows", "longer context")  # where only the length explains the time

LOOKALIKES = {
    "plain": plain, "few prompts a step": few_prompts, "short run": short, "curriculum": curriculum,
    "lone spike": lone_spike, "lone zero batches": lone_zeros, "entropy spent on reward": sharpening,
    "reasoning grows": reasoning_grows, "answers get shorter": economy, "learns to stop": learns_to_stop,
    "small evaluation set": evaluation_noise, "resumed": resumed, "gspo clips": gspo, "kl with reward": kl_pays,
    "distillation": distillation, "solved": solved, "epochs": epochs, "dips first": dips_first,
    "cold start": cold_start, "supervised": supervised, "longer context": longer_context,
}
