"""One call that fails, for real: midwatch pushes, pulls, verifies, prunes and puts back checkpoints on a real file system (and a
real S3 server, where it is installed), and the Nth call that concerns them fails once, or from there on, or midwatch is
killed at it (fault_shim.c). Whatever fails, afterwards `latest` names a checkpoint that is there byte by byte, nothing that
should stay has gone, nothing partial is called whole or lies under the name of a whole one; and the next try, without a fault,
ends well.

faults.py MIDWATCH PRACTICE_RUN SHIM [--trials N] [--seed S] [--only CASE] [--at N --kind K [--sticky]]
  --trials N    trials of each case, drawn by the seed (default 24; a tenth of the cases whose trials take seconds); 0: every call with
                every fault, which takes hours
"""
import argparse
import contextlib
import errno
import itertools
import os
import random
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))

import gateway  # noqa: E402
import skips  # noqa: E402
from cases import cases  # noqa: E402
from watching import Scratch  # noqa: E402

ANY = [("EIO", False), ("EIO", True), ("ESTALE", False), ("ESTALE", True), ("EACCES", True), ("kill", False)]
CHANGING = [("ENOSPC", False), ("ENOSPC", True), ("EROFS", True), ("EDQUOT", True), ("after", False), ("half", False)]
NETWORK = [("ECONNRESET", False), ("ECONNRESET", True), ("ETIMEDOUT", False), ("EPIPE", False), ("kill", False), ("half", False)]


class Fault:
    def __init__(self, kind="", sticky=False, at=0, calls="all"):
        self.kind, self.sticky, self.at, self.calls = kind, sticky, at, calls

    def variables(self, shim, roots, network, log):
        named = self.kind if self.kind in ("kill", "after", "half") else str(getattr(errno, self.kind, 0))
        return {"LD_PRELOAD": shim, "FAULT_ROOTS": ":".join(roots), "FAULT_NET": "1" if network else "0", "FAULT_CALLS": self.calls,
                "FAULT_AT": str(self.at), "FAULT_STICKY": "1" if self.sticky else "0", "FAULT_KIND": named, "FAULT_LOG": log}

    def __str__(self):
        return f"--at {self.at} --kind {self.kind}{' --sticky' if self.sticky else ''}"


class Bench:
    """Runs one case again and again, each time with another fault."""

    def __init__(self, program, shim):
        self.program, self.shim, self.broken, self.trials, self.ends = program, shim, [], 0, {}

    def midwatch(self, case, words, fault=None, patience=120):
        variables = dict(os.environ, **case.variables())
        if fault:
            variables.update(fault.variables(self.shim, case.roots(), case.network, case.log()))
        child = subprocess.Popen([self.program, *words], env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 errors="replace", cwd=case.base)
        try:
            out, err = child.communicate(timeout=patience)
        except subprocess.TimeoutExpired:  # what waits for a person is stopped by one
            child.send_signal(signal.SIGTERM)
            out, err = child.communicate(timeout=60)
            err += "\nSTOPPED: it waited"
        return subprocess.CompletedProcess(words, child.returncode, out, err)

    def calls(self, case, calls):
        """How many counted calls the case makes while nothing fails."""
        case.reset()
        if os.path.exists(case.log()):
            os.unlink(case.log())
        done = self.midwatch(case, case.words(), Fault(calls=calls))
        assert done.returncode == case.expected, (case.name, done.returncode, done.stdout, done.stderr)
        with open(case.log()) as file:
            return file.read().splitlines()

    def trial(self, case, fault):
        case.reset()
        if os.path.exists(case.log()):
            os.unlink(case.log())
        self.trials += 1
        done = self.midwatch(case, case.words(), fault, case.patience)
        end = "waited" if "STOPPED: it waited" in done.stderr else "killed" if done.returncode < 0 else "failed" if done.returncode > 0 else "done all the same"
        self.ends[end] = self.ends.get(end, 0) + 1
        wrong = []
        if done.returncode < 0 and fault.kind not in ("kill", "after", "half"):
            wrong.append(f"it died of signal {-done.returncode}")
        if done.returncode > 0 and not done.stdout + done.stderr:
            wrong.append(f"exit code {done.returncode}, and not a word")
        wrong += case.wrong(done)
        if not wrong:
            again = self.midwatch(case, case.words_again(), None, case.patience)
            wrong = case.wrong_at_last(again)
        if wrong:
            where = ""
            if os.path.exists(case.log()):
                with open(case.log(), errors="replace") as file:
                    where = next((line for line in file.read().splitlines() if line.startswith(f"{fault.at} ")), "")
            self.broken.append((case.name, str(fault)))
            print(f"  {case.name} {fault} [{where}]: {'; '.join(wrong)}\n    exit {done.returncode}: {(done.stdout + done.stderr)[-600:].strip()}", flush=True)

    def case(self, case, trials, dice):
        began, self.ends = time.monotonic(), {}
        case.prepare(self)
        plan = {}  # by the name of the call: a rename is tried as often as the hundredth stat
        for calls, kinds in (("all", NETWORK if case.network else ANY), ("change", [] if case.network else CHANGING)):
            for at, call in enumerate(self.calls(case, calls), 1):
                plan.setdefault(call.split()[1], []).extend(Fault(kind, sticky, at, calls) for kind, sticky in kinds)
        whole = sum(len(faults) for faults in plan.values())
        assert whole > 20, (case.name, whole)
        for faults in plan.values():
            dice.shuffle(faults)
        drawn = [fault for row in itertools.zip_longest(*plan.values()) for fault in row if fault]
        if trials:
            drawn = drawn[:-(-trials // 10) if case.heavy else trials]
        for fault in drawn:
            self.trial(case, fault)
        ends = ", ".join(f"{count} {end}" for end, count in self.ends.items())
        print(f"{case.name}: {len(drawn)} of {whole} faults: {ends} ({time.monotonic() - began:.1f} s)", flush=True)


def main():
    words = argparse.ArgumentParser()
    for name in ("program", "practice", "shim"):
        words.add_argument(name)
    words.add_argument("--trials", type=int, default=24)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--only", default="")
    words.add_argument("--at", type=int, default=0)
    words.add_argument("--kind", default="EIO")
    words.add_argument("--calls", default="")
    words.add_argument("--sticky", action="store_true")
    given = words.parse_args()
    dice = random.Random(given.seed)
    bench = Bench(os.path.abspath(given.program), os.path.abspath(given.shim))
    with Scratch() as base, contextlib.ExitStack() as stack:
        why = gateway.missing()
        if why:
            skips.skip("with a bucket", why)
        os.makedirs(base + "/ceph")
        server = None if why else stack.enter_context(gateway.Gateway(base + "/ceph"))
        for case in cases(base, os.path.abspath(given.practice), server):
            if given.only not in ("", case.name):
                continue
            if given.at:
                case.prepare(bench)
                calls = given.calls or ("change" if (given.kind, given.sticky) in CHANGING else "all")
                bench.trial(case, Fault(given.kind, given.sticky, given.at, calls))
            else:
                bench.case(case, given.trials, dice)
        if bench.broken:
            print(f"{len(bench.broken)} of {bench.trials} trials broke a promise")
            return 1
    print(f"all promises held in {bench.trials} trials")
    return skips.status()


if __name__ == "__main__":
    sys.exit(main())
