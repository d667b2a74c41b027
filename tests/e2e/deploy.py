"""What docs/deploy shows is run, as far as it can be here, and what shells get works in them."""
import glob
import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import time

import skips
from running import PROGRAM, wait_until
from watching import Scratch

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "deploy", "examples")

# Leaves an orphan that ends at once; saves for a second when it is asked to end.
TRAINER = r"""
import os, signal, subprocess, sys, time
def asked(number, frame):
    print("saving", flush=True)
    time.sleep(1)
    sys.exit(7)
signal.signal(signal.SIGTERM, asked)
subprocess.run(["sh", "-c", "sh -c 'sleep 0.2' &"])
open("ready", "w").close()
for step in range(100000):
    print(f"step:{step} - critic/rewards/mean:0.25 - actor/entropy:0.5", flush=True)
    time.sleep(0.1)
"""


def read(name):
    with open(os.path.join(EXAMPLES, name)) as file:
        return file.read()


def zombies_below(pid):
    found = []
    for place in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(place) as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if fields[0] == "Z" and int(fields[1]) == pid:
            found.append(place)
    return found


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(one) for one in file.read().split()]


def entrypoint(base):
    """The Dockerfile's entrypoint as PID 1: what `docker stop` sends arrives as it came, orphans are collected, the status is the command's."""
    if subprocess.run(["unshare", "-p", "-f", "--mount-proc", "true"], check=False, capture_output=True).returncode != 0:
        skips.skip("entrypoint", "no PID namespace can be made here")
        return
    words = json.loads(re.search(r"^ENTRYPOINT (\[.*\])$", read("Dockerfile"), re.M).group(1))
    assert words[0] == "midwatch", words
    run = subprocess.Popen(["unshare", "-p", "-f", "--mount-proc", "--kill-child", PROGRAM, *words[1:], sys.executable, "-c", TRAINER],
                           cwd=base, env={**os.environ, "MIDWATCH_HOME": base + "/home"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until("the trainer", lambda: os.path.exists(base + "/ready"))
    first, = children_of(run.pid)
    time.sleep(2)
    wait_until("no zombies", lambda: not zombies_below(first))
    os.kill(first, signal.SIGTERM)
    _, err = run.communicate(timeout=60)
    assert run.returncode == 7, (run.returncode, err.decode()[-800:])
    with open(glob.glob(base + "/home/runs/*/output/train.log")[0]) as file:
        assert "saving" in file.read()


def pod_start(base):
    """The start script of a pod, run at its first start and again after everything in it was killed."""
    os.makedirs(base + "/train")
    os.makedirs(base + "/bin")
    shutil.copy(PROGRAM, base + "/bin/midwatch")
    with open(base + "/train/train.sh", "w") as file:
        file.write('for i in $(seq 1 1000); do echo "step:$i - critic/rewards/mean:0.25"; [ -e ../enough ] && exit 0; sleep 0.1; done\n')
    script = base + "/onstart.sh"
    with open(script, "w") as file:
        file.write(read("onstart.sh").replace("/workspace", base))
    env = {**os.environ, "PATH": base + "/bin:" + os.environ["PATH"], "MIDWATCH_HOME": base + "/midwatch"}
    log = lambda: "".join(open(path).read() for path in glob.glob(base + "/midwatch/runs/grpo/output/train.log"))
    subprocess.run(["bash", script], check=True, timeout=60, stdin=subprocess.DEVNULL)
    wait_until("steps", lambda: "step:5 " in log())
    subprocess.run(["pkill", "-9", "-f", base], check=False)  # midwatch, its keeper, the command
    for place in glob.glob("/proc/[0-9]*/cwd"):
        try:
            if os.readlink(place).startswith(base):
                os.kill(int(place.split("/")[2]), signal.SIGKILL)
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            pass
    subprocess.run(["bash", script], check=True, timeout=60, stdin=subprocess.DEVNULL)
    wait_until("the next attempt", lambda: "attempt 2 began" in log(), 60)
    open(base + "/enough", "w").close()
    status = lambda: subprocess.run([base + "/bin/midwatch", "runs", "--json"], env=env, capture_output=True, text=True, check=False).stdout
    wait_until("the end", lambda: json.loads(status())["runs"][0]["state"] not in ("running", "waiting"), 60)
    runs = json.loads(status())["runs"]
    assert [one["name"] for one in runs] == ["grpo"], runs


def scripts_are_scripts(base):
    del base
    for name in ("onstart.sh", "midwatch.sbatch"):
        subprocess.run(["bash", "-n", os.path.join(EXAMPLES, name)], check=True)
    if shutil.which("systemd-analyze"):
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", os.path.join(EXAMPLES, "midwatch@.service")], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    else:
        print("  systemd-analyze is not here: the unit was not checked", flush=True)


def notes_have_a_name(base):
    """Containers often have no $USER: a note bears the name of the machine's list of users all the same."""
    home = os.path.join(base, "home")
    env = {name: value for name, value in os.environ.items() if name not in ("USER", "LOGNAME")}
    run = subprocess.Popen([PROGRAM, "run", "--quiet", "--no-host", "--home", home, "--name", "one", "--", "sleep", "60"], cwd=base,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until("the run", lambda: os.path.exists(os.path.join(home, "runs", "one", "watcher.json")))
        subprocess.run([PROGRAM, "tell", "--home", home, "--run", "one", "lowered lr"], env=env, check=True, timeout=60, capture_output=True)
        status = subprocess.run([PROGRAM, "status", "--home", home, "--run", "one", "--json"], env=env, check=True, timeout=60, capture_output=True)
        who = [note["who"] for note in json.loads(status.stdout)["notes"] if note["text"] == "lowered lr"]
        assert who and who[0].split("@")[0] == pwd.getpwuid(os.getuid()).pw_name, who
    finally:
        run.send_signal(signal.SIGINT)
        run.wait(60)


def shown(shell_words, line):
    """What bash offers for a command line whose end is being typed."""
    words = line.split(" ")
    code = (f"source <({PROGRAM} completion bash)\nCOMP_WORDS=({' '.join(repr(word) for word in words)})\n"
            f"COMP_CWORD={len(words) - 1}\n_midwatch\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"")
    return subprocess.run([*shell_words, "-c", code], capture_output=True, text=True, check=True).stdout.split()


def completions(base):
    bash = ["bash", "--norc"]
    assert shown(bash, "midwatch re") == ["resume", "replay", "report", "restore"], shown(bash, "midwatch re")
    assert "--reattach" in shown(bash, "midwatch run --re") and "--restarts" in shown(bash, "midwatch run --re")
    assert shown(bash, "midwatch run -- bash --re") == []
    open(base + "/train.log", "w").close()
    assert shown(bash, f"midwatch replay {base}/tr") == [base + "/train.log"]
    for shell in ("bash", "zsh", "fish"):
        script = subprocess.run([PROGRAM, "completion", shell], capture_output=True, text=True, check=True).stdout
        if shutil.which(shell) is None:
            print(f"  {shell} is not here: its completions were not read", flush=True)
            continue
        path = f"{base}/completion.{shell}"
        with open(path, "w") as file:
            file.write(script)
        subprocess.run([shell, "-n", path], check=True)
    wrong = subprocess.run([PROGRAM, "completion", "tcsh"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2 and "bash" in wrong.stderr, wrong
    if shutil.which("man"):
        page = subprocess.run([PROGRAM, "man"], capture_output=True, text=True, check=True).stdout
        with open(base + "/midwatch.1", "w") as file:
            file.write(page)
        done = subprocess.run(["man", "--warnings", "-l", base + "/midwatch.1"], capture_output=True, text=True, check=True)
        assert not done.stderr and "--reattach" in done.stdout, done.stderr
    else:
        print("  man is not here: the manual page was not set", flush=True)


def version(base):
    del base
    line = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout
    said = json.loads(subprocess.run([PROGRAM, "--version", "--json"], capture_output=True, text=True, check=True).stdout)
    assert line.startswith(f"midwatch {said['version']} (") and line.count("\n") == 1, line
    assert not said["commit"] or re.match(r"[0-9a-f]{7,}( with changes)?$", said["commit"]), said


def main():
    tests = [entrypoint, pod_start, scripts_are_scripts, notes_have_a_name, completions, version]
    wanted = sys.argv[3:]
    for test in tests:
        if wanted and test.__name__ not in wanted:
            continue
        began = time.monotonic()
        with Scratch() as base:
            test(base)
        print(f"{test.__name__} ok, {time.monotonic() - began:.1f} s", flush=True)
    return skips.status()


sys.exit(main())
