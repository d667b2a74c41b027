"""What is tried while one call fails (faults.py), and what must hold afterwards. What the disk holds is read here anew, without
midwatch."""
import json
import os
import pathlib
import shutil
import sys
import time

SAMPLES = pathlib.Path(__file__).resolve().parent.parent / "checkpoints" / "samples" / "verl"


def files(folder):
    """Each file beneath it with its content."""
    found = {}
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = file.read()
    return found


def copy(source, to):
    shutil.copytree(source, to, symlinks=True)  # with the times: what was just written would be waited for


class Case:
    network = False
    patience = 120  # seconds after which a trial is stopped: it may wait for a person
    heavy = False  # a trial takes seconds
    expected = 0   # the exit code where nothing fails

    def __init__(self, base, practice):
        self.base, self.practice = f"{base}/{self.name}", practice
        os.makedirs(self.base)

    def variables(self):
        return {"MIDWATCH_HOME": self.base + "/home", "XDG_STATE_HOME": self.base + "/state"}

    def log(self):
        return self.base + "/calls.log"

    def roots(self):
        return [self.base + "/live"]

    def prepare(self, bench):
        """Makes the folder `kept`, of which each trial gets a copy as `live`."""
        raise NotImplementedError

    def reset(self):
        for name in ("live", "home", "state"):
            shutil.rmtree(f"{self.base}/{name}", ignore_errors=True)
        copy(self.base + "/kept", self.base + "/live")
        if os.path.isdir(self.base + "/kept-home"):
            copy(self.base + "/kept-home", self.base + "/home")

    def words_again(self):
        return self.words()

    def wrong_at_last(self, done):
        return [f"the next try ends with {done.returncode}: {(done.stdout + done.stderr)[-500:]}"] if done.returncode != self.expected else self.wrong_without_fault()

    def wrong_without_fault(self):
        return []


class Push(Case):
    """Step 20 goes to a folder where step 10 is."""
    name = "push"

    def prepare(self, bench):
        copy(SAMPLES, self.base + "/kept/run")
        copy(self.base + "/kept", self.base + "/live")
        done = bench.midwatch(self, ["checkpoint", "push", self.base + "/live/run/global_step_10", self.base + "/live/store"])
        assert done.returncode == 0, done
        shutil.rmtree(self.base + "/kept")
        os.rename(self.base + "/live", self.base + "/kept")

    def words(self):
        return ["checkpoint", "push", self.base + "/live/run/global_step_20", self.base + "/live/store", "--json"]

    def latest(self):
        """The step that latest.json names, and what is wrong with what it names."""
        store = self.base + "/live/store"
        try:
            with open(store + "/latest.json") as file:
                content = json.load(file)["content"]
            with open(f"{store}/manifests/{content['checkpoint']}.json") as file:
                json.load(file)
        except (OSError, ValueError) as error:
            return 0, [f"latest does not lead to a manifest: {error}"]
        source = files(f"{self.base}/kept/run/global_step_{content['step']}")
        there = files(f"{store}/checkpoints/{content['checkpoint']}")
        return content["step"], [] if there == source else [f"latest names step {content['step']}, whose files are not those of the checkpoint"]

    def wrong(self, done):
        step, wrong = self.latest()
        if step not in (10, 20):
            wrong.append(f"latest names step {step}")
        if done.returncode == 0 and step != 20:
            wrong.append("exit code 0, and latest was not moved")
        for name in ("global_step_10", "global_step_20"):
            if files(f"{self.base}/live/run/{name}") != files(f"{self.base}/kept/run/{name}"):
                wrong.append(f"{name} was changed")
        return wrong

    def wrong_without_fault(self):
        step, wrong = self.latest()
        return wrong + ([] if step == 20 else [f"latest names step {step} after the next try"])


class Pull(Case):
    """The newest of a store is received."""
    name = "pull"

    def prepare(self, bench):
        os.makedirs(self.base + "/kept/out")
        copy(SAMPLES, self.base + "/source")
        for step in (10, 20):
            done = bench.midwatch(self, ["checkpoint", "push", f"{self.base}/source/global_step_{step}", self.base + "/kept/store"])
            assert done.returncode == 0, done
        self.store = files(self.base + "/kept/store")

    def words(self):
        return ["checkpoint", "pull", self.base + "/live/store", self.base + "/live/out/global_step_20", "--json"]

    def received(self):
        return self.base + "/live/out/global_step_20"

    def wrong(self, done):
        wrong = []
        if os.path.exists(self.received()):
            if files(self.received()) != files(self.base + "/source/global_step_20"):
                wrong.append("what lies under the checkpoint's name is not the checkpoint")
        elif done.returncode == 0:
            wrong.append("exit code 0, and nothing is there")
        if files(self.base + "/live/store") != self.store:
            wrong.append("the store was changed")
        return wrong

    def wrong_at_last(self, done):
        if done.returncode != 0 and "is there and not empty" not in done.stdout + done.stderr:
            return [f"the next try ends with {done.returncode}: {(done.stdout + done.stderr)[-500:]}"]
        left = [] if os.path.exists(self.received()) else ["nothing is there after the next try"]
        return left + self.wrong(done)


