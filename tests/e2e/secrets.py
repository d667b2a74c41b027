"""No secret of a run is in what midwatch keeps or shows: a corpus of kinds in contexts, through the journal, every view, a real
web server and a hook; run folders are for their owner alone.

    secrets.py MIDWATCH PRACTICE_RUN [--show]      also names what leaked, by case (never the secret)
"""
import http.server
import json
import os
import stat
import subprocess
import sys
import threading
import time

import secret_corpus
from watching import MIDWATCH, Scratch

PROGRAM = os.path.abspath(MIDWATCH)
os.environ["no_proxy"] = "127.0.0.1,localhost"
RAW = ("run.json", "launch.json")  # what is to be started, environment and all: for its owner alone
SPLIT_KINDS = ("openai", "huggingface", "github", "aws-secret", "slack-bot", "jwt", "unknown-mixed")


class Receiver:
    """A web server that keeps what it is sent."""

    def __init__(self):
        got = self.got = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                got.append(self.rfile.read(int(self.headers.get("Content-Length", 0))))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def said(*words, env=None):
    done = subprocess.run([PROGRAM, *words], capture_output=True, timeout=120, check=False, env=env)
    return done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace")


def kept(folder, raw=()):
    """All that lies in a folder, read as text; compressed segments too. `raw`: names that are left out."""
    text = []
    for place, _, names in os.walk(folder):
        if os.path.basename(place) == "output":
            continue  # the command's own words
        for name in names:
            path = os.path.join(place, name)
            if name in raw or not stat.S_ISREG(os.lstat(path).st_mode):
                continue
            with open(path, "rb") as file:
                data = file.read()
            if data[:4] == b"\x28\xb5\x2f\xfd":
                data = subprocess.run(["zstd", "-dc"], input=data, capture_output=True, check=True).stdout
            text.append(data.decode(errors="replace"))
    return "\n".join(text)


def views(place, name=None):
    """What every verb says of a recorded run."""
    run = [name] if name else []
    where = ["--home", place]
    text = [said("status", *where, *run), said("status", "--json", *where, *run), said("incidents", *where, *run),
            said("incidents", "--json", *where, *run), said("why", *where), said("why", "1", *where), said("why", "1", "--json", *where),
            said("report", *where, *run)]
    return "\n".join(text)


def check(what, text, cases):
    found = secret_corpus.parts(text)
    leaks = [name for name, _, secrets in cases if secret_corpus.leaked(found, secrets)]
    if leaks and "--show" in sys.argv:
        print("\n".join(leaks))
    assert not leaks, f"{what}: {len(leaks)} of {len(cases)} leak, the first: {leaks[:8]}"
    return len(cases)


def traceback(lines, number):
    frames = "".join(f"  File \"/opt/t/train{number}.py\", line {n}, in step{n}\n    {line}\n" for n, line in enumerate(lines[:1], 1))
    return f"Traceback (most recent call last):\n{frames}RuntimeError: case{number}: " + "\n  ".join(lines) + "\nnext\n"


def recorded(base, log, env=None):
    """Watches a log until its last line is read; the home in which it is recorded."""
    home = os.path.join(base, "home")
    process = subprocess.Popen([PROGRAM, "attach", "--home", home, "--poll", "0.2", log], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, env=env)
    end = time.monotonic() + 120
    while "the very last error" not in kept(home):
        assert time.monotonic() < end and process.poll() is None, process.communicate()[0][-2000:]
        time.sleep(0.2)
    process.terminate()
    return home, process.communicate(timeout=60)[0].decode(errors="replace")


def last_error():
    return "Traceback (most recent call last):\n  File \"a.py\", line 1, in b\nRuntimeError: the very last error\nnext\n"


def corpus_in_tracebacks(base):
    cases = list(secret_corpus.cases())
    log = os.path.join(base, "train.log")
    with open(log, "w", encoding="utf-8") as file:
        for number, (_, lines, _) in enumerate(cases):
            file.write(traceback(lines, number))
        file.write(last_error())
    home, out = recorded(base, log)
    journal = kept(home)
    lost = [name for number, (name, _, _) in enumerate(cases) if f"case{number}:" not in journal]
    assert not lost, lost
    check("the journal", journal, cases)
    check("what attach says", out, cases)
    check("the views of a recorded run", views(home), cases)
    check("replay", said("replay", log) + said("replay", "--json", log) + said("report", log), cases)
    return f"{len(cases)} kinds in contexts"


