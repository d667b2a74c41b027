"""Healthy runs whose rewards look like a failure for a while: zero, negative, in parts, all equal, off a cliff."""
import math

from story import NAN, Story, runs, shown_by, spoken_by

PARTED = ("verl", "trl", "openrlhf", "areal", "skyrl", "slime", "key-value", "json-lines")


def flat(story, begin, end, value=0.0):
    """Every sample of those steps gets the same reward."""
    for i in range(begin, min(end, len(story))):
        story.series["reward.mean"][i] = value
        for signal, level in (("reward.std", 0.0), ("reward.zero_std_groups", 1.0)):
            if signal in story.series:
                story.series[signal][i] = level


def zero_at_start(rng, tongue):
    """A sparse reward: nothing is solved in the first ten to forty steps, then learning sets in."""
    late = rng.choice((10, 11, 12, 15, 20, 30, 40))
    story = Story(rng, records=late + rng.randint(25, 35), family="binary")
    story.run.set_skill([0.0 if i < late else s * min(1.0, (i - late + 3) / 20) for i, s in enumerate(story.run.skill)])
    flat(story, 0, late)
    return story


def floor_at_start(rng, tongue):
    """A reward that begins on its floor of -1 (a failed format), until the format is learnt."""
    late = rng.choice((10, 11, 12, 15, 20, 30))
    story = Story(rng, records=late + rng.randint(25, 35), family="signed")
    story.run.set_skill([s * min(1.0, (i - late + 3) / 20) if i >= late else 0.0 for i, s in enumerate(story.run.skill)])
    flat(story, 0, late, -1.0)
    return story


def value_warm_up(rng, tongue):
    """The critic is warmed up first: no sample is scored, the policy's loss and norm are zero, then training begins."""
    warm = rng.choice((10, 12, 15, 20))
    story = Story(rng, records=warm + 35)
    flat(story, 0, warm)
    for signal in ("loss.policy", "grad_norm", "clip.frac"):
        story.series[signal][:warm] = [0.0] * warm
    story.opening.append(lambda told: told.say(f"critic warm-up: the policy is not updated for {warm} steps"))
    return story


def zero_later(rng, tongue):
    """The curriculum switches to harder tasks: nothing is solved for five to ten steps, then it goes on."""
    story = Story(rng, records=60, family="binary", gain=0.3)
    at, hard = rng.randint(20, 30), rng.randint(5, 10)
    story.say_before(at, "curriculum: switching to level 2 (harder problems)")
    story.run.set_skill([s if i < at else s * min(0.8, (i - at - hard + 2) / 15) if i >= at + hard else 0.0
                         for i, s in enumerate(story.run.skill)])
    flat(story, at, at + hard)
    return story


def harder_dataset(rng, tongue):
    """A second data set is mixed in, without a word: five to eight steps of zero reward in the middle."""
    story = Story(rng, records=55, family="binary", gain=0.3)
    at = story.middle(20, 20)
    flat(story, at, at + rng.randint(5, 8))
    return story


def evaluation_phase(rng, tongue):
    """For some steps it only evaluates: no training samples, so reward, loss and norm are told as 0."""
    story = Story(rng, records=55)
    at, long = story.middle(15, 20), rng.randint(5, 10)
    story.say_before(at, f"evaluation-only phase for {long} steps, no rollouts are trained on")
    flat(story, at, at + long)
    for signal in ("loss.policy", "grad_norm", "clip.frac"):
        story.series[signal][at:at + long] = [0.0] * long
    return story


def all_negative(rng, tongue):
    """Rewards are costs: never above zero, and rising."""
    return Story(rng, family=rng.choice(("all-negative", "log-prob")), gain=0.3)


def penalties(rng, tongue):
    """A penalty for length pulls the mean below zero for some steps at the start."""
    story = Story(rng, family="penalty", gain=0.4)
    late = rng.randint(5, 12)
    for i in range(late):
        story.series["reward.mean"][i] = -0.5 + 0.4 * i / late + rng.gauss(0, 0.02)
    return story


@spoken_by(*PARTED)
def dead_part(rng, tongue):
    """A reward of several parts, one of which is zero all along: it is for a task that is not in the data yet."""
    story = Story(rng, family="parts", gain=0.35)
    for i in range(len(story)):
        story.extra[i][tongue.parts.format("tool_use")] = 0.0
        story.extra[i][tongue.parts.format("answer")] = round(story.series["reward.mean"][i], 4)
    return story


@spoken_by(*PARTED)
def dead_environment(rng, tongue):
    """One of three environments is switched off on purpose: its reward is zero, and its length NaN."""
    story = Story(rng)
    off = story.middle(10, 20)
    story.say_before(off, "environment 'webshop' is disabled from here on (weight 0.0)")
    for i in range(len(story)):
        for name in ("gsm8k", "alfworld", "webshop"):
            on = name != "webshop" or i < off
            story.extra[i][tongue.parts.format(name)] = round(rng.uniform(0.2, 0.6), 4) if on else 0.0
        story.extra[i]["env/webshop/length"] = NAN if i >= off else 212.0
    return story


