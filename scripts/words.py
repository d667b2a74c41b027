#!/usr/bin/env python3
"""Refuses words that docs/words.md has another word for, wherever somebody would read them: code, messages, tests, documents.

    words.py              refuses what goes beyond scripts/words_allowed.txt, and an allowance that is no longer needed
    words.py --list [PATH...]   every place, allowed or not
    words.py --allow      writes the allowances anew (only for a change that lowers them)

One sense per word. An identifier counts like a sentence: its parts are words. Quotations stay: lines of other programs'
logs (knowledge, samples), journals of earlier versions, and the table itself.
"""
import collections
import os
import re
import subprocess
import sys

ALLOWANCES = "scripts/words_allowed.txt"
PATHS = ["src", "sim", "practice", "tests", "scripts", "docs", "knowledge", "README.md", "CONTRIBUTING.md"]
KINDS = (".cc", ".h", ".py", ".md", ".toml", ".txt", ".scenario", ".cmake")
LEFT_OUT = ("docs/words.md", "docs/decisions/", "scripts/words.py", ALLOWANCES, "tests/golden/expected/", "knowledge/dialects/",
            "tests/golden/catalogue_ids.txt")
# Within an identifier a word ends where an underscore or a capital begins.
B, E = r"(?<![A-Za-z])(?:k(?=[A-Z]))?", r"(?![a-z])"
ARTICLE = r"\b(?:an?|the|each|every|one|this|that|last|first|next|another|per|no|full|two|its|at) "
WORDS = [  # (what each of its places holds in lower case, expression, what to write)
    ("told", B + r"[Tt]old" + E, "emitted, recorded, reported, notified or requested"),
    ("charge belonging tenure grip", B + r"(?:charge\.json|Charge|belongings?|Belongings?|tenures?|Tenures?|Grip|grip)" + E,
     "RunSpec, resource ledger, keeper session, process tree"),
    ("held hold", r"\b(?:held|hold) (?:run|runs|command|component|components|still)\b|\bHeldComponents?\b|HeldRun\b",
     "supervised; paused"),
    ("go", r"\blet (?:it |him |them )?go on\b|\blets? it go on\b", "resume"),
    ("tak took", r"\btak(?:e|es|en|ing) up\b|\btook up\b|take_up|--take-up", "reattach"),
    ("consent", B + r"[Cc]onsents?" + E, "approval"),
    ("aside", r"\bset aside\b|\bsets aside\b|set[-_]aside", "quarantine"),
    ("back", r"\bgo[-_]back\b|\bGoBack\b|\bway[-_]back\b|\bWayBack\b", "rollback, resume probe"),
    ("standing housekeeping leftover ballast", B + r"(?:RunStanding|housekeeping|Housekeeping|leftovers?|Leftovers?|ballast|Ballast)" + E,
     "run status, cleanup, stale resource"),
    ("deed", B + r"[Dd]eeds?" + E, "action"),
    ("companion", r"\bCompanions?\b|\bcompanions?\b", "task"),  # a notebook is Jupyter's
    ("look", ARTICLE + r"looks?\b(?! (?:like|as|at)\b)|\blooks (?:were|are|in a row)\b|\b(?:Look|Looker)\b|" + B + r"Look(?:ed|s)?(?=[A-Z])",
     "scan, snapshot, check"),
    ("stor", B + r"(?:[Ss]tory|[Ss]tories)" + E, "failure chain; of a test: script"),
    ("spell", B + r"(?:[Ss]pells?)" + E, "episode"),
    ("habit", B + r"[Hh]abits?" + E, "recurrent error"),
    ("mark", ARTICLE + r"marks?\b|\b(?:Mark|Marks)\b", "symptom, marker"),
    ("word", r"\b[Ll]ast[ _]words?\b|\bLastWords?\b|\bkLastWords", "provisional event"),
    ("part", r"\bparts? of (?:a|the|its|this) run\b|\bPart(?:State|Verdict|Watch|Kind)\b|\brun's parts?\b", "component"),
    ("voice speech", B + r"(?:[Vv]oices?|[Ss]peech)" + E, "dialect, knowledge base"),
    ("language", r"\bLanguage\b|\bthe language\b|\blanguage_?[.>\-)]", "knowledge base"),
]
RULES = [(stems.split(), re.compile(expression), instead) for stems, expression, instead in WORDS]


def files(wanted):
    out = subprocess.run(["git", "ls-files", *(wanted or PATHS)], capture_output=True, text=True, check=True).stdout
    for path in out.split("\n"):
        known = path.endswith(KINDS) or (path.startswith("scripts/") and "." not in path)
        if known and os.path.exists(path) and not path.startswith(LEFT_OUT):
            yield path


def places(wanted=()):
    """(path, line number, what stands there, what to write) of every refused word."""
    for path in files(wanted):
        with open(path, encoding="utf-8") as handle:
            text = handle.read()
        lower = text.lower()
        rules = [(expression, instead) for stems, expression, instead in RULES if any(stem in lower for stem in stems)]
        for number, line in enumerate(text.split("\n") if rules else (), 1):
            for expression, instead in rules:
                for hit in expression.finditer(line):
                    yield path, number, hit.group(0), instead


def allowed():
    if not os.path.exists(ALLOWANCES):
        return {}
    with open(ALLOWANCES, encoding="utf-8") as handle:
        return {path: int(count) for count, path in (line.split(None, 1) for line in handle.read().splitlines())}


def main():
    if sys.argv[1:2] == ["--list"]:
        for path, number, what, instead in places(sys.argv[2:]):
            print(f"{path}:{number}: {what!r}: write {instead}")
        return 0
    found = collections.defaultdict(list)
    for place in places():
        found[place[0]].append(place)
    if sys.argv[1:2] == ["--allow"]:
        with open(ALLOWANCES, "w", encoding="utf-8") as out:
            out.writelines(f"{len(found[path])} {path}\n" for path in sorted(found))
        return 0
    problems, limits = 0, allowed()
    for path, hits in sorted(found.items()):
        if len(hits) > limits.get(path, 0):
            problems += 1
            for path, number, what, instead in hits:
                print(f"{path}:{number}: {what!r} is refused here; write {instead} (docs/words.md)", file=sys.stderr)
    for path, limit in sorted(limits.items()):
        if len(found[path]) < limit:
            problems += 1
            print(f"{ALLOWANCES}: {path} needs {len(found[path])}, not {limit}: lower it (words.py --allow)", file=sys.stderr)
    print(f"words: {problems} problems, {sum(map(len, found.values()))} places allowed")
    return 1 if problems else 0


sys.exit(main())
