"""The attempts of a run: what they resume from, what they were made of, what changed between them, and no secret."""
import glob
import hashlib
import json
import os
import signal
import subprocess
import time

from running import PRACTICE, Run, midwatch, output, processes_of, wait_until
from watching import Scratch, journal

SECRET = "hush-hush-4711"


def git(folder, *words):
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words], cwd=folder, check=True,
                   capture_output=True)


def package(base, name, version):
    os.makedirs(f"{base}/venv/lib/python3.11/site-packages/{name}-{version}.dist-info")


def project(base):
    """A repository with a script, a module and settings, and a virtual environment: attempts wait for their turn."""
    os.makedirs(f"{base}/venv/bin")
    open(f"{base}/venv/pyvenv.cfg", "w").close()
    os.symlink("/bin/sh", f"{base}/venv/bin/python")
    package(base, "vllm", "0.8.5")
    package(base, "torch", "2.6.0")
    with open(f"{base}/train.sh", "w") as file:
        file.write(f"export OTHER_TOKEN={SECRET}\n. ./settings.env\necho step with lr $LR\n"
                   "while [ ! -e go$MIDWATCH_ATTEMPT ]; do sleep 0.05; done\n[ $MIDWATCH_ATTEMPT = 3 ] || kill -9 $$\n")
    with open(f"{base}/reward.py", "w") as file:
        file.write("scale = 1.0\n")
    with open(f"{base}/settings.env", "w") as file:
        file.write(f"LR=1e-6\nHF_TOKEN={SECRET}\n")
    git(base, "init", "-q")
    git(base, "add", "train.sh", "reward.py")
    git(base, "commit", "-q", "-m", "one")


def fingerprint(run, attempt):
    wait_until("the run's folder", lambda: glob.glob(f"{run.base}/home/runs/*"), 30)
    path = os.path.join(run.folder(), "attempts", str(attempt), "fingerprint.json")
    wait_until(f"the fingerprint of attempt {attempt}", lambda: os.path.exists(path), 30)
    with open(path) as file:
        return json.load(file)


def leaks(base):
    """Files below the run's folder that hold the secret."""
    found = []
    for path in glob.glob(f"{base}/home/**", recursive=True):
        if os.path.isfile(path):
            with open(path, "rb") as file:
                if SECRET.encode() in file.read():
                    found.append(path)
    return found


