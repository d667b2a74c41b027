"""A real S3 server for tests: Ceph's gateway with one monitor and one store in memory, all on this machine's loopback.

Needs the packages of scripts/packages-s3.txt and root. with Gateway(folder) as gateway: gateway.url, .key, .secret
"""
import hashlib
import hmac
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.parse
import uuid

PROGRAMS = ("ceph", "ceph-authtool", "ceph-mon", "ceph-osd", "monmaptool", "radosgw", "radosgw-admin")
UP_S = 60  # within which each part must answer; it takes about three seconds on an idle machine

SETTINGS = """
[global]
fsid = {cluster}
mon initial members = a
mon host = [v1:127.0.0.1:{mon_port}]
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind msgr2 = false
ms bind ipv6 = false
auth allow insecure global id reclaim = true
# One copy of everything is enough here, and a disk that is nearly full no reason to stop.
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon max pg per osd = 1000
mon osd full ratio = .99
mon osd backfillfull ratio = .985
mon osd nearfull ratio = .98
mon data avail crit = 1
# Decisions are taken at once: the monitor waits a second for more of them otherwise.
paxos propose interval = 0.02
paxos min wait = 0.01
mon tick interval = 1
run dir = {folder}/run
admin socket = {folder}/run/$name.asok
pid file = {folder}/run/$name.pid
log file = {folder}/log/$name.log
keyring = {folder}/keyring
[mon.a]
mon data = {folder}/mon
[osd]
osd data = {folder}/osd
osd objectstore = memstore
memstore device bytes = 4294967296
[client.rgw.a]
rgw frontends = beast endpoint=127.0.0.1:{port}
rgw dns name = localhost
rgw enable usage log = false
rgw thread pool size = 32
"""


