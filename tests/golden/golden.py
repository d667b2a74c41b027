#!/usr/bin/env python3
"""Compares what midwatch prints for the recordings in runs/ with expected/, and the README's block with the program.

golden.py PROGRAM            compares, prints a diff of what differs, exit code 1
golden.py PROGRAM --update   writes expected/ and the README's block anew
"""
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
README_RUN = "tests/golden/runs/areal-engine-killed"
README_WIDTH = 100
README_BLOCK = re.compile(r"(<!-- replay: golden\.py --update -->\n```\n)(.*?)(\n```\n)", re.DOTALL)
DIFF_LINES = 60


def midwatch(program, width, *words):
    """Standard output of the program, run in the repository so that its paths are the same everywhere."""
    env = {"PATH": os.environ.get("PATH", ""), "COLUMNS": str(width), "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}
    done = subprocess.run([program, *words], cwd=ROOT, env=env, capture_output=True, timeout=120, check=False)
    if done.returncode != 0:
        sys.exit(f"golden: midwatch {' '.join(words)} ended with {done.returncode}\n{done.stderr.decode()}")
    return done.stdout.decode("utf-8")


def timeless(text):
    """Without how long the reading took, the only thing that differs from machine to machine."""
    return re.sub(r"( lines) in [^\n]*", r"\1", text)


def answers(program, run):
    """File name under expected/ -> text."""
    path = f"tests/golden/runs/{run}"
    result = json.loads(midwatch(program, 100, "replay", "--json", path))
    del result["input"]["seconds"]
    return {
        f"{run}.txt": timeless(midwatch(program, 100, "replay", path)),
        f"{run}-full.txt": timeless(midwatch(program, 100, "replay", "--full", path)),
        f"{run}.json": json.dumps(result, indent=1, ensure_ascii=False, allow_nan=False) + "\n",
        f"{run}.md": midwatch(program, 100, "report", path),
    }


def readme_block(program):
    """The answer as it stands in the README."""
    return f"$ midwatch replay {README_RUN}\n\n" + timeless(midwatch(program, README_WIDTH, "replay", README_RUN)).rstrip()


def differs(name, expected, found):
    if expected == found:
        return False
    diff = list(difflib.unified_diff(expected.splitlines(), found.splitlines(), f"{name} (expected)",
                                     f"{name} (the program)", lineterm="", n=1))
    print("\n".join(diff[:DIFF_LINES]))
    if len(diff) > DIFF_LINES:
        print(f"... and {len(diff) - DIFF_LINES} lines more")
    return True


def main():
    program = os.path.abspath(sys.argv[1])
    update = "--update" in sys.argv[2:]
    runs = sorted(path.name for path in (HERE / "runs").iterdir() if path.is_dir())
    if not runs:
        sys.exit("golden: no recording in tests/golden/runs")
    bad = 0
    wanted = set()
    for run in runs:
        for name, text in answers(program, run).items():
            wanted.add(name)
            place = HERE / "expected" / name
            if update:
                place.parent.mkdir(exist_ok=True)
                place.write_text(text, encoding="utf-8")
            elif differs(name, place.read_text(encoding="utf-8") if place.exists() else "", text):
                bad += 1
    for stale in sorted(path for path in (HERE / "expected").iterdir() if path.name not in wanted):
        print(f"{stale.name}: of no recording")
        if update:
            stale.unlink()
        else:
            bad += 1
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = README_BLOCK.search(readme)
    if block is None:
        sys.exit("golden: README.md has lost its block of real output")
    found = readme_block(program)
    if update:
        fresh = readme[: block.start(2)] + found + readme[block.end(2) :]
        (ROOT / "README.md").write_text(fresh, encoding="utf-8")
    elif differs("README.md", block.group(2), found):
        bad += 1
    if bad:
        sys.exit(f"golden: {bad} differ; when that is meant, run: tests/golden/golden.py build/midwatch --update")


if __name__ == "__main__":
    main()
