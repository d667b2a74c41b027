"""The counterweight: runs that are truly lost, told in the same words. Here midwatch must step in."""
from rewards_odd import flat
from story import NAN, Story, shown_by

ENGINE = "VLLM::Engine_1"
AFTER = 40  # steps after the onset


def sick(rng, onset_from=20):
    story = Story(rng, records=onset_from + 5 + AFTER, family="binary", gain=0.3)
    story.live_step_s = 0.1
    return story, onset_from + rng.randrange(5)


@shown_by("grad_norm", "loss.policy")
def nan_for_good(rng, tongue):
    """Loss and gradient norm are NaN from one step on, for good: the weights are spoilt."""
    story, at = sick(rng)
    for signal in ("loss.policy", "grad_norm", "entropy", "kl.ref"):
        story.series[signal][at:] = [NAN] * (len(story) - at)
    return story


def complaints(story, at):
    for i in range(at, len(story)):
        for attempt in (1, 2, 3):
            story.say_before(i, "HTTP request to 127.0.0.1:30417/generate failed with ClientConnectorError: Cannot connect to host "
                             f"127.0.0.1:30417 ssl:default [Connect call failed ('127.0.0.1', 30417)] (attempt {attempt}/3)",
                             "WARNING")
    flat(story, at, len(story))
    story.series["response.length"][at:] = [0.0] * (len(story) - at)


def dead_engine(rng, tongue):
    """The only engine is killed; the trainer takes empty answers, scores zero and trains on."""
    story, at = sick(rng)
    story.deed(0, "start", name=ENGINE)
    story.deed(at, "end", name=ENGINE, how="kill", reap=True)
    complaints(story, at)
    return story


def unreachable_engine(rng, tongue):
    """The same with an engine elsewhere: there are only words and zeros."""
    story, at = sick(rng)
    complaints(story, at)
    return story


def zero_for_good(rng, tongue):
    """After a good time no sample is rewarded any more: the verifier is broken."""
    story, at = sick(rng)
    flat(story, at, len(story))
    return story


FAMILIES = [nan_for_good, dead_engine, unreachable_engine, zero_for_good]
