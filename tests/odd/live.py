"""A command under the real `midwatch run`: how it ended, what midwatch emitted, and what it did or wanted to do to it."""
import json
import re
import subprocess
import time

CONFIGS = {
    "default": '[run]\nfirst_wait = "0s"\n',
    "act": '[run]\nfirst_wait = "0s"\n[actions]\nbreak = "act"\nbreak_learning = "act"\nrestart = "act"\n',
    "watch": '[run]\nfirst_wait = "0s"\n[actions]\nbreak = "watch"\nbreak_learning = "watch"\nrestart = "watch"\n',
}
DISTURBING = ("break", "pause", "restart", "quarantine", "roll-back", "restart-component")
REPLAY_S = 300


def critical(incidents):
    return {incident["kind"] for incident in incidents if incident["severity"] == "critical"}


def replayed(program, paths):
    """Kinds of the critical incidents that a replay of the files has."""
    done = subprocess.run([program, "replay", "--json", "-q", *map(str, paths)], capture_output=True, timeout=REPLAY_S,
                          check=False)
    try:
        return critical(json.loads(done.stdout)["incidents"])
    except (ValueError, KeyError):
        return {"no-replay"}


def events_of(folder):
    """What midwatch wrote with --json."""
    events = []
    for text in (folder / "events").read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            events.append(json.loads(text))
        except ValueError:
            pass
    return events


class Live:
    def __init__(self, program, folder, mode):
        self.program, self.folder, self.home = program, folder, folder / "home"
        (folder / "midwatch.toml").write_text(CONFIGS[mode], encoding="utf-8")

    def go(self, command, limit_s, *options):
        """Runs the command; returns midwatch's exit status and the events that it emitted. A run that is paused, or takes
        longer than the limit, is ended."""
        with open(self.folder / "events", "wb") as out, open(self.folder / "errors", "wb") as errors:
            process = subprocess.Popen([self.program, "run", "--config", "midwatch.toml", "--home", str(self.home), "--json",
                                        *options, "--", *command], cwd=self.folder, stdout=out, stderr=errors)
            end = time.monotonic() + limit_s
            while process.poll() is None and time.monotonic() < end and not self.waits():
                time.sleep(0.1)
            if process.poll() is None:
                self.ask("stop", "--now")
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        return process.returncode, events_of(self.folder)

    def recorded(self, *events):
        """Does a run's journal hold one of these events?"""
        journals = [path.read_bytes() for path in self.home.glob("runs/*/journal/*")]
        return any(re.search(event, journal) for event in events for journal in journals)

    def asked(self):
        return self.recorded(rb'{"e":"asked"')

    def waits(self):
        """Does midwatch wait for an approval, or is the run paused?"""
        return self.recorded(rb'{"e":"asked"', rb'{"e":"requested"[^\n]*"what":"pause"')

    def ask(self, *words):
        done = subprocess.run([self.program, words[0], "--home", str(self.home), *words[1:]], capture_output=True, timeout=60,
                              check=False)
        try:
            return json.loads(done.stdout)
        except ValueError:
            return {}

    def disturbing_actions(self):
        """What midwatch did or set out to do that ends, pauses or restarts a run."""
        return [taken["action"] for taken in self.ask("status", "--json").get("actions", [])
                if taken["action"] in DISTURBING]


def raised_kinds(events):
    """Kinds of the incidents that were critical at any time, as they were raised live."""
    return critical([event["incident"] for event in events if event.get("incident")])


def reasons(events):
    """Why it ended or would have ended the run, in midwatch's words."""
    said = [event.get("text", "") for event in events if event.get("event") == "said"]
    return [text for text in said if "circuit breaker" in text or "would be ended" in text or "would have" in text]