def corpus_in_log_lines(base):
    """As errors and warnings (which become templates), as the text of a signature, as settings, in a JSON line."""
    cases = [case for case in secret_corpus.cases(seed=12) if len(case[1]) == 1][::9]
    log, rows = os.path.join(base, "train.log"), os.path.join(base, "metrics.jsonl")
    with open(log, "w", encoding="utf-8") as file:
        for number, (_, lines, _) in enumerate(cases):
            odd = "".join(chr(97 + int(d)) for d in str(number)) * 3  # a template of its own
            file.write(f"2026-02-19 09:08:11,123 ERROR {odd} {odd}{odd} went wrong {odd}: {lines[0]}\n")
            file.write(f"(WorkerDict pid={number + 100}) torch.OutOfMemoryError: CUDA out of memory. {lines[0]}\n")
            file.write(f"UserWarning: {odd} {lines[0]}\n")
        file.write(last_error())
    with open(rows, "w", encoding="utf-8") as file:
        for number, (name, lines, secrets) in enumerate(cases):
            file.write(json.dumps({"step": number, "loss": 0.5, "note": lines[0], name: 1.0}) + "\n")
    home, out = recorded(base, log)
    check("the journal", kept(home), cases)
    check("what attach says", out + views(home), cases)
    check("replay", said("replay", "--json", log, rows) + said("report", log, rows), cases)
    return f"{len(cases)} in lines"


def split_everywhere(base):
    """Cut at every position: into two reads, and over two lines as terminals, Ray and loggers wrap them."""
    make = secret_corpus.Maker(13)
    cases, chunks = [], []
    for kind in SPLIT_KINDS:
        variable, one = secret_corpus.KINDS[kind]
        secret = one(make)
        whole = f"could not reach the judge with the settings that were given: {variable}={secret}"
        for at in range(whole.index(variable), min(len(whole) - 1, whole.index(variable) + 90)):
            secret = one(make)  # another each time
            line = f"could not reach the judge with the settings that were given: {variable}={secret}"
            number = len(cases)
            cases.append((f"{kind} cut at {at}", [], [secret[-43:] if kind == "jwt" else secret]))  # all begin alike
            head = f"Traceback (most recent call last):\n  File \"a{number}.py\", line 1, in b\n    c()\n"
            if number % 3 == 0:
                chunks.append((f"{head}RuntimeError: {line[:at]}", f"{line[at:]}\nnext\n"))
            elif number % 3 == 1:
                chunks.append((f"{head}RuntimeError: {line[:at]}\n", f"  {line[at:]}\nnext\n"))
            else:
                chunks.append((f"{head}RuntimeError: x\n(Judge pid=7) {line[:at]}\n", f"(Judge pid=7) {line[at:]} CUDA out of memory.\nnext\n"))
    log = os.path.join(base, "train.log")
    home = os.path.join(base, "home")
    with open(log, "wb") as file:
        file.write(b"begin\n")
    process = subprocess.Popen([PROGRAM, "attach", "--home", home, "--poll", "0.2", log], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    with open(log, "ab", buffering=0) as file:
        for first, second in chunks:
            file.write(first.encode())
            time.sleep(0.004)
            file.write(second.encode())
        file.write(last_error().encode())
    end = time.monotonic() + 120
    while "the very last error" not in kept(home):
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.2)
    process.terminate()
    out = process.communicate(timeout=60)[0].decode(errors="replace")
    check("the journal", kept(home), cases)
    check("what is said of it", out + views(home) + said("replay", "--json", log), cases)
    return f"{len(cases)} cuts"


