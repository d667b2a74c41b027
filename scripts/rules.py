#!/usr/bin/env python3
"""The house rules that a text check can hold: who may include whom, lengths of files and functions, words."""
import os
import re
import subprocess
import sys

FILE_LINES = 500
FUNCTION_LINES = 60
MAY_INCLUDE = {  # room -> rooms (or single headers) that its files may include; see docs/architecture.md
    "base": [],
    "core": ["base"],
    "platform": ["base"],
    "journal": ["base", "platform/disk.h", "platform/fake_disk.h"],
    "dialects": ["base", "core"],
    "sources": ["base", "core/event.h", "core/signal.h", "core/knowledge.h", "dialects", "platform"],
    "ui": ["base", "core", "journal"],
    "daemon": ["base", "core", "platform", "journal", "dialects", "sources", "ui"],
}
TABLES = re.compile(r"signal\.cc$|_table\.cc$|_table\.h$")
problems = []


def listed(*patterns):
    out = subprocess.run(["git", "ls-files", *patterns], capture_output=True, text=True, check=True).stdout
    return [f for f in out.split("\n") if f and os.path.exists(f)]


def check_includes(path, text):
    room = path.split("/")[1]
    allowed = MAY_INCLUDE.get(room)
    if allowed is None:
        return
    for match in re.finditer(r'^#include "([^"]+)"', text, re.M):
        target = match.group(1)
        if target.startswith(room + "/") or any(target == a or target.startswith(a + "/") for a in allowed):
            continue
        if path.endswith("_test.cc"):
            continue
        problems.append(f"{path}: room {room} may not include {target}")


def check_lengths(path, text):
    lines = text.split("\n")
    if TABLES.search(path):
        return
    if len(lines) > FILE_LINES + 1:
        problems.append(f"{path}: {len(lines)} lines; the limit is {FILE_LINES}")
    start = None
    for number, line in enumerate(lines, 1):
        if start is None and re.match(r"^(?!namespace|struct|class|enum|union|extern|constexpr|const |static const|#)\S.*\{$", line):
            start = number
        elif start is not None and line.startswith("}"):
            if number - start + 1 > FUNCTION_LINES and not re.search(r"_test\.cc$", path):
                problems.append(f"{path}:{start}: {number - start + 1} lines; the limit is {FUNCTION_LINES}")
            start = None


for path in listed("src/**/*.cc", "src/**/*.h", "practice/*.cc", "practice/*.h", "sim/*.cc", "sim/*.h"):
    with open(path, encoding="utf-8") as handle:
        text = handle.read()
    if path.startswith("src/"):
        check_includes(path, text)
    check_lengths(path, text)

for problem in problems:
    print(problem, file=sys.stderr)
print(f"rules: {len(problems)} problems")
sys.exit(1 if problems else 0)
