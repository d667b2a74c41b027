"""Two machines by ssh, each a process namespace with a real sshd: the first is destroyed in mid-step, and its host answers no
more. The other one goes on; when the first host is back, nothing is left on it.

fleet_ssh.py MIDWATCH PRACTICE_RUN
"""
import os
import shutil
import signal
import socket
import subprocess

from fleet import Fleet, ends_well, training
from fleet_servers import free_port, missing, run_cases
from running import wait_until

SSHD = shutil.which("sshd") or "/usr/sbin/sshd"


class Host:
    """A process namespace of its own, with a /proc that shows no other, and a home where no shell finds anything to read."""

    def __init__(self, base, name):
        self.name, self.port, self.base = name, free_port(), base
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{base}/{name}.key"], check=True)
        os.makedirs(f"{base}/{name}.home")
        with open(f"{base}/{name}.conf", "w") as file:
            file.write(f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {base}/{name}.key\nPidFile none\nUsePAM no\n"
                       f"StrictModes no\nAuthorizedKeysFile {base}/client.pub\nPermitRootLogin yes\n"
                       f"SetEnv HOME={base}/{name}.home\n")
        self.begin()

    def begin(self):
        self.process = subprocess.Popen(["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", SSHD, "-D", "-e", "-f",
                                         f"{self.base}/{self.name}.conf"], stderr=subprocess.PIPE)
        wait_until(f"sshd of {self.name}", self.answers)

    def answers(self):
        assert self.process.poll() is None, self.process.stderr.read()
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self.port)) == 0

    def end(self):
        self.process.send_signal(signal.SIGKILL)  # and with it all of the namespace
        self.process.wait()


def lacking():
    if missing("sshd", "ssh", "ssh-keygen"):
        return missing("sshd", "ssh", "ssh-keygen")
    tried = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "true"], capture_output=True, check=False)
    return "" if tried.returncode == 0 else "no namespaces may be made"


def host_destroyed(base, expected):
    os.makedirs("/run/sshd", exist_ok=True)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", base + "/client"], check=True)
    hosts = {name: Host(base, name) for name in ("node1", "node2")}
    with open(base + "/ssh_config", "w") as file:
        for name, host in hosts.items():
            file.write(f"Host {name}\n HostName 127.0.0.1\n Port {host.port}\n User root\n IdentityFile {base}/client\n"
                       f" StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n LogLevel ERROR\n")
    try:
        fleet = Fleet(base, f'kind = "ssh"\nfolder = "{base}/machines"\nhosts = ["node1", "node2"]\nconfig = "{base}/ssh_config"',
                      1, silence="30s")
        fleet.do("launch", expect=[8])
        training(fleet, 10)
        first = fleet.status()["rentals"][0]["host"]
        hosts[first].end()
        with fleet.timers():
            fleet.until("the other host", lambda: len(fleet.status()["rentals"]) > 1, 180)
        assert fleet.status()["rentals"][1]["host"] != first, fleet.status()
        hosts[first].begin()
        ends_well(fleet, expected, 2)
    finally:
        for host in hosts.values():
            host.end()


if __name__ == "__main__":
    run_cases((host_destroyed,), lacking())
