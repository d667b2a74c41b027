"""The verb `midwatch preflight`: what it says of a command before it begins, its exit codes, its JSON, its width, and that
nothing is run."""
import json
import os
import resource
import subprocess
import time

from running import PROGRAM, Run, midwatch, training, wait_until
from watching import Scratch

SOUND = """max_steps = 400
inference_gpu_ids = [0]
trainer_gpu_ids = [1]

[model]
name = "Qwen/Qwen2.5-7B-Instruct"

[ckpt]
interval = 20
keep_last = 2

[trainer.model.lora]
rank = 8

[trainer.model.ac]
freq = 1

[orchestrator]
batch_size = 128
rollouts_per_example = 8
seq_len = 2048

[orchestrator.sampling]
max_tokens = 1024
"""
ELSEWHERE = ("--gpus", "2xH100", "--disk", "2000GB")


def put(base, name, text):
    with open(f"{base}/{name}", "w", encoding="utf-8") as file:
        file.write(text)


def preflight(base, *words, columns="80", limit=None, environment=None):
    before = (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))) if limit else None
    done = subprocess.run([PROGRAM, "preflight", *words], cwd=base, capture_output=True, timeout=120, check=False, preexec_fn=before,
                          env={**os.environ, "COLUMNS": columns, "NO_COLOR": "1", **(environment or {})})
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def found(base, *words, **more):
    code, out, err = preflight(base, "--json", *words, **more)
    assert err == "", err
    answer = json.loads(out)
    assert answer["schema"] == "midwatch.preflight/1"
    return code, answer, {one["lint"]: one for one in answer["findings"]}


def sound(base):
    put(base, "rl.toml", SOUND)
    code, out, err = preflight(base, *ELSEWHERE, "--", "uv", "run", "rl", "@", "rl.toml")
    assert code == 0 and "nothing to mend" in out and "prime-rl" in out and err == "", (code, out, err)
    code, answer, lints = found(base, *ELSEWHERE, "--strict", "--", "uv", "run", "rl", "@", "rl.toml")
    assert code == 0 and not lints and answer["framework"] == "prime-rl" and answer["files"] == ["rl.toml"], answer


def mistakes(base):
    put(base, "rl.toml", SOUND.replace("max_tokens = 1024", "max_token = 1024").replace("batch_size = 128", "batch_size = 100"))
    command = ("--", "uv", "run", "rl", "@", "rl.toml")
    code, answer, lints = found(base, *ELSEWHERE, *command)
    assert code == 10 and answer["errors"] == 2 and answer["warnings"] == 0, answer
    batch, key = lints["prime-rl/batch-in-groups"], lints["unknown-key"]
    assert (batch["file"], batch["line"], batch["key"], batch["value"]) == ("rl.toml", 19, "orchestrator.batch_size", "100"), batch
    assert key["line"] == 24 and "max_tokens" in key["fix"] and key["level"] == "error", key
    assert all(one["why"] and one["fix"] and one["source"] for one in lints.values())
    code, out, _ = preflight(base, *ELSEWHERE, *command)
    assert code == 10 and "ERROR    rl.toml:19" in out and "2 errors, 0 warnings" in out, out
    assert max(len(line) for line in out.split("\n")) <= 80, out
    code, _, lints = found(base, *ELSEWHERE, "--ignore", "unknown-key", "--ignore", "prime-rl/batch-in-groups", *command)
    assert code == 0 and not lints, lints
    code, _, err = preflight(base, "--ignore", "unknown-keys", *command)
    assert code == 2 and "unknown-key?" in err, err


def warnings(base):
    put(base, "rl.toml", SOUND.replace("[ckpt]\ninterval = 20\nkeep_last = 2\n", ""))
    command = (*ELSEWHERE, "--config", "rl.toml")
    code, answer, lints = found(base, *command)
    assert code == 0 and answer["warnings"] == 1 and "no-checkpoints" in lints, answer
    assert found(base, "--strict", *command)[0] == 10


