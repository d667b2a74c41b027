"""Healthy runs whose processes come and go. Fed live, the feeder really starts and ends such children (feeder.py)."""
from script import Script

ENGINE = "VLLM::Engine_{}"
STEP_S = 0.2   # of a step, live: the watch of processes counts in seconds, too


def engines(script, count, begin=1):
    for number in range(begin, begin + count):
        script.action(0, "start", name=ENGINE.format(number))


def live(script):
    script.live_step_s = STEP_S
    return script


def scaled_down(rng, log):
    """One of eight engines is taken away on purpose: the trainer says so, ends it and trains on with seven."""
    script = live(Script(rng, records=30))
    engines(script, 8)
    at, number = script.middle(12, 10), rng.randint(1, 8)
    script.say_before(at, f"autoscaler: scaling rollout engines from 8 to 7, stopping engine {number}")
    script.action(at, "end", name=ENGINE.format(number), how=rng.choice(("term", "kill", "exit 0")), reap=rng.random() < 0.7)
    script.say_before(at + 1, f"engine {number} stopped, 7 engines serve")
    return script


def elastic_engines(rng, log):
    """Engines join and leave while it trains, as spot machines do."""
    script = live(Script(rng, records=32))
    engines(script, 4)
    for at, number in ((8, 5), (14, 6)):
        script.say_before(at, f"engine {number} joined the pool")
        script.action(at, "start", name=ENGINE.format(number))
    for at, number in ((12, 2), (18, 5), (22, 1)):
        script.say_before(at, f"engine {number} left the pool (drained)")
        script.action(at, "end", name=ENGINE.format(number), how=rng.choice(("term", "kill", "exit 0")), reap=True)
    return script


def replaced_engine(rng, log):
    """An engine crashes; the framework starts another in its place within a step or two and trains on."""
    script = live(Script(rng, records=30))
    engines(script, 4)
    at = script.middle(12, 10)
    script.action(at, "end", name=ENGINE.format(2), how="kill", reap=True)
    script.say_before(at + 1, "engine 2 died (signal 9), its requests were given to others; starting it anew", "WARNING")
    script.action(at + 2, "start", name=ENGINE.format(2))
    script.say_before(at + 3, "engine 2 is back, 4 of 4 engines serve")
    return script


def failed_helper(script, rng):
    """A helper process (an uploader, a data loader's worker) fails and is not reaped until the end."""
    name = rng.choice(("uploader", "pt_data_worker", "prefetch", "wandb-service"))
    script.action(0, "start", name=name)
    at = script.middle(10, 8)
    script.action(at, "end", name=name, how=rng.choice(("exit 1", "kill")), reap=False)
    return at


def zombie_and_evaluation(rng, log):
    """A helper that failed is not reaped, and soon after an evaluation takes many steps, in silence."""
    script = live(Script(rng, records=26))
    at = failed_helper(script, rng) + rng.randint(0, 1)
    script.wait_before(at, rng.uniform(20, 28))
    return script


def zombie_and_shown_evaluation(rng, log):
    """The same, but the evaluation prints its progress."""
    script = live(Script(rng, records=26))
    at = failed_helper(script, rng) + rng.randint(0, 1)

    def act(out):
        for part in range(1, 21):
            out.wait(1.3 * script.usual)
            out.raw(f"Evaluating: {5 * part:3d}%|####      | {part}/20 [{out.stamp('%M:%S')}<00:30]")
    script.before[at].append(act)
    return script


def zombie_and_save(rng, log):
    """A helper that failed is not reaped, and a save takes many steps."""
    script = live(Script(rng, records=26))
    at = failed_helper(script, rng)
    script.before[at + 1].append(lambda out: out.saved(at, 22 * script.usual))
    return script


def short_helpers(rng, log):
    """Every few steps a helper is started and fails at once: a check that is allowed to."""
    script = live(Script(rng, records=26))
    for at in range(4, 24, 4):
        script.action(at, "start", name=f"check_{at}")
        script.action(at + 2, "end", name=f"check_{at}", how="exit 1", reap=rng.random() < 0.5)
    return script


FAMILIES = [scaled_down, elastic_engines, replaced_engine, zombie_and_evaluation, zombie_and_shown_evaluation,
            zombie_and_save, short_helpers]
