"""What midwatch does only when a person approves it ([actions]), and what it only reports (--dry-run)."""
import json
import os
import signal
import time

from running import Run, midwatch, output, processes_of, reattach, states_of, training, wait_until, weights
from watching import Scratch, event_type, journal_of


def silently(base):
    """It trains on when its engine is dead, and scores missing answers zero."""
    return [*training(base, pace=0.15), "--when-engine-dies", "zero"]


def asking(base, *more):
    with open(os.path.join(base, "midwatch.toml"), "w") as file:
        file.write('[run]\nfirst_wait = "200ms"\n[actions]\nbreak = "ask"\nrestart = "ask"\n'
                   '[hook.note]\nevents = ["asks"]\nmin_severity = "info"\ncommand = ["sh", "-c", "cat >asked"]\n')
    return Run(base, silently(base), "--quiet", "--config", os.path.join(base, "midwatch.toml"), *more)


def kill_engine(base):
    wait_until("a checkpoint", lambda: os.path.exists(os.path.join(base, "checkpoints", "global_step_10")))
    os.kill(processes_of(base, "practice_run")[1], signal.SIGKILL)


def notes(base):
    code, text = midwatch(base, "status", "--json")
    assert code == 0, text
    return "\n".join(note["text"] for note in json.loads(text)["notes"])


def attempts(run):
    return len(os.listdir(os.path.join(run.folder(), "attempts")))


def said_yes(base, expected):
    """The attempt is paused until ending it is approved, even if midwatch is killed meanwhile; the next one needs an approval, too."""
    run = asking(base)
    kill_engine(base)
    wait_until("the question", lambda: "attempt 1 would be ended: " in notes(base))
    wait_until("nothing moves", lambda: set(states_of(base)) == {"T"})
    asked = os.path.join(base, "asked")
    wait_until("the message that it stands still", lambda: os.path.exists(asked) and os.path.getsize(asked) > 0)
    time.sleep(0.2)
    with open(asked) as file:
        notice = json.load(file)["notices"][0]
    assert notice["event"] == "asks" and "paused" in notice["did"] and "midwatch approve" in notice["advice"], notice
    os.remove(asked)
    run.process.kill()
    run.process.communicate()
    run = reattach(base, "--quiet")
    time.sleep(1)
    assert set(states_of(base)) == {"T"} and attempts(run) == 1
    assert "midwatch approve ends it" in " ".join(midwatch(base, "status")[1].split())
    assert midwatch(base, "approve")[0] == 0
    wait_until("the next question", lambda: "attempt 2 would begin" in notes(base))
    assert processes_of(base, "practice_run") == [] and midwatch(base, "status", "--check")[0] == 10
    wait_until("the message", lambda: os.path.exists(os.path.join(base, "asked")) and os.path.getsize(os.path.join(base, "asked")) > 0)
    with open(os.path.join(base, "asked")) as file:
        assert json.load(file)["notices"][0]["event"] == "asks"
    time.sleep(0.5)
    assert attempts(run) == 1
    code, text = midwatch(base, "approve", "--json")
    assert code == 0 and json.loads(text)["taken"], text
    assert run.end() == 0, run.err
    assert attempts(run) == 2 and weights(base) == expected


def said_no(base, _):
    """A person resumes the attempt: midwatch does not ask about the same again, and the attempt ends by itself."""
    run = asking(base)
    kill_engine(base)
    wait_until("the question", lambda: "attempt 1 would be ended" in notes(base))
    assert midwatch(base, "resume")[0] == 0
    run.end()
    assert attempts(run) == 1 and notes(base).count("would be ended") == 1, notes(base)


def nobody_there(base, expected):
    """With --unattended what would ask acts, whatever the file says, and the midwatch after a killed one knows."""
    run = asking(base, "--unattended")
    wait_until("a checkpoint", lambda: os.path.exists(os.path.join(base, "checkpoints", "global_step_5")))
    run.process.kill()
    run.process.communicate()
    run = reattach(base, "--quiet")
    kill_engine(base)
    assert run.end() == 0, run.err
    assert attempts(run) == 2 and weights(base) == expected
    assert "asked" not in {event_type(event) for event in journal_of(run.folder())}


def stopped(base, _):
    """Instead of an approval comes a stop: the run is over, and asks for nothing any more."""
    run = asking(base)
    wait_until("a checkpoint", lambda: os.path.exists(os.path.join(base, "checkpoints", "global_step_5")))
    os.kill(processes_of(base, "practice_run")[0], signal.SIGKILL)
    wait_until("the question", lambda: "attempt 2 would begin" in notes(base))
    assert midwatch(base, "stop")[0] == 0
    run.end(20)
    shown = json.loads(midwatch(base, "status", "--json")[1])
    assert (shown["phase"], shown["asks"], attempts(run)) == ("over", "", 1), shown


def left_yes(base, expected):
    """What is approved while no midwatch runs is taken by the one that reattaches: the next attempt begins."""
    run = asking(base)
    wait_until("a checkpoint", lambda: os.path.exists(os.path.join(base, "checkpoints", "global_step_5")))
    os.kill(processes_of(base, "practice_run")[0], signal.SIGKILL)
    wait_until("the question", lambda: "attempt 2 would begin" in notes(base))
    run.process.kill()
    run.process.communicate()
    assert "reattach with" in midwatch(base, "approve")[1]
    run = reattach(base, "--quiet")
    wait_until("the second attempt", lambda: attempts(run) == 2)
    assert run.end() == 0, run.err
    assert "nothing is asked" not in run.err and weights(base) == expected, run.err


def dry(base, _):
    """Nothing is done, all is reported."""
    run = Run(base, silently(base), "--quiet", "--dry-run")
    kill_engine(base)
    wait_until("what it would do", lambda: "Only watching: attempt 1 would be ended: " in notes(base))
    run.end()
    code, text = midwatch(base, "status", "--json")
    assert {action["action"] for action in json.loads(text)["actions"]} <= {"collect-evidence"} and attempts(run) == 1, text
    assert "attempt 1" in output(run) and "tripped" not in {event_type(event) for event in journal_of(run.folder())}


with Scratch() as scratch:
    first = Run(scratch, training(scratch, pace=0), "--quiet")
    assert first.end() == 0, first.err
    reference = weights(scratch)
for test in (said_yes, left_yes, said_no, nobody_there, stopped, dry):
    with Scratch() as scratch:
        began = time.monotonic()
        test(scratch, reference)
        print(f"{test.__name__} ok, {time.monotonic() - began:.1f} s", flush=True)
