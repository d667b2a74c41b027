#!/usr/bin/env python3
"""`midwatch replay --json` of one long run: 100,000 steps of 80 signals as JSON lines, about 255 MB.

    bench_long_run.py [STEPS]       default 100000

Issue 14 aims at 2 s of CPU and 150 MB for it on an idle core; the limits hold on a busy one. The figures are random, and the
names half known and half of the trainer's own, so that nothing is left out of what a real run costs.
"""
import os
import random
import sys
import tempfile

import bench_replay
from table import Table

KNOWN = ("actor/entropy", "actor/kl_loss", "actor/pg_loss", "actor/pg_clipfrac", "actor/grad_norm", "actor/lr", "critic/rewards/mean",
         "critic/rewards/max", "critic/rewards/min", "response_length/mean", "response_length/max", "response_length/clip_ratio",
         "timing_s/gen", "timing_s/step", "perf/throughput")
SIGNALS = 80
SECONDS_MOST = 5.0   # 0.8 to 0.9 are measured; the aim is 2
RSS_MOST_MB = 130.0  # 93 are measured; the aim is 150


def write(path, steps):
    names = list(KNOWN) + ["own/figure_%02d" % i for i in range(SIGNALS - len(KNOWN))]
    chance = random.Random(7)
    with open(path, "w", encoding="ascii") as file:
        for step in range(1, steps + 1):
            figures = ", ".join('"%s": %.9f' % (name, abs(chance.gauss(1, 0.1))) for name in names)
            file.write('{"step": %d, %s}\n' % (step, figures))


def main():
    if "--help" in sys.argv[1:]:
        print(__doc__)
        return 0
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 100000
    table = Table()
    with tempfile.TemporaryDirectory(prefix="midwatch-bench-") as folder:
        path = os.path.join(folder, "metrics.jsonl")
        write(path, steps)
        megabytes = os.path.getsize(path) / 1e6
        answer, seconds, rss = bench_replay.replay(path)
        assert answer["input"]["bytes"] == os.path.getsize(path), answer["input"]
        table.figure("long run: %d steps of %d signals" % (steps, SIGNALS), megabytes, "MB")
        table.figure("long run: read, folded and judged", megabytes / seconds, "MB/s")
        table.at_most("long run: CPU time", seconds, "s", SECONDS_MOST)
        table.at_most("long run: most resident memory", rss, "MB", RSS_MOST_MB)
    return 1 if table.failed else 0


if __name__ == "__main__":
    sys.exit(main())
