"""Healthy runs that are slow, quiet, or begin again: evaluations, saves, weight syncs, sweeps, resumes, odd logging."""
from story import Story, spoken_by


def silent_evaluation(rng, tongue):
    """An evaluation of five to thirty usual steps that writes nothing until it is done."""
    story = Story(rng)
    story.wait_before(story.middle(10), rng.uniform(5, 30))
    return story


def told_evaluation(rng, tongue):
    """The same, with a progress bar that moves."""
    story = Story(rng)
    parts = rng.randint(10, 40)
    at = story.middle(10)
    steps = rng.uniform(5, 30) / parts

    def act(told):
        for part in range(1, parts + 1):
            told.wait(steps * story.usual)
            told.raw(f"Evaluating: {100 * part // parts:3d}%|####      | {part}/{parts} [{told.stamp('%M:%S')}<00:30]")
    story.before[at].append(act)
    return story


def first_evaluation(rng, tongue):
    """An evaluation before the first step, longer than ten steps, and again at the end."""
    story = Story(rng)
    story.wait_before(0, rng.uniform(10, 20))
    story.before[0].append(lambda told: told.judged and told.evaluated(0, "math", 0.11))
    story.wait_before(len(story) - 1, rng.uniform(10, 30))
    return story


def slow_saves(rng, tongue):
    """Each save takes as long as three to eight steps (a slow network file system)."""
    story = Story(rng)
    story.save_s = story.usual * rng.uniform(3, 8)
    return story


def weight_sync_pauses(rng, tongue):
    """Every few steps the engines pause for a weight sync, twice as long as a step."""
    story = Story(rng)
    for at in range(5, len(story) - 2, rng.randint(3, 7)):
        story.say_before(at, "pausing generation for weight sync: 0 requests running")
        story.wait_before(at, 2)
        story.say_before(at, "weight sync done, generation resumed")
    return story


def long_tail_steps(rng, tongue):
    """A step here and there waits for its longest rollout, four to eight times as long as usual."""
    story = Story(rng)
    for at in rng.sample(range(5, len(story) - 2), 4):
        story.series["time.step"][at] *= rng.uniform(4, 8)
    return story


def sweep(rng, tongue):
    """Three short runs in one log, one after another, each from step 1."""
    story = Story(rng, records=45)
    for part in range(3):
        for i in range(15):
            story.run.steps[15 * part + i] = 1 + i
        if part > 0:
            def act(told, part=part):
                told.finish()
                told.put(f"=== sweep {part + 1} of 3: lr={1e-6 * (part + 1):.0e} ===")
                told.start(15)
            story.before[15 * part].append(act)
    return story


def chunks(rng, tongue):
    """The user's own wrapper starts the trainer anew every 20 steps; it resumes where it was, and the count goes on."""
    story = Story(rng, records=60)
    story.saves |= {19, 39}
    for at in (20, 40):
        def act(told, at=at):
            told.put(f"run.sh: chunk {at // 20} done, starting chunk {at // 20 + 1}")
            told.start(60)
            told.resumed(at)
        story.before[at].append(act)
    return story


def resumed_further_back(rng, tongue):
    """The user's wrapper restarts a trainer that a CUDA hiccup ended: it repeats the steps since the last save."""
    story = Story(rng, records=50)
    back, at = 10 * rng.randint(1, 3), 0
    at = back + rng.randint(3, 8)
    story.order = [*range(at), *range(back, len(story))]

    def act(told):
        told.put("run.sh: line 12: trainer left with status 1, retrying in 5 s")
        told.wait(5)
        told.put("=== Attempt 2/5 ===")
        told.start(50)
        told.resumed(back)
    story.after[at - 1].append(act)
    story.allowed = ("crash", "interrupted", "restart-from-scratch")
    return story


def every_tenth_step(rng, tongue):
    """Only every tenth step is logged; the first three or four that are have a reward of zero, a cold start."""
    story = Story(rng, records=rng.choice((120, 150)), family="binary")
    for i in range(10 * rng.randint(3, 4)):
        story.series["reward.mean"][i] = 0.0
    for i in range(len(story)):
        if i % 10 != 9:
            story.silent.add(i)
            story.series["time.step"][i] /= 5
    return story


def stale_samples(rng, tongue):
    """An asynchronous trainer: it says that samples are one to four versions old, and now and then drops some."""
    story = Story(rng)
    for at in range(3, len(story), 4):
        story.say_before(at, f"staleness: max {rng.randint(1, 4)} versions, dropped {rng.randint(0, 3)} stale groups")
    if tongue.name == "verl":
        for i in range(len(story)):
            story.extra[i]["training/off_policy/trajectory_staleness/mean"] = round(rng.uniform(0.5, 2), 3)
    return story


def preemption_notice(rng, tongue):
    """The provider gives notice that it may take the machine, and takes the notice back."""
    story = Story(rng)
    at = story.middle()
    story.say_before(at, "Spot instance interruption notice: may be reclaimed in 120 s, saving a checkpoint", "WARNING")
    story.before[at].append(lambda told: told.saved(at, 5.0))
    story.say_before(at + 2, "interruption notice was withdrawn, training goes on")
    return story


def slow_start(rng, tongue):
    """Loading and compiling takes as long as thirty steps, with warnings on the way."""
    story = Story(rng)

    def act(told):
        for part in range(1, 9):
            told.wait(4 * story.usual)
            told.raw(f"Loading safetensors checkpoint shards: {100 * part // 8:3d}% Completed | {part}/8")
    story.opening.append(act)
    return story


@spoken_by("verl", "openrlhf", "areal", "skyrl", "slime", "key-value", "json-lines", "trl")
def repeated_steps(rng, tongue):
    """Figures of a step are told twice, as by two loggers."""
    story = Story(rng)
    story.order = sorted([*range(len(story)), *rng.sample(range(5, len(story) - 5), 5)])
    return story


FAMILIES = [silent_evaluation, told_evaluation, first_evaluation, slow_saves, weight_sync_pauses, long_tail_steps,
            sweep, chunks, resumed_further_back, every_tenth_step, stale_samples, preemption_notice, slow_start,
            repeated_steps]
