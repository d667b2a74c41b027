"""The runs of a folder with labels.json that consist of text, as lines for live_feed: NAME, then files, between tabs.

cases.py DATA [--half even|odd] [--healthy] [--only TEXT] [--most BYTES]
"""
import argparse
import json
import os
import zlib

ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
ask.add_argument("data")
ask.add_argument("--half", choices=("even", "odd"), help="by the parity of crc32 of the case's id")
ask.add_argument("--healthy", action="store_true")
ask.add_argument("--only", default="")
ask.add_argument("--most", type=int, default=8 << 20, help="bytes of all files of a case; larger ones are left out")
given = ask.parse_args()
with open(os.path.join(given.data, "labels.json"), encoding="utf-8") as labels:
    cases = json.load(labels)
for case in cases:
    half = "odd" if zlib.crc32(case["id"].encode()) % 2 else "even"
    paths = [os.path.join(given.data, path) for path in case["paths"]]
    text = all(os.path.isfile(path) and path.endswith((".log", ".txt", ".out", ".err", ".jsonl", ".csv")) for path in paths)
    if not text or (given.half and half != given.half) or given.only not in case["id"]:
        continue
    if (given.healthy and not case.get("healthy")) or sum(map(os.path.getsize, paths)) > given.most:
        continue
    print("\t".join([case["id"] + (" (healthy)" if case.get("healthy") else ""), *paths]))