class Verify(Case):
    """A whole checkpoint and two broken ones."""
    name = "verify"

    def prepare(self, bench):
        copy(SAMPLES, self.base + "/kept")

    def words(self):
        return ["checkpoint", "verify", self.base + "/live/global_step_20", "--deep", "--json"]

    def wrong(self, done):
        try:
            state = json.loads(done.stdout)["checkpoints"][0]["state"]
        except (ValueError, KeyError, IndexError):
            state = "none"
        wrong = []
        if done.returncode == 0 and state != "whole":
            wrong.append(f"exit code 0, state {state}")
        if state in ("partial", "corrupt", "suspect", "foreign"):
            wrong.append(f"a call that failed makes a whole checkpoint {state}")
        if files(self.base + "/live") != files(self.base + "/kept"):
            wrong.append("the checkpoint was changed")
        return wrong


class VerifyBroken(Verify):
    name, expected = "verify-broken", 10

    def prepare(self, bench):
        copy(SAMPLES, self.base + "/kept")
        path = self.base + "/kept/global_step_20/actor/model_world_size_2_rank_1.pt"
        before = os.stat(path)
        os.truncate(path, before.st_size // 2)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    def wrong(self, done):
        if done.returncode == 0 or '"state":"whole"' in done.stdout.replace(" ", ""):
            return ["a call that failed makes a broken checkpoint whole"]
        return []


# Saves a step's checkpoint of four files after every fifth one, moves its pointer and its link first, and, in its first attempt,
# dies in the middle of the save of step DIES. It resumes from what the pointer names, and ends after step LAST (the first attempt: 28).
TRAINER = r"""
import json, os, random, signal, struct, sys, time
attempt = int(os.environ.get("MIDWATCH_ATTEMPT", "1"))
root, dies, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if attempt > 1 else 28
def tensors(step, part):
    dice = random.Random(step * 10 + part)
    body = b"".join(struct.pack("<f", dice.uniform(-1, 1)) for _ in range(256))
    head = json.dumps({"layer.%d.weight" % part: {"dtype": "F32", "shape": [16, 16], "data_offsets": [0, 1024]}}).encode()
    return struct.pack("<Q", len(head)) + head + body
def put(path, content):
    with open(path + ".part", "wb") as file: file.write(content)
    os.replace(path + ".part", path)
def save(step):
    put(root + "/latest_checkpointed_iteration.txt", b"%d" % step)
    os.symlink("global_step_%d" % step, root + "/newest.part")
    os.replace(root + "/newest.part", root + "/newest")
    folder = root + "/global_step_%d" % step
    os.makedirs(folder)
    names = ["model-0000%d-of-00002.safetensors" % (part + 1) for part in range(2)]
    weights = {"layer.%d.weight" % part: names[part] for part in range(2)}
    put(folder + "/model.safetensors.index.json", json.dumps({"metadata": {"total_size": 2048}, "weight_map": weights}).encode())
    put(folder + "/config.json", b'{"model_type": "tiny"}')
    put(folder + "/" + names[0], tensors(step, 0))
    if attempt == 1 and step == dies:
        sys.stdout.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    put(folder + "/" + names[1], tensors(step, 1))
start = 0
if os.path.exists(root + "/latest_checkpointed_iteration.txt"):
    start = int(open(root + "/latest_checkpointed_iteration.txt").read())
    if not os.path.exists(root + "/global_step_%d/model-00002-of-00002.safetensors" % start):
        raise FileNotFoundError("no weights in global_step_%d" % start)
    print("Setting global step to %d" % start, flush=True)
for step in range(start + 1, last + 1):
    print("step:%d - actor/pg_loss:0.1 - actor/entropy:0.5 - critic/rewards/mean:%.2f" % (step, step / 100), flush=True)
    time.sleep(0.01)
    if step % 5 == 0: save(step)
print("done", flush=True)
"""


class Recorded(Case):
    """After a run of midwatch whose trainer saved in live/ckpt."""
    dies, last = 0, 28

    def training(self):
        # It does not wait long between the attempts: what is judged is the disk.
        return ["run", "--name", "r", "--quiet", "--no-host", "--first-wait", "0.1", "--checkpoints", self.ckpt(), "--", sys.executable,
                self.base + "/train.py", self.ckpt(), str(self.dies), str(self.last)]

    def ckpt(self):
        return self.base + "/live/ckpt"

    def prepare(self, bench):
        with open(self.base + "/train.py", "w") as file:
            file.write(TRAINER)
        os.makedirs(self.ckpt())
        done = bench.midwatch(self, self.training())
        assert done.returncode == 0, done
        time.sleep(6)  # what was written a moment ago may still be written
        os.rename(self.base + "/live", self.base + "/kept")
        os.rename(self.base + "/home", self.base + "/kept-home")
        self.saved = {name: files(f"{self.base}/kept/ckpt/{name}") for name in os.listdir(self.base + "/kept/ckpt")
                      if name.startswith("global_step_")}

    def there(self):
        return {name: files(f"{self.ckpt()}/{name}") for name in os.listdir(self.ckpt()) if name.startswith("global_step_")}

    def pointer(self):
        with open(self.ckpt() + "/latest_checkpointed_iteration.txt") as file:
            return file.read()


class Prune(Recorded):
    """Of steps 5 to 25 the last two stay."""
    name = "prune"

    def words(self):
        return ["checkpoint", "prune", "--keep-last", "2", "--yes", "--json"]

    def wrong(self, done):
        there, wrong = self.there(), []
        for name in ("global_step_20", "global_step_25"):
            if there.get(name) != self.saved[name]:
                wrong.append(f"{name} is gone or was changed")
        wrong += [f"{name} is there by half" for name in there if there[name] != self.saved[name]]
        if self.pointer() != "25" or os.readlink(self.ckpt() + "/newest") != "global_step_25":
            wrong.append("the pointer or the link was changed")
        if done.returncode == 0 and json.loads(done.stdout).get("failed") == [] and len(there) > 2:
            wrong.append("exit code 0, and there is more")
        return wrong

    def wrong_without_fault(self):
        # An empty folder that could not be removed is there for the next one.
        left = sorted(name for name in os.listdir(self.ckpt()) if name != ".midwatch-removing" or os.listdir(f"{self.ckpt()}/{name}"))
        wanted = ["global_step_20", "global_step_25", "latest_checkpointed_iteration.txt", "newest"]
        return [] if left == wanted else [f"after the next try there are {left}"]


class Restart(Recorded):
    """A save is cut short: midwatch moves it out of the way, leads the pointer and the link back, and starts the trainer again."""
    name, dies, heavy, patience = "restart", 20, True, 25

    def prepare(self, bench):
        super().prepare(bench)
        assert sorted(self.saved) == [f"global_step_{step}" for step in (10, 15, 20, 25, 5)], sorted(self.saved)
        shutil.rmtree(self.base + "/kept-home")
        shutil.rmtree(self.base + "/kept/ckpt")
        os.makedirs(self.base + "/kept/ckpt")

    def roots(self):
        return [self.ckpt()]

    def words(self):
        return self.training()

    def wrong(self, done):
        there, wrong = self.there(), []
        if done.returncode != 0 and not there:
            return []  # it was not begun
        wrong += [f"global_step_{step} is gone or was changed" for step in (5, 10, 15) if there.get(f"global_step_{step}") != self.saved[f"global_step_{step}"]]
        if self.pointer() not in ("15", "20", "25"):
            wrong.append(f"the pointer holds {self.pointer()!r}")
        if os.readlink(self.ckpt() + "/newest") not in ("global_step_15", "global_step_20", "global_step_25"):
            wrong.append("the link leads elsewhere")
        if done.returncode == 0:
            wrong += self.wrong_without_fault()
        return wrong

    def words_again(self):
        return ["run", "--reattach", "newest", "--quiet"]

    def wrong_at_last(self, done):
        # What ended as it should, or what a person heard of, has nothing to be joined again.
        return self.wrong(done)

    def wrong_without_fault(self):
        there = self.there()
        wrong = [f"{name} is not as it should be" for name in self.saved if there.get(name) != self.saved[name]]
        return wrong + ([] if self.pointer() == "25" else [f"at the end the pointer holds {self.pointer()!r}"])


class Restore(Recorded):
    """What was quarantined before a restart is put back, with the pointer and the link."""
    name, dies, last = "restore", 20, 18

    def prepare(self, bench):
        super().prepare(bench)
        quarantine, = os.listdir(self.base + "/kept/ckpt/.midwatch-quarantine")
        self.held = f"{self.ckpt()}/.midwatch-quarantine/{quarantine}/global_step_20"
        self.cut = files(f"{self.base}/kept/ckpt/.midwatch-quarantine/{quarantine}/global_step_20")
        assert len(self.cut) == 3 and sorted(self.saved) == [f"global_step_{step}" for step in (10, 15, 5)], (self.cut, self.saved)
        assert os.readlink(self.base + "/kept/ckpt/newest") == "global_step_15"

    def words(self):
        return ["restore", "--yes", "--json"]

    def wrong(self, done):
        there, wrong = self.there(), []
        back, held = there.pop("global_step_20", None), files(self.held) or None
        if there != self.saved:
            wrong.append("another checkpoint is gone or was changed")
        if (back or held) != self.cut or (back and held):
            wrong.append("what was quarantined is neither in its place nor in quarantine")
        if self.pointer() not in ("15", "20") or os.readlink(self.ckpt() + "/newest") not in ("global_step_15", "global_step_20"):
            wrong.append("the pointer or the link leads elsewhere")
        return wrong

    def wrong_without_fault(self):
        wrong = [] if self.there().get("global_step_20") == self.cut else ["it is not back after the next try"]
        led = (self.pointer(), os.readlink(self.ckpt() + "/newest"))
        return wrong + ([] if led == ("20", "global_step_20") else [f"pointer and link are {led} after the next try"])


class Bucket(Push):
    """The same with a bucket of a real server: the calls are those on its connections."""
    name, network, heavy = "push-to-s3", True, True

    def __init__(self, base, practice, gateway):
        super().__init__(base, practice)
        self.gateway, self.bench, self.tries = gateway, None, 0

    def variables(self):
        return dict(super().variables(), **self.gateway.variables())

    def store(self):
        return f"s3://bucket/{self.name}-{self.tries}"

    def prepare(self, bench):
        self.bench = bench
        status, text = self.gateway.ask("PUT", "/bucket")
        assert status in (200, 409), text
        copy(SAMPLES, self.base + "/kept/run")

    def reset(self):
        super().reset()
        self.tries += 1
        done = self.bench.midwatch(self, ["checkpoint", "push", self.base + "/live/run/global_step_10", self.store()])
        assert done.returncode == 0, done

    def words(self):
        return ["checkpoint", "push", self.base + "/live/run/global_step_20", self.store(), "--json"]

    def get(self, key):
        status, content = self.gateway.ask("GET", f"/bucket/{self.name}-{self.tries}/{key}")
        return content if status == 200 else None

    def latest(self):
        try:
            content = json.loads(self.get("latest.json"))["content"]
            json.loads(self.get(f"manifests/{content['checkpoint']}.json"))
        except (TypeError, ValueError) as error:
            return 0, [f"latest does not lead to a manifest: {error}"]
        source = files(f"{self.base}/kept/run/global_step_{content['step']}")
        there = {name: self.get(f"checkpoints/{content['checkpoint']}/{name}") for name in source}
        return content["step"], [] if there == source else [f"latest names step {content['step']}, whose files are not those of the checkpoint"]


class FromBucket(Bucket):
    """The newest of a bucket is received."""
    name = "pull-from-s3"

    def prepare(self, bench):
        super().prepare(bench)
        for step in (10, 20):
            done = bench.midwatch(self, ["checkpoint", "push", f"{self.base}/kept/run/global_step_{step}", "s3://bucket/pulled"])
            assert done.returncode == 0, done

    def reset(self):
        Case.reset(self)

    def words(self):
        return ["checkpoint", "pull", "s3://bucket/pulled", self.base + "/live/out/global_step_20", "--json"]

    def wrong(self, done):
        out = self.base + "/live/out/global_step_20"
        if os.path.exists(out):
            return [] if files(out) == files(self.base + "/kept/run/global_step_20") else ["what lies under the checkpoint's name is not the checkpoint"]
        return ["exit code 0, and nothing is there"] if done.returncode == 0 else []

    def wrong_at_last(self, done):
        if done.returncode != 0 and "is there and not empty" not in done.stdout + done.stderr:
            return [f"the next try ends with {done.returncode}: {(done.stdout + done.stderr)[-500:]}"]
        there = os.path.exists(self.base + "/live/out/global_step_20")
        return self.wrong(done) + ([] if there else ["nothing is there after the next try"])


def cases(base, practice, gateway=None):
    """Those with a bucket where there is a server."""
    return ([kind(base, practice) for kind in (Push, Pull, Verify, VerifyBroken, Prune, Restart, Restore)] +
            [kind(base, practice, gateway) for kind in (Bucket, FromBucket) if gateway])