def missing():
    """Why there can be no server here; "" when there can."""
    absent = [name for name in PROGRAMS if shutil.which(name) is None]
    if absent:
        return "not installed: " + ", ".join(absent) + " (scripts/setup s3)"
    return "" if os.geteuid() == 0 else "Ceph's daemons are started as root here"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Gateway:
    def __init__(self, folder):
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.key, self.secret = "K" + os.urandom(9).hex().upper(), os.urandom(20).hex()
        self.processes = []

    def call(self, *words, check=True):
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True, timeout=UP_S)
        if check and done.returncode != 0:
            raise RuntimeError(f"{' '.join(words)}: {done.stderr[-2000:]}")
        return done

    def spawn(self, *words):
        with open(os.path.join(self.folder, "log", words[0] + ".out"), "ab") as log:
            self.processes.append(subprocess.Popen(words, env=self.environment, stdout=log, stderr=log))

    def until(self, what, answers):
        end = time.monotonic() + UP_S
        while not answers():
            if time.monotonic() > end or any(one.poll() is not None for one in self.processes):
                raise RuntimeError(f"Ceph: {what} does not come up; its logs are in {self.folder}/log")
            time.sleep(0.05)

    def answers(self):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
            connection.request("GET", "/")
            return connection.getresponse().status in (200, 403)
        except OSError:
            return False

    def __enter__(self):
        at = self.folder
        for name in ("mon", "osd", "run", "log"):
            os.makedirs(os.path.join(at, name))
        cluster, mon_port, conf = str(uuid.uuid4()), free_port(), os.path.join(at, "ceph.conf")
        with open(conf, "w", encoding="utf-8") as file:
            file.write(SETTINGS.format(cluster=cluster, mon_port=mon_port, folder=at, port=self.port))
        self.environment = dict(os.environ, CEPH_CONF=conf)
        try:
            self.start(cluster, mon_port)
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self, cluster, mon_port):
        at, ring = self.folder, os.path.join(self.folder, "keyring")
        full = ["--cap", "osd", "allow *", "--cap", "mgr", "allow *"]
        for first, (name, caps) in enumerate({
                "mon.": ["--cap", "mon", "allow *"], "client.admin": ["--cap", "mon", "allow *"] + full,
                "osd.0": ["--cap", "mon", "allow profile osd"] + full,
                "client.rgw.a": ["--cap", "mon", "allow rwx"] + full}.items()):
            self.call("ceph-authtool", *(["--create-keyring"] if first == 0 else []), ring, "--gen-key", "-n", name, *caps)
        self.call("monmaptool", "--create", "--fsid", cluster, "--addv", "a", f"[v1:127.0.0.1:{mon_port}]", at + "/monmap")
        self.call("ceph-mon", "--mkfs", "-i", "a", "--monmap", at + "/monmap", "--keyring", ring)
        self.spawn("ceph-mon", "-f", "-i", "a")
        osd = str(uuid.uuid4())
        self.until("the monitor", lambda: self.call("ceph", "--connect-timeout", "5", "osd", "new", osd, check=False).returncode == 0)
        self.call("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", osd)
        self.call("ceph", "osd", "crush", "add", "osd.0", "1", "root=default", "host=h", check=False)
        self.spawn("ceph-osd", "-f", "-i", "0")
        self.until("the store", lambda: "1 up" in self.call("ceph", "osd", "stat", check=False).stdout)
        self.spawn("radosgw", "-f", "-n", "client.rgw.a")
        self.until("the gateway", self.answers)
        self.call("radosgw-admin", "user", "create", "--uid=test", "--display-name=test", "--access-key=" + self.key,
                  "--secret-key=" + self.secret)

    def __exit__(self, *_):
        for one in reversed(self.processes):
            one.send_signal(signal.SIGKILL)
            one.wait()

    def ask(self, method, path, query="", body=b""):
        """A request signed as S3 wants it (AWS Signature Version 4); status and body of the answer."""
        when = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        path, scope = urllib.parse.quote(path), when[:8] + "/us-east-1/s3/aws4_request"
        digest = hashlib.sha256(body).hexdigest()
        headers = {"host": f"127.0.0.1:{self.port}", "x-amz-content-sha256": digest, "x-amz-date": when}
        lines = "".join(f"{name}:{value}\n" for name, value in sorted(headers.items()))
        canonical = "\n".join((method, path, query, lines, ";".join(sorted(headers)), digest))
        headers["authorization"] = (f"AWS4-HMAC-SHA256 Credential={self.key}/{scope},SignedHeaders={';'.join(sorted(headers))},"
                                    f"Signature={self.signature(when, scope, canonical)}")
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path + ("?" + query if query else ""), body=body, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read()

    def address_to_put(self, path):
        """An address that takes a PUT of whatever bytes, for an hour, from a client that cannot sign."""
        when = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        scope = when[:8] + "/us-east-1/s3/aws4_request"
        query = urllib.parse.urlencode({"X-Amz-Algorithm": "AWS4-HMAC-SHA256", "X-Amz-Credential": f"{self.key}/{scope}",
                                        "X-Amz-Date": when, "X-Amz-Expires": "3600", "X-Amz-SignedHeaders": "host"})
        canonical = "\n".join(("PUT", path, query, f"host:127.0.0.1:{self.port}\n", "host", "UNSIGNED-PAYLOAD"))
        return f"{self.url}{path}?{query}&X-Amz-Signature={self.signature(when, scope, canonical)}"

    def signature(self, when, scope, canonical):
        text = "\n".join(("AWS4-HMAC-SHA256", when, scope, hashlib.sha256(canonical.encode()).hexdigest()))
        key = ("AWS4" + self.secret).encode()
        for piece in scope.split("/"):
            key = hmac.digest(key, piece.encode(), "sha256")
        return hmac.digest(key, text.encode(), "sha256").hex()

    def reader(self, bucket):
        """The environment of somebody who may read and list this bucket, and nothing else."""
        key, secret = "R" + os.urandom(9).hex().upper(), os.urandom(20).hex()
        self.call("radosgw-admin", "user", "create", "--uid=reader", "--display-name=reader", "--access-key=" + key,
                  "--secret-key=" + secret)
        policy = {"Version": "2012-10-17", "Statement": [{
            "Effect": "Allow", "Principal": {"AWS": ["arn:aws:iam:::user/reader"]}, "Action": ["s3:GetObject", "s3:ListBucket"],
            "Resource": [f"arn:aws:s3:::{bucket}", f"arn:aws:s3:::{bucket}/*"]}]}
        status, text = self.ask("PUT", "/" + bucket, "policy=", json.dumps(policy).encode())
        assert status in (200, 204), text
        return dict(self.variables(), AWS_ACCESS_KEY_ID=key, AWS_SECRET_ACCESS_KEY=secret)

    def make_bucket(self, name):
        status, text = self.ask("PUT", "/" + name)
        assert status == 200, text

    def variables(self, url=None):
        """What a client's environment has, to reach it (or what stands before it, at `url`)."""
        return {"AWS_ACCESS_KEY_ID": self.key, "AWS_SECRET_ACCESS_KEY": self.secret, "AWS_REGION": "us-east-1",
                "AWS_ENDPOINT_URL_S3": url or self.url}