def nothing_is_run(base):
    put(base, "rl.toml", SOUND)
    put(base, "train.sh", "touch ran\n$(touch ran)\nCKPT=5\nrm -rf rl.toml\nuv run rl @ rl.toml --ckpt.interval $CKPT "
        "--orchestrator.batch-size $(touch ran; echo 12) 2>&1 | tee log\n")
    code, answer, lints = found(base, *ELSEWHERE, "--", "bash", "train.sh")
    assert code == 0 and not lints and answer["command"][:3] == ["uv", "run", "rl"], (answer, lints)
    assert sorted(os.listdir(base)) == ["rl.toml", "train.sh"], os.listdir(base)


def hostile(base):
    command = (*ELSEWHERE, "--", "uv", "run", "rl", "@")
    for name, text, says in (("a.toml", "x = [1,\n", "a.toml"), ("a.yaml", "a: [1\nb: 2\n", "a.yaml:2"),
                             ("b.yaml", "a: &a [" + "*a, " * 50 + "1]\n", None), ("c.toml", "\0\xff", "c.toml:1"),
                             ("d.json", "{" * 3000, "d.json")):
        put(base, name, text)
        code, answer, lints = found(base, *command, name)
        unread = lints.get("unreadable-configuration")
        assert (unread is None) if says is None else (code == 10 and f"{unread['file']}:{unread['line']}".startswith(says)), (name, answer)
    code, out, _ = preflight(base, *command, "gone\x1b[31m.toml")
    assert code == 10 and "\x1b" not in out and "is not there" in out, out
    code, _, err = preflight(base)
    assert code == 2 and "no command to check" in err, err
    code, _, err = preflight(base, "--gpus", "many", *command[4:], "--", "x")
    assert code == 2 and "2xH100" in err, err


def this_machine(base):
    put(base, "rl.toml", SOUND + '\n[wandb]\nproject = "p"\n')
    put(base, "train.sh", "export WANDB_API_KEY=local-0123456789012345678901234567890123456789\nuv run rl @ rl.toml\n")
    bare = {"WANDB_API_KEY": "", "WANDB_MODE": "", "HOME": base, "NETRC": ""}
    _, _, lints = found(base, "--", "uv", "run", "rl", "@", "rl.toml", limit=512, environment=bare)
    assert lints["open-files"]["level"] == "error" and lints["open-files"]["of_machine"], lints
    assert lints["login-missing"]["file"] == "rl.toml", lints
    put(base, ".netrc", "machine api.wandb.ai\n  login user\n  password verysecretpassword\n")
    code, out, _ = preflight(base, "--json", "--", "bash", "train.sh", environment=bare)
    assert "login-missing" not in out and "verysecret" not in out and "local-0123" not in out, out


def from_settings(base):
    put(base, "rl.toml", SOUND)
    put(base, "midwatch.toml", '[run]\ncommand = ["uv", "run", "rl", "@", "rl.toml"]\n')
    code, answer, _ = found(base, *ELSEWHERE)
    assert code == 0 and answer["framework"] == "prime-rl", answer


def like_an_earlier_run(base):
    put(base, "rl.toml", SOUND)
    run = Run(base, training(base, steps=2000), "--quiet")
    wait_until("the run", lambda: os.path.exists(f"{base}/home/runs") and os.listdir(f"{base}/home/runs"))
    name = os.listdir(f"{base}/home/runs")[0]
    command = ("--home", f"{base}/home", "--like", name, "--gpus", "2xH100", "--disk", "1KB", "--", "uv", "run", "rl", "@", "rl.toml")
    # Until the watch has scanned a checkpoint, nothing was measured, and preflight says so.
    wait_until("a checkpoint that was measured", lambda: preflight(base, *command)[0] == 10)
    code, answer, lints = found(base, *command)
    assert code == 10 and f"measured in run {name}" in lints["checkpoint-disk"]["what"], answer
    assert midwatch(base, "stop", "--now")[0] == 0
    run.end(60)
    code, _, err = preflight(base, "--home", f"{base}/home", "--like", "no-such-run", *command[4:])
    assert code == 3 and "no-such-run" in err, (code, err)


for test in (sound, mistakes, warnings, nothing_is_run, hostile, this_machine, from_settings, like_an_earlier_run):
    with Scratch() as base:
        began = time.monotonic()
        test(base)
        print(f"{test.__name__} ok, {time.monotonic() - began:.1f} s", flush=True)
