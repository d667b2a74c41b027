"""Healthy runs that are slow, quiet, or begin again: evaluations, saves, weight syncs, sweeps, resumes, odd logging."""
from script import Script, for_frameworks


def silent_evaluation(rng, log):
    """An evaluation of five to thirty usual steps that writes nothing until it is done."""
    script = Script(rng)
    script.wait_before(script.middle(10), rng.uniform(5, 30))
    return script


def shown_evaluation(rng, log):
    """The same, with a progress bar that moves."""
    script = Script(rng)
    parts = rng.randint(10, 40)
    at = script.middle(10)
    steps = rng.uniform(5, 30) / parts

    def act(out):
        for part in range(1, parts + 1):
            out.wait(steps * script.usual)
            out.raw(f"Evaluating: {100 * part // parts:3d}%|####      | {part}/{parts} [{out.stamp('%M:%S')}<00:30]")
    script.before[at].append(act)
    return script


def first_evaluation(rng, log):
    """An evaluation before the first step, longer than ten steps, and again at the end."""
    script = Script(rng)
    script.wait_before(0, rng.uniform(10, 20))
    script.before[0].append(lambda out: out.judged and out.evaluated(0, "math", 0.11))
    script.wait_before(len(script) - 1, rng.uniform(10, 30))
    return script


def slow_saves(rng, log):
    """Each save takes as long as three to eight steps (a slow network file system)."""
    script = Script(rng)
    script.save_s = script.usual * rng.uniform(3, 8)
    return script


def weight_sync_pauses(rng, log):
    """Every few steps the engines pause for a weight sync, twice as long as a step."""
    script = Script(rng)
    for at in range(5, len(script) - 2, rng.randint(3, 7)):
        script.say_before(at, "pausing generation for weight sync: 0 requests running")
        script.wait_before(at, 2)
        script.say_before(at, "weight sync done, generation resumed")
    return script


def long_tail_steps(rng, log):
    """A step here and there waits for its longest rollout, four to eight times as long as usual."""
    script = Script(rng)
    for at in rng.sample(range(5, len(script) - 2), 4):
        script.series["time.step"][at] *= rng.uniform(4, 8)
    return script


def sweep(rng, log):
    """Three short runs in one log, one after another, each from step 1."""
    script = Script(rng, records=45)
    for part in range(3):
        for i in range(15):
            script.run.steps[15 * part + i] = 1 + i
        if part > 0:
            def act(out, part=part):
                out.finish()
                out.put(f"=== sweep {part + 1} of 3: lr={1e-6 * (part + 1):.0e} ===")
                out.start(15)
            script.before[15 * part].append(act)
    return script


def chunks(rng, log):
    """The user's own wrapper starts the trainer anew every 20 steps; it resumes where it was, and the count goes on."""
    script = Script(rng, records=60)
    script.saves |= {19, 39}
    for at in (20, 40):
        def act(out, at=at):
            out.put(f"run.sh: chunk {at // 20} done, starting chunk {at // 20 + 1}")
            out.start(60)
            out.resumed(at)
        script.before[at].append(act)
    return script


def resumed_further_back(rng, log):
    """The user's wrapper restarts a trainer that a CUDA hiccup ended: it repeats the steps since the last save."""
    script = Script(rng, records=50)
    back, at = 10 * rng.randint(1, 3), 0
    at = back + rng.randint(3, 8)
    script.order = [*range(at), *range(back, len(script))]

    def act(out):
        out.put("run.sh: line 12: trainer left with status 1, retrying in 5 s")
        out.wait(5)
        out.put("=== Attempt 2/5 ===")
        out.start(50)
        out.resumed(back)
    script.after[at - 1].append(act)
    script.allowed = ("crash", "interrupted", "restart-from-scratch")
    return script


def every_tenth_step(rng, log):
    """Only every tenth step is logged; the first three or four that are have a reward of zero, a cold start."""
    script = Script(rng, records=rng.choice((120, 150)), family="binary")
    for i in range(10 * rng.randint(3, 4)):
        script.series["reward.mean"][i] = 0.0
    for i in range(len(script)):
        if i % 10 != 9:
            script.silent.add(i)
            script.series["time.step"][i] /= 5
    return script


def stale_samples(rng, log):
    """An asynchronous trainer: it says that samples are one to four versions old, and now and then drops some."""
    script = Script(rng)
    for at in range(3, len(script), 4):
        script.say_before(at, f"staleness: max {rng.randint(1, 4)} versions, dropped {rng.randint(0, 3)} stale groups")
    if log.name == "verl":
        for i in range(len(script)):
            script.extra[i]["training/off_policy/trajectory_staleness/mean"] = round(rng.uniform(0.5, 2), 3)
    return script


def preemption_notice(rng, log):
    """The provider gives notice that it may take the machine, and takes the notice back."""
    script = Script(rng)
    at = script.middle()
    script.say_before(at, "Spot instance interruption notice: may be reclaimed in 120 s, saving a checkpoint", "WARNING")
    script.before[at].append(lambda out: out.saved(at, 5.0))
    script.say_before(at + 2, "interruption notice was withdrawn, training goes on")
    return script


def slow_start(rng, log):
    """Loading and compiling takes as long as thirty steps, with warnings on the way."""
    script = Script(rng)

    def act(out):
        for part in range(1, 9):
            out.wait(4 * script.usual)
            out.raw(f"Loading safetensors checkpoint shards: {100 * part // 8:3d}% Completed | {part}/8")
    script.opening.append(act)
    return script


@for_frameworks("verl", "openrlhf", "areal", "skyrl", "slime", "key-value", "json-lines", "trl")
def repeated_steps(rng, log):
    """Figures of a step are logged twice, as by two loggers."""
    script = Script(rng)
    script.order = sorted([*range(len(script)), *rng.sample(range(5, len(script) - 5), 5)])
    return script


FAMILIES = [silent_evaluation, shown_evaluation, first_evaluation, slow_saves, weight_sync_pauses, long_tail_steps,
            sweep, chunks, resumed_further_back, every_tenth_step, stale_samples, preemption_notice, slow_start,
            repeated_steps]