def supervised_run(base):
    """A command that dies of a traceback full of secrets: messages, hook, files, verbs; and secrets in its environment."""
    os.umask(0)
    make = secret_corpus.Maker(14)
    plain = "ordinary-" + make.some("abcdefghijklmnopqrstuvwxyz", 9)  # nothing but its variable gives it away
    own = {"REWARD_API_KEY": plain, "JUDGE_PASSWORD": "tr0ub4dor & 3 " + make.mixed(6), "NTFY_TOPIC_TOKEN": make.hex(32),
           "USE_TOKEN": "true", "RUN_KEY": "default", "TOKEN_COUNT_TOKEN": "4096"}
    # What is kept of a message is a line of some hundred bytes: as many cases as fit, each at the end of one attempt's output.
    case = {name: (lines, secrets) for name, lines, secrets in secret_corpus.cases(seed=15)}
    names = ["github in url-user", "aws-session in assignment", "ntfy in assignment", "slack-webhook", "unknown-mixed in option-key",
             "huggingface in dict", "jwt in query-token"]
    text = "\\n  ".join([case[name][0][0].replace("\\", "\\\\").replace("'", "\\'") for name in names])
    receiver = Receiver()
    script = os.path.join(base, "train.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write("import os, sys\nprint('use true by default, 4096 tokens', flush=True)\n"
                   "print('Traceback (most recent call last):\\n  File \"train.py\", line 3, in main\\n    go()')\n"
                   f"print('torch.OutOfMemoryError: CUDA out of memory: {text}\\n  ' + os.environ['REWARD_API_KEY'])\n"
                   "print('  again ' + os.environ['JUDGE_PASSWORD'] + ' and ' + os.environ['NTFY_TOPIC_TOKEN'])\n"
                   "sys.exit(1)\n")
    with open(os.path.join(base, "midwatch.toml"), "w", encoding="utf-8") as file:
        file.write(f'[notify.channel.web]\nkind = "webhook"\nurl = "{receiver.url}/hook"\n'
                   f'[notify.channel.slack]\nkind = "slack"\nurl = "{receiver.url}/slack"\n'
                   f'[notify.channel.ntfy]\nkind = "ntfy"\nurl = "{receiver.url}/runs"\n'
                   "[hook.echo]\ncommand = [\"sh\", \"-c\", \"cat; env\"]\n")
    home = os.path.join(base, "home")
    done = subprocess.run([PROGRAM, "run", "--home", home, "--name", "r", "--restarts", "1", "--", sys.executable, script,
                           "--reward-key", plain], cwd=base, env={**os.environ, **own}, capture_output=True, timeout=120, check=False)
    assert done.returncode == 1, done.stderr
    hidden = [(name, [], case[name][1]) for name in names] + [(name, [], [value]) for name, value in own.items() if len(value) > 8]
    folder = os.path.join(home, "runs", "r")
    with open(os.path.join(folder, "output", "train.log"), encoding="utf-8") as file:
        assert plain in file.read(), "the command's own words are kept as they are"
    assert len(receiver.got) >= 3, len(receiver.got)
    assert any(b"OutOfMemory" in body for body in receiver.got)
    check("messages", "\n".join(body.decode(errors="replace") for body in receiver.got), hidden)
    check("files of the run", kept(folder, RAW), hidden)
    check("what run said", done.stderr.decode(errors="replace"), hidden)
    check("verbs", views(home, "r"), hidden)
    check("verbs where the environment is known", said("status", "--home", home, env={**os.environ, **own}), hidden)
    private(folder)
    receiver.server.shutdown()
    return f"{len(receiver.got)} messages"


TRAINER = """import os, sys, time, zipfile
print('Total training steps: 12', flush=True)
for step in range(1, 13):
    time.sleep(0.15)
    print(f'step:{step} - actor/pg_loss:0.02 - critic/rewards/mean:{0.3 + step / 100} - training/global_step:{step}', flush=True)
    if step % 4:
        continue
    os.makedirs(f'ck/global_step_{step}/actor', exist_ok=True)
    for kind in ('model', 'optim', 'extra_state'):
        with zipfile.ZipFile(f'ck/global_step_{step}/actor/{kind}_world_size_1_rank_0.pt', 'w') as file:
            file.writestr('archive/data.pkl', b'\\x80\\x02}q\\x00.')
            file.writestr('archive/data/0', os.urandom(2000))
    with open('ck/latest_checkpointed_iteration.txt', 'w') as file:
        file.write(str(step))
    print(f'local_global_step_folder: ck/global_step_{step}', flush=True)
"""


