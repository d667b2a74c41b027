#!/usr/bin/env python3
"""Figures of servers: a practice engine that was declared, and an endpoint of the user's own over real HTTP, by
`midwatch run` and by `midwatch attach`; a rule looks at one of them.

    scrape.py MIDWATCH PRACTICE_RUN
"""
import http.server
import os
import signal
import socket
import subprocess
import sys
import threading

from running import PRACTICE, PROGRAM, training
from watching import Scratch, append, event_type, incidents, journal, wait_until

ENGINE = os.path.join(os.path.dirname(PRACTICE), "practice_engine")


class Endpoint:
    """Serves a queue's depth, split over two labels, and a counter of errors."""

    def __init__(self):
        self.depth, self.errors, self.asked = 1, 0, 0
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                owner.asked += 1
                owner.errors += 50
                text = (f'# TYPE depth gauge\ndepth{{q="a"}} {owner.depth}\ndepth{{q="b"}} 0\nerrors_total {owner.errors}\n'
                        + "".join(f"noise_{i} 1\n" for i in range(1000)))
                self.send_response(200 if self.path == "/metrics" else 404)
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def settings(self):
        return f"""
[scrape.gateway]
address = "http://127.0.0.1:{self.server.server_port}"
metrics = ["depth", "rate(errors_total)", "not_there"]
every = "1s"

[scrape.gone]
address = "http://127.0.0.1:9"
metrics = ["x"]
every = "1s"

[rule.queue]
signal = "scrape.gateway:depth"
above = 10
for = 1
text = "Start another gateway."
"""


def figures(folder):
    """{(signal, thing): [values]} of what the machine showed."""
    found = {}
    try:
        events = journal(folder)
    except (FileNotFoundError, AssertionError):
        return found
    for event in events:
        for reading in event.get("readings") or []:
            signal_name, raw, value = (reading + [None] * 3)[:3] if isinstance(reading, list) else (
                reading.get("signal"), reading.get("raw"), reading.get("value"))
            if (signal_name or "").startswith(("engine.", "scrape.")):
                found.setdefault((signal_name, raw), []).append(value)
    return found


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def attached(base):
    """The endpoint beside a log that grows."""
    endpoint, log = Endpoint(), os.path.join(base, "train.log")
    append(log, b"step:1 - actor/pg_loss:0.01 - actor/entropy:0.5 - critic/score/mean:0.2 - timing_s/step:1.0\n")
    config = os.path.join(base, "own.toml")
    with open(config, "w") as out:
        out.write(endpoint.settings())
    watch = subprocess.Popen([PROGRAM, "attach", log, "--json", "--home", os.path.join(base, "home"), "--poll", "0.2",
                              "--no-host", "--config", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert wait_until(lambda: ("scrape.gateway", "rate(errors_total)") in figures(base)), figures(base)
    assert figures(base)[("scrape.gateway", "depth")] == [1]
    endpoint.depth = 99
    assert wait_until(lambda: any(i["kind"] == "user-rule" for i in incidents(base))), figures(base)
    incident = [i for i in incidents(base) if i["kind"] == "user-rule"][0]
    assert "scrape.gateway of depth is 99" in incident["summary"], incident
    assert incident["causes"][0]["fix"] == "Start another gateway.", incident
    endpoint.depth = 2
    assert wait_until(lambda: not any(i["kind"] == "user-rule" and i["open"] for i in incidents(base)))
    watch.send_signal(signal.SIGTERM)
    watch.wait(60)
    problems = [e["detail"] for e in journal(base) if event_type(e) == "source-problem"]
    assert problems.count("scrape gateway: there is no metric not_there") == 1, problems
    assert len([p for p in problems if p.startswith("scrape gone: ")]) == 1, problems
    report = subprocess.run([PROGRAM, "report", "--home", os.path.join(base, "home")], capture_output=True, check=True, text=True)
    assert "gateway: depth, most" in report.stdout, report.stdout


def supervised(base):
    """An engine that was declared, and a supervised run that trains on its answers."""
    port = free_port()
    engine = subprocess.Popen([ENGINE, "--port", str(port)], cwd=base, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        config = os.path.join(base, "own.toml")
        with open(config, "w") as out:
            out.write(f'[component.engine]\naddress = "http://127.0.0.1:{port}"\nevery = "500ms"\n')
        command = [*training(base, steps=40, pace=0.1), "--engine", f"http://127.0.0.1:{port}"]
        done = subprocess.run([PROGRAM, "run", "--home", os.path.join(base, "home"), "--config", config, "--no-host", "--json", "--",
                               *command], cwd=base, capture_output=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        found = figures(base)
        for name in ("engine.running", "engine.waiting", "engine.kv_usage", "engine.tokens"):
            assert (name, "engine") in found, found
        assert found[("engine.tokens", "engine")][0] >= 0, found
    finally:
        engine.kill()


for test in (attached, supervised):
    with Scratch() as folder:
        test(folder)
        print(f"{test.__name__} ok")
sys.exit(0)
