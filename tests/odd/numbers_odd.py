"""Healthy runs with figures that are no numbers: single ones, ones that the trainer skips, ones that do not matter."""
from story import INF, NAN, Story, shown_by, spoken_by

PARTED = ("verl", "trl", "openrlhf", "areal", "skyrl", "slime", "key-value", "json-lines")


@shown_by("grad_norm")
def nan_grad_norm(rng, tongue):
    """One gradient norm is NaN: the optimizer skips that update, and the next norm is as before."""
    story = Story(rng)
    story.series["grad_norm"][story.middle()] = NAN
    return story


@shown_by("loss.policy")
def nan_policy_loss(rng, tongue):
    """One policy loss is NaN, the mean over a micro batch without a token: nothing was learnt from it, nothing was spoilt."""
    story = Story(rng)
    story.series["loss.policy"][story.middle()] = NAN
    return story


@shown_by("kl.ref")
def nan_kl(rng, tongue):
    """One KL is NaN: a monitoring figure (0/0 over masked tokens), which this run does not optimise."""
    story = Story(rng)
    story.series["kl.ref"][story.middle()] = NAN
    return story


def nan_reward(rng, tongue):
    """One mean reward is NaN: the judge gave no score for one sample, which is masked; the next step is as before."""
    story = Story(rng)
    story.series["reward.mean"][story.middle()] = NAN
    return story


@shown_by("reward.std")
def nan_reward_std(rng, tongue):
    """The spread of the rewards is NaN in every other step: a group of one sample has none (n - 1 = 0)."""
    story = Story(rng)
    name = {"verl": "critic/rewards/std", "trl": "reward_std"}.get(tongue.name, "reward_std")
    story.series.pop("reward.std", None)
    for i in range(len(story)):
        story.extra[i][name] = NAN if rng.random() < 0.5 else round(rng.uniform(0.1, 0.5), 4)
    return story


@spoken_by(*PARTED)
def nan_reward_part(rng, tongue):
    """A batch of several tasks holds, in some steps, no sample of one of them: the mean over none is NaN."""
    story = Story(rng)
    for i in range(len(story)):
        for task in ("math", "code"):
            empty = rng.random() < 0.15
            story.extra[i][tongue.parts.format(task)] = NAN if empty else round(rng.uniform(0.2, 0.6), 4)
    return story


@spoken_by(*PARTED)
def nan_task_once(rng, tongue):
    """The same, but in one step alone, and as the run's last word on that task for ten steps."""
    story = Story(rng)
    at = story.middle()
    for i in range(len(story)):
        if not at < i < at + 10:
            story.extra[i][tongue.parts.format("math")] = NAN if i == at else round(rng.uniform(0.2, 0.6), 4)
    return story


@spoken_by(*PARTED)
def nan_unimportant(rng, tongue):
    """Figures that nobody trains on are NaN or Inf for long stretches: a rate over no request, a spread of one, an
    estimate of the time left."""
    story = Story(rng)
    for name in tongue.unimportant:
        for i in range(len(story)):
            story.extra[i][name] = rng.choice((NAN, NAN, INF, 0.5)) if rng.random() < 0.7 else 0.5
    return story


@shown_by("grad_norm")
def skipped_updates(rng, tongue):
    """The trainer says that a norm is not finite and skips the update, as verl does; two or three times, far apart."""
    story = Story(rng)
    said = {"verl": "WARN: rank 0 grad_norm is not finite: nan",
            "slime": "found NaN in local grad norm, skipping this update",
            "areal": "Skip the update: the gradient norm is nan"}
    for at in range(10, len(story) - 6, 14):
        at += rng.randrange(4)
        value = rng.choice((NAN, INF))
        story.series["grad_norm"][at] = value
        story.say_before(at, said.get(tongue.name, f"gradient norm is {value}, skipping optimizer step"), "WARNING")
    return story


@spoken_by("trl", "openrlhf", "key-value", "verl")
def loss_scale_overflows(rng, tongue):
    """fp16 under DeepSpeed: the loss scale begins too high and is halved step by step; later a single overflow."""
    story = Story(rng)
    scale, warm = 65536 * 2 ** rng.randint(0, 3), rng.randint(2, 5)
    for at in [*range(warm), story.middle(20)]:
        story.series["grad_norm"][at] = rng.choice((INF, NAN, 0.0))
        story.before[at].append(lambda told, scale=scale: told.raw(
            f"[{told.stamp(point=',')}] [INFO] [loss_scaler.py:190:update_scale] [deepspeed] OVERFLOW! Rank 0 Skipping "
            f"step. Attempted loss scale: {scale}, reducing to {scale // 2}"))
        scale //= 2
    return story


@shown_by("grad_norm")
def skipped_by_all_ranks(rng, tongue):
    """The same skip, told by each of eight ranks at once."""
    story = Story(rng)
    at = story.middle()
    story.series["grad_norm"][at] = NAN
    for rank in range(8):
        story.print_before(at, f"WARN: rank {rank} grad_norm is not finite: nan")
    return story


@shown_by("kl.ref", "entropy")
def never_computed(rng, tongue):
    """Without a KL term and without an entropy bonus neither is computed: both are NaN from the first step to the last."""
    story = Story(rng)
    story.series["kl.ref"] = [NAN] * len(story)
    if rng.random() < 0.5:
        story.series["entropy"] = [NAN] * len(story)
    return story


@shown_by("grad_norm", "loss.policy")
def nans_apart(rng, tongue):
    """Three NaN in three figures, ten steps and more between them: each was skipped."""
    story = Story(rng, records=60)
    signals = [s for s in ("grad_norm", "loss.policy", "entropy", "kl.ref") if s in tongue.shows]
    for at in (12 + rng.randrange(4), 27 + rng.randrange(4), 42 + rng.randrange(4)):
        story.series[rng.choice(signals)][at] = NAN
    return story


@shown_by("grad_norm", "loss.policy")
def nan_twice_running(rng, tongue):
    """One bad sequence is in two mini-batches that follow each other: loss and norm are NaN twice, both are skipped."""
    story = Story(rng)
    at = story.middle()
    for i in (at, at + 1):
        story.series["grad_norm"][i] = story.series["loss.policy"][i] = NAN
    story.say_before(at, "non-finite loss in a micro batch, its gradient is dropped", "WARNING")
    return story


@shown_by("grad_norm")
def lone_spikes(rng, tongue):
    """A gradient norm of a hundred times its level, once; it is clipped."""
    story = Story(rng)
    story.series["grad_norm"][story.middle()] *= rng.uniform(50, 150)
    return story


FAMILIES = [nan_grad_norm, nan_policy_loss, nan_kl, nan_reward, nan_reward_std, nan_reward_part, nan_task_once,
            nan_unimportant, never_computed, skipped_updates, skipped_by_all_ranks, loss_scale_overflows, nans_apart,
            nan_twice_running, lone_spikes]
