"""midwatch run beside trainers whose pointer to the newest checkpoint goes wrong while training and saving go on: it names a folder
that is gone, it was emptied in place, it was removed, saves do not move it. Each is reported, and is over once the pointer is right;
a healthy run beside them is silent. All five at once: what is waited for is time."""
import json
import os
import shutil
import signal
import sys

from running import PRACTICE, Run, midwatch, wait_until
from watching import Scratch

POINTER = "latest_checkpointed_iteration.txt"
EVERY = 20  # steps between saves, each a second long


def gone(folder):
    shutil.rmtree(f"{folder}/global_step_{EVERY}")


def emptied(folder):
    os.truncate(f"{folder}/{POINTER}", 0)


def removed(folder):
    os.unlink(f"{folder}/{POINTER}")


def left(_folder):
    """The trainer alone does it: its saves do not move the pointer."""


CASES = {"gone": (gone, f"it names step {EVERY}, which is not there", "checkpoint-removed-under-pointer"),
         "emptied": (emptied, "it is empty", "checkpoint-pointer-wrong"),
         "removed": (removed, "is missing", "checkpoint-pointer-missing"),
         "left": (left, f"it still names step {EVERY}, though step", "checkpoint-pointer-behind")}


class Training:
    def __init__(self, base, name, stays):
        self.base = f"{base}/{name}"
        os.makedirs(self.base)
        self.folder = self.base + "/checkpoints"
        fault = ["--fault", f"pointer-stays@{EVERY + 1}"] if stays else []
        self.run = Run(self.base, [PRACTICE, "--speak", "verl", "--out", "-", "--steps", "2000", "--save-every", str(EVERY), "--pace", "1",
                                   "--checkpoints", self.folder, *fault], "--quiet", "--name", name)

    def saved(self):
        names = os.listdir(self.folder) if os.path.isdir(self.folder) else []
        return sorted(int(name.rsplit("_", 1)[1]) for name in names
                      if name.startswith("global_step_") and os.path.exists(f"{self.folder}/{name}/trainer.safetensors"))

    def incidents(self):
        code, text = midwatch(self.base, "incidents", "--json")
        return [one for one in json.loads(text)["incidents"] if one["kind"] == "checkpoint-pointer"] if text.startswith("{") else []

    def mend(self):
        with open(f"{self.folder}/{POINTER}", "w") as file:
            file.write(str(self.saved()[-1]))

    def end(self):
        self.run.process.send_signal(signal.SIGINT)
        self.run.end()


def main():
    with Scratch() as base:
        healthy = Training(base, "healthy", False)
        broken = {name: Training(base, name, True) for name in CASES}
        try:
            for name, one in broken.items():
                wait_until(f"a save of {name}", lambda: os.path.exists(f"{one.folder}/{POINTER}"))
                CASES[name][0](one.folder)
            for name, one in broken.items():
                wait_until(f"{name} is reported", one.incidents, 200)
                found, = one.incidents()
                _, said, cause = CASES[name]
                assert said in found["summary"] and POINTER in found["summary"], found
                assert found["open"] and found["severity"] == "warning", found
                code, text = midwatch(one.base, "why", str(found["id"]))
                assert code == 0 and cause in text, text
                assert len(one.saved()) >= 4, one.saved()  # training and saving went on meanwhile
            for one in broken.values():
                one.mend()
            for name, one in broken.items():
                wait_until(f"{name} is over", lambda: not one.incidents()[0]["open"])
                assert len(one.incidents()) == 1, one.incidents()
            assert healthy.incidents() == [] and len(healthy.saved()) >= 4
        finally:
            for one in [healthy, *broken.values()]:
                one.end()
    print("a pointer that is gone, cut, removed or left behind was reported while the run went on, and the healthy one was silent")
    return 0


sys.exit(main())
