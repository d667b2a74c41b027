"""All families of odd but healthy runs, by name. A family's docstring says why such a run is healthy."""
import numbers_odd
import processes_odd
import rewards_odd
import times_odd
import words_odd

FAMILIES = {family.__name__.replace("_", "-"): family
            for part in (numbers_odd, rewards_odd, times_odd, words_odd, processes_odd) for family in part.FAMILIES}
VARIANTS = 10  # of each, unless told otherwise: one for each framework that can tell it, mostly


def variants(runs):
    """(family, variant) for so many runs, families in turn; all of VARIANTS each for None."""
    names = list(FAMILIES)
    count = runs if runs is not None else len(names) * VARIANTS
    return [(names[i % len(names)], i // len(names)) for i in range(count)]
