"""midwatch stops on request: under a flood of output, with a home that is gone, full or frozen, without /proc,
with few descriptors, with a reader that reads nothing; and a flood neither starves the watch nor its signals.

stops.py MIDWATCH PRACTICE_RUN [CASE...] runs some or all of the cases; they run beside each other."""
import concurrent.futures
import ctypes
import glob
import json
import os
import signal
import subprocess
import sys
import time
import traceback

import skips
from running import PROGRAM, Run, output, wait_until
from watching import Scratch

LIBC = ctypes.CDLL(None, use_errno=True)
TICKS = os.sysconf("SC_CLK_TCK")


class Skipped(Exception):
    pass


TRAINER = r'''
import os, signal, sys, time
mode, amount, base = sys.argv[1], float(sys.argv[2]), sys.argv[3]
signal.signal(signal.SIGINT, signal.SIG_DFL)  # whatever the test itself was started with
if "stubborn" in mode:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
with open(base + "/pid.part", "w") as file:
    file.write(str(os.getpid()))
os.rename(base + "/pid.part", base + "/pid")
out = sys.stdout.buffer
line = b"step:%d - actor/entropy:0.5 - critic/rewards/mean:0.25 - perf/throughput:1200.5 " + b"x" * 400 + b"\n"
step, began = 0, time.monotonic()
while True:
    if "flood" in mode:  # `amount` MB/s, at most 1.5 GB
        while step * 490 < min(1.5e9, (time.monotonic() - began) * amount * 1e6):
            out.write(line % (step // 1000) * 50)
            step += 50
            out.flush()
    elif "errors" in mode:  # after a long history `amount` lines a second
        if step == 0 and "history" in mode:
            for i in range(4000):
                out.write(b"step:%d - actor/entropy:0.5 - critic/rewards/mean:%.3f - actor/grad_norm:%.2f - actor/kl_loss:0.00%d\n"
                          % (i, 0.3 + i % 7 / 50, 1 + i % 5 / 10, i % 9 + 1))
        while step < (time.monotonic() - began) * amount:
            out.write(b"Traceback (most recent call last):\n  File \"a.py\", line %d, in f\nRuntimeError: CUDA error %d\n" % (step, step)
                      if step % 10 == 0 else b"ERROR: worker %d: connection refused by 10.0.0.%d\n" % (step, step % 250))
            step += 1
    else:
        out.write(b"step:%d - actor/entropy:0.5 - critic/rewards/mean:0.25\n" % step)
        step += 1
    out.flush()
    if os.path.exists(base + "/end"):
        sys.exit(int(open(base + "/end").read() or 0))
    time.sleep(0.001 if "flood" in mode or "errors" in mode else 0.1)
'''


def trainer(base, mode, amount=0):
    return [sys.executable, "-c", TRAINER, mode, str(amount), base]


def pid_of(base):
    def written():
        try:
            with open(base + "/pid") as file:
                return file.read()
        except FileNotFoundError:
            return ""
    wait_until("the command", written)
    return int(written())


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def began(run):
    """Waits until the command runs and midwatch knows of it; its process."""
    pid = pid_of(run.base)
    wait_until("the attempt", lambda: "began" in output(run))
    time.sleep(1.5)
    return pid


def ends(run, seconds):
    """The exit status; within so many seconds, or the test fails and nothing is left."""
    try:
        return run.end(seconds)
    except subprocess.TimeoutExpired:
        run.process.kill()
        pid = pid_of(run.base)
        if alive(pid):
            os.kill(pid, signal.SIGKILL)
        raise AssertionError(f"midwatch goes on {seconds} s after the request to stop") from None


def ask_twice(run, pid, seconds=30):
    """Two Ctrl-C; how long the command lived after the second. The limit is generous as the machine may be busy."""
    run.process.send_signal(signal.SIGINT)
    time.sleep(1)
    assert alive(pid), "the first Ctrl-C only asks"
    run.process.send_signal(signal.SIGINT)
    asked = time.monotonic()
    while alive(pid):
        if time.monotonic() - asked > seconds:
            ends(run, 0.1)
        time.sleep(0.01)
    lived = time.monotonic() - asked
    code = ends(run, seconds)
    print(f"  {lived:.2f} s after the second Ctrl-C the command was gone, after {time.monotonic() - asked:.2f} s midwatch", flush=True)
    return code


