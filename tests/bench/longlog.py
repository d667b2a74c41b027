"""Makes a long log for the benchmarks: real logs one after another, copy after copy, as one long plausible run.

Each copy has later steps and later dates than the one before it. The logs are those of ../shared/data where that
folder lies beside the project, else the practice runs' recordings (tests/golden/runs).
"""
import datetime
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
PROJECT = os.path.dirname(os.path.dirname(HERE))
LOG_NAMES = (".log", ".out", ".err", ".txt")
STEPS_A_COPY = 1000  # by which the steps of a copy are later than those of the one before
DAYS_A_COPY = 3      # likewise dates

# The number behind "step", "global_step" and the like, and dates written as 2026-02-19.
SHIFTED = re.compile(rb"(?<=[Ss]tep)(?P<between>[\"']?[:= ]{1,3})(?P<step>\d{1,8})(?![\d.])|(?P<date>\b20\d\d-[01]\d-[0-3]\d)(?!\d)")


def real_logs():
    """The text of all real logs, each ended by a line end; and where they come from."""
    for folder in (os.path.join(PROJECT, "..", "shared", "data"), os.path.join(PROJECT, "tests", "golden", "runs")):
        files = []
        for place, _, names in os.walk(folder):
            files += [os.path.join(place, name) for name in names if name.endswith(LOG_NAMES) and name != "source.txt"]
        if not files:
            continue
        pieces = []
        for path in sorted(files):
            with open(path, "rb") as file:
                text = file.read()
            pieces.append(text if text.endswith(b"\n") else text + b"\n")
        return b"".join(pieces), "%d logs of %s" % (len(files), os.path.relpath(folder, PROJECT))
    raise SystemExit("no logs: neither ../shared/data nor tests/golden/runs is there")


class Copies:
    """Cuts the text once at what is shifted, so that a copy is only put together again."""

    def __init__(self, text):
        self.fixed, self.steps, self.dates = [], [], []
        at = 0
        for found in SHIFTED.finditer(text):
            number = found.group("step")
            begin = found.start("step") if number else found.start()
            self.fixed.append(text[at:begin])
            self.fixed.append(None)
            place = len(self.fixed) - 1
            if number:
                self.steps.append((place, int(number)))
            else:
                self.dates.append((place, found.group()))
            at = found.end()
        self.fixed.append(text[at:])
        self.known = {date for _, date in self.dates}

    def copy(self, number):
        parts = list(self.fixed)
        for place, step in self.steps:
            parts[place] = b"%d" % (step + number * STEPS_A_COPY)
        later = {date: self._later(date, number) for date in self.known}
        for place, date in self.dates:
            parts[place] = later[date]
        return b"".join(parts)

    @staticmethod
    def _later(date, number):
        try:
            day = datetime.date.fromisoformat(date.decode()) + datetime.timedelta(days=number * DAYS_A_COPY)
        except ValueError:
            return date
        return day.isoformat().encode()


def write(path, size):
    """Writes at least `size` bytes of whole copies; returns what the log is made of."""
    text, origin = real_logs()
    copies = Copies(text)
    written = number = 0
    with open(path, "wb") as out:
        while written < size:
            written += out.write(copies.copy(number))
            number += 1
    return "%s, %d copies" % (origin, number)


if __name__ == "__main__":
    import sys
    print(write(sys.argv[1], int(float(sys.argv[2]) * 1e6)))
