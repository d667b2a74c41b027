"""Lines that look like failures: the examples of every signature that midwatch knows."""
import functools
import pathlib
import tomllib

SIGNATURES = pathlib.Path(__file__).resolve().parents[2] / "knowledge" / "signatures"


@functools.cache
def examples():
    """(id of the signature, line), in a fixed order."""
    found = []
    for path in sorted(SIGNATURES.glob("*.toml")):
        with open(path, "rb") as file:
            for signature in tomllib.load(file)["signature"]:
                found += [(signature["id"], line) for line in signature.get("examples", [])]
    return found


@functools.cache
def graver():
    """Those of signatures that speak of a dead engine or of figures that are no numbers: what ends runs."""
    grave = []
    for path in sorted(SIGNATURES.glob("*.toml")):
        with open(path, "rb") as file:
            for signature in tomllib.load(file)["signature"]:
                if signature.get("kind") in ("engine-dead", "non-finite", "zero-reward", "worker-lost", "stall"):
                    grave += [(signature["id"], line) for line in signature.get("examples", [])]
    return grave


def some(rng, count):
    """Half of them of the graver ones."""
    first = rng.sample(graver(), min(count // 2, len(graver())))
    return [line for _, line in first + rng.sample(examples(), count - len(first))]
