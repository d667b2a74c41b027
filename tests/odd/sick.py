"""The counterweight: runs that are truly lost, with the same kinds of log lines. Here midwatch must act."""
from rewards_odd import flat
from script import NAN, Script, shown_by

ENGINE = "VLLM::Engine_1"
AFTER = 40  # steps after the onset


def sick(rng, onset_from=20):
    script = Script(rng, records=onset_from + 5 + AFTER, family="binary", gain=0.3)
    script.live_step_s = 0.1
    return script, onset_from + rng.randrange(5)


@shown_by("grad_norm", "loss.policy")
def nan_for_good(rng, log):
    """Loss and gradient norm are NaN from one step on, for good: the weights are spoilt."""
    script, at = sick(rng)
    for signal in ("loss.policy", "grad_norm", "entropy", "kl.ref"):
        script.series[signal][at:] = [NAN] * (len(script) - at)
    return script


def complaints(script, at):
    for i in range(at, len(script)):
        for attempt in (1, 2, 3):
            script.say_before(i, "HTTP request to 127.0.0.1:30417/generate failed with ClientConnectorError: Cannot connect to host "
                             f"127.0.0.1:30417 ssl:default [Connect call failed ('127.0.0.1', 30417)] (attempt {attempt}/3)",
                             "WARNING")
    flat(script, at, len(script))
    script.series["response.length"][at:] = [0.0] * (len(script) - at)


def dead_engine(rng, log):
    """The only engine is killed; the trainer takes empty answers, scores zero and trains on."""
    script, at = sick(rng)
    script.action(0, "start", name=ENGINE)
    script.action(at, "end", name=ENGINE, how="kill", reap=True)
    complaints(script, at)
    return script


def unreachable_engine(rng, log):
    """The same with an engine elsewhere: there are only log lines and zeros."""
    script, at = sick(rng)
    complaints(script, at)
    return script


def zero_for_good(rng, log):
    """After a good time no sample is rewarded any more: the verifier is broken."""
    script, at = sick(rng)
    flat(script, at, len(script))
    return script


FAMILIES = [nan_for_good, dead_engine, unreachable_engine, zero_for_good]
