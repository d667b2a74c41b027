#!/usr/bin/env python3
"""Link-time stand-ins for this machine's C library that show each symbol only as a chosen older glibc had it.

usage: make_stubs.py FOLDER FLOOR     e.g. make_stubs.py build/portable 2.31

A program linked against them asks for no symbol version above FLOOR and so runs on every glibc from there on, though it
was built with a newer one. The stand-ins hold names and versions only; at run time the real library answers.
"""
import os
import re
import subprocess
import sys

LIBRARIES = "/lib/x86_64-linux-gnu"
# Since 2.34 these are empty shells of libc.so.6; on an older system they hold what was moved.
SHELLS = {"libpthread": "libpthread.so.0", "libdl": "libdl.so.2"}


def version_of(text):
    match = re.fullmatch(r"GLIBC_(\d+(?:\.\d+)+)", text)
    return tuple(int(part) for part in match.group(1).split(".")) if match else None


def symbols(path, floor):
    """name → (version name, is data, size): the newest version of each that is not above `floor`."""
    listing = subprocess.run(["readelf", "--dyn-syms", "--wide", path], capture_output=True, text=True, check=True).stdout
    newest = {}
    for line in listing.splitlines():
        fields = line.split()
        if len(fields) < 8 or fields[6] == "UND" or "@" not in fields[7] or fields[4] not in ("GLOBAL", "WEAK"):
            continue
        name, _, version = fields[7].replace("@@", "@").partition("@")
        number, kind = version_of(version), fields[3]
        if number is None or number > floor or kind == "TLS":
            continue
        if name not in newest or number > newest[name][0]:
            newest[name] = (number, version, kind == "OBJECT", int(fields[2], 0))
    return {name: value[1:] for name, value in newest.items()}


def assembly(found):
    lines = []
    for index, (name, (version, is_data, size)) in enumerate(sorted(found.items())):
        section, kind, room = (".data", "@object", max(size, 1)) if is_data else (".text", "@function", 1)
        lines += [section, f".globl stand_in_{index}", f".type stand_in_{index}, {kind}", ".balign 32",
                  f"stand_in_{index}: .skip {room}", f".size stand_in_{index}, {room}",
                  f".symver stand_in_{index}, {name}@@{version}, remove"]
    return "\n".join(lines + ['.section .note.GNU-stack,"",@progbits', ""])


def version_script(found):
    versions = sorted({value[0] for value in found.values()}, key=version_of)
    lines, before = [], ""
    for version in versions:
        lines.append(f"{version} {{ }} {before};")
        before = version
    return "\n".join(lines) + "\n"


def make(folder, base, soname, found):
    source, script = os.path.join(folder, base + ".s"), os.path.join(folder, base + ".map")
    with open(source, "w", encoding="ascii") as out:
        out.write(assembly(found))
    command = ["gcc", "-shared", "-nostdlib", f"-Wl,-soname,{soname}", "-o", os.path.join(folder, base + ".so"), source]
    if found:
        with open(script, "w", encoding="ascii") as out:
            out.write(version_script(found))
        command.insert(3, f"-Wl,--version-script,{script}")
    subprocess.run(command, check=True)


def main():
    folder, floor = sys.argv[1], tuple(int(part) for part in sys.argv[2].split("."))
    os.makedirs(folder, exist_ok=True)
    for base, soname in (("libc", "libc.so.6"), ("libm", "libm.so.6")):
        make(folder, base, soname, symbols(os.path.join(LIBRARIES, soname), floor))
    for base, soname in SHELLS.items():
        make(folder, base, soname, {})
    here = os.path.dirname(os.path.abspath(__file__))
    for name in ("start", "newer", "unused"):
        subprocess.run(["gcc", "-O2", "-fPIE", "-ffunction-sections", "-c", os.path.join(here, name + ".c"), "-o",
                        os.path.join(folder, name + ".o")], check=True)


main()
