"""Healthy runs whose rewards look like a failure for a while: zero, negative, in parts, all equal, off a cliff."""
import math

from script import NAN, Script, for_frameworks, runs, shown_by

PARTED = ("verl", "trl", "openrlhf", "areal", "skyrl", "slime", "key-value", "json-lines")


def flat(script, begin, end, value=0.0):
    """Every sample of those steps gets the same reward."""
    for i in range(begin, min(end, len(script))):
        script.series["reward.mean"][i] = value
        for signal, level in (("reward.std", 0.0), ("reward.zero_std_groups", 1.0)):
            if signal in script.series:
                script.series[signal][i] = level


def zero_at_start(rng, log):
    """A sparse reward: nothing is solved in the first ten to forty steps, then learning sets in."""
    late = rng.choice((10, 11, 12, 15, 20, 30, 40))
    script = Script(rng, records=late + rng.randint(25, 35), family="binary")
    script.run.set_skill([0.0 if i < late else s * min(1.0, (i - late + 3) / 20) for i, s in enumerate(script.run.skill)])
    flat(script, 0, late)
    return script


def floor_at_start(rng, log):
    """A reward that begins on its floor of -1 (a failed format), until the format is learnt."""
    late = rng.choice((10, 11, 12, 15, 20, 30))
    script = Script(rng, records=late + rng.randint(25, 35), family="signed")
    script.run.set_skill([s * min(1.0, (i - late + 3) / 20) if i >= late else 0.0 for i, s in enumerate(script.run.skill)])
    flat(script, 0, late, -1.0)
    return script


def value_warm_up(rng, log):
    """The critic is warmed up first: no sample is scored, the policy's loss and norm are zero, then training begins."""
    warm = rng.choice((10, 12, 15, 20))
    script = Script(rng, records=warm + 35)
    flat(script, 0, warm)
    for signal in ("loss.policy", "grad_norm", "clip.frac"):
        script.series[signal][:warm] = [0.0] * warm
    script.opening.append(lambda out: out.say(f"critic warm-up: the policy is not updated for {warm} steps"))
    return script


def zero_later(rng, log):
    """The curriculum switches to harder tasks: nothing is solved for five to ten steps, then it goes on."""
    script = Script(rng, records=60, family="binary", gain=0.3)
    at, hard = rng.randint(20, 30), rng.randint(5, 10)
    script.say_before(at, "curriculum: switching to level 2 (harder problems)")
    script.run.set_skill([s if i < at else s * min(0.8, (i - at - hard + 2) / 15) if i >= at + hard else 0.0
                         for i, s in enumerate(script.run.skill)])
    flat(script, at, at + hard)
    return script


def harder_dataset(rng, log):
    """A second data set is mixed in, without a word: five to eight steps of zero reward in the middle."""
    script = Script(rng, records=55, family="binary", gain=0.3)
    at = script.middle(20, 20)
    flat(script, at, at + rng.randint(5, 8))
    return script


def evaluation_phase(rng, log):
    """For some steps it only evaluates: no training samples, so reward, loss and norm are logged as 0."""
    script = Script(rng, records=55)
    at, long = script.middle(15, 20), rng.randint(5, 10)
    script.say_before(at, f"evaluation-only phase for {long} steps, no rollouts are trained on")
    flat(script, at, at + long)
    for signal in ("loss.policy", "grad_norm", "clip.frac"):
        script.series[signal][at:at + long] = [0.0] * long
    return script


def all_negative(rng, log):
    """Rewards are costs: never above zero, and rising."""
    return Script(rng, family=rng.choice(("all-negative", "log-prob")), gain=0.3)


def penalties(rng, log):
    """A penalty for length pulls the mean below zero for some steps at the start."""
    script = Script(rng, family="penalty", gain=0.4)
    late = rng.randint(5, 12)
    for i in range(late):
        script.series["reward.mean"][i] = -0.5 + 0.4 * i / late + rng.gauss(0, 0.02)
    return script


@for_frameworks(*PARTED)
def dead_part(rng, log):
    """A reward of several parts, one of which is zero all along: it is for a task that is not in the data yet."""
    script = Script(rng, family="parts", gain=0.35)
    for i in range(len(script)):
        script.extra[i][log.parts.format("tool_use")] = 0.0
        script.extra[i][log.parts.format("answer")] = round(script.series["reward.mean"][i], 4)
    return script


@for_frameworks(*PARTED)
def dead_environment(rng, log):
    """One of three environments is switched off on purpose: its reward is zero, and its length NaN."""
    script = Script(rng)
    off = script.middle(10, 20)
    script.say_before(off, "environment 'webshop' is disabled from here on (weight 0.0)")
    for i in range(len(script)):
        for name in ("gsm8k", "alfworld", "webshop"):
            on = name != "webshop" or i < off
            script.extra[i][log.parts.format(name)] = round(rng.uniform(0.2, 0.6), 4) if on else 0.0
        script.extra[i]["env/webshop/length"] = NAN if i >= off else 212.0
    return script