def flood_one(base, mode, amount):
    run = Run(base, trainer(base, mode, amount), "--quiet", "--no-host")
    pid = began(run)
    time.sleep(2)
    run.process.send_signal(signal.SIGINT)
    assert ends(run, 120) == 128 + signal.SIGINT, (run.process.returncode, run.err[-500:])
    assert not alive(pid)


def output_flood(base):
    """150 MB/s of output: one Ctrl-C ends the command."""
    flood_one(base, "flood", 150)


def error_flood(base):
    """2,000 lines of errors a second in a long run, every tenth of them a traceback: likewise."""
    flood_one(base, "errors,history", 2000)


def output_flood_shown(base):
    """Output that comes as fast as it can be shown does not keep the watch from its turn."""
    run = Run(base, trainer(base, "flood", 150), "--no-host")
    reader = subprocess.Popen(["cat"], stdin=run.process.stdout, stdout=subprocess.DEVNULL)
    pid = began(run)
    run.process.send_signal(signal.SIGINT)
    run.process.stdout.close()
    run.process.stdout = None
    run.process.stderr, err = None, run.process.stderr
    try:
        code = run.process.wait(120)
    except subprocess.TimeoutExpired:
        run.process.kill()
        os.kill(pid, signal.SIGKILL)
        raise AssertionError("midwatch goes on") from None
    reader.wait(25)
    assert code == 128 + signal.SIGINT, (code, err.read()[-500:])


def stubborn_flood(base):
    """A command that floods and ignores what it is asked: the second Ctrl-C kills it."""
    run = Run(base, trainer(base, "flood,stubborn", 60), "--quiet", "--no-host")
    assert ask_twice(run, began(run)) == 128 + signal.SIGKILL, (run.process.returncode, run.err[-500:])


def forced_with_much_unread(base):
    """The command is gone and much of what it wrote is unread: the second Ctrl-C does not wait until it is."""
    run = Run(base, trainer(base, "flood", 400), "--quiet", "--no-host")
    pid = began(run)
    run.process.send_signal(signal.SIGSTOP)  # so that it falls behind
    time.sleep(2)
    run.process.send_signal(signal.SIGINT)
    run.process.send_signal(signal.SIGCONT)
    wait_until("the command's end", lambda: not os.path.exists(f"/proc/{pid}"))  # its keeper knows how it ended
    time.sleep(0.5)
    run.process.send_signal(signal.SIGINT)
    asked = time.monotonic()
    code = ends(run, 5)
    print(f"  {time.monotonic() - asked:.2f} s after the second Ctrl-C midwatch was gone", flush=True)
    assert code in (128 + signal.SIGINT, 128 + signal.SIGKILL), code


