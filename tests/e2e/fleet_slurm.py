"""A run whose machines are jobs of a real Slurm of two nodes: a job is cancelled by somebody else, one comes to its time limit,
and one loses its node, which was drained. Each time the next job goes on, to the weights of an undisturbed run.

fleet_slurm.py MIDWATCH PRACTICE_RUN [CASE...]
"""
import os
import subprocess

from fleet import Fleet, ends_well, training
from fleet_servers import Servers, free_port, missing, run_cases
from running import wait_until

TOOLS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol", "sinfo")

CONFIG = """
ClusterName=two
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={base}/munge/socket
StateSaveLocation={base}/ctl
SlurmdSpoolDir={base}/spool-%n
SlurmctldPidFile={base}/slurmctld.pid
SlurmdPidFile={base}/slurmd-%n.pid
SlurmctldPort={ctl}
SlurmctldLogFile={base}/slurmctld.log
SlurmdLogFile={base}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
MailProg=/bin/true
SlurmdParameters=config_overrides
NodeName=n1 NodeHostname=localhost NodeAddr=127.0.0.1 Port={n1} CPUs=1 RealMemory=500 State=UNKNOWN
NodeName=n2 NodeHostname=localhost NodeAddr=127.0.0.1 Port={n2} CPUs=1 RealMemory=500 State=UNKNOWN
PartitionName=main Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP
"""


class Cluster(Servers):
    def __init__(self, base):
        super().__init__()
        for name in ("munge", "ctl", "spool-n1", "spool-n2", "job"):
            os.makedirs(f"{base}/{name}", mode=0o711)
        os.chmod(base, 0o711)
        with open(base + "/munge/key", "wb") as file:
            file.write(os.urandom(1024))
        os.chmod(base + "/munge/key", 0o400)
        with open(base + "/slurm.conf", "w") as file:
            file.write(CONFIG.format(base=base, ctl=free_port(), n1=free_port(), n2=free_port()))
        os.environ["SLURM_CONF"] = base + "/slurm.conf"
        munge = base + "/munge/"
        self.run("munged", "--foreground", "--force", f"--key-file={munge}key", f"--socket={munge}socket", f"--pid-file={munge}pid",
                 f"--log-file={munge}log", f"--seed-file={munge}seed")
        wait_until("munge", lambda: os.path.exists(munge + "socket"))
        self.run("slurmctld", "-D")
        self.nodes = {name: self.run("slurmd", "-D", "-N", name) for name in ("n1", "n2")}
        wait_until("the cluster is up", lambda: self.ask("sinfo", "--noheader", "--states=idle", "--format=%D").strip() == "2")

    @staticmethod
    def ask(*words):
        return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False).stdout

    def jobs(self):
        """(number, node) of each that is queued or runs."""
        return [tuple(line.split()) for line in self.ask("squeue", "--noheader", "--format=%i %N").splitlines()]

    def end(self):
        self.ask("scancel", "--user=root")
        super().end()


def on_cluster(base, time, pace, between, expected, machines=None):
    """`between` is what happens to the first job; `machines`: how many jobs there are in all, where that is known."""
    cluster = Cluster(base)
    try:
        fleet = Fleet(base, f'kind = "slurm"\npartition = "main"\ntime = "{time}"\nfolder = "{base}/job"', pace, start="exec ",
                      otherwise="", rents=10, later=pace)
        fleet.do("launch", expect=[8])
        training(fleet, 10)
        ((number, node),) = cluster.jobs()
        with fleet.timers():
            between(cluster, fleet, number, node)
            fleet.until("the run is finished", lambda: fleet.status()["outcome"] == "finished", 300)
        ends_well(fleet, expected, machines or len(fleet.status()["rentals"]))
        fleet.until("nothing is queued", lambda: not cluster.jobs())
        return fleet.status()
    finally:
        cluster.end()


def job_cancelled(base, expected):
    def cancel(cluster, _, number, _node):
        cluster.ask("scancel", "--signal=KILL", "--full", number)
    on_cluster(base, "01:00:00", 0.8, cancel, expected, 2)


def never_begins(base, _):
    """A job whose script ends before midwatch begins, and a partition that there is none of: Slurm's words reach the person."""
    cluster = Cluster(base)
    try:
        def fleet_in(name, partition):
            os.makedirs(f"{base}/{name}")
            return Fleet(f"{base}/{name}", f'kind = "slurm"\npartition = "{partition}"\nfolder = "{base}/job"', 1, start="exit 7\n", otherwise="")
        fleet = fleet_in("a", "main")
        fleet.do("launch", expect=[8])
        fleet.until("Slurm's word for its end", lambda: any("FAILED, NonZeroExitCode" in one for one in fleet.status()["reasons"]))
        fleet.do("watch", "--once", expect=[8, 9])
        assert "FAILED, NonZeroExitCode" in fleet.status()["rentals"][0]["end"]
        refused = fleet_in("b", "nowhere")
        answer = refused.do("launch", expect=[9])
        assert answer["why"].endswith("Invalid partition name specified") and "\n" not in answer["why"], answer
        assert all(one["refused"] for one in answer["rentals"]) and not refused.status()["machines"], answer
    finally:
        cluster.end()


def time_limit(base, expected):
    """Slurm counts in minutes, and gives notice two minutes before the end, or half a minute earlier: the job ends itself, and
    says so. How long it trained by then depends on how long Slurm took to load the user's environment."""
    machines = on_cluster(base, "00:05:00", 5, lambda *_: None, expected)["machines"]
    assert len(machines) > 1 and "being taken away" in machines[0]["end"] and machines[1]["from"] > 0, machines


def node_drained(base, expected):
    """A node that is being drained lets its job run, and so does the controller; when it is switched off, the other one
    goes on."""
    nodes = []

    def drain(cluster, fleet, number, node):
        cluster.ask("scontrol", "update", f"nodename={node}", "state=drain", "reason=maintenance")
        step = fleet.status()["step"]
        fleet.until("it trains on", lambda: fleet.status()["step"] > step + 2)
        assert cluster.jobs() == [(number, node)] and len(fleet.status()["rentals"]) == 1
        cluster.ask("scontrol", "update", f"nodename={node}", "state=down", "reason=maintenance")
        def others():
            return [one[1] for one in cluster.jobs() if one[0] != number and one[1:]]
        fleet.until("a job on the other node", others)
        nodes.extend([node, *others()])
    on_cluster(base, "01:00:00", 1, drain, expected, 2)
    assert sorted(nodes) == ["n1", "n2"], nodes


if __name__ == "__main__":
    run_cases((never_begins, job_cancelled, node_drained, time_limit), missing(*TOOLS))