def what_changed(base):
    project(base)
    os.environ["PATH"] = f"{base}/venv/bin:{os.environ['PATH']}"
    os.environ["WANDB_API_KEY"] = SECRET
    os.environ["PROXY_URL"] = f"http://me:{SECRET}@proxy:1"
    run = Run(base, ["sh", "train.sh", "--hub-token", SECRET, "--config=settings.env"], "--first-wait", "0.2", "--no-host")
    first = fingerprint(run, 1)
    assert first["facts"]["package"] == {"(Python environment)": f"{base}/venv", "torch": "2.6.0", "vllm": "0.8.5"}, first
    assert first["facts"]["environment"]["WANDB_API_KEY"] == "<redacted>" and first["code"]["commit"], first
    assert first["facts"]["limit"]["open files"] and first["facts"]["host"]["kernel"] and first["facts"]["disk"][base], first
    assert first["command"][2:4] == ["--hub-token", "<redacted>"], first["command"]
    # Between the attempts somebody edits, installs and commits nothing.
    with open(f"{base}/reward.py", "w") as file:
        file.write("scale = 0.5\n")
    with open(f"{base}/train.sh", "a") as file:
        file.write("# one more line\n")
    os.rmdir(f"{base}/venv/lib/python3.11/site-packages/vllm-0.8.5.dist-info")
    package(base, "vllm", "0.9.0")
    open(f"{base}/go1", "w").close()
    fingerprint(run, 2)
    # midwatch is replaced by another, with another environment, and the trainer dies meanwhile.
    run.process.kill()
    run.process.communicate()
    os.environ["NCCL_DEBUG"] = "INFO"
    open(f"{base}/go2", "w").close()
    wait_until("the end of attempt 2", lambda: "attempt 2 ended" in output(run))
    again = Run.__new__(Run)
    again.base = base
    again.process = subprocess.Popen([run.process.args[0], "run", "--home", f"{base}/home", "--reattach", "newest", "--no-host"],
                                     cwd=base, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    fingerprint(again, 3)
    open(f"{base}/go3", "w").close()
    assert again.end(60) == 0, again.err
    assert "attempt 3 differs from attempt 2: environment NCCL_DEBUG: not set → INFO" in again.err, again.err

    changes = [e for e in journal(base) if e.get("e") == "changed"]
    second = [(e["what"], e["name"], e["before"], e["after"]) for e in changes if e["attempt"] == 2]
    assert second == [
        ("file", "train.sh", "", "# one more line"),
        ("code", "reward.py", "", "-scale = 1.0\n+scale = 0.5"),
        ("code", "train.sh", "", "+# one more line"),
        ("package", "vllm", "0.8.5", "0.9.0")], second
    assert [(e["what"], e["name"], e["after"]) for e in changes if e["attempt"] == 3] == [("environment", "NCCL_DEBUG", "INFO")], changes
    report = midwatch(base, "report")[1]
    assert "## What changed between attempts" in report and "| 2 | package | vllm | `0.8.5` | `0.9.0` |" in report, report
    assert "environment NCCL_DEBUG: not set → INFO" in midwatch(base, "status")[1]
    assert json.loads(midwatch(base, "status", "--json")[1])["changes"][0]["name"] == "NCCL_DEBUG"
    # run.json and launch.json hold the command itself, secrets too: midwatch has to start it.
    holding = leaks(base)  # a restart needs the environment whole
    assert {os.path.basename(path) for path in holding} <= {"run.json", "launch.json"}, holding
    assert all(os.stat(path).st_mode & 0o077 == 0 for path in holding), holding


def nothing_changed(base):
    run = Run(base, ["sh", "-c", "echo hello; [ $MIDWATCH_ATTEMPT = 2 ] || kill -9 $$"], "--first-wait", "0.1", "--no-host")
    assert run.end(60) == 0, run.err
    assert "attempt 2 differs from attempt 1 in nothing that midwatch compares" in run.err, run.err


def no_delay(base):
    """A git that hangs (a huge repository on a slow disk) does not delay the start of the command, and its end by two seconds at most."""
    os.makedirs(f"{base}/bin")
    with open(f"{base}/bin/git", "w") as file:
        file.write("#!/bin/sh\nexec sleep 30\n")
    os.chmod(f"{base}/bin/git", 0o755)
    os.environ["PATH"] = f"{base}/bin:{os.environ['PATH']}"
    began = time.monotonic()
    run = Run(base, ["sh", "-c", "date +%s.%N"], "--no-host")
    assert run.end(60) == 0, run.err
    spent = time.monotonic() - began
    assert spent < 20, f"it took {spent:.1f} s"
    assert any("in time" in one for one in fingerprint(run, 1)["missing"]), fingerprint(run, 1)["missing"]
    assert not processes_of(base, "no-such")


def weights_of(base, steps):
    [path] = glob.glob(f"{base}/ck/**/*{steps}/trainer.safetensors", recursive=True)
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def resumes_on_request(base, *options, speak="verl", steps=20, pace=0.15):
    """A trainer that resumes only when an argument says so."""
    return [PRACTICE, "--speak", speak, "--out", "-", "--steps", str(steps), "--save-every", "5", "--pace", str(pace),
            "--checkpoints", f"{base}/ck", "--resume", "requested", *options]


def launched(run, attempt):
    with open(os.path.join(run.folder(), "attempts", str(attempt), "launch.json")) as file:
        return json.load(file)["command"]


def saved(base, step):
    return lambda: glob.glob(f"{base}/ck/**/*{step}/trainer.safetensors", recursive=True)


def given_a_checkpoint(base):
    """With each framework's own arguments; killed after a checkpoint, all come to the weights of the undisturbed run."""
    for name in ("plain", "verl", "trl", "prime-rl", "skyrl", "openrlhf"):
        os.mkdir(f"{base}/{name}")
    plain = Run(f"{base}/plain", resumes_on_request(f"{base}/plain", steps=30, pace=0), "--quiet", "--no-host")
    assert plain.end() == 0, plain.err
    expected = weights_of(f"{base}/plain", 30)
    for speak, words in (("verl", "trainer.resume_from_path={0}/ck/global_step_{1}"), ("trl", "{0}/ck/checkpoint-{1}"),
                         ("prime-rl", "{1}"), ("skyrl", "trainer.resume_path={0}/ck/global_step_{1}"),
                         ("openrlhf", "--load_checkpoint")):
        place = f"{base}/{speak}"
        run = Run(place, resumes_on_request(place, "{resume}", speak=speak, steps=30), "--quiet", "--no-host", "--first-wait", "0.1")
        wait_until(f"{speak}: a checkpoint", saved(place, 10))
        wait_until(f"{speak}: its step", lambda: "10" in output(run))
        time.sleep(0.5)
        os.kill(processes_of(place, "practice_run")[0], signal.SIGKILL)
        assert run.end() == 0, (speak, run.err)
        # On a busy machine it was killed later, with one more saved or half saved.
        [step] = [step for step in (10, 15, 20, 25) if f"from step {step}" in run.err]
        assert "{resume}" not in " ".join(launched(run, 1)) and launched(run, 2)[-1] == words.format(place, step), launched(run, 2)
        assert "2 attempts." in run.err, (speak, run.err)
        assert weights_of(place, 30) == expected, speak


def own_arguments(base):
    """resume of [run] wins over the dialect; a trainer that resumes from another checkpoint than requested is reported."""
    with open(f"{base}/midwatch.toml", "w") as file:
        file.write('[run]\nfirst_wait = "0.1s"\nhost = false\nresume = ["--resume.step", "5"]\n')
    run = Run(base, ["sh", "-c", " ".join(resumes_on_request(base, "{resume}"))], "--quiet")
    wait_until("a checkpoint", saved(base, 10))
    time.sleep(0.4)
    os.kill(processes_of(base, "practice_run")[0], signal.SIGKILL)
    assert run.end() == 0, run.err
    assert launched(run, 2)[-1].endswith("--resume requested --resume.step 5"), launched(run, 2)
    assert "attempt 2: it was to resume from step 10 and resumed from step 5" in run.err, run.err


def before_the_poison(base):
    """midwatch is stopped while the engine dies and poisoned steps are saved: the trainer is given the last good checkpoint."""
    run = Run(base, resumes_on_request(base, "{resume}", "--when-engine-dies", "zero", steps=30), "--quiet", "--no-host", "--first-wait", "0.1")
    wait_until("a checkpoint", saved(base, 10))
    run.process.send_signal(signal.SIGSTOP)
    os.kill(processes_of(base, "practice_run")[1], signal.SIGKILL)
    wait_until("checkpoints of poisoned steps", saved(base, 20))
    run.process.send_signal(signal.SIGCONT)
    assert run.end() == 0, run.err
    assert f"trainer.resume_from_path={base}/ck/global_step_10" in launched(run, 2), launched(run, 2)


TRAINER = """
import json, os, sys, time
steps = [int(n[8:]) for n in os.listdir("out") if n.startswith("weights-")] if os.path.isdir("out") else []
at = int(sys.argv[1].rsplit("-", 1)[1]) if len(sys.argv) > 1 else 0
print(f"resuming from {sys.argv[1]}" if at else "from nothing", flush=True)
for step in range(at + 1, 31):
    print(f"step {step}/30 reward={0.2 + step / 100:.3f} loss={0.9 - step / 100:.3f}", flush=True)
    if step % 5 == 0:
        name = f"out/weights-{step:03d}"
        os.makedirs(name, exist_ok=True)
        header = json.dumps({"w": {"dtype": "F32", "shape": [64], "data_offsets": [0, 256]}}).encode()
        whole = len(header).to_bytes(8, "little") + header + bytes(range(256))
        with open(name + "/model.safetensors", "wb") as file:
            file.write(whole[:-100] if step == 15 and not at else whole)
    if step == 17 and not at:
        time.sleep(4)
        os.kill(os.getpid(), 9)
    time.sleep(0.05)
"""


def names_of_its_own(base):
    """A trainer that nobody knows, killed after a save that was cut: [checkpoints] pattern says what its folders are called."""
    with open(base + "/train.py", "w") as file:
        file.write(TRAINER)
    with open(base + "/midwatch.toml", "w") as file:
        file.write('[run]\nfirst_wait = "0.1s"\ncheckpoints = ["out"]\nresume = ["{path}"]\n[checkpoints]\npattern = "weights-{step:03}"\n')
    run = Run(base, ["python3", "train.py", "{resume}"], "--quiet", "--restarts", "2")
    assert run.end() == 0, run.err
    assert launched(run, 2)[-1] == base + "/out/weights-010", (launched(run, 2), run.err)
    assert "resuming from" in output(run) and "step 30/30" in output(run), output(run)


for test in (names_of_its_own, given_a_checkpoint, own_arguments, before_the_poison, what_changed, nothing_changed, no_delay):
    before = dict(os.environ)
    with Scratch() as base:
        began = time.monotonic()
        test(os.path.realpath(base))
        print(f"{test.__name__} ok, {time.monotonic() - began:.1f} s", flush=True)
    os.environ.clear()
    os.environ.update(before)