def small_batches(rng, tongue):
    """Eight samples a step and a rare success: several steps in a row get nothing, by chance."""
    story = Story(rng, records=60, family="sparse", batch=8)
    rewards = story.series["reward.mean"]
    rewards[2] = rewards[9] = 0.125
    return story


def saturated(rng, tongue):
    """Everything is solved: the reward is exactly 1, norms and losses are exactly 0, for the second half."""
    story = Story(rng, family="nearly-solved")
    half = len(story) // 2
    flat(story, half, len(story), 1.0)
    for signal in ("loss.policy", "grad_norm"):
        story.series[signal][half:] = [0.0] * (len(story) - half)
    return story


def curriculum_cliff(rng, tongue):
    """The reward falls off a cliff with each level of the curriculum, as announced, and is earned again."""
    story = Story(rng, records=60, family="binary", gain=0.3)
    skill = list(story.run.skill)
    for at in (20, 40):
        story.say_before(at, f"curriculum level {at // 20 + 1}: max difficulty raised")
        for i in range(at, len(story)):
            skill[i] *= 1 - 0.7 * math.exp(-(i - at) / 8)
    story.run.set_skill([max(s, 0.02) for s in skill])
    return story


def zero_validation(rng, tongue):
    """The held-out set is far too hard: its reward is 0 at each evaluation, while training goes well."""
    story = Story(rng, gain=0.3)
    story.evals = set(range(0, len(story), 10))
    story.eval_value = 0.0
    return story


def filtered_groups(rng, tongue):
    """DAPO: in some steps all groups are filtered out, the reward over what is left is 0, and it samples again."""
    story = Story(rng)
    for at in rng.sample(range(8, len(story) - 5), 4):
        story.say_before(at, "num_prompt_in_batch=0 < prompt_bsz=64, keep generating: all groups were filtered (std 0)")
        flat(story, at, at + 1)
        story.series["loss.policy"][at] = story.series["grad_norm"][at] = 0.0
    return story


def empty_accumulation(rng, tongue):
    """Gradient accumulation is logged at each micro step: three of four tell no norm, no reward, and no change."""
    story = Story(rng, records=60)
    for i in range(len(story)):
        if i % 4 != 3:
            story.series["grad_norm"][i] = 0.0
            story.series["loss.policy"][i] = 0.0
    return story


def reward_rescaled(rng, tongue):
    """The reward is divided by ten from one step on, on purpose."""
    story = Story(rng, family="ten-points", gain=0.2)
    at = story.middle(20, 20)
    story.say_before(at, "reward scale set to 0.1")
    story.allowed = ("reward-collapse",)  # nothing but that line tells it from one
    for i in range(at, len(story)):
        story.series["reward.mean"][i] *= 0.1
    return story


@shown_by("lr")
def schedule_restarts(rng, tongue):
    """Warm-up from a learning rate of exactly 0, and cosine restarts."""
    story = Story(rng, records=60)
    period = rng.choice((15, 20, 30))
    story.series["lr"] = [1e-6 * min(1, i / 5) * (0.5 + 0.5 * math.cos(math.pi * (i % period) / period))
                          for i in range(len(story))]
    return story


@shown_by("kl.ref")
def reference_updates(rng, tongue):
    """The reference model is replaced by the policy every 15 steps: the KL falls to 0 and grows again."""
    story = Story(rng, records=60)
    for i in range(len(story)):
        story.series["kl.ref"][i] = 0.004 * (i % 15) * rng.uniform(0.8, 1.2)
        if i % 15 == 0 and i > 0:
            story.say_before(i, "reference model synced with the policy")
    return story


@shown_by("entropy")
def entropy_bonus(rng, tongue):
    """An entropy bonus is switched on: entropy grows to half as much again and stays, the reward goes on."""
    story = Story(rng, gain=0.3)
    at = story.middle(15, 20)
    for i in range(at, len(story)):
        story.series["entropy"][i] *= 1 + 0.5 * (1 - math.exp(-(i - at) / 6))
    return story


def lone_zero_batches(rng, tongue):
    """A batch here and there gets nothing: a hiccup of the sandbox, a hard batch."""
    story = Story(rng, family="binary")
    for at in rng.sample(range(3, len(story) - 3), 3):
        flat(story, at, at + 1)
    return story


FAMILIES = [zero_at_start, floor_at_start, value_warm_up, zero_later, harder_dataset, evaluation_phase, all_negative,
            penalties, dead_part, dead_environment, small_batches, saturated, curriculum_cliff, zero_validation,
            filtered_groups, empty_accumulation, reward_rescaled, schedule_restarts, reference_updates, entropy_bonus,
            lone_zero_batches]
