"""All families of odd but healthy runs, by name, and the sick ones. A docstring says why such a run is what it is."""
import numbers_odd
import processes_odd
import rewards_odd
import sick
import times_odd
import words_odd


def named(*parts):
    return {family.__name__.replace("_", "-"): family for part in parts for family in part.FAMILIES}


FAMILIES = named(numbers_odd, rewards_odd, times_odd, words_odd, processes_odd)
SICK = named(sick)
ALL = {**FAMILIES, **SICK}
VARIANTS = 10  # of each by default: mostly one for each framework that can log it


def chosen(runs=None, text="", families=None):
    """(family, variant) for so many runs, families in turn (None: VARIANTS of each), of those named `text` or, where none
    is, of those whose name holds it."""
    names = list(families or FAMILIES)
    names = [name for name in names if text in ("", name)] or [name for name in names if text in name]
    if not names:
        raise SystemExit(f"no family named {text}")
    return [(names[i % len(names)], i // len(names)) for i in range(VARIANTS * len(names) if runs is None else runs)]
