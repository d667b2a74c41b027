"""`midwatch checkpoint verify`: a tree of 10,000 files by its structure; every byte (--deep) beside `cat > /dev/null` of the
same files, cold and cached; NaN and infinities beside torch.load and torch.isfinite; memory, whatever the size.

    bench_verify.py [MEGABYTES]     of weights that are read (default 2048)
"""
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time

from longlog import PROJECT
from table import Table

MIDWATCH = os.environ.get("MIDWATCH", os.path.join(PROJECT, "build", "midwatch"))
FILES = 10_000
TURNS = 3
COLD_TURNS = 11  # the supply of memory to a virtual machine makes the same cold read take one to five times as long
TORCH_PYTHON = "/usr/bin/python3"  # Debian's, which python3-torch is for
LOAD = """
import dataclasses, sys, time
make = dataclasses._process_class  # torch 1.13 has defaults that Python 3.11 takes for mutable; with a hash they are not
dataclasses._process_class = lambda cls, init, rep, eq, order, unsafe_hash, *more, **named: make(
    cls, init, rep, eq, order, unsafe_hash or (eq and "__hash__" not in cls.__dict__), *more, **named)
import torch
torch.set_num_threads(1)
if sys.argv[2:]:
    tensors = {f"layers.{i}.weight": torch.randn(4096, 4096).to(torch.bfloat16) for i in range(int(sys.argv[2]))}
    torch.save(tensors, sys.argv[1])
    sys.exit()
began = time.monotonic()
state = torch.load(sys.argv[1], map_location="cpu")
bad = [name for name, tensor in state.items() if not torch.isfinite(tensor).all()]
print(time.monotonic() - began, len(bad))
"""


