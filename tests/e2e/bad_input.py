"""Bad input gets a clear message and the documented exit code; never a crash."""
import json
import os
import re
import signal
import subprocess
import sys

import skips
from watching import MIDWATCH, Scratch


def run(*args, **more):
    done = subprocess.run([MIDWATCH, *args], capture_output=True, timeout=300, **more)
    assert done.returncode >= 0, f"{args}: died of signal {-done.returncode}"
    return done


def expect(code, *args):
    done = run(*args)
    assert done.returncode == code, f"{args}: exit {done.returncode}, expected {code}\n{done.stderr.decode()}"
    if code not in (0, 5):
        assert done.stderr.startswith(b"midwatch: ") or b"Run with --help" in done.stderr, done.stderr
    return done


def paths(folder):
    expect(2)
    expect(2, "no-such-verb")
    expect(3, "replay", os.path.join(folder, "missing"))
    expect(4, "replay", folder)
    empty = os.path.join(folder, "empty.log")
    open(empty, "w").close()
    expect(4, "replay", empty)
    junk = os.path.join(folder, "junk.bin")
    with open(junk, "wb") as handle:
        handle.write(bytes((i * 7919 + (i >> 3)) & 255 for i in range(200000)))
    expect(4, "replay", junk)
    os.chmod(empty, 0)
    unreadable = [MIDWATCH, "replay", empty]
    if os.getuid() == 0:  # without the right of root to read everything
        drop = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
        if subprocess.run([*drop, "cat", empty], capture_output=True, check=False).returncode == 0:
            skips.skip("an unreadable file", "root can read everything here")
            return
        unreadable = drop + unreadable
    done = subprocess.run(unreadable, capture_output=True, check=False)
    assert done.returncode == 3, done


def two_runs(folder):
    """Metrics of two runs in one folder are two runs, also where they are named one by one (a shell's folder/*)."""
    for name, shift in (("a", 0.0), ("b", 0.21)):
        with open(os.path.join(folder, f"{name}.jsonl"), "w") as handle:
            for step in range(1, 41):
                noise = 0.05 * ((step * 7919 + int(shift * 100) * 31) % 13)
                handle.write(json.dumps({"step": step, "reward": 0.2 + shift + noise, "entropy": 1.5 - shift - noise,
                                         "grad_norm": 0.4 + shift * noise + shift, "loss": 0.1 + shift + noise / 3}) + "\n")
    apart = expect(0, "replay", folder)
    assert b"2 runs lie in" in apart.stdout and b"two runs" not in apart.stderr, apart
    paths = [os.path.join(folder, name) for name in ("a.jsonl", "b.jsonl")]
    assert f"2 runs lie in {folder}".encode() in b" ".join(expect(0, "replay", *paths).stdout.split()), "they are put together"
    assert len(json.loads(expect(0, "replay", "--json", *paths).stdout)["runs"]) == 2
    assert b"Give one of them" in expect(2, "report", *paths).stderr, "it says what to type"
    assert b"two runs" not in expect(0, "replay", os.path.join(folder, "a.jsonl")).stderr


def hostile_text(folder):
    log = os.path.join(folder, "hostile.log")
    with open(log, "wb") as handle:
        handle.write(b"ERROR \x1b]0;owned\x07\x1b[2J<script>alert(1)</script> [x](http://evil) | `rm -rf` \xff\xfe\n" * 3)
        handle.write(b"ERROR key WANDB_API_KEY=0123456789abcdef0123 and hf_abcdefghijklmnopqrstuvwxyz\n")
        handle.write(b"Traceback (most recent call last):\n" * 50000)
        handle.write(b"a" * (64 << 20) + b"\n")
        handle.write(b"(" * 1000000 + b"\n")
        handle.write(b"{'loss': nan, 'reward': 1e999, 'x': " + b"[" * 100000 + b"\n")
    shown = expect(0, "replay", log).stdout
    assert b"\x1b" not in shown and b"\xff" not in shown, "terminal escapes or broken bytes got through"
    report = expect(0, "report", log).stdout
    outside_code = re.sub(rb"(`+).*?\1", b"", report)
    assert b"<script" not in outside_code and b"](http" not in outside_code, "HTML or a link got through"
    as_json = expect(0, "replay", "--json", log).stdout
    json.loads(as_json)
    for output in (shown, report, as_json):
        assert b"0123456789abcdef0123" not in output and b"hf_abcdefghijkl" not in output, "a secret got through"


