"""The record that every run leaves: notes on runs that are over, finding runs, the experiment log, what a run costs."""
import csv
import io
import json
import os
import subprocess

from running import PROGRAM
from watching import Scratch

EVIL = "=cmd|' /C calc'!A0"


def words(home, *args, columns=80):
    environment = {**os.environ, "MIDWATCH_HOME": home, "COLUMNS": str(columns)}
    done = subprocess.run([PROGRAM, *args], cwd="/", env=environment, capture_output=True, timeout=120, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def run_names(home, *filters):
    code, out, err = words(home, "runs", "--json", "--all", *filters)
    assert code == 0, err
    return sorted(run["name"] for run in json.loads(out)["runs"])


def supervise(base, home, name, lines, *options):
    script = "; ".join(f"echo '{line}'" for line in lines)
    done = subprocess.run([PROGRAM, "run", "--quiet", "--no-host", "--name", name, "--restarts", "0", *options, "--", "sh", "-c", script],
                          cwd=base, env={**os.environ, "MIDWATCH_HOME": home}, capture_output=True, timeout=120, check=False)
    return done.returncode


def records(base):
    """Two runs; what people say of them when they are over is in the journal, and is found again."""
    home = base + "/home"
    steps = [f"2026-02-19T10:{step:02d}:00Z step={step} reward=0.{step} loss=0.5" for step in range(1, 6)]
    assert supervise(base, home, "seed-1", ["{\"lr\": 1e-6}"] + steps, "--cost-per-hour", "60") == 0
    assert supervise(base, home, "seed-2", steps[:3] + ["Traceback (most recent call last):", "  File \"a.py\", line 1, in f", "ValueError: broken"]) != 0
    assert run_names(home) == ["seed-1", "seed-2"]
    assert words(home, "tell", "--run", "seed-2", "--lesson", "profile before | tuning")[0] == 0
    assert words(home, "tell", "--run", "seed-1", "--tag", "ablation")[0] == 0
    assert words(home, "tell", "--run", "seed-1", "--tag", "two words")[0] == 2
    assert words(home, "tell", "--run", "seed-1", EVIL)[0] == 0
    assert not os.listdir(home + "/runs/seed-2/inbox"), "the note waits for nobody"
    assert run_names(home, "--tag", "ablation") == ["seed-1"]
    assert words(home, "tell", "--run", "seed-1", "--untag", "ablation")[0] == 0
    assert run_names(home, "--tag", "ablation") == [], "a kept record is made again when the journal has grown"
    assert run_names(home, "--status", "failed") == ["seed-2"]
    assert run_names(home, "profile", "tuning") == ["seed-2"]
    assert run_names(home, "--since", "2099-01-01") == []
    assert words(home, "runs", "--since", "soon")[0] == 2
    return home


def shown(home):
    """One run in 80 columns; its cost is that of its attempts at the price that was given."""
    code, out, err = words(home, "runs", "show", "seed-1")
    assert code == 0, err
    assert all(len(line) <= 80 for line in out.splitlines()), out
    assert "60.00 an hour" in out and "reward.mean" in out, out
    record = json.loads(words(home, "runs", "show", "seed-2", "--json", "--cost-per-hour", "7")[1])
    assert record["schema"] == "midwatch.run/1" and record["before"] == "seed-1" and record["cost_per_hour"] == 7, record
    assert [note["text"] for note in record["notes"] if note["kind"] == "lesson"] == ["profile before | tuning"], record
    assert record["command"][0] == "sh" and record["machines"], record
    # What the status and the report say of money is the same.
    assert "at 60.00 an hour" in words(home, "status", "--run", "seed-1")[1]
    assert "| Cost | " in words(home, "report", "--run", "seed-1")[1]


def exported(base, home):
    """The experiment log as a document, a table and data."""
    code, out, err = words(home, "runs", "export")
    assert code == 0, err
    for part in ("# Training runs", "## Completed runs", "### Run: seed-1", "### Run: seed-2", "#### Metrics", "## Lessons learned"):
        assert part in out, (part, out)
    assert "profile before \\| tuning" in out, out
    rows = list(csv.DictReader(io.StringIO(words(home, "runs", "export", "--csv")[1])))
    assert {row["run"] for row in rows} == {"seed-1", "seed-2"}, rows
    assert next(row for row in rows if row["run"] == "seed-2")["lessons"] == "profile before | tuning", rows
    assert not any(cell.startswith(("=", "+", "@")) for row in rows for cell in row.values()), rows
    data = json.loads(words(home, "runs", "export", "--json", "--status", "failed")[1])
    assert [run["name"] for run in data["runs"]] == ["seed-2"], data
    assert words(home, "runs", "export", "-o", base + "/log.md")[0] == 0
    with open(base + "/log.md", encoding="utf-8") as file:
        assert file.read() == out
    assert words(home, "runs", "export", "--json", "--csv")[0] == 2


def named(base, home):
    """A run that is only watched has the name that it is given, and no other run's."""
    for name in ("a", "b"):
        with open(f"{base}/{name}.log", "w", encoding="utf-8") as log:
            log.write("2026-02-19T10:01:00Z step=1 reward=0.1 loss=0.5\n")

    def watch(name, path):
        return words(home, "attach", path, "--name", name, "--quiet", "--exit-after-idle", "0.1")
    assert watch("mine", base + "/a.log")[0] == 0
    assert "mine" in run_names(home), run_names(home)
    code, out, _ = words(home, "report", "mine")
    assert code == 0 and "a.log" in out, out
    assert watch("mine", base + "/a.log")[0] == 0, "it goes on with its record"
    for name, path, said in (("mine", base + "/b.log", "called mine already"), ("seed-1", base + "/a.log", "called seed-1 already"),
                             ("../x", base + "/a.log", "cannot be called"), ("-x", base + "/a.log", "cannot be called")):
        code, _, err = words(home, "attach", path, f"--name={name}", "--exit-after-idle", "0.1")
        assert code == 2 and said in err, (name, code, err)


def main():
    with Scratch() as base:
        home = records(base)
        shown(home)
        exported(base, home)
        named(base, home)
    print("records of runs: noted, found, shown, exported, named")


main()
