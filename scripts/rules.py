#!/usr/bin/env python3
"""The house rules that a text check can hold: who may include whom, lengths of files and functions, knowledge that parses."""
import os
import re
import subprocess
import sys
import tomllib

FILE_LINES = 500
FUNCTION_LINES = 60
MAY_INCLUDE = {  # room -> rooms (or single headers) that its files may include; see docs/architecture.md
    "base": [],
    "platform": ["base"],
    "core": ["base"],
    "journal": ["base", "platform"],
    "read": ["base", "platform", "core", "journal"],
    "sense": ["base", "platform", "core", "read"],
    "act": ["base", "platform", "core", "journal", "read", "sense"],
    "api": ["base", "core"],
    "ui": ["base", "core", "journal", "api"],
    "app": ["base", "platform", "core", "journal", "read", "sense", "act", "api", "ui"],
}
IMPURE = "chrono|ctime|time.h|random|thread|mutex|atomic|future|fstream|iostream|filesystem|locale|clocale|cstdlib"
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


def check_core(path, text):
    """Core sees no clock, chance, thread, file or locale. (That it walks no hash table is left to reviewers.)"""
    if path.startswith("src/core/") and not path.endswith("_test.cc"):
        for match in re.finditer(rf"^\s*#\s*include\s+<({IMPURE})>", text, re.M):
            problems.append(f"{path}: core may not include <{match.group(1)}>")


def blanked(text):
    """The code with comments, preprocessor lines and what stands in quotes taken out, line for line."""
    def empty(match):
        return "\n" * match.group(0).count("\n")
    text = re.sub(r'R"([^(\s]*)\(.*?\)\1"', empty, text, flags=re.S)
    text = re.sub(r'"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.[^\']*|[^\\\n])\'|//[^\n]*|/\*.*?\*/',
                  lambda m: empty(m) if m.group(0)[0] == "/" else "_", text, flags=re.S)
    text = re.sub(r"^[ \t]*(?:public|private|protected):", "", text, flags=re.M)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", empty, text, flags=re.M)


def functions(text):
    """(first line, last line) of every function body: free, member, in or out of its class, but not lambdas within."""
    stack, statement, line, inside = [], "", 1, False
    for char in blanked(text):
        if char == "{":
            braced_value = re.search(r"[\w(>,]$|[(,=]\s*$|return\s*$", statement)
            opens = not inside and not braced_value and "(" in statement
            first = line - statement.lstrip().count("\n")
            stack.append((opens, first, bool(braced_value)))
            inside = inside or opens
            statement = statement + "_" if braced_value else ""
        elif char == "}" and stack:
            opens, first, braced_value = stack.pop()
            if opens:
                inside = False
                yield first, line
            statement = statement if braced_value else ""
        elif char == ";":
            statement = ""
        else:
            statement += char
        line += char == "\n"


def check_lengths(path, text):
    lines = text.count("\n")
    if TABLES.search(path):
        return
    if lines > FILE_LINES:
        problems.append(f"{path}: {lines} lines; the limit is {FILE_LINES}")
    if path.endswith("_test.cc"):
        return
    for first, last in functions(text):
        if last - first + 1 > FUNCTION_LINES:
            problems.append(f"{path}:{first}: a function of {last - first + 1} lines; the limit is {FUNCTION_LINES}")


def check_knowledge(path, text):
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        problems.append(f"{path}: {error}")


for path in listed("src/**/*.cc", "src/**/*.h", "practice/*.cc", "practice/*.h", "sim/*.cc", "sim/*.h"):
    with open(path, encoding="utf-8") as handle:
        text = handle.read()
    if path.startswith("src/"):
        check_includes(path, text)
        check_core(path, text)
    check_lengths(path, text)
for path in listed("knowledge/**/*.toml"):
    with open(path, encoding="utf-8") as handle:
        check_knowledge(path, handle.read())

for problem in problems:
    print(problem, file=sys.stderr)
print(f"rules: {len(problems)} problems")
sys.exit(1 if problems else 0)