def small_batches(rng, log):
    """Eight samples a step and a rare success: several steps in a row get nothing, by chance."""
    script = Script(rng, records=60, family="sparse", batch=8)
    rewards = script.series["reward.mean"]
    rewards[2] = rewards[9] = 0.125
    return script


def saturated(rng, log):
    """Everything is solved: the reward is exactly 1, norms and losses are exactly 0, for the second half."""
    script = Script(rng, family="nearly-solved")
    half = len(script) // 2
    flat(script, half, len(script), 1.0)
    for signal in ("loss.policy", "grad_norm"):
        script.series[signal][half:] = [0.0] * (len(script) - half)
    return script


def curriculum_cliff(rng, log):
    """The reward falls off a cliff with each level of the curriculum, as announced, and is earned again."""
    script = Script(rng, records=60, family="binary", gain=0.3)
    skill = list(script.run.skill)
    for at in (20, 40):
        script.say_before(at, f"curriculum level {at // 20 + 1}: max difficulty raised")
        for i in range(at, len(script)):
            skill[i] *= 1 - 0.7 * math.exp(-(i - at) / 8)
    script.run.set_skill([max(s, 0.02) for s in skill])
    return script


def zero_validation(rng, log):
    """The held-out set is far too hard: its reward is 0 at each evaluation, while training goes well."""
    script = Script(rng, gain=0.3)
    script.evals = set(range(0, len(script), 10))
    script.eval_value = 0.0
    return script


def filtered_groups(rng, log):
    """DAPO: in some steps all groups are filtered out, the reward over what is left is 0, and it samples again."""
    script = Script(rng)
    for at in rng.sample(range(8, len(script) - 5), 4):
        script.say_before(at, "num_prompt_in_batch=0 < prompt_bsz=64, keep generating: all groups were filtered (std 0)")
        flat(script, at, at + 1)
        script.series["loss.policy"][at] = script.series["grad_norm"][at] = 0.0
    return script


def empty_accumulation(rng, log):
    """Gradient accumulation is logged at each micro step: three of four have a norm and a loss of 0."""
    script = Script(rng, records=60)
    for i in range(len(script)):
        if i % 4 != 3:
            script.series["grad_norm"][i] = 0.0
            script.series["loss.policy"][i] = 0.0
    return script


def reward_rescaled(rng, log):
    """The reward is divided by ten from one step on, on purpose."""
    script = Script(rng, family="ten-points", gain=0.2)
    at = script.middle(20, 20)
    script.say_before(at, "reward scale set to 0.1")
    script.allowed = ("reward-collapse",)  # nothing but that line distinguishes it from one
    for i in range(at, len(script)):
        script.series["reward.mean"][i] *= 0.1
    return script


@shown_by("lr")
def schedule_restarts(rng, log):
    """Warm-up from a learning rate of exactly 0, and cosine restarts."""
    script = Script(rng, records=60)
    period = rng.choice((15, 20, 30))
    script.series["lr"] = [1e-6 * min(1, i / 5) * (0.5 + 0.5 * math.cos(math.pi * (i % period) / period))
                          for i in range(len(script))]
    return script


@shown_by("kl.ref")
def reference_updates(rng, log):
    """The reference model is replaced by the policy every 15 steps: the KL falls to 0 and grows again."""
    script = Script(rng, records=60)
    for i in range(len(script)):
        script.series["kl.ref"][i] = 0.004 * (i % 15) * rng.uniform(0.8, 1.2)
        if i % 15 == 0 and i > 0:
            script.say_before(i, "reference model synced with the policy")
    return script


@shown_by("entropy")
def entropy_bonus(rng, log):
    """An entropy bonus is switched on: entropy grows to half as much again and stays, the reward goes on."""
    script = Script(rng, gain=0.3)
    at = script.middle(15, 20)
    for i in range(at, len(script)):
        script.series["entropy"][i] *= 1 + 0.5 * (1 - math.exp(-(i - at) / 6))
    return script


def lone_zero_batches(rng, log):
    """A batch here and there gets nothing: a hiccup of the sandbox, a hard batch."""
    script = Script(rng, family="binary")
    for at in rng.sample(range(3, len(script) - 3), 3):
        flat(script, at, at + 1)
    return script


FAMILIES = [zero_at_start, floor_at_start, value_warm_up, zero_later, harder_dataset, evaluation_phase, all_negative,
            penalties, dead_part, dead_environment, small_batches, saturated, curriculum_cliff, zero_validation,
            filtered_groups, empty_accumulation, reward_rescaled, schedule_restarts, reference_updates, entropy_bonus,
            lone_zero_batches]
