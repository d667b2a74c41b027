"""Every dialect of the practice run is recognised, from its log alone and from each file that it writes for a dashboard; a healthy
run is reported as healthy, and one whose engine died as that."""
import os
import subprocess

from running import PRACTICE
from watching import Scratch, replay

STEPS, DIES_AT = 70, 45
DASHBOARDS = ("openrlhf", "prime-rl", "skyrl", "verl")  # whose names for figures the practice run knows
ENGINE_LOST = ("engine-dead", "worker-lost", "zero-reward", "no-learning", "network")


def train(folder, speak, *options):
    return subprocess.run([PRACTICE, "--speak", speak, "--out", folder, "--steps", str(STEPS), "--eval-every", "10", *options],
                          capture_output=True, check=False).returncode


def above_info(replayed):
    return [(i["kind"], i["severity"], (i.get("onset") or {}).get("step")) for i in replayed["incidents"] if i["severity"] != "info"]


def healthy(replayed, speak, finished):
    assert replayed["run"]["framework"] == speak, replayed["run"]["framework"]
    assert replayed["run"]["steps"]["first"] == 1 and replayed["run"]["steps"]["last"] == STEPS, replayed["run"]["steps"]
    assert replayed["run"]["attempts"] == 1 and (not finished or replayed["run"]["verdict"] == "finished"), replayed["run"]
    assert not above_info(replayed), above_info(replayed)


for speak in ("areal", "openrlhf", "prime-rl", "skyrl", "trl", "verl"):
    with Scratch() as base:
        well, ill = os.path.join(base, "well"), os.path.join(base, "ill")
        os.mkdir(well)
        os.mkdir(ill)
        boards = os.path.join(base, "boards")
        assert train(well, speak, "--sinks", "jsonl,tfevents,wandb", "--sinks-folder", boards) == 0
        says_end = speak != "openrlhf"  # which just stops
        healthy(replay(os.path.join(well, "train.log")), speak, says_end)
        healthy(replay(well), speak, says_end)
        train(ill, speak, "--kill-engine-at", str(DIES_AT))
        replayed = replay(os.path.join(ill, "train.log"))
        lost = [i for i in replayed["incidents"] if i["severity"] == "critical" and i["kind"] in ENGINE_LOST]
        assert lost and all(DIES_AT - 1 <= i["onset"]["step"] <= DIES_AT for i in lost), replayed["incidents"]
        if speak in DASHBOARDS:
            for one in ("training_metrics.jsonl", "tensorboard", "wandb"):
                replayed = replay(os.path.join(boards, one))
                healthy(replayed, speak, one == "wandb")
                assert replayed["evaluations"], one
    print(f"{speak} ok", flush=True)
