"""A checkpoint is sent to a real S3 server on this machine and received again: beside rclone and AWS's own tool, with the same
files, in turns. Ceph's gateway is started for it (scripts/setup s3).

    bench_ship.py [RUNS]     (default 3, which is as many as fit: the server keeps for a while what is removed)
"""
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from longlog import PROJECT
from table import Table

sys.path.insert(0, os.path.join(PROJECT, "tests", "e2e"))
from gateway import Gateway, missing  # noqa: E402

MIDWATCH = os.environ.get("MIDWATCH", os.path.join(PROJECT, "build", "midwatch"))
MEGABYTES, SMALL = 256, 100
SPARE = 8  # processors, from which on neither the server nor a client waits for one


def make(folder):
    os.makedirs(folder + "/actor")
    dice = random.Random(1)
    for rank in range(2):
        with open(f"{folder}/actor/rank_{rank}.dat", "wb") as file:
            for _ in range(MEGABYTES // 2):
                file.write(dice.randbytes(1 << 20))
    for i in range(SMALL):
        with open(f"{folder}/actor/extra_{i}.json", "wb") as file:
            file.write(dice.randbytes(2000))
    for root, _, names in os.walk(folder):
        for name in names:
            os.utime(os.path.join(root, name), (time.time() - 60,) * 2)


def timed(words, env):
    """Seconds by the clock, and of the processor."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    took, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, (words, done.stderr[-2000:])
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def tools(gateway, folder, base):
    """Name -> (command that sends, command that receives), by run number."""
    env = dict(os.environ, **gateway.variables(), RCLONE_CONFIG="/dev/null", RCLONE_CONFIG_S_TYPE="s3",
               RCLONE_CONFIG_S_PROVIDER="Ceph", RCLONE_CONFIG_S_ENDPOINT=gateway.url, RCLONE_CONFIG_S_ACCESS_KEY_ID=gateway.key,
               RCLONE_CONFIG_S_SECRET_ACCESS_KEY=gateway.secret)
    env["MIDWATCH_HOME"] = base + "/home"
    env.pop("AWS_CA_BUNDLE", None)
    found = {"midwatch": lambda n: ([MIDWATCH, "checkpoint", "push", folder, f"s3://bucket/m{n}", "--step", "1"],
                                    [MIDWATCH, "checkpoint", "pull", f"s3://bucket/m{n}", f"{base}/m{n}"])}
    if shutil.which("rclone"):
        found["rclone"] = lambda n: (["rclone", "copy", folder, f"s:bucket/r{n}"], ["rclone", "copy", f"s:bucket/r{n}", f"{base}/r{n}"])
    if os.path.exists("/usr/bin/aws"):
        words = ["/usr/bin/aws", "--endpoint-url", gateway.url, "s3", "cp", "--quiet", "--recursive"]
        found["awscli"] = lambda n: ([*words, folder, f"s3://bucket/a{n}"], [*words, f"s3://bucket/a{n}", f"{base}/a{n}"])
    return found, env


def limit(gateway, folder, base, number):
    """Seconds in which the server takes the large files' bytes from a client that only sends: pieces of 8 MiB, eight at once,
    no checksum, no listing, nothing compared."""
    lines, count = [], 0
    for rank in range(2):
        with open(f"{folder}/actor/rank_{rank}.dat", "rb") as file:
            while piece := file.read(8 << 20):
                with open(f"{base}/piece{count}", "wb") as out:
                    out.write(piece)
                lines.append(f'url="{gateway.address_to_put(f"/bucket/c{number}/{count}")}"\nupload-file="{base}/piece{count}"\n')
                count += 1
    with open(base + "/curl", "w") as file:
        file.writelines(lines)
    return timed(["curl", "-sSf", "-o", "/dev/null", "--parallel", "--parallel-max", "8", "-H", "Expect:", "-K", base + "/curl"],
                 dict(os.environ))


def purge(name, env):
    """The server's memory is small."""
    if shutil.which("rclone"):
        subprocess.run(["rclone", "purge", f"s:bucket/{name}"], env=env, check=False, capture_output=True)


def main():
    why = missing()
    if why:
        print("ship: left out,", why)
        return 0
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    table, took = Table(), {}
    with tempfile.TemporaryDirectory(prefix="midwatch-bench-") as base:
        make(base + "/checkpoint")
        os.makedirs(base + "/ceph")
        with Gateway(base + "/ceph") as gateway:
            gateway.make_bucket("bucket")
            found, env = tools(gateway, base + "/checkpoint", base)
            for number in range(runs):
                for name, commands in found.items():
                    for way, words in zip(("send", "receive"), commands(number)):
                        took.setdefault((name, way), []).append(timed(words, env))
                    shutil.rmtree(f"{base}/{name[0]}{number}")
                    purge(f"{name[0]}{number}", env)
                took.setdefault("limit", []).append(limit(gateway, base + "/checkpoint", base, number))
                purge(f"c{number}", env)
    least = statistics.median(one[0] for one in took["limit"])
    table.figure(f"send {MEGABYTES} MB, curl, which does nothing else", MEGABYTES / least, "MB/s")
    for way in ("send", "receive"):
        for name in found:
            wall = statistics.median(one[0] for one in took[name, way])
            cpu = statistics.median(one[1] for one in took[name, way])
            table.figure(f"{way} {MEGABYTES} MB, {name}", MEGABYTES / wall, "MB/s")
            table.figure(f"{way} {MEGABYTES} MB, {name}, processor", cpu, "s")
        for name in found:
            if name == "midwatch":
                continue
            ratio = statistics.median(a[0] / b[0] for a, b in zip(took[name, way], took["midwatch", way]))
            # Where the server shares the machine's few processors, it is what all of them wait for: none can be much faster
            # than another one. With processors to spare the client shows what it can do (docs/decisions/0006).
            awscli = {"send": 3.0, "receive": 2.0} if len(os.sched_getaffinity(0)) >= SPARE else {"send": 1.5, "receive": 0.8}
            least = {"rclone": {"send": 1.0, "receive": 0.6}, "awscli": awscli}[name][way]
            table.at_least(f"{way}: times as fast as {name}", ratio, "x", least)
    return 1 if table.failed else 0


sys.exit(main())
