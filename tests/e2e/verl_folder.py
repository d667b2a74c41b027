"""What the folder of a verl run's checkpoints holds, and runs that are over when they are looked at."""
import os


def steps_in(folder):
    return sorted(int(name[12:]) for name in os.listdir(folder) if name.startswith("global_step_"))


def pointer(folder):
    with open(folder + "/latest_checkpointed_iteration.txt") as file:
        return file.read()


class Done:
    """The only run of a home below `base`, for running.output()."""

    def __init__(self, base):
        self.base = base

    def folder(self):
        return os.path.join(self.base, "home/runs", os.listdir(self.base + "/home/runs")[0])