def every_way_out(base):
    """A command, its variables and what the settings name as a variable of a secret: in none of the ways out of the program."""
    make = secret_corpus.Maker(16)
    own = {"JUDGE_API_KEY": make.mixed(24), "PLAIN": "some-words-" + make.mixed(6), "ODD": "tok-" + make.some(secret_corpus.UPPER + secret_corpus.DIGITS, 14)}
    typed = {"--api-key": secret_corpus.KINDS["openai-project"][1](make), "--password": "hunter2" + make.mixed(8), "--hf_token=": "hf" + make.mixed(12),
             "trainer.hub_token=": make.mixed(16), "--judge": "key-" + make.mixed(16) + "A7", "--said": own["PLAIN"]}
    words = [word for name, value in typed.items() for word in ([name + value] if name.endswith("=") else [name, value])]
    hidden = [(name, [], [value]) for name, value in {**own, **typed}.items()]
    script, store, home = os.path.join(base, "train.py"), os.path.join(base, "store"), os.path.join(base, "home")
    with open(script, "w", encoding="utf-8") as file:
        file.write(TRAINER)
    with open(os.path.join(base, "judge.sh"), "w", encoding="utf-8") as file:
        file.write(f"# asks the judge with {own['PLAIN']}\n")
    receiver = Receiver()
    with open(os.path.join(base, "midwatch.toml"), "w", encoding="utf-8") as file:
        file.write(f'[notify]\nmin_severity = "info"\n[notify.channel.web]\nkind = "webhook"\nurl = "{receiver.url}/hook"\n'
                   'token = { env = "PLAIN" }\n[hook.echo]\ncommand = ["sh", "-c", "cat; env | grep MIDWATCH"]\n')
    env = {**os.environ, **own}
    for number, more in ((1, []), (2, ["--extra", "1"])):
        if number == 2:
            env["ODD"] = own["ODD"][:-1] + "7"
            hidden.append(("ODD again", [], [env["ODD"]]))
        done = subprocess.run([PROGRAM, "run", "--home", home, "--name", f"r{number}", "--store", store, "--checkpoints", "ck", "--",
                               sys.executable, script, "judge.sh", *words, *more], cwd=base, env=env, capture_output=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        check("what run said", done.stderr.decode(errors="replace"), hidden)
    where, count = ["--home", home], 0
    both = [os.path.join(home, "runs", f"r{number}") for number in (1, 2)]
    ways = [["runs"], ["runs", "--json"], ["runs", "show", "r2"], ["runs", "show", "r2", "--json"], ["runs", "export"], ["runs", "export", "--json"],
            ["runs", "export", "--csv"], ["compare", *both], ["compare", *both, "--json"], ["status", "--run", "r2"],
            ["status", "--json", "--run", "r2"], ["report", "--run", "r2"], ["verify", "r2"], ["checkpoint", "remote", store], ["checkpoint", "logs", store, os.path.join(base, "received")],
            ["replay", "--full", os.path.join(home, "runs", "r2")], ["replay", "--json", os.path.join(home, "runs", "r2")]]
    for way in ways:
        takes_home = way[0] not in ("replay", "checkpoint", "compare")
        text = said(*way, *(where if takes_home else []))
        assert "has no option" not in text, text
        count += len(text)
        check(" ".join(way[:2]), text, hidden)
    assert "<redacted>" in said("runs", "show", "r2", *where)
    assert "--extra" in said("runs", "show", "r2", *where), "the run before is not compared"
    check("messages", "\n".join(body.decode(errors="replace") for body in receiver.got), hidden)
    for number in (1, 2):
        check("files of the run", kept(os.path.join(home, "runs", f"r{number}"), RAW), hidden)
    assert "fingerprint" in " ".join(os.listdir(store)), os.listdir(store)
    check("the store", kept(store), hidden)
    check("what is received from it", kept(os.path.join(base, "received")), hidden)
    receiver.server.shutdown()
    return f"{len(ways)} ways, {count} characters"


def private(folder):
    for place, folders, names in os.walk(folder):
        for path in [place, *(os.path.join(place, name) for name in folders + names)]:
            mode = stat.S_IMODE(os.lstat(path).st_mode)
            assert stat.S_ISLNK(os.lstat(path).st_mode) or mode & 0o077 == 0, (path, oct(mode))


def folders_are_private(base):
    """Also those that an earlier midwatch left open, and with a mask that hides nothing."""
    os.umask(0)
    log = os.path.join(base, "train.log")
    with open(log, "w", encoding="utf-8") as file:
        file.write(last_error())
    home, _ = recorded(base, log)
    (name,) = os.listdir(os.path.join(home, "runs"))
    folder = os.path.join(home, "runs", name)
    private(folder)
    beside = os.path.join(base, "beside")
    with open(beside, "w", encoding="utf-8") as file:
        file.write("mine")
    os.chmod(beside, 0o644)
    os.symlink(beside, os.path.join(folder, "link"))
    for place, folders, names in os.walk(folder):
        os.chmod(place, 0o755)
        for inner in names:
            if not os.path.islink(os.path.join(place, inner)):
                os.chmod(os.path.join(place, inner), 0o644)
    again = subprocess.Popen([PROGRAM, "attach", "--home", home, "--poll", "0.2", log], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    end = time.monotonic() + 60
    while stat.S_IMODE(os.stat(folder).st_mode) != 0o700 and time.monotonic() < end:
        time.sleep(0.1)
    again.terminate()
    again.communicate(timeout=60)
    private(folder)
    assert stat.S_IMODE(os.stat(beside).st_mode) == 0o644, "what a link points to is not the run's"
    return "folders"


TESTS = [corpus_in_tracebacks, corpus_in_log_lines, split_everywhere, supervised_run, every_way_out, folders_are_private]


def main():
    only = [word for word in sys.argv[3:] if not word.startswith("-")]
    for test in TESTS:
        if only and test.__name__ not in only:
            continue
        begin, mask = time.monotonic(), os.umask(0o022)
        with Scratch() as base:
            try:
                result = test(base)
            finally:
                os.umask(mask)
        print(f"{test.__name__}: {result}, {time.monotonic() - begin:.1f} s", flush=True)


if __name__ == "__main__":
    main()
