"""Healthy runs with figures that are no numbers: single ones, ones that the trainer skips, ones that do not matter."""
from script import INF, NAN, Script, for_frameworks, shown_by

PARTED = ("verl", "trl", "openrlhf", "areal", "skyrl", "slime", "key-value", "json-lines")


@shown_by("grad_norm")
def nan_grad_norm(rng, log):
    """One gradient norm is NaN: the optimizer skips that update, and the next norm is as before."""
    script = Script(rng)
    script.series["grad_norm"][script.middle()] = NAN
    return script


@shown_by("loss.policy")
def nan_policy_loss(rng, log):
    """One policy loss is NaN, the mean over a micro batch without a token: nothing was learnt from it, nothing was spoilt."""
    script = Script(rng)
    script.series["loss.policy"][script.middle()] = NAN
    return script


@shown_by("kl.ref")
def nan_kl(rng, log):
    """One KL is NaN: a monitoring figure (0/0 over masked tokens), which this run does not optimise."""
    script = Script(rng)
    script.series["kl.ref"][script.middle()] = NAN
    return script


def nan_reward(rng, log):
    """One mean reward is NaN: the judge gave no score for one sample, which is masked; the next step is as before."""
    script = Script(rng)
    script.series["reward.mean"][script.middle()] = NAN
    return script


@shown_by("reward.std")
def nan_reward_std(rng, log):
    """The spread of the rewards is NaN in every other step: a group of one sample has none (n - 1 = 0)."""
    script = Script(rng)
    name = {"verl": "critic/rewards/std", "trl": "reward_std"}.get(log.name, "reward_std")
    script.series.pop("reward.std", None)
    for i in range(len(script)):
        script.extra[i][name] = NAN if rng.random() < 0.5 else round(rng.uniform(0.1, 0.5), 4)
    return script


@for_frameworks(*PARTED)
def nan_reward_part(rng, log):
    """A batch of several tasks holds, in some steps, no sample of one of them: the mean over none is NaN."""
    script = Script(rng)
    for i in range(len(script)):
        for task in ("math", "code"):
            empty = rng.random() < 0.15
            script.extra[i][log.parts.format(task)] = NAN if empty else round(rng.uniform(0.2, 0.6), 4)
    return script


@for_frameworks(*PARTED)
def nan_task_once(rng, log):
    """The same, but in one step alone; the ten steps after it say nothing of that task."""
    script = Script(rng)
    at = script.middle()
    for i in range(len(script)):
        if not at < i < at + 10:
            script.extra[i][log.parts.format("math")] = NAN if i == at else round(rng.uniform(0.2, 0.6), 4)
    return script


@for_frameworks(*PARTED)
def nan_unimportant(rng, log):
    """Figures that nobody trains on are NaN or Inf for long stretches: a rate over no request, a spread of one, an
    estimate of the time left."""
    script = Script(rng)
    for name in log.unimportant:
        for i in range(len(script)):
            script.extra[i][name] = rng.choice((NAN, NAN, INF, 0.5)) if rng.random() < 0.7 else 0.5
    return script


@shown_by("grad_norm")
def skipped_updates(rng, log):
    """The trainer says that a norm is not finite and skips the update, as verl does; two or three times, far apart."""
    script = Script(rng)
    said = {"verl": "WARN: rank 0 grad_norm is not finite: nan",
            "slime": "found NaN in local grad norm, skipping this update",
            "areal": "Skip the update: the gradient norm is nan"}
    for at in range(10, len(script) - 6, 14):
        at += rng.randrange(4)
        value = rng.choice((NAN, INF))
        script.series["grad_norm"][at] = value
        script.say_before(at, said.get(log.name, f"gradient norm is {value}, skipping optimizer step"), "WARNING")
    return script


@for_frameworks("trl", "openrlhf", "key-value", "verl")
def loss_scale_overflows(rng, log):
    """fp16 under DeepSpeed: the loss scale begins too high and is halved step by step; later a single overflow."""
    script = Script(rng)
    scale, warm = 65536 * 2 ** rng.randint(0, 3), rng.randint(2, 5)
    for at in [*range(warm), script.middle(20)]:
        script.series["grad_norm"][at] = rng.choice((INF, NAN, 0.0))
        script.before[at].append(lambda out, scale=scale: out.raw(
            f"[{out.stamp(point=',')}] [INFO] [loss_scaler.py:190:update_scale] [deepspeed] OVERFLOW! Rank 0 Skipping "
            f"step. Attempted loss scale: {scale}, reducing to {scale // 2}"))
        scale //= 2
    return script


@shown_by("grad_norm")
def skipped_by_all_ranks(rng, log):
    """The same skip, reported by each of eight ranks at once."""
    script = Script(rng)
    at = script.middle()
    script.series["grad_norm"][at] = NAN
    for rank in range(8):
        script.print_before(at, f"WARN: rank {rank} grad_norm is not finite: nan")
    return script


@shown_by("kl.ref", "entropy")
def never_computed(rng, log):
    """Without a KL term and without an entropy bonus neither is computed: both are NaN from the first step to the last."""
    script = Script(rng)
    script.series["kl.ref"] = [NAN] * len(script)
    if rng.random() < 0.5:
        script.series["entropy"] = [NAN] * len(script)
    return script


@shown_by("grad_norm", "loss.policy")
def nans_apart(rng, log):
    """Three NaN in three figures, ten steps and more between them: each was skipped."""
    script = Script(rng, records=60)
    signals = [s for s in ("grad_norm", "loss.policy", "entropy", "kl.ref") if s in log.shows]
    for at in (12 + rng.randrange(4), 27 + rng.randrange(4), 42 + rng.randrange(4)):
        script.series[rng.choice(signals)][at] = NAN
    return script


@shown_by("grad_norm", "loss.policy")
def nan_twice_running(rng, log):
    """One bad sequence is in two mini-batches that follow each other: loss and norm are NaN twice, both are skipped."""
    script = Script(rng)
    at = script.middle()
    for i in (at, at + 1):
        script.series["grad_norm"][i] = script.series["loss.policy"][i] = NAN
    script.say_before(at, "non-finite loss in a micro batch, its gradient is dropped", "WARNING")
    return script


@shown_by("grad_norm")
def lone_spikes(rng, log):
    """A gradient norm of a hundred times its level, once; it is clipped."""
    script = Script(rng)
    script.series["grad_norm"][script.middle()] *= rng.uniform(50, 150)
    return script


FAMILIES = [nan_grad_norm, nan_policy_loss, nan_kl, nan_reward, nan_reward_std, nan_reward_part, nan_task_once,
            nan_unimportant, never_computed, skipped_updates, skipped_by_all_ranks, loss_scale_overflows, nans_apart,
            nan_twice_running, lone_spikes]
