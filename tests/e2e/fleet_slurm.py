"""A run whose machines are jobs of a real Slurm, one node of it: a job is cancelled by somebody else, and the next one goes on.

fleet_slurm.py MIDWATCH PRACTICE_RUN
"""
import os
import shutil
import socket
import subprocess

import skips
from fleet import Fleet, ends_well, training, undisturbed
from running import wait_until
from watching import Scratch

TOOLS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo")

CONFIG = """
ClusterName=one
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={base}/munge/socket
StateSaveLocation={base}/ctl
SlurmdSpoolDir={base}/spool
SlurmctldPidFile={base}/slurmctld.pid
SlurmdPidFile={base}/slurmd.pid
SlurmctldPort={ctl}
SlurmdPort={daemon}
SlurmctldLogFile={base}/slurmctld.log
SlurmdLogFile={base}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
MailProg=/bin/true
NodeName=localhost NodeAddr=127.0.0.1 CPUs=1 RealMemory=500 State=UNKNOWN
PartitionName=main Nodes=localhost Default=YES MaxTime=INFINITE State=UP
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Cluster:
    def __init__(self, base):
        self.base, self.children = base, []
        for name in ("munge", "ctl", "spool", "job"):
            os.makedirs(f"{base}/{name}", mode=0o711)
        os.chmod(base, 0o711)
        with open(base + "/munge/key", "wb") as file:
            file.write(os.urandom(1024))
        os.chmod(base + "/munge/key", 0o400)
        with open(base + "/slurm.conf", "w") as file:
            file.write(CONFIG.format(base=base, ctl=free_port(), daemon=free_port()))
        os.environ["SLURM_CONF"] = base + "/slurm.conf"
        munge = base + "/munge/"
        self.run("munged", "--foreground", "--force", f"--key-file={munge}key", f"--socket={munge}socket", f"--pid-file={munge}pid",
                 f"--log-file={munge}log", f"--seed-file={munge}seed")
        wait_until("munge", lambda: os.path.exists(munge + "socket"))
        self.run("slurmctld", "-D")
        self.run("slurmd", "-D", "-N", "localhost")
        wait_until("the cluster is up", lambda: "localhost" in self.ask("sinfo", "--noheader", "--states=idle", "--format=%N"))

    def run(self, *words):
        self.children.append(subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    @staticmethod
    def ask(*words):
        return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False).stdout

    def end(self):
        self.ask("scancel", "--user=root")
        for child in reversed(self.children):
            child.terminate()
        for child in self.children:
            try:
                child.wait(30)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def missing():
    lacking = [tool for tool in TOOLS if not shutil.which(tool)]
    return f"{lacking[0]} is missing" if lacking else "" if os.geteuid() == 0 else "only root can start a cluster"


def job_cancelled(base, expected):
    cluster = Cluster(base)
    try:
        fleet = Fleet(base, f'kind = "slurm"\npartition = "main"\ntime = "01:00:00"\nfolder = "{base}/job"', 0.3)
        fleet.do("launch", expect=[8])
        training(fleet, 10)
        (first,) = cluster.ask("squeue", "--noheader", "--format=%i").split()
        cluster.ask("scancel", "--signal=KILL", "--full", first)
        wait_until("another job", lambda: len(fleet.watch_by_two()["rentals"]) > 1, 180)
        ends_well(fleet, expected, 2)
        wait_until("nothing is queued", lambda: not cluster.ask("squeue", "--noheader", "--format=%i").split())
    finally:
        cluster.end()


if __name__ == "__main__":
    if missing():
        skips.skip("job_cancelled", missing())
    else:
        with Scratch() as scratch:
            job_cancelled(scratch, undisturbed())
        print("ok: job_cancelled")
    raise SystemExit(skips.status())
