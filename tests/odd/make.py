#!/usr/bin/env python3
"""Writes odd but healthy runs as files: make.py --out DIR [--runs N] [--seed S] [--family F] [--sick]

Of each run: NAME.log (what it writes), NAME.log.times (for each line, the second in which it is written) and, where
processes come and go, NAME.log.actions (JSON: [line, action, {...}], see feeder.py). DIR/runs.json lists them:
[{"file", "family", "variant", "framework", "healthy": true, "why", "steps", "seconds", "usual_step_seconds", "allowed"}],
`allowed` being kinds of incident that are true there although the run is well. --runs: so many in all, families in turn
(default: ten of each). --sick: of the families of sick.py, which are not healthy. --pace P: times and time stamps go P
times as slow. Everything follows from the seed.
"""
import argparse
import json
import pathlib

import script
from families import ALL, SICK, chosen


def write(made, folder, pace=1.0):
    """Writes one run; returns its line in the manifest."""
    path = folder / (made.name() + ".log")
    path.write_text("".join(text + "\n" for _, text in made.lines), encoding="utf-8", newline="")
    (folder / (path.name + ".times")).write_text("".join(f"{t * pace:.4f}\n" for t, _ in made.lines), encoding="utf-8")
    if made.actions:
        (folder / (path.name + ".actions")).write_text(json.dumps(made.actions), encoding="utf-8")
    return {"file": path.name, "family": made.family, "variant": made.variant, "framework": made.framework,
            "healthy": made.family not in SICK, "why": " ".join(ALL[made.family].__doc__.split()), "steps": made.steps,
            "seconds": round(made.lines[-1][0] * pace, 3), "usual_step_seconds": round(made.usual * pace, 4),
            "allowed": list(made.allowed)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--runs", type=int)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--family", default="")
    parser.add_argument("--sick", action="store_true")
    parser.add_argument("--pace", type=float, default=1.0)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    listed = [write(script.make(name, ALL[name], variant, asked.seed, pace=asked.pace), asked.out, asked.pace)
              for name, variant in chosen(asked.runs, asked.family, SICK if asked.sick else None)]
    (asked.out / "runs.json").write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    print(f"{len(listed)} runs of {len({one['family'] for one in listed})} families in {asked.out}")


if __name__ == "__main__":
    main()