def unwritable_output(folder):
    """Whatever verb prints: what cannot be written is said, with the code of the table; a pager that was closed is not."""
    log = os.path.join(folder, "train.log")
    with open(log, "w") as handle:
        for step in range(1, 400):
            handle.write(f"(TaskRunner pid=9) step:{step} - actor/entropy:0.5 - critic/score/mean:0.{step % 10} - training/global_step:{step}\n")
    home = os.path.join(folder, "home")
    expect(0, "attach", log, "--home", home, "--name", "one", "--exit-after-idle", "1", "--quiet")
    verbs = [("replay", log), ("replay", "--json", log), ("replay", "--series", log), ("report", log), ("why", log),
             ("compare", log, log), ("incidents", log), ("status", "one", "--home", home), ("runs", "--home", home),
             ("config", "reference"), ("--version",), ("--help",), ("replay", "--help"), ("checkpoint", "--help"),
             ("completion", "bash")]
    for words in verbs:
        assert run(*words).returncode == 0, words
        with open("/dev/full", "wb") as full:
            done = subprocess.run([MIDWATCH, *words], stdout=full, stderr=subprocess.PIPE, check=False, timeout=300)
        assert done.returncode == 6 and b"the output could not be written: No space left" in done.stderr, (words, done)
        done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", MIDWATCH, *words], stderr=subprocess.PIPE, check=False,
                              timeout=300)
        assert done.returncode == 6 and b"the output could not be written: Bad file" in done.stderr, (words, done)
        for ignored in (True, False):  # a reader that has enough: as every other program, and without a word
            ours, theirs = os.pipe()
            os.close(ours)
            done = subprocess.run([MIDWATCH, *words], stdout=theirs, stderr=subprocess.PIPE, check=False, timeout=300,
                                  restore_signals=not ignored)
            os.close(theirs)
            assert done.returncode == (0 if ignored else -signal.SIGPIPE) and done.stderr == b"", (words, done)
    with open("/dev/full", "wb") as full:  # what a verb found stands, and a command's status is its own
        found = subprocess.run([MIDWATCH, "replay", os.path.join(folder, "missing")], stdout=full, check=False,
                               stderr=subprocess.DEVNULL, timeout=300)
        own = subprocess.run([MIDWATCH, "run", "--home", home, "--", "sh", "-c", "echo well; exit 0"], stdout=full,
                             stderr=subprocess.PIPE, check=False, timeout=300)
    assert found.returncode == 3, found
    assert own.returncode == 0 and b"the output could not be written" in own.stderr, own
    closed = subprocess.run(["sh", "-c", 'exec "$@" >&- 2>&- <&-', "sh", MIDWATCH, "attach", log, "--home", home, "--name", "two",
                             "--exit-after-idle", "1"], check=False, timeout=300)
    assert closed.returncode in (0, 6), closed
    expect(0, "replay", os.path.join(home, "runs", "two"))  # nothing that was said stands in its journal


def full_disk(folder):
    """A file system of 1 MB: the journal does not fit, the watch says so and lives."""
    small = os.path.join(folder, "small")
    os.mkdir(small)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", small], capture_output=True).returncode != 0:
        skips.skip("full_disk", "this user may not mount a tmpfs")
        return
    try:
        log = os.path.join(folder, "train.log")
        with open(log, "w") as handle:
            for step in range(3000):
                handle.write(f"(TaskRunner pid=9) step:{step} - actor/entropy:0.5 - critic/score/mean:0.{step % 10} - training/global_step:{step}\n")
        done = run("attach", log, "--home", os.path.join(small, "home"), "--exit-after-idle", "1")
        assert done.returncode in (0, 5, 6), done
        assert b"journal" in done.stderr and b"space" in done.stderr.lower(), done.stderr
        report = run("report", log, "-o", os.path.join(small, "report.md"))
        assert report.returncode in (0, 6), report
    finally:
        subprocess.run(["umount", small], check=True)


def main():
    for part in (paths, two_runs, hostile_text, unwritable_output, full_disk):
        with Scratch() as folder:
            part(folder)
        print(f"{part.__name__}: well")
    sys.exit(skips.status())


main()