def header_of(tensors):
    """A safetensors header: names with their bytes, all BF16."""
    at, rows = 0, {}
    for name, size in tensors:
        rows[name] = {"dtype": "BF16", "shape": [size // 2], "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(rows).encode()
    return struct.pack("<Q", len(text)) + text


def finite(file, size):
    """Writes random BF16 numbers of the size of weights, 2^-15 to 2: among numbers of any size are subnormal ones, on which
    processors take longer. Piece by piece: a child's peak of memory is never below its parent's."""
    piece = bytearray(os.urandom(1 << 20))
    piece[1::2] = bytes((byte & 0x87) | 0x38 for byte in piece[1::2])
    for _ in range(size >> 20):
        file.write(piece)


def settle(folder):
    """As if it had been written a minute ago: a younger one may still be written."""
    for name in os.listdir(folder):
        os.utime(os.path.join(folder, name), (time.time() - 60,) * 2)


def tree(folder):
    """Shards by an index, as transformers writes them."""
    os.makedirs(folder)
    places = {}
    for i in range(FILES):
        name, shard = f"layers.{i}.weight", f"model-{i + 1:05d}-of-{FILES:05d}.safetensors"
        with open(f"{folder}/{shard}", "wb") as file:
            file.write(header_of([(name, 64)]) + bytes(range(64)))
        places[name] = shard
    with open(folder + "/model.safetensors.index.json", "w") as file:
        json.dump({"metadata": {"total_size": FILES * 64}, "weight_map": places}, file)
    settle(folder)


def weights(folder, megabytes, each=256):
    os.makedirs(folder)
    size, names = each << 20, []
    for i in range(max(1, megabytes // each)):
        names.append(f"{folder}/layers_{i}.safetensors")
        with open(names[-1], "wb") as file:
            file.write(header_of([(f"layers.{i}.{j}", size // 8) for j in range(8)]))
            finite(file, size)
    settle(folder)
    return names


def run(words, **more):
    """Seconds by the clock and of the processor, peak memory in MB, output."""
    began = time.monotonic()
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
    text = child.stdout.read().decode()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6, text, child.returncode


def verify(home, path, *words):
    """As a person calls it; the same without the time of day of a `--deep` before, of which there is none in a new home."""
    answer = run([MIDWATCH, "checkpoint", "verify", path, "--home", home, *words])
    assert answer[4] == 0, answer[3]
    return answer


def forget(names):
    for name in names:
        with open(name, "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def turns_of(one, other, turns, before=lambda: None):
    """Seconds of both, one after the other in each turn."""
    took = []
    for turn in range(turns):
        seconds = {}
        for call in (one, other) if turn % 2 == 0 else (other, one):  # whoever comes second gets the memory that the first gave back
            before()
            seconds[call] = call()
        took.append((seconds[one], seconds[other]))
    return took


def in_turns(one, other):
    """Medians of both, and the median of their ratios."""
    took = turns_of(one, other, TURNS)
    return statistics.median(a for a, _ in took), statistics.median(b for _, b in took), statistics.median(b / a for a, b in took)


def at_best(one, other, before):
    """The fastest turn of each, and their ratio: what else the machine does, and where its memory comes from, only ever adds."""
    took = turns_of(one, other, COLD_TURNS, before)
    ours, theirs = min(a for a, _ in took), min(b for _, b in took)
    return ours, theirs, theirs / ours


def structure(table, base):
    tree(base + "/many")
    verify(base + "/home", base + "/many")
    took = [verify(base + "/home", base + "/many") for _ in range(TURNS)]
    table.at_most(f"structure of {FILES} files", statistics.median(one[0] for one in took), "s", 3.0)
    table.at_most(f"structure of {FILES} files, processor", statistics.median(one[1] for one in took), "s", 1.0)
    table.at_most(f"structure of {FILES} files, memory", max(one[2] for one in took), "MB", 200)


def content(table, base, megabytes):
    names = weights(base + "/large", megabytes)
    gigabytes, homes = sum(os.path.getsize(name) for name in names) / 1e9, iter(range(1000))
    deep = lambda: verify(f"{base}/home{next(homes)}", base + "/large", "--deep")[0]
    cat = lambda: run(["sh", "-c", 'cat "$@" > /dev/null', "cat", *names])[0]
    for how, (ours, theirs, ratio) in (("cold", at_best(deep, cat, lambda: forget(names))), ("cached", in_turns(deep, cat))):
        table.figure(f"every byte, {how}", gigabytes / ours, "GB/s")
        table.figure(f"cat, {how}", gigabytes / theirs, "GB/s")
        # Two processors check faster than one copies; on a machine that is busy they are not there.
        table.at_least(f"every byte, {how}: times as fast as cat", ratio, "x", 0.9)
    one = weights(base + "/one", megabytes // 2, megabytes // 2)[0]
    deep_one = lambda: verify(f"{base}/home{next(homes)}", one, "--deep")[0]
    cat_one = lambda: run(["sh", "-c", 'cat "$@" > /dev/null', "cat", one])[0]
    cat_one()
    ours, theirs, ratio = in_turns(deep_one, cat_one)
    table.figure("every byte of one file, cached", os.path.getsize(one) / 1e9 / ours, "GB/s")
    table.figure("cat, the same", os.path.getsize(one) / 1e9 / theirs, "GB/s")
    table.at_least("every byte of one file, cached: times as fast as cat", ratio, "x", 0.9)
    once = verify(f"{base}/home{next(homes)}", base + "/large", "--deep")
    table.at_least("every byte, cached, per processor", gigabytes / once[1], "GB/s", 3.0)
    table.at_most("every byte, memory", once[2], "MB", 200)


def beside_torch(table, base, megabytes):
    if subprocess.run([TORCH_PYTHON, "-c", "import torch"], capture_output=True, check=False).returncode != 0:
        print("torch: left out, Debian's python3-torch is not installed (scripts/setup bench)")
        return
    path, homes = base + "/torch/model.pt", iter(range(1000, 2000))
    os.makedirs(base + "/torch")
    subprocess.run([TORCH_PYTHON, "-c", LOAD, path, str(megabytes // 32)], check=True)
    settle(base + "/torch")
    deep = lambda: verify(f"{base}/home{next(homes)}", path, "--deep")[0]
    torch = lambda: float(run([TORCH_PYTHON, "-c", LOAD, path])[3].split()[0])
    deep()
    ours, theirs, ratio = in_turns(deep, torch)
    gigabytes = os.path.getsize(path) / 1e9
    table.figure("NaN and infinities", gigabytes / ours, "GB/s")
    table.figure("torch.load and isfinite, on one processor", gigabytes / theirs, "GB/s")
    table.at_least("NaN and infinities: times as fast as torch", ratio, "x", 5)


def memory(table, base):
    """Files with holes, which take no space."""
    os.makedirs(base + "/sparse")
    size = 200 << 30
    with open(base + "/sparse/model.safetensors", "wb") as file:
        file.write(header_of([(f"layers.{i}", size // 100) for i in range(100)]))
        file.truncate(file.tell() + size // 100 * 100)
    settle(base + "/sparse")
    table.at_most("structure of 200 GB, memory", verify(base + "/home", base + "/sparse")[2], "MB", 200)
    size = 8 << 30
    with open(base + "/sparse/model.safetensors", "wb") as file:
        file.write(header_of([("embed", size)]))
        end = file.tell() + size
        file.write(b"\x01\x3f" * 8)  # weights of nothing but zeros are suspect
        file.truncate(end)
    settle(base + "/sparse")
    table.at_most("every byte of one tensor of 8 GB, memory", verify(base + "/home", base + "/sparse", "--deep")[2], "MB", 200)


def main():
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 2048
    table = Table()
    with tempfile.TemporaryDirectory(prefix="midwatch-bench-") as base:
        structure(table, base)
        content(table, base, megabytes)
        beside_torch(table, base, megabytes // 2)
        memory(table, base)
    return 1 if table.failed else 0


sys.exit(main())
