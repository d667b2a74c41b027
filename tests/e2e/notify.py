"""Messages and hooks with real receivers: a web server that records, fails, hangs and closes; kills at any moment."""
import base64
import http.server
import json
import os
import random
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time

from running import wait_until
from watching import MIDWATCH, Scratch, append

PROGRAM = os.path.abspath(MIDWATCH)
PRACTICE = os.path.abspath(sys.argv[2])


os.environ["no_proxy"] = "127.0.0.1,localhost"  # whatever this machine goes through otherwise
STARTED = []  # ended, whatever happens


def popen(words, **more):
    STARTED.append(subprocess.Popen(words, **more))
    return STARTED[-1]


class Receiver:
    """A web server on a free port. `plan` says how the next requests are answered: a status, "hang" or "close"."""

    def __init__(self):
        self.got, self.plan, self.lock = [], [], threading.Lock()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                with outer.lock:
                    answer = outer.plan.pop(0) if outer.plan else 200
                    outer.got.append((self.path, dict(self.headers), body, answer))
                if answer == "hang":
                    time.sleep(20)
                if answer in ("hang", "close"):
                    self.close_connection = True
                    return
                text = b"no such luck" if answer >= 400 else b"ok"
                try:
                    self.send_response(answer)
                    self.send_header("Content-Length", str(len(text)))
                    self.end_headers()
                    self.wfile.write(text)
                except OSError:
                    pass  # whoever asked was killed

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def messages(self, path="/hook", answered=200):
        with self.lock:
            return [json.loads(body) for where, _, body, answer in self.got if where == path and answer == answered]

    def notices(self, path="/hook"):
        return [notice for message in self.messages(path) for notice in message["notices"]]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def config(base, text, name="midwatch.toml"):
    path = os.path.join(base, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def webhook(receiver, more=""):
    return f'[notify.channel.hook]\nkind = "webhook"\nurl = "{receiver.url}/hook"\n{more}\n'


def start(base, command, *options):
    return popen([PROGRAM, "run", "--home", os.path.join(base, "home"), "--name", "r", "--quiet", *options, "--", *command],
                            cwd=base, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def run(base, command, *options, seconds=60):
    process = start(base, command, *options)
    out, err = process.communicate(timeout=seconds)
    return process.returncode, out.decode(), err.decode()


def training(base, steps=40, pace=0.1):
    return [PRACTICE, "--speak", "verl", "--out", "-", "--steps", str(steps), "--save-every", "5", "--pace", str(pace),
            "--checkpoints", os.path.join(base, "checkpoints")]


FAILS = ["sh", "-c", "echo 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.'; exit 1"]


def notified_of_a_crash(base):
    """What, since when, why, what midwatch did, what to do, whose run: in one message, secrets in none."""
    receiver = Receiver()
    config(base, webhook(receiver, 'token = { env = "MW_TEST_TOKEN" }'))
    os.environ["MW_TEST_TOKEN"] = "a-token-that-nobody-may-see"
    code, _, err = run(base, FAILS, "--restarts", "0")
    assert code == 1, err
    events = [notice["event"] for notice in receiver.notices()]
    assert "opened" in events and "stopped" in events, (events, err)
    _, headers, _, _ = receiver.got[0]
    assert headers["Authorization"] == "Bearer a-token-that-nobody-may-see"
    assert headers["Idempotency-Key"].strip('"').startswith("r%2F"), headers
    opened = next(notice for notice in receiver.notices() if notice["event"] == "opened")
    assert opened["incident"]["kind"] == opened["kind"] and opened["severity"] == "critical", opened
    assert opened["what"] and opened["why"] and opened["advice"] and opened["did"], opened
    message = receiver.messages()[0]
    assert message["run"] == "r" and message["host"] and "Likely cause" in message["text"], message
    for place, _, names in os.walk(os.path.join(base, "home")):
        for name in names:
            with open(os.path.join(place, name), "rb") as file:
                text = file.read()
            assert b"nobody-may-see" not in text and receiver.url.encode() + b"/hook" not in text, (place, name)
    assert "nobody-may-see" not in err
    keys = [notice["key"] for notice in receiver.notices()]
    assert len(keys) == len(set(keys)), keys
    receiver.close()


def notified_of_a_restart(base):
    receiver = Receiver()
    config(base, webhook(receiver) + "[run]\nfirst_wait = \"200ms\"\n")
    process = start(base, training(base, pace=0.15))
    wait_until("a checkpoint", lambda: os.path.exists(os.path.join(base, "checkpoints", "global_step_10")))
    for place in os.listdir("/proc"):
        if not place.isdigit():
            continue
        try:
            with open(f"/proc/{place}/cmdline", "rb") as file:
                words = file.read().decode(errors="replace").split("\0")
            if words[0] == PRACTICE and os.readlink(f"/proc/{place}/cwd").startswith(base):
                os.kill(int(place), signal.SIGKILL)
        except OSError:
            continue
    _, err = process.communicate(timeout=90)
    assert process.returncode == 0, err
    events = [notice["event"] for notice in receiver.notices()]
    assert events.count("restarted") == 1 and events.count("finished") == 1, events
    restarted = next(notice for notice in receiver.notices() if notice["event"] == "restarted")
    assert "Starts attempt 2" in restarted["did"], restarted
    receiver.close()


def receiver_in_trouble(base):
    """It fails, closes, hangs, asks for patience; each message arrives once, and the watch never waited."""
    receiver = Receiver()
    receiver.plan = [500, "close", "hang", 429]
    config(base, webhook(receiver, 'timeout = "500ms"'))
    began = time.monotonic()
    process = start(base, ["sh", "-c", "echo 'torch.OutOfMemoryError: CUDA out of memory.'; sleep 1; for i in 1 2 3 4;"
                                       " do echo step $i; sleep 1; done; exit 1"], "--restarts", "0")
    _, err = process.communicate(timeout=120)
    assert time.monotonic() - began < 60, "the watch waited for the receiver"
    events = [notice["key"] for notice in receiver.notices()]
    assert len(events) == len(set(events)) and any(e.startswith("stopped") for e in events), events
    assert b"trying again" in err, err
    with receiver.lock:
        first = [json.loads(body)["key"] for _, _, body, _ in receiver.got[:5]]
    assert len(set(first)) == 1, f"tries of one message have one key: {first}"
    receiver.close()


def receiver_down(base):
    """Nobody listens: the run ends as it would have, in good time, and says so."""
    receiver = Receiver()
    url = receiver.url
    receiver.close()
    config(base, f'[notify.channel.hook]\nkind = "webhook"\nurl = "{url}/secret-path"\n')
    began = time.monotonic()
    code, _, err = run(base, ["sh", "-c", "exit 3"], "--restarts", "0")
    assert code == 3, err
    assert time.monotonic() - began < 40, time.monotonic() - began
    assert "cannot notify hook" in err and "did not reach hook" in err and "secret-path" not in err, err


def refused_for_good(base):
    receiver = Receiver()
    receiver.plan = [403] * 20
    config(base, webhook(receiver))
    code, _, err = run(base, ["sh", "-c", "exit 3"], "--restarts", "0")
    assert code == 3 and "could not notify hook: HTTP 403: no such luck" in err, err
    assert len(receiver.got) == len({body for _, _, body, _ in receiver.got}), "it was tried again"
    receiver.close()


def kinds(base):
    """notify --test: what each service receives, in its own form."""
    receiver = Receiver()
    path = config(base, "".join(f'[notify.channel.{kind}]\nkind = "{kind}"\nurl = "{receiver.url}/{kind}"\n'
                                for kind in ("webhook", "slack", "discord", "ntfy")) + '[notify.channel.tty]\nkind = "terminal"\n')
    done = subprocess.run([PROGRAM, "notify", "--test", "--config", path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout.count(": sent, ") == 5, done
    bodies = {where: json.loads(body) for where, _, body, _ in receiver.got}
    assert bodies["/webhook"]["schema"] == "midwatch.notification/1"
    assert bodies["/slack"]["blocks"][1]["text"]["type"] == "mrkdwn" and "Test message" in bodies["/slack"]["text"]
    assert bodies["/discord"]["embeds"][0]["title"] and bodies["/discord"]["allowed_mentions"] == {"parse": []}
    assert bodies["/"]["topic"] == "ntfy" and bodies["/"]["title"], bodies
    assert "Test message" in done.stderr
    receiver.plan = [500]
    done = subprocess.run([PROGRAM, "notify", "--test", "slack", "--json", "--config", path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and json.loads(done.stdout)["channels"][0]["ok"] is False, done
    done = subprocess.run([PROGRAM, "notify", "--test", "nobody", "--config", path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "There is: discord, ntfy" in done.stderr, done
    receiver.close()


def attached(base):
    """attach sends messages as incidents open, and none twice when it is started again."""
    receiver = Receiver()
    config(base, webhook(receiver))
    log = os.path.join(base, "train.log")
    append(log, b"".join(b"step %d reward 0.5 loss 0.1\n" % step for step in range(1, 30)))

    def watch():
        return popen([PROGRAM, "attach", log, "--home", os.path.join(base, "home")], cwd=base,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    process = watch()
    time.sleep(1)
    append(log, b'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    main()\nValueError: bad batch\n'
           b'the launcher ends\n')
    wait_until("a message", lambda: receiver.notices())
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    before = [notice["key"] for notice in receiver.notices()]
    process = watch()
    time.sleep(4)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert [notice["key"] for notice in receiver.notices()] == before, receiver.notices()
    receiver.close()


def killed(base):
    """midwatch is killed -9 again and again while messages go out: none is lost, and one that comes twice has the same key."""
    receiver = Receiver()
    dice = random.Random(int(os.environ.get("MIDWATCH_SEED", "5")))
    receiver.plan = [dice.choice([200, 200, 500, "close"]) for _ in range(12)]
    config(base, webhook(receiver) + '[run]\nfirst_wait = "300ms"\n')
    process = start(base, training(base, pace=0.25), "--restarts", "3")
    wait_until("a checkpoint", lambda: os.path.exists(os.path.join(base, "checkpoints", "global_step_5")))
    for kill in range(8):
        if kill == 4:  # a second end at the same step would be the last
            wait_until("a later checkpoint", lambda: os.path.exists(os.path.join(base, "checkpoints", "global_step_10")))
        if kill in (0, 4):
            subprocess.run(["sh", "-c", f"for p in /proc/[0-9]*; do [ \"$(readlink $p/cwd)\" = {base} ] && "
                                        f"[ \"$(readlink $p/exe)\" = {PRACTICE} ] && kill -9 ${{p#/proc/}}; done"], check=False)
        time.sleep(dice.uniform(0.2, 1.6))
        process.kill()
        process.communicate()
        process = popen([PROGRAM, "run", "--home", os.path.join(base, "home"), "--reattach", "newest", "--quiet"], cwd=base,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    keys = [notice["key"] for notice in receiver.notices()]
    assert sum(key.startswith("restarted:") for key in set(keys)) >= 1 and "finished" in " ".join(keys), (keys, err)
    folder = os.path.join(base, "home", "runs", "r")
    done = subprocess.run([PROGRAM, "incidents", "--json", "--home", os.path.join(base, "home"), "--run", "r"], capture_output=True, check=True)
    for incident in json.loads(done.stdout)["incidents"]:
        if incident["severity"] != "info":
            assert any(key.startswith(f"opened:{incident['id']}:") or key == f"closed:{incident['id']}" for key in keys), (incident, keys)
    for number in range(1, len(os.listdir(os.path.join(folder, "attempts")))):
        assert f"restarted:{number}" in keys, (number, keys)
    # A key comes twice only when the first answer never reached the one that was killed.
    again = [message for message in receiver.messages() if message["again"]]
    repeated = [key for key in set(keys) if keys.count(key) > 1]
    allowed = {notice["key"] for message in again for notice in message["notices"]}
    assert set(repeated) <= allowed, (repeated, allowed)
    receiver.close()


class MailServer:
    """Speaks enough SMTP to take mails, or to refuse them with `answer` to the recipient."""

    def __init__(self, answer=b"250 ok", login=None):
        self.mails, self.seen = [], []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"smtp://127.0.0.1:{self.socket.getsockname()[1]}"
        self.answer, self.login = answer, login
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.talk, args=(client,), daemon=True).start()

    def talk(self, client):
        with client, client.makefile("rb") as lines:
            client.sendall(b"220 test\r\n")
            body = None
            for line in lines:
                line = line.rstrip(b"\r\n")
                if body is not None:
                    if line != b".":
                        body.append(line)
                        continue
                    self.mails.append(b"\n".join(body).decode())
                    body = None
                    client.sendall(b"250 taken\r\n")
                    continue
                word = line.split(b" ")[0].upper()
                self.seen.append(line.decode())
                if word == b"EHLO":
                    client.sendall(b"250-test\r\n250-8BITMIME\r\n250 AUTH PLAIN\r\n")
                elif word == b"AUTH":
                    client.sendall(b"334 \r\n")
                    self.seen.append(lines.readline().decode().strip())
                    client.sendall(b"235 welcome\r\n" if self.seen[-1] == self.login else b"535 no\r\n")
                elif word == b"RCPT":
                    client.sendall(self.answer + b"\r\n")
                elif word == b"DATA":
                    client.sendall(b"354 go on\r\n")
                    body = []
                else:
                    client.sendall(b"250 ok\r\n")
                    if word == b"QUIT":
                        return


def mail(base):
    """A real conversation with a mail server, one that says no, one without encryption; and a sendmail program."""
    login = base64.b64encode(b"\0me\0pass-word-of-mine").decode()
    server, full = MailServer(login=login), MailServer(b"452 later")
    never = MailServer(b"550 no such mailbox")
    to = 'to = ["on-call@example.org"]\nuser = "me"\npassword = { file = "password" }\n'
    with open(os.path.join(base, "password"), "w", encoding="utf-8") as file:
        file.write("pass-word-of-mine\n")
    sendmail = os.path.join(base, "sendmail.sh")
    with open(sendmail, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\necho \"$@\" > {base}/args\ncat > {base}/mail\n")
    os.chmod(sendmail, 0o755)
    path = config(base, f'[notify.channel.a]\nkind = "email"\nserver = "{server.url}"\ntls = "if-offered"\n{to}'
                        f'[notify.channel.b]\nkind = "email"\nserver = "{full.url}"\ntls = "never"\nto = ["a@example.org"]\n'
                        f'[notify.channel.c]\nkind = "email"\nserver = "{never.url}"\ntls = "never"\nto = ["a@example.org"]\n'
                        f'[notify.channel.d]\nkind = "email"\nserver = "{server.url}"\n{to}'
                        f'[notify.channel.e]\nkind = "email"\nsendmail = ["{sendmail}"]\nto = ["a@example.org"]\n')
    done = subprocess.run([PROGRAM, "notify", "--test", "--json", "--config", path], capture_output=True, text=True, timeout=90)
    channels = {one["name"]: one for one in json.loads(done.stdout)["channels"]}
    assert done.returncode == 1 and [channels[name]["ok"] for name in "abcde"] == [True, False, False, False, True], channels
    assert len(server.mails) == 1 and "Subject: [midwatch] Test message" in server.mails[0], server.mails
    text = base64.b64decode(server.mails[0].split("\n\n", 1)[1]).decode()
    assert "Nothing has happened" in text, text
    assert login in server.seen, server.seen
    assert "452" in channels["b"]["said"] and "550" in channels["c"]["said"], channels
    assert "no encryption" in channels["d"]["said"], channels
    with open(os.path.join(base, "args"), encoding="utf-8") as file:
        assert file.read().strip().endswith("-- a@example.org")
    assert "pass-word-of-mine" not in done.stdout + done.stderr
    shown = subprocess.run([PROGRAM, "config", "show", path], capture_output=True, text=True, check=True).stdout
    assert "pass-word-of-mine" not in shown and "file =" in shown, shown


def hooks(base):
    """A hook gets the incident as JSON; one that hangs or floods delays nothing; a killed midwatch runs none twice."""
    receiver = Receiver()
    script = os.path.join(base, "on-incident.sh")
    with open(script, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\ncat > {base}/got-$MIDWATCH_EVENT.json\necho started >> {base}/count\necho heard\n")
    os.chmod(script, 0o755)
    config(base, webhook(receiver) +
           '[hook.good]\ncommand = ["./on-incident.sh"]\n'
           '[hook.hangs]\ncommand = ["sh", "-c", "trap \'\' TERM; sleep 60"]\ntimeout = "500ms"\n'
           '[hook.floods]\ncommand = ["sh", "-c", "head -c 100000000 /dev/zero"]\ntimeout = "20s"\n'
           '[hook.missing]\ncommand = ["./not-there.sh"]\n')
    began = time.monotonic()
    code, _, err = run(base, FAILS, "--restarts", "0", seconds=90)
    assert code == 1, err
    assert time.monotonic() - began < 60
    folder = os.path.join(base, "home", "runs", "r", "hooks")
    kept = {}
    for name in os.listdir(folder):
        assert os.path.getsize(os.path.join(folder, name)) <= 1_100_000, name
        with open(os.path.join(folder, name), "rb") as file:
            kept.setdefault(name.split("-", 1)[1], []).append(file.read()[-300:].decode(errors="replace"))
    assert all("heard" in text and "exit status 0" in text for text in kept["good.log"]), kept
    assert all("ended by midwatch after" in text for text in kept["hangs.log"]), kept
    assert all("more bytes were dropped" in text for text in kept["floods.log"]), kept
    with open(os.path.join(base, "got-stopped.json"), encoding="utf-8") as file:
        assert json.load(file)["notices"][0]["event"] == "stopped"
    with open(os.path.join(base, "got-opened.json"), encoding="utf-8") as file:
        assert json.load(file)["notices"][0]["incident"]["kind"]
    assert "stopped" in [notice["event"] for notice in receiver.notices()], "hooks delayed the messages"
    assert "hook failed: hangs" in err and "hook failed: missing" in err, err
    receiver.close()


def hook_tells(base):
    """A note that a hook leaves when the run stops is in its record, though another channel is still tried again; and so is one that was missed."""
    home = os.path.join(base, "home")
    tell = [PROGRAM, "tell", "--home", home, "--run", "r"]
    config(base, f'[notify.channel.gone]\nkind = "webhook"\nurl = "http://127.0.0.1:1/x"\n'
                 f'[hook.tells]\nevents = ["stopped"]\ncommand = {json.dumps(["sh", "-c", " ".join(tell) + " by the hook >> " + base + "/said"])}\n')
    code, _, err = run(base, FAILS, "--restarts", "0")
    assert code == 1, err

    def notes():
        shown = subprocess.run([PROGRAM, "status", "--home", home, "--json", "r"], capture_output=True, text=True, timeout=60, check=True).stdout
        return [note["text"] for note in json.loads(shown)["notes"] if note["who"] != "midwatch"]

    inbox = os.path.join(home, "runs", "r", "inbox")
    assert notes() == ["by the hook"] and os.listdir(inbox) == [], (notes(), os.listdir(inbox), err)
    with open(os.path.join(base, "said"), encoding="utf-8") as file:
        assert "not taken" not in file.read()
    with open(os.path.join(inbox, "5-1.json"), "w", encoding="utf-8") as file:
        json.dump({"version": 1, "ask": "tell", "who": "mira", "text": "missed", "at_ns": 5, "kind": ""}, file)
    subprocess.run([*tell, "later"], capture_output=True, timeout=60, check=True)
    assert sorted(notes()) == ["by the hook", "later", "missed"] and os.listdir(inbox) == [], notes()


def hook_in_doubt(base):
    """midwatch is killed while a hook runs: the next one writes that down and does not run it again."""
    config(base, f'[hook.slow]\ncommand = ["sh", "-c", "echo began >> {base}/count; sleep 3; echo done >> {base}/count"]\n'
                 'events = ["restarted"]\n')
    process = start(base, ["sh", "-c", "test -e flag && sleep 30; touch flag; exit 1"], "--first-wait", "0.2")
    wait_until("the hook", lambda: os.path.exists(os.path.join(base, "count")))
    process.kill()
    process.communicate()
    process = popen([PROGRAM, "run", "--home", os.path.join(base, "home"), "--reattach", "newest", "--quiet"], cwd=base,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(5)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    with open(os.path.join(base, "count"), encoding="utf-8") as file:
        text = file.read()
    assert text.count("began") == 1, text
    journal = b""
    for place, _, names in os.walk(os.path.join(base, "home", "runs", "r", "journal")):
        for name in names:
            with open(os.path.join(place, name), "rb") as file:
                journal += file.read()
    assert b"In doubt: midwatch was ended while it ran" in journal, journal[-2000:]


def encrypted(base):
    """https: a server whose certificate an authority of ours signed is trusted, one that nobody signed is not."""
    key, cert = os.path.join(base, "key.pem"), os.path.join(base, "cert.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", "2", "-subj",
                    "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    receiver = Receiver()
    receiver.server.socket = context.wrap_socket(receiver.server.socket, server_side=True)
    receiver.url = receiver.url.replace("http://", "https://")
    path = config(base, webhook(receiver))
    test = [PROGRAM, "notify", "--test", "--config", path]
    done = subprocess.run(test, capture_output=True, text=True, timeout=60, env={**os.environ, "SSL_CERT_FILE": cert})
    assert done.returncode == 0 and len(receiver.messages()) == 1, done
    environment = {name: value for name, value in os.environ.items() if name != "SSL_CERT_FILE"}
    done = subprocess.run(test, capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == 1 and "certificate" in done.stdout and len(receiver.messages()) == 1, done
    receiver.close()


def escalates(base):
    """People are notified again of a critical incident that stays open, until somebody records a note."""
    receiver = Receiver()
    config(base, webhook(receiver) + '[notify]\nescalate_after = "2s"\nescalate_times = 50\n')
    log = os.path.join(base, "train.log")
    append(log, b"".join(b"step %d reward 0.5 loss 0.1\n" % step for step in range(1, 30)))
    append(log, b'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    main()\nValueError: bad batch\n'
                b'the launcher ends\n')
    home = os.path.join(base, "home")
    began = time.monotonic()
    process = popen([PROGRAM, "attach", log, "--home", home], cwd=base, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    wait_until("a message", lambda: receiver.notices())
    assert time.monotonic() - began < 30, "people are notified of an incident within seconds"

    def escalations():
        return [notice["key"] for notice in receiver.notices() if notice["event"] == "escalation"]

    # It is critical once it is plain that the run does not survive it, a minute after at the latest.
    wait_until("two escalations", lambda: len(escalations()) >= 2, 120)
    subprocess.run([PROGRAM, "tell", "I look at it", "--home", home], check=True, capture_output=True, timeout=20)
    time.sleep(0.5)
    before = escalations()
    time.sleep(5)
    assert escalations() == before and len(set(before)) == len(before), (before, escalations())
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    receiver.close()


def wrong_settings(base):
    for text, words in (('[notify.channel.x]\nkind = "slak"\n', 'Did you mean slack?'),
                        ('[notify.channel.x]\nkind = "slack"\n', "it has no url"),
                        ('[notify.channel.x]\nkind = "slack"\nurl = { env = "NOT_SET_AT_ALL" }\n', "NOT_SET_AT_ALL is not set"),
                        ('[notify]\nescalate_to = ["fone"]\n[notify.channel.phone]\nkind = "terminal"\n', "Did you mean phone?")):
        path = config(base, text)
        code, _, err = run(base, ["true"], "--config", path)
        assert code == 125 or code == 2, (code, err)
        assert words in err and "midwatch.toml:" in err, err
        assert not os.path.exists(os.path.join(base, "home", "runs")), "something was begun"


CASES = (wrong_settings, kinds, mail, encrypted, escalates, hooks, hook_tells, hook_in_doubt, notified_of_a_crash, refused_for_good, receiver_down, receiver_in_trouble, attached,
             notified_of_a_restart, killed)


def one(case):
    start_s = time.monotonic()
    with Scratch() as scratch:
        try:
            case(scratch)
        finally:
            for child in STARTED:
                child.kill()
    print(f"{case.__name__} ok, {time.monotonic() - start_s:.1f} s", flush=True)


def several(names):
    """A process each, a few at a time: they mostly wait."""
    waiting, running, failed = list(names), [], []
    while waiting or running:
        while waiting and len(running) < 4:
            name = waiting.pop(0)
            running.append((name, subprocess.Popen([sys.executable, *sys.argv[:3], name])))
        for name, child in list(running):
            if child.poll() is not None:
                running.remove((name, child))
                failed += [name] if child.returncode != 0 else []
        time.sleep(0.05)
    assert not failed, failed


chosen = sys.argv[3:] or [case.__name__ for case in CASES]
if len(chosen) == 1:
    one(next(case for case in CASES if case.__name__ == chosen[0]))
else:
    several(chosen)
