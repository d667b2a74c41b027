"""What people request of a live run: status, tell, pause, resume, stop; with midwatch killed in between."""
import json
import os
import signal
import time

from running import Run, midwatch, output, processes_of, reattach, states_of, training, wait_until, weights
from watching import Scratch


def status(base):
    code, text = midwatch(base, "status", "--json")
    assert code == 0, text
    shown = json.loads(text)
    assert shown["schema"] == "midwatch.status/1"
    return shown


def started(base, steps=40, pace=0.15):
    run = Run(base, training(base, steps=steps, pace=pace), "--quiet", "--first-wait", "0.2")
    wait_until("a checkpoint", lambda: os.path.exists(os.path.join(base, "checkpoints", "global_step_5")))
    return run


def noted_and_shown(base, _):
    run = started(base)
    code, text = midwatch(base, "tell", "lowered lr", "--json", "password=hunter2hunter2")
    assert code == 0 and json.loads(text)["taken"], text
    shown = status(base)
    assert shown["phase"] == "running" and shown["watched"] and shown["watcher"] == run.process.pid, shown
    assert shown["step"] >= 5 and shown["last_checkpoint"] >= 5 and shown["verdict"] == "running", shown
    assert [note["text"].split(" ")[0] for note in shown["notes"]] == ["lowered"] and shown["notes"][0]["step"] >= 5, shown
    assert "hunter2" not in json.dumps(shown)
    code, text = midwatch(base, "status")
    assert code == 0 and text.startswith("RUNNING") and "lowered lr" in text, text
    assert midwatch(base, "status", "--check")[0] == 0
    assert run.end() == 0, run.err
    assert status(base)["phase"] == "over" and midwatch(base, "status", "--check")[0] == 0
    code, text = midwatch(base, "stop")
    assert code == 2 and "is over" in text, (code, text)


def paused(base, expected):
    """Paused, midwatch killed meanwhile: the next one keeps it paused, and resumes it on request."""
    run = started(base)
    assert midwatch(base, "pause")[0] == 0
    wait_until("all stopped", lambda: set(states_of(base)) == {"T"})
    before = output(run).count(" step:")
    run.process.kill()
    run.process.communicate()
    assert midwatch(base, "status", "--check")[0] == 10  # nobody watches
    assert "NOT WATCHED" in midwatch(base, "status")[1]
    code, text = midwatch(base, "resume")
    assert code == 1 and "not running" in text, (code, text)  # left for the next midwatch
    os.remove(os.path.join(run.folder(), "inbox", os.listdir(os.path.join(run.folder(), "inbox"))[0]))
    run = reattach(base, "--quiet")
    wait_until("a watch", lambda: status(base)["watched"])
    assert status(base)["phase"] == "paused"
    time.sleep(0.5)
    assert set(states_of(base)) == {"T"} and output(run).count(" step:") == before
    assert midwatch(base, "resume")[0] == 0
    wait_until("it goes on", lambda: output(run).count(" step:") > before)
    assert run.end() == 0, run.err
    assert weights(base) == expected
    actions = [(action["action"], action["done"], action["ok"]) for action in status(base)["actions"]]
    assert actions == [("pause", True, True), ("resume", True, True)], actions


def stopped(base, _):
    run = started(base, steps=4000)
    assert midwatch(base, "pause")[0] == 0
    wait_until("all stopped", lambda: set(states_of(base)) == {"T"})
    assert midwatch(base, "stop")[0] == 0  # a paused run can be ended, too
    assert run.end(30) == 128 + signal.SIGINT, (run.process.returncode, run.err)
    assert not processes_of(base, "practice_run"), "something is left"
    assert status(base)["decision"] == "A stop was requested."


def killed_at_once(base, _):
    run = Run(base, ["sh", "-c", "trap '' INT TERM; while :; do sleep 0.2; done"], "--quiet")
    wait_until("the command", lambda: os.path.exists(os.path.join(base, "home", "runs")) and "began" in output(run))
    assert midwatch(base, "stop", "--now")[0] == 0
    assert run.end(30) == 128 + signal.SIGKILL, (run.process.returncode, run.err)


def asked_while_nobody_watches(base, _):
    """A stop that was requested while no midwatch was running is served by the next one."""
    run = started(base, steps=4000)
    run.process.kill()
    run.process.communicate()
    code, text = midwatch(base, "stop")
    assert code == 1 and "--reattach" in text, (code, text)
    run = reattach(base, "--quiet")
    assert run.end(30) == 128 + signal.SIGINT, (run.process.returncode, run.err)


def watcher_stopped(base, _):
    """A midwatch that is stopped itself watches nobody; what is requested meanwhile is done when it goes on."""
    run = started(base, steps=4000)
    run.process.send_signal(signal.SIGSTOP)
    wait_until("the stop", lambda: not status(base)["watched"])
    code, text = midwatch(base, "status", "--check")
    assert code == 10 and "NOT WATCHED" in text and f"kill -CONT {run.process.pid}" in text, (code, text)
    code, text = midwatch(base, "stop")
    assert code == 1 and f"kill -CONT {run.process.pid}" in text, (code, text)
    run.process.send_signal(signal.SIGCONT)
    assert run.end(30) == 128 + signal.SIGINT, (run.process.returncode, run.err)


def bad_requests(base, _):
    """A file in the inbox that is no request is renamed, and nothing else suffers."""
    run = started(base, steps=60)
    inbox = os.path.join(run.folder(), "inbox")
    for name, text in (("1-1.json", "{"), ("1-2.json", '{"ask":"rm -rf /"}'), ("1-3.json", "\0" * 5000)):
        with open(os.path.join(inbox, name + ".part"), "w") as file:
            file.write(text)
        os.rename(os.path.join(inbox, name + ".part"), os.path.join(inbox, name))
    os.mkdir(os.path.join(inbox, "1-4.json"))
    assert midwatch(base, "tell", "still here")[0] == 0
    assert sorted(os.listdir(inbox)) == ["1-1.json.refused", "1-2.json.refused", "1-3.json.refused", "1-4.json.unreadable"]
    assert run.end() == 0, run.err


with Scratch() as scratch:
    first = Run(scratch, training(scratch, pace=0), "--quiet")
    assert first.end() == 0, first.err
    reference = weights(scratch)
for test in (noted_and_shown, paused, stopped, killed_at_once, asked_while_nobody_watches, watcher_stopped, bad_requests):
    with Scratch() as scratch:
        began = time.monotonic()
        test(scratch, reference)
        print(f"{test.__name__} ok, {time.monotonic() - began:.1f} s", flush=True)
