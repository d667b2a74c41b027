"""A share of the odd but healthy runs (tests/odd), fed line by line by a clock of their own: share.py LIVE_FEED [RUNS [SEED]]

The circuit breaker may trip in none of them at any moment, and hardly any critical incident may be raised. Real processes
(tests/odd/odd.py) go through such a run in seconds; here hours pass, with evaluations and saves of their real length.
"""
import json
import os
import subprocess
import sys
import tempfile

MOST_RAISED = 0.03  # of the runs: a critical incident that a replay of the whole does not hold
MAKE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "odd", "make.py")


def main():
    program, runs, seed = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "78", sys.argv[3] if len(sys.argv) > 3 else "7"
    with tempfile.TemporaryDirectory(prefix="midwatch-live-", ignore_cleanup_errors=True) as place:
        subprocess.run([sys.executable, MAKE, "--out", place, "--runs", runs, "--seed", seed], check=True, stdout=subprocess.DEVNULL)
        with open(os.path.join(place, "runs.json"), encoding="utf-8") as file:
            made = json.load(file)
        lines = "".join(f"{run['family']}:{run['variant']}\t{os.path.join(place, run['file'])}\n" for run in made)
        done = subprocess.run([program], input=lines, capture_output=True, text=True, check=True)
    lines_out = done.stdout.splitlines()
    tripped = [line for line in lines_out if line.startswith("TRIP")]
    allowed = {(f"{run['family']}:{run['variant']}", kind) for run in made for kind in run.get("allowed", [])}
    raised = [line for line in lines_out if line.startswith("LIVE-ONLY") and tuple(line.split("\t")[1:3]) not in allowed]
    print("\n".join([*tripped, *raised, lines_out[-1]]))
    assert lines_out[-1].startswith(f"runs {len(made)}, failed 0"), lines_out[-1]
    assert not tripped, "the circuit breaker would have ended a healthy run"
    assert len(raised) <= MOST_RAISED * len(made), f"{len(raised)} critical incidents in {len(made)} healthy runs"


main()
