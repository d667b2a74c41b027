"""Healthy runs whose processes come and go. Fed live, the feeder really starts and ends such children (feeder.py)."""
from story import Story

ENGINE = "VLLM::Engine_{}"
STEP_S = 0.2   # of a step, live: the watch of processes counts in seconds, too


def engines(story, count, begin=1):
    for number in range(begin, begin + count):
        story.deed(0, "start", name=ENGINE.format(number))


def live(story):
    story.live_step_s = STEP_S
    return story


def scaled_down(rng, tongue):
    """One of eight engines is taken away on purpose: the trainer says so, ends it and trains on with seven."""
    story = live(Story(rng, records=30))
    engines(story, 8)
    at, number = story.middle(12, 10), rng.randint(1, 8)
    story.say_before(at, f"autoscaler: scaling rollout engines from 8 to 7, stopping engine {number}")
    story.deed(at, "end", name=ENGINE.format(number), how=rng.choice(("term", "kill", "exit 0")), reap=rng.random() < 0.7)
    story.say_before(at + 1, f"engine {number} stopped, 7 engines serve")
    return story


def elastic_engines(rng, tongue):
    """Engines join and leave while it trains, as spot machines do."""
    story = live(Story(rng, records=32))
    engines(story, 4)
    for at, number in ((8, 5), (14, 6)):
        story.say_before(at, f"engine {number} joined the pool")
        story.deed(at, "start", name=ENGINE.format(number))
    for at, number in ((12, 2), (18, 5), (22, 1)):
        story.say_before(at, f"engine {number} left the pool (drained)")
        story.deed(at, "end", name=ENGINE.format(number), how=rng.choice(("term", "kill", "exit 0")), reap=True)
    return story


def replaced_engine(rng, tongue):
    """An engine crashes; the framework starts another in its place within a step or two and trains on."""
    story = live(Story(rng, records=30))
    engines(story, 4)
    at = story.middle(12, 10)
    story.deed(at, "end", name=ENGINE.format(2), how="kill", reap=True)
    story.say_before(at + 1, "engine 2 died (signal 9), its requests were given to others; starting it anew", "WARNING")
    story.deed(at + 2, "start", name=ENGINE.format(2))
    story.say_before(at + 3, "engine 2 is back, 4 of 4 engines serve")
    return story


def failed_helper(story, rng):
    """A helper process (an uploader, a data loader's worker) fails and is not reaped until the end."""
    name = rng.choice(("uploader", "pt_data_worker", "prefetch", "wandb-service"))
    story.deed(0, "start", name=name)
    at = story.middle(10, 8)
    story.deed(at, "end", name=name, how=rng.choice(("exit 1", "kill")), reap=False)
    return at


def zombie_and_evaluation(rng, tongue):
    """A helper that failed is not reaped, and soon after an evaluation takes many steps, in silence."""
    story = live(Story(rng, records=26))
    at = failed_helper(story, rng) + rng.randint(0, 1)
    story.wait_before(at, rng.uniform(20, 28))
    return story


def zombie_and_told_evaluation(rng, tongue):
    """The same, but the evaluation prints its progress."""
    story = live(Story(rng, records=26))
    at = failed_helper(story, rng) + rng.randint(0, 1)

    def act(told):
        for part in range(1, 21):
            told.wait(1.3 * story.usual)
            told.raw(f"Evaluating: {5 * part:3d}%|####      | {part}/20 [{told.stamp('%M:%S')}<00:30]")
    story.before[at].append(act)
    return story


def zombie_and_save(rng, tongue):
    """A helper that failed is not reaped, and a save takes many steps."""
    story = live(Story(rng, records=26))
    at = failed_helper(story, rng)
    story.before[at + 1].append(lambda told: told.saved(at, 22 * story.usual))
    return story


def short_helpers(rng, tongue):
    """Every few steps a helper is started and fails at once: a check that is allowed to."""
    story = live(Story(rng, records=26))
    for at in range(4, 24, 4):
        story.deed(at, "start", name=f"check_{at}")
        story.deed(at + 2, "end", name=f"check_{at}", how="exit 1", reap=rng.random() < 0.5)
    return story


FAMILIES = [scaled_down, elastic_engines, replaced_engine, zombie_and_evaluation, zombie_and_told_evaluation,
            zombie_and_save, short_helpers]