def attach_flood(base):
    """A watch of a log that is written at full speed ends on request."""
    log = base + "/train.log"
    with open(log, "wb") as file:
        writer = subprocess.Popen(trainer(base, "errors,history", 1000), stdout=file)
    watch = subprocess.Popen([PROGRAM, "attach", log, "--home", base + "/home", "--no-host"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        time.sleep(6)
        watch.send_signal(signal.SIGINT)
        watch.wait(20)
    except subprocess.TimeoutExpired:
        raise AssertionError("the watch goes on") from None
    finally:
        watch.kill()
        writer.kill()
        writer.wait()


def mount(what, where, kind, flags=0, options=""):
    if LIBC.mount(what.encode(), where.encode(), kind.encode(), flags, options.encode()) != 0:
        raise Skipped(f"{kind} cannot be mounted here")


class Broken:
    """A home that breaks while a run is recorded in it."""

    def __init__(self, base, how):
        self.home, self.how, self.fuse, self.mounted = base + "/home", how, -1, False

    def __enter__(self):
        if self.how == "deleted":
            while os.path.exists(self.home):  # something may be written there meanwhile
                subprocess.run(["rm", "-rf", self.home], capture_output=True, check=False)
        elif self.how == "read-only":
            self.immutable("+i")
            try:
                open(self.home + "/writable", "w").close()
                raise Skipped("chattr +i does not work here")
            except PermissionError:
                pass
        else:
            try:
                self.fuse = os.open("/dev/fuse", os.O_RDWR)
            except OSError:
                raise Skipped("there is no FUSE here") from None
            mount("home", self.home, "fuse", 0, f"fd={self.fuse},rootmode=40000,user_id=0,group_id=0")
            self.mounted = True
            if self.how == "dead":  # every name in it is ENOTCONN
                os.close(self.fuse)
                self.fuse = -1
        # else its server never answers: whoever asks for a name in it hangs
        time.sleep(0.5)
        return self

    def __exit__(self, *_):
        if self.fuse >= 0:
            os.close(self.fuse)
        if self.mounted:
            LIBC.umount2(self.home.encode(), 2)
        if self.how == "read-only":
            self.immutable("-i")

    def immutable(self, how):
        """Every folder and file of it; a pipe cannot be."""
        for kind in "fd":
            subprocess.run(["find", self.home, "-type", kind, "-exec", "chattr", how, "{}", "+"], capture_output=True, check=False)


NOTES_SIGNALS = r"""
import os, signal, sys, time
base, got = sys.argv[1], []
def note(number, frame):
    got.append(number)
    with open(base + "/got", "a") as file:
        file.write(f"{number} ")
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2):
    signal.signal(number, note)
open(base + "/ready", "w").close()
ends = None
for step in range(100000):
    print(f"step:{step} - actor/entropy:0.5 - critic/rewards/mean:0.25", flush=True)
    time.sleep(0.05)
    if ends is None and (signal.SIGINT in got or signal.SIGTERM in got):
        ends = time.monotonic() + 2  # it saves
    if ends is not None and time.monotonic() > ends:
        sys.exit(0)
"""


def signals_as_they_came(base):
    """What midwatch gets the command gets, once, and nothing else while it saves within its grace."""
    for sent in ([signal.SIGTERM], [signal.SIGINT], [signal.SIGUSR1, signal.SIGTERM], [signal.SIGUSR2, signal.SIGINT]):
        place = os.path.join(base, "-".join(str(int(one)) for one in sent))
        os.mkdir(place)
        run = Run(place, [sys.executable, "-c", NOTES_SIGNALS, place], "--quiet", "--no-host", "--grace", "20")
        wait_until("the command", lambda: os.path.exists(place + "/ready"))
        for one in sent:
            run.process.send_signal(one)
            wait_until(f"signal {one}", lambda: os.path.exists(place + "/got") and str(int(one)) in open(place + "/got").read())
        assert ends(run, 30) == 0, run.err[-500:]
        got = open(place + "/got").read().split()
        assert got == [str(int(one)) for one in sent], (sent, got)


def while_a_component_starts(base):
    """Nothing of the command was begun: the status is the signal's, and the component that was started is gone."""
    server = "import os, time; open('server', 'w').write(str(os.getpid())); time.sleep(100)"
    for sent in (signal.SIGINT, signal.SIGTERM):
        place = os.path.join(base, str(int(sent)))
        os.mkdir(place)
        with open(place + "/midwatch.toml", "w") as file:
            file.write(f'[component.engine]\ncommand = ["{sys.executable}", "-c", "{server}"]\naddress = "http://127.0.0.1:9"\n')
        run = Run(place, ["touch", "begun"], "--quiet", "--no-host")
        wait_until("the component", lambda: os.path.exists(place + "/server") and open(place + "/server").read())
        run.process.send_signal(sent)
        code = run.end(30)
        assert code == 128 + sent, (code, run.err[-500:])
        assert not alive(int(open(place + "/server").read())) and not os.path.exists(place + "/begun")


def home_asked(base, how):
    """One SIGTERM, as a scheduler sends it: the command is asked to end, and midwatch ends after it."""
    run = Run(base, trainer(base, "steps"), "--quiet", "--no-host")
    pid = began(run)
    with Broken(base, how):
        run.process.send_signal(signal.SIGTERM)
        code = ends(run, 30)
        assert not alive(pid), "the command lives"
    assert code in (128 + signal.SIGTERM, 125), (code, run.err[-500:])


def home_forced(base, how):
    run = Run(base, trainer(base, "steps,stubborn"), "--quiet", "--no-host")
    pid = began(run)
    with Broken(base, how):
        code = ask_twice(run, pid)
    assert code in (128 + signal.SIGKILL, 125), (code, run.err[-500:])


def home_deleted_asked(base): home_asked(base, "deleted")
def home_read_only_asked(base): home_asked(base, "read-only")
def home_dead_asked(base): home_asked(base, "dead")
def home_frozen_asked(base): home_asked(base, "frozen")
def home_deleted_forced(base): home_forced(base, "deleted")
def home_read_only_forced(base): home_forced(base, "read-only")
def home_dead_forced(base): home_forced(base, "dead")
def home_frozen_forced(base): home_forced(base, "frozen")


def home_full(base, ends_with):
    """Not one byte is left, nor the reserve, when the trainer ends: midwatch ends too, and says why. After a failure it
    waits for space to start the command again, until a signal stops it."""
    home = base + "/home"
    os.mkdir(home)
    mount("none", home, "tmpfs", 0, "size=24m")
    try:
        run = Run(base, trainer(base, "steps"), "--quiet", "--no-host", "--restarts", "0")
        pid = began(run)
        folder = run.folder()

        def fill():
            try:
                with open(home + "/filler", "ab", buffering=0) as file:
                    while file.write(bytes(4096)):
                        pass
            except OSError:
                pass
            return not os.path.exists(folder + "/reserve") and not os.path.exists(folder + "/output/train.log.reserve")
        wait_until("all reserves are gone", fill)
        for _ in range(20):
            fill()
            time.sleep(0.1)
        with open(base + "/end", "w") as file:
            file.write(str(ends_with))
        if ends_with != 0:
            wait_until("the end", lambda: not alive(pid))
            time.sleep(3)
            if run.process.poll() is None:
                run.process.send_signal(signal.SIGTERM)
            else:  # the journal's last page had room for the end and for what was decided: nothing is to follow
                with open(folder + "/journal/00000001.journal", "rb") as file:
                    assert b'"e":"decided"' in file.read(), "it ended with its decision unrecorded"
        ended = time.monotonic()
        code = ends(run, 90 if ends_with == 0 else 20)
        assert ends_with != 0 or time.monotonic() - ended < 15, "it is held up by a record that nothing is to follow"
        assert code in (ends_with, 125), (code, run.err[-800:])
        assert "full" in run.err or "No space" in run.err, run.err[-800:]
    finally:
        LIBC.umount2(home.encode(), 2)


def home_full_at_the_end(base): home_full(base, 0)
def home_full_at_a_failure(base): home_full(base, 3)


def refused(command, wanted, word, seconds=15):
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        _, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.terminate()
        time.sleep(2)
        deaf = process.poll() is None
        process.kill()
        process.communicate()
        raise AssertionError(f"it hangs{' and does not hear SIGTERM' if deaf else ''}") from None
    err = err.decode()
    assert process.returncode == wanted and word in err, (process.returncode, err)


def without_proc(base):
    """Without /proc nothing could be seen or ended: that is said at once."""
    if subprocess.run(["unshare", "-m", "umount", "-l", "/proc"], capture_output=True, check=False).returncode != 0:
        raise Skipped("no mount namespace can be made here")
    refused(["unshare", "-m", "sh", "-c", 'umount -l /proc && exec "$0" "$@"', PROGRAM, "run", "--home", base + "/home", "--", "true"], 125, "no /proc")
    with open(base + "/train.log", "w") as file:
        file.write("step:1 - critic/rewards/mean:0.25\n")
    refused(["unshare", "-m", "sh", "-c", 'umount -l /proc && exec "$0" "$@"', PROGRAM, "attach", base + "/train.log"], 1, "no /proc")


def few_descriptors(base):
    """With ten open files at most there is nothing to be done: that is said at once."""
    with open(base + "/train.log", "w") as file:
        file.write("step:1 - critic/rewards/mean:0.25\n")
    limited = ["sh", "-c", 'ulimit -n 10; exec "$0" "$@"', PROGRAM]
    refused([*limited, "run", "--home", base + "/home", "--", "true"], 125, "ulimit -n")
    refused([*limited, "attach", base + "/train.log", "--home", base + "/home"], 1, "ulimit -n")


def killed_unread(run, pid):
    """Two Ctrl-C end midwatch and the command, while nobody reads what they write."""
    run.process.send_signal(signal.SIGINT)
    time.sleep(1)
    run.process.send_signal(signal.SIGINT)
    try:
        code = run.process.wait(30)
    except subprocess.TimeoutExpired:
        run.process.kill()
        os.kill(pid, signal.SIGKILL)
        raise AssertionError("midwatch goes on 30 s after the second Ctrl-C") from None
    if alive(pid):
        os.kill(pid, signal.SIGKILL)
        raise AssertionError(f"midwatch ended with {code}, and the command lives")
    assert code == 128 + signal.SIGKILL, code


def nobody_reads(base):
    """Whoever was to read our output reads nothing any more: midwatch hangs in a write, and is ended all the same."""
    run = Run(base, trainer(base, "flood,stubborn", 5), "--no-host")  # its pipe takes 64 kB and no more
    killed_unread(run, began(run))


def nobody_reads_from_the_start(base):
    """Likewise when the command floods as soon as it starts, before midwatch has read which process it is."""
    run = Run(base, trainer(base, "flood,stubborn", 500), "--no-host")
    killed_unread(run, pid_of(base))


def user_signal_at_the_start(base):
    """SIGUSR1 that comes before the command handles it is given to it as soon as it does."""
    script = ("import os, signal, sys, time\n"
              "open(sys.argv[1] + '/pid', 'w').write(str(os.getpid()))\n"
              "time.sleep(2)\n"
              "signal.signal(signal.SIGUSR1, lambda *_: sys.exit(7))\n"
              "time.sleep(60)\n")
    run = Run(base, [sys.executable, "-c", script, base], "--quiet", "--no-host", "--restarts", "0")
    wait_until("the run", lambda: glob.glob(os.path.join(base, "home", "runs", "*", "attempts", "*")) or os.path.exists(base + "/pid"))
    run.process.send_signal(signal.SIGUSR1)
    assert ends(run, 40) == 7, (run.process.returncode, run.err[-500:])


def user_signals(base):
    """SIGUSR1 and SIGUSR2 end neither midwatch nor who does not handle them; whoever of the command does gets them."""
    script = ("import os, signal, subprocess, sys, time\n"
              "other = subprocess.Popen(['sleep', '600'])\n"
              "signal.signal(signal.SIGUSR1, lambda *_: print('got USR1', other.poll(), flush=True))\n"
              "open(sys.argv[1] + '/pid', 'w').write(str(os.getpid()))\n"
              "print('step:1 - critic/rewards/mean:0.5', flush=True)\n"
              "while not os.path.exists(sys.argv[1] + '/end'): time.sleep(0.05)\n"
              "code = 0 if other.poll() is None else 9\n"
              "other.kill()\n"
              "other.wait()\n"
              "sys.exit(code)\n")
    run = Run(base, [sys.executable, "-c", script, base], "--quiet", "--no-host")
    began(run)
    run.process.send_signal(signal.SIGUSR1)
    run.process.send_signal(signal.SIGUSR2)
    wait_until("it is passed on", lambda: "got USR1 None" in output(run) or run.process.poll() is not None, 15)
    open(base + "/end", "w").close()
    assert ends(run, 30) == 0, (run.process.returncode, run.err[-500:])


def cpu_of(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def judging_budget(base):
    """A long run, then 400 lines of errors a second: judging takes a share of a core, and a new fault is reported in seconds."""
    log = base + "/train.log"
    with open(log, "w") as file:
        for step in range(8000):
            file.write(f"step:{step} - actor/entropy:0.5 - critic/rewards/mean:{0.3 + step % 7 / 50:.3f} - actor/grad_norm:{1 + step % 5 / 10:.2f} "
                       f"- actor/kl_loss:0.00{step % 9 + 1} - response_length/mean:{300 + step % 40} - actor/lr:1e-06\n")
    watch = subprocess.Popen([PROGRAM, "attach", log, "--json", "--home", base + "/home", "--no-host"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    events = base + "/events"
    with open(events, "wb") as file:
        copy = subprocess.Popen(["cat"], stdin=watch.stdout, stdout=file)
    time.sleep(3)
    writer = None
    try:
        with open(log, "ab") as file:
            writer = subprocess.Popen(trainer(base, "errors", 400), stdout=file)
        time.sleep(2)
        before, at = cpu_of(watch.pid), time.monotonic()
        time.sleep(4)
        share = (cpu_of(watch.pid) - before) / (time.monotonic() - at)
        print(f"  {100 * share:.0f} % of a core", flush=True)
        with open(events) as file:
            kinds = [json.loads(line)["incident"]["kind"] for line in file if '"opened"' in line]
        assert share < 0.6, share
        assert kinds, "nothing was reported within 6 s"
    finally:
        if writer is not None:
            writer.kill()
            writer.wait()
        watch.kill()
        copy.kill()


def memory_of_files(base):
    """Five hundred files that were read and grow no more: none keeps a buffer."""
    def resident(count):
        folder = f"{base}/run{count}"
        os.mkdir(folder)
        for i in range(count):
            with open(f"{folder}/rank_{i}.log", "w") as file:
                file.write(f"rank {i} is up\n" + "".join(f"step:{s} - actor/entropy:0.5\n" for s in range(20)))
        watch = subprocess.Popen([PROGRAM, "attach", folder, "--home", f"{base}/home{count}", "--no-host"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=more_files)
        quiet = lambda: cpu_of(watch.pid)
        last, since, end = -1.0, time.monotonic(), time.monotonic() + 60
        while time.monotonic() < end and time.monotonic() - since < 1.5:
            now = quiet()
            if now - last > 0.02:
                last, since = now, time.monotonic()
            time.sleep(0.1)
        with open(f"/proc/{watch.pid}/status") as file:
            kb = next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
        watch.kill()
        watch.wait()
        return kb
    few, many = resident(10), resident(510)
    print(f"  {(many - few) / 500:.0f} kB a file", flush=True)
    assert many - few < 100 * 500, (few, many)


def more_files():
    import resource
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))


CASES = [output_flood, error_flood, output_flood_shown, stubborn_flood, forced_with_much_unread, attach_flood, home_deleted_asked, home_read_only_asked, home_dead_asked,
         home_frozen_asked, home_deleted_forced, home_read_only_forced, home_dead_forced, home_frozen_forced, home_full_at_the_end,
         home_full_at_a_failure, without_proc, few_descriptors, nobody_reads, nobody_reads_from_the_start,
         user_signals, user_signal_at_the_start, signals_as_they_came, while_a_component_starts, judging_budget, memory_of_files]


def clean_up(base):
    """What a failed case left: whatever was started with its folder among its words."""
    for place in glob.glob("/proc/[0-9]*"):
        try:
            with open(place + "/cmdline", "rb") as file:
                ours = base.encode() in file.read() or os.readlink(place + "/cwd").startswith(base)
        except OSError:
            continue
        if ours:
            os.kill(int(place[6:]), signal.SIGKILL)


def attempt(case):
    start = time.monotonic()
    try:
        with Scratch() as base:
            try:
                case(base)
            except Exception:
                clean_up(base)
                raise
        return f"{case.__name__} ok, {time.monotonic() - start:.1f} s", True
    except Skipped as why:
        skips.skip(case.__name__, why)
        return f"{case.__name__} left out", True
    except Exception:  # of one case; the others are still to be reported
        return f"{case.__name__} FAILED, {time.monotonic() - start:.1f} s\n{traceback.format_exc(limit=-3)}", False


def main():
    wanted = sys.argv[3:]
    chosen = [case for case in CASES if not wanted or case.__name__ in wanted]
    loud = {output_flood, judging_budget, memory_of_files}  # each wants a core
    results = []
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for text, ok in pool.map(attempt, [case for case in chosen if case not in loud]):
            print(text, flush=True)
            results.append(ok)
    for case in [case for case in chosen if case in loud]:
        text, ok = attempt(case)
        print(text, flush=True)
        results.append(ok)
    print(f"{sum(results)} of {len(results)}")
    return skips.status() if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
