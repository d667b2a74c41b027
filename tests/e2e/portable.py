"""The program asks for no C library newer than the floor, and for no other library that a pod might lack."""
import re
import subprocess
import sys

FLOOR = (2, 31)
ALLOWED = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2"}

binary = sys.argv[1]
table = subprocess.run(["objdump", "-T", binary], capture_output=True, text=True, check=True).stdout
versions = {tuple(int(n) for n in v.split(".")) for v in re.findall(r"GLIBC_([0-9.]+)", table)}
newer = sorted(v for v in versions if v > FLOOR)
assert versions and not newer, f"asks for glibc {newer}, the floor is {FLOOR}"
dynamic = subprocess.run(["objdump", "-p", binary], capture_output=True, text=True, check=True).stdout
needed = set(re.findall(r"NEEDED\s+(\S+)", dynamic))
assert needed <= ALLOWED, f"needs {needed - ALLOWED}"
print(f"glibc {'.'.join(map(str, max(versions)))} or newer, and {', '.join(sorted(needed))}")
