#!/usr/bin/env python3
"""Short made-up logs of failures that real frameworks print: is the failure named, and its cause?

excerpts.py PROGRAM [--half dev|check|all] [--only PART_OF_NAME] [--least SHARE] [--reveal] [-v]

Each file beside this one holds excerpts. A line `@@ NAME | KINDS | CAUSES` begins one: the incident that leads must be of one of the
kinds, and its first cause one of those listed (`*`: any). The kind `quiet` says that nothing may be reported above `info`. Half of
them, by the checksum of the name, are for checking only: of those figures are printed, and no names.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import zlib

HERE = pathlib.Path(__file__).parent


class Excerpt:
    def __init__(self, head, lines):
        name, kinds, causes = (part.strip() for part in head.split("|"))
        self.name, self.text = name, "\n".join(lines) + "\n"
        self.kinds, self.causes = set(kinds.split(",")), set(causes.split(","))
        self.checking = zlib.crc32(name.encode()) % 2 == 1


def excerpts():
    for path in sorted(HERE.glob("*.txt")):
        if path.name == "CMakeLists.txt":
            continue
        head, lines = None, []
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("@@ "):
                if head:
                    yield Excerpt(head, lines)
                head, lines = line[3:], []
            else:
                lines.append(line)
        if head:
            yield Excerpt(head, lines)


def replay(program, excerpt):
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "train.log")
        pathlib.Path(log).write_text(excerpt.text, encoding="utf-8")
        done = subprocess.run([program, "replay", "--json", log], capture_output=True, timeout=120)
        if done.returncode < 0 or not done.stdout:
            sys.exit(f"{excerpt.name}: exit status {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}")
        return json.loads(done.stdout)


def judged(excerpt, answer):
    """Whether the kind and the cause are right, and what was reported."""
    incidents = answer["incidents"]
    loud = [i for i in incidents if i["severity"] != "info"]
    if "quiet" in excerpt.kinds:
        return not loud, True, [i["kind"] for i in loud]
    text = answer["status"]["text"]  # "crash: ...", "crash since step 40 (...): ..."
    leading = next((i for i in loud if f"{i['kind']}: " in text or f"{i['kind']} since " in text), loud[0] if loud else None)
    if leading is None:
        return False, False, [(i["kind"], i["severity"]) for i in incidents]
    cause = leading["causes"][0]["id"] if leading["causes"] else None
    kind_right = leading["kind"] in excerpt.kinds
    return kind_right, kind_right and ("*" in excerpt.causes or cause in excerpt.causes), [leading["kind"], cause, [i["kind"] for i in loud]]


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("program")
    ask.add_argument("--half", choices=["dev", "check", "all"], default="all")
    ask.add_argument("--only", default="")
    ask.add_argument("--least", type=float, default=0.0)
    ask.add_argument("--reveal", action="store_true")
    ask.add_argument("-v", "--verbose", action="store_true")
    given = ask.parse_args()
    chosen = [e for e in excerpts() if given.only in e.name]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda e: replay(given.program, e), chosen))
    failed = False
    for half, checking in (("dev", False), ("check", True)):
        if given.half not in ("all", half):
            continue
        rows = [(e, judged(e, a)) for e, a in zip(chosen, answers) if e.checking == checking]
        if not rows:
            continue
        for excerpt, (kind, cause, found) in rows:
            wrong = not (kind and cause)
            if (wrong or given.verbose) and (not checking or given.reveal):
                print(f"{'WRONG' if wrong else 'right'} {excerpt.name}: wants {sorted(excerpt.kinds)} {sorted(excerpt.causes)}, found {found}")
        kinds, causes = sum(r[0] for _, r in rows), sum(r[1] for _, r in rows)
        print(f"{half}: {len(rows)} excerpts, kind right {kinds / len(rows):.3f}, kind and cause right {causes / len(rows):.3f}")
        failed |= causes < given.least * len(rows)
    return 1 if failed else 0


sys.exit(main())
