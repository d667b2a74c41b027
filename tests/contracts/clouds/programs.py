"""A Kubernetes cluster and SkyPilot behind a kubectl and a sky of the shapes that the real ones print. No cluster runs here: what these
print was written down from their documentation, and is not a recording."""
import json
import os

from cloud import KEY, Api

# A program that is started often: it imports little.
CLIENT = """#!/usr/bin/env -S python3 -IS
import json, os, socket, sys
if sys.argv[-1] == "/dev/stdin":  # sky reads its task once to see what it is, and once more to load it
    open("/dev/stdin").read()
    given = open("/dev/stdin").read()
else:
    given = sys.stdin.read()
call = json.dumps({{"words": sys.argv[1:], "input": given, "environment": dict(os.environ)}}).encode()
with socket.create_connection(("127.0.0.1", {port})) as there:
    there.sendall(b"POST /run HTTP/1.0\\r\\nAuthorization: Bearer {key}\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(call) + call)
    answer = b"".join(iter(lambda: there.recv(1 << 16), b""))
if not answer:
    sys.exit("Unable to connect to the server: EOF")
answer = json.loads(answer.partition(b"\\r\\n\\r\\n")[2])
sys.stdout.write(answer["out"])
sys.stderr.write(answer["err"])
sys.exit(answer["code"])
"""


class Program(Api):
    name = ""

    def operation(self, body):
        call = json.loads(body)
        return self.operation_of(call["words"]), call

    def operation_of(self, words):
        raise NotImplementedError

    def ends(self, code, out="", err=""):
        self.say(200, {"code": code, "out": out, "err": err})

    def fail(self, how):
        texts = {"busy": "Error from server (TooManyRequests): try again", "broken": "Unable to connect to the server: EOF"}
        if how in texts:
            self.ends(1, err=texts[how])
        elif how in ("html", "garbage", "empty"):
            self.ends(0, out={"html": "<html>", "garbage": '{"items": [{"kind": \x01', "empty": "{}"}[how])
        elif how == "huge":
            self.ends(0, out="x" * (17 << 20))
        elif how == "denied":
            self.denied()
        elif how == "full":
            self.full()
        else:
            return False
        return True

    @classmethod
    def install(cls, folder, port):
        path = f"{folder}/{cls.name}"
        with open(path, "w", encoding="utf-8") as file:
            file.write(CLIENT.format(port=port, key=KEY))
        os.chmod(path, 0o755)


class Kubectl(Program):
    name = "kubectl"

    def operation_of(self, words):
        assert words[0] == "--context=test" and words[1] == "--namespace=trainers", words
        return {"create": "create", "get": "list", "delete": "destroy"}[words[2]]

    def denied(self):
        self.ends(1, err='Error from server (Forbidden): jobs.batch is forbidden: User "x" cannot create resource "jobs"\n')

    def full(self):
        self.ends(1, err='Error from server (Forbidden): error when creating "STDIN": exceeded quota: gpus, requested: 8, used: 8\n')

    def create(self, call):
        secret, job = json.loads(call["input"])["items"]
        assert not any(value in " ".join(call["words"]) for value in secret["stringData"].values()), "a secret is an argument"
        assert secret["kind"] == "Secret" and job["kind"] == "Job" and job["apiVersion"] == "batch/v1"
        pod = job["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        name = job["metadata"]["name"]
        assert len(name) <= 63 and secret["metadata"]["name"] == name == container["envFrom"][0]["secretRef"]["name"]
        assert pod["restartPolicy"] == "Never" and job["spec"]["backoffLimit"] == 0 and container["image"]
        assert not any(len(value) > 63 for value in job["metadata"]["labels"].values())
        if any(one.job == name for one in self.cloud.machines.values()):
            return self.ends(1, err=f'Error from server (AlreadyExists): jobs.batch "{name}" already exists\n')
        machine = self.cloud.create(job["metadata"]["annotations"]["midwatch/label"], secret["stringData"], container["command"][2], 0)
        machine.job, machine.metadata = name, job["metadata"]
        return self.ends(0, f"secret/{name}\njob.batch/{name}\n")

    STATUS = {"provisioning": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]},
              "running": {"phase": "Running"}, "lost": {"phase": "Unknown"}, "odd": {"phase": "Unheard-of"},
              "stopped": {"phase": "Failed", "reason": "Evicted", "conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet"}]},
              "pulling": {"phase": "Pending", "containerStatuses": [{"state": {"waiting": {"reason": "ImagePullBackOff"}}}]},
              "preempted": {"phase": "Failed", "conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]}}

    def answer(self, operation, details):
        words = details["words"][3:]
        if operation == "create":
            return self.create(details)
        if operation == "list":
            assert words == ["jobs,pods", "-l", "app.kubernetes.io/managed-by=midwatch", "-o", "json"], words
            items = []
            for one in self.cloud.listed():
                if one.label.startswith("somebody-else"):
                    continue
                items.append({"kind": "Pod", "metadata": one.metadata, "spec": {"nodeName": "node7"}, "status": self.STATUS[one.state]})
                failed = [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}] if one.state in ("stopped", "preempted") else []
                items.append({"kind": "Job", "metadata": one.metadata, "spec": {}, "status": {"conditions": failed}})
            return self.ends(0, json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=1), "Warning: a flag is deprecated\n")
        if words[0] == "secret":  # of a job that was refused
            return self.ends(0)
        assert words[0] == "jobs,pods,secrets" and "--cascade=foreground" in words, words
        job = words[2].removeprefix("midwatch/job=")
        for number in [one.id for one in self.cloud.machines.values() if one.job == job]:
            self.cloud.destroy(number)
        return self.ends(0)


class Sky(Program):
    name = "sky"

    def operation_of(self, words):
        return {"launch": "create", "status": "list", "down": "destroy"}[words[0]]

    def denied(self):
        self.ends(1, err="sky.exceptions.NoCloudAccessError: no cloud is enabled\n")

    def full(self):
        self.ends(1, err="sky.exceptions.ResourcesUnavailableError: Failed to provision all possible launchable resources.\n")

    def answer(self, operation, details):
        words = details["words"]
        if operation == "create":
            task = json.loads(details["input"])
            names = [words[i + 1] for i, word in enumerate(words) if word == "--secret"]
            environment = {name: details["environment"][name] for name in names}
            assert not any("=" in name for name in names) and task["resources"]["accelerators"] == "H100:1", details
            self.cloud.create(words[words.index("--cluster") + 1], environment, task["run"], 0)
            return self.ends(0, "Job submitted, ID: 1\n")
        if operation == "list":
            words = {"provisioning": "INIT", "running": "UP", "stopped": "STOPPED", "odd": "UNHEARD_OF"}
            listed = [{"name": one.label, "status": words[one.state]} for one in self.cloud.listed()]
            # What sky says beside it goes to standard output too, with a terminal's colours (skypilot issue 10713).
            return self.ends(0, "Cluster(s) not found: \x1b[1mother\x1b[0m.\n" + json.dumps(listed))
        found = [one.id for one in self.cloud.machines.values() if one.label == words[2]]
        if not found:
            return self.ends(1, err=f"Cluster {words[2]} not found.\n")
        self.cloud.destroy(found[0])
        return self.ends(0)
