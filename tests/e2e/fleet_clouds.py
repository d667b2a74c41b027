"""The whole of `midwatch fleet` against fakes of two clouds' APIs: what was rented without an answer is found and not rented twice, a
machine that is outbid is replaced, a preview and everything kept holds no secret.

fleet_clouds.py MIDWATCH PRACTICE_RUN (which is not run)
"""
import glob
import json
import os
import subprocess
import sys
import urllib.request

from running import PROGRAM, wait_until
from watching import Scratch

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "contracts", "clouds"))
import apis  # noqa: E402  pylint: disable=wrong-import-position
import cloud  # noqa: E402  pylint: disable=wrong-import-position

SECRET = "hf_qwertyuiopasdfghjklzxcvbnm1234"
SPEC = """
name = "clouds"
store = "{base}/share"
environment = ["HF_TOKEN"]
start = "exec midwatch onstart --from s3://bucket/run -- bash train.sh"
[machine]
gpu = "H100"
count = 1
image = "me/train:1"
[limits]
price_per_hour = 3
spend = 100
[patience]
silence = "15m"
settle = "10s"
[[provider]]
kind = "{kind}"
endpoint = "http://127.0.0.1:{port}"
"""


class Fleet:
    def __init__(self, base, kind, api):
        self.port = cloud.start(api)
        self.file = base + "/run.toml"
        with open(self.file, "w", encoding="utf-8") as file:
            file.write(SPEC.format(base=base, kind=kind, port=self.port))
        self.environment = dict(os.environ, HF_TOKEN=SECRET, VAST_API_KEY=cloud.KEY, RUNPOD_API_KEY=cloud.KEY)
        self.run("init")

    def run(self, *words, expect=(0, 8, 9)):
        done = subprocess.run([PROGRAM, "fleet", words[0], self.file, *words[1:], "--json"], capture_output=True, text=True, timeout=120,
                              env=self.environment, check=False)
        assert done.returncode in expect, (words, done)
        assert SECRET not in done.stdout + done.stderr and cloud.KEY not in done.stdout + done.stderr, done
        return json.loads(done.stdout)

    def ask(self, path, order=None):
        data = None if order is None else json.dumps(order).encode()
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"http://127.0.0.1:{self.port}{path}", data, timeout=60) as answer:
            return json.load(answer)

    def machines(self):
        return self.ask("/_books")["machines"]


def one_cloud(base, kind, api):
    fleet = Fleet(base, kind, api)
    shown = fleet.run("launch", "--dry-run", expect=[0])
    assert "<HF_TOKEN>" in shown["preview"] and "train.sh" in shown["preview"] and not fleet.machines(), shown
    fleet.ask("/_control", {"fault": {"op": "create", "how": "silent", "times": 1}})
    fleet.run("launch")
    (machine,) = fleet.machines()
    assert SECRET in json.dumps(machine["environment"]), machine
    wait_until("what was rented without an answer is the run's", lambda: fleet.run("watch", "--once")["phase"] == "rented")
    assert len(fleet.machines()) == 1 and fleet.ask("/_books")["calls"]["create"] == 1
    fleet.ask("/_control", {"machine": {"id": machine["id"], "state": "stopped"}})  # outbid

    def another():
        fleet.run("watch", "--once")
        return [one["label"] for one in fleet.machines()] not in ([], [machine["label"]])
    wait_until("the machine that was outbid is given back, and another one rented", another)
    assert len(fleet.machines()) == 1 and not fleet.run("orphans", expect=[0])["orphans"]
    fleet.run("stop")
    wait_until("nothing is rented", lambda: fleet.run("watch", "--once")["outcome"] == "stopped" and not fleet.machines())
    kept = "".join(open(path, encoding="utf-8", errors="replace").read() for path in glob.glob(base + "/share/**", recursive=True)
                   if os.path.isfile(path))
    assert kept and SECRET not in kept and cloud.KEY not in kept


def offers_without_a_file(kind, api):
    """What a person looks at before there is a run: the same machines, by what is wanted, and no other provider is asked."""
    port = cloud.start(api)

    def offers(*words, expect=0, key=cloud.KEY):
        done = subprocess.run([PROGRAM, "fleet", "offers", *words], capture_output=True, text=True, timeout=60, check=False,
                              env=dict({name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")},
                                       **({f"{kind.upper()}_API_KEY": key} if key else {})))
        assert done.returncode == expect and cloud.KEY not in done.stdout + done.stderr, done
        return json.loads(done.stdout) if "--json" in words else done.stdout + done.stderr

    asked = ["--provider", kind, "--endpoint", f"http://127.0.0.1:{port}"]
    found = offers(*asked, "--gpu", "H100", "--count", "2", "--json")["offers"]
    assert found and all(one["count"] >= 2 and "H100" in one["gpu"] for one in found), found
    assert [one["price"] for one in found] == sorted(one["price"] for one in found), found
    cheap = found[0]["price"]
    fewer = offers(*asked, "--gpu", "H100", "--count", "2", "--max-price", str(cheap), "--json")["offers"]
    assert [one["id"] for one in fewer] == [one["id"] for one in found if one["price"] <= cheap], fewer
    assert "cost too much" in offers(*asked, "--gpu", "H100", "--max-price", "0.01")
    assert "no provider's key is in the environment" in offers(key=None, expect=2)


if __name__ == "__main__":
    for name, kind_of in (("vast", apis.Vast), ("runpod", apis.Runpod)):
        with Scratch() as scratch:
            one_cloud(scratch, name, kind_of)
        offers_without_a_file(name, kind_of)
        print(f"ok: {name}", flush=True)
