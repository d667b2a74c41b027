"""What docs/fleet.md says is typed as it stands there: each specification and each command is accepted, and what goes wrong is
said with what to do about it. Providers are a fake of Vast.ai's API and this machine.

fleet_page.py MIDWATCH PRACTICE_RUN [CASE...]
"""
import os
import re
import shutil
import signal
import subprocess
import sys

from running import PRACTICE, PROGRAM, wait_until
from watching import Scratch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "..", "contracts", "clouds"))
import apis  # noqa: E402  pylint: disable=wrong-import-position
import cloud  # noqa: E402  pylint: disable=wrong-import-position

with open(os.path.join(HERE, "..", "..", "docs", "fleet.md"), encoding="utf-8") as page_file:
    PAGE = page_file.read()
KEYS = {"WANDB_API_KEY": "w" * 40, "AWS_ACCESS_KEY_ID": "AKIA" + "Q" * 16, "AWS_SECRET_ACCESS_KEY": "s" * 40}


def block(heading, nth=0):
    """A block of TOML of the page, below a heading of it."""
    return re.findall(r"```toml\n(.*?)```", PAGE.split("\n## " + heading)[1].split("\n## ")[0], re.S)[nth]


def on_vast(base, port):
    """The page's specification with its Vast.ai in place of the provider; a folder stands for the bucket."""
    text = block("The specification").split("[[provider]]")[0]
    provider = block("Vast.ai, and a scheduled CI job").split("[[provider]]")[1]
    environment = re.search(r"^environment = .*$", block("Vast.ai, and a scheduled CI job"), re.M).group()
    text = re.sub(r"^environment = .*$", lambda _: environment, text, flags=re.M)
    text = text.replace("s3://runs", base + "/bucket")
    text = text.replace("\n[machine]", '\n[machine]\nimage = "me/train:1"\n#', 1)
    return f'{text}[[provider]]{provider}\nendpoint = "http://127.0.0.1:{port}"\n'


class Desk:
    """A person at the controller."""

    def __init__(self, base, text, **variables):
        self.file, self.base = base + "/run.toml", base
        self.write(text)
        self.environment = dict(os.environ, **KEYS, VAST_API_KEY=cloud.KEY, **variables)

    def write(self, text):
        with open(self.file, "w", encoding="utf-8") as file:
            file.write(text)

    def change(self, old, new):
        with open(self.file, encoding="utf-8") as file:
            text = file.read()
        assert old in text, old
        self.write(text.replace(old, new, 1))

    def start(self, *words, **variables):
        return subprocess.Popen([PROGRAM, "fleet", words[0], self.file, *words[1:]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, env=dict(self.environment, **variables))

    def types(self, *words, expect=0, **variables):
        child = self.start(*words, **variables)
        out, _ = child.communicate(timeout=120)
        assert child.returncode == expect, (words, child.returncode, out)
        assert not any(key in out for key in (*KEYS.values(), cloud.KEY)), out
        return out


def vast(base):
    """In the order in which the page says it; then the timer's call, by two jobs at the same moment."""
    api = apis.Vast
    desk = Desk(base, on_vast(base, cloud.start(api)))
    began = desk.types("init")
    assert "NOT LAUNCHED" in began and "began it" in began, began
    assert "PUT /api/v0/asks/" in desk.types("launch", "--dry-run")
    launched = desk.types("launch", expect=8)
    assert "launched it" in launched and "rented" in launched, launched
    both = [desk.start("watch", "--once"), desk.start("watch", "--once")]
    for child in both:
        out, _ = child.communicate(timeout=120)
        assert child.returncode in (0, 8), (child.returncode, out)
    assert "it was launched already" in desk.types("launch")
    assert "1 machine" in desk.types("status") and "Nothing is rented" in desk.types("orphans")
    desk.types("stop", expect=8)
    desk.change('settle = "5m"', 'settle = "10s"')  # for as long a machine that is listed no more may only be too new
    desk.types("init")
    wait_until("it is given back", lambda: "STOPPED" in subprocess.run(
        [PROGRAM, "fleet", "watch", desk.file, "--once"], capture_output=True, text=True, env=desk.environment, check=False).stdout)


def wrong_key(base):
    """A key that is refused: a scheduled job must fail, or nobody hears that there is no controller."""
    desk = Desk(base, on_vast(base, cloud.start(apis.Vast)))
    desk.types("init")
    for words in (("launch",), ("watch", "--once"), ("status",)):
        out = desk.types(*words, expect=9, VAST_API_KEY="not-the-key-of-the-account")
        flat = " ".join(out.split())
        assert "Is the key of VAST_API_KEY right" in flat and "A person must look" in flat, out
    assert "rented" in desk.types("watch", "--once", expect=8)


def what_is_missing(base):
    """What no provider will ever have, as the specification does not say enough, needs a person as well."""
    desk = Desk(base, on_vast(base, cloud.start(apis.Vast)).replace('image = "me/train:1"\n', ""))
    desk.types("init")
    assert "needs an image" in desk.types("launch", expect=9)
    for wrong, line in ((("price_per_hour = 6.0", "price_per_hour = six"), "run.toml:"), (("[patience]", "[patiense]"), "patiense"),
                        (("silence = ", "silense = "), "silense"), (('kind = "vast"', 'kind = "vasst"'), "vasst")):
        desk.change(*wrong)
        for words in (("init",), ("watch", "--once"), ("launch",)):
            out = desk.types(*words, expect=2)
            assert line in out and len(out.splitlines()) > 1, (words, out)
        desk.change(*reversed(wrong))
    name = desk.environment.pop("WANDB_API_KEY")
    out = desk.types("launch", expect=2)
    assert "WANDB_API_KEY" in out and name not in out, out


def somebody_elses(base):
    """The place of another run is not taken over."""
    first = Desk(base, on_vast(base, cloud.start(apis.Vast)))
    first.types("init")
    os.makedirs(base + "/other")
    text = on_vast(base, 1).replace('name = "gsm8k-8b"', 'name = "math"')
    second = Desk(base + "/other", text)
    out = second.types("init", expect=2)
    assert "belongs to the run gsm8k-8b" in out and "NOT LAUNCHED" in first.types("status"), out


def no_way_in(base):
    """A host that ssh does not let in, and a start that does not work: what ssh said, and where the output is."""
    if not shutil.which("ssh"):
        print("no_way_in: ssh is missing", flush=True)
        return
    with open(base + "/ssh_config", "w", encoding="utf-8") as file:
        file.write("Host *\n HostName 127.0.0.1\n Port 1\n")
    text = LOCAL.format(base=base, spend=100).replace('kind = "local"', f'kind = "ssh"\nhosts = ["node1"]\nconfig = "{base}/ssh_config"')
    desk = Desk(base, text)
    assert "node1 does not answer: ssh: connect" in " ".join(desk.types("init").split())
    desk.types("launch", expect=8)
    desk.write(LOCAL.format(base=base, spend=100).replace("exec sleep 1000", "there-is-no-such-program"))
    desk.types("init")

    def given_up():
        child = desk.start("watch", "--once")
        out, _ = child.communicate(timeout=120)
        return child.returncode == 9 and "failed twice" in " ".join(out.split())
    wait_until("its only host failed twice, and a person must look", given_up)
    assert "what its start printed says why" in " ".join(desk.types("status").split())


LOCAL = """name = "here"
store = "{base}/bucket/here"
start = "exec sleep 1000"
[limits]
price_per_hour = 1
spend = {spend}
[patience]
settle = "10s"
[[provider]]
kind = "local"
folder = "{base}/machines"
price = 0.5
"""


def machines_left(base):
    """Processes of machines of that folder."""
    found = []
    for name in os.listdir(base + "/machines"):
        done = subprocess.run(f"grep -lFa MIDWATCH_FLEET_LABEL={name} /proc/[0-9]*/environ", shell=True, capture_output=True, check=False)
        found += done.stdout.decode().split()
    return found


def stays(base):
    """A controller that stays goes by the specification that is in force: a limit that a person lowers ends the machine, and a
    file that is not in the store stops it from acting. Ctrl-C ends it, and nothing else."""
    desk = Desk(base, LOCAL.format(base=base, spend=100))
    desk.types("init")
    log = open(base + "/watch.log", "w+", encoding="utf-8")
    child = subprocess.Popen([PROGRAM, "fleet", "watch", desk.file, "--every", "10s"], stdout=log, stderr=log, env=desk.environment)

    def said(words):
        with open(base + "/watch.log", encoding="utf-8") as file:
            return words in " ".join(file.read().split())
    try:
        desk.types("launch", expect=8)
        desk.change("spend = 100", "spend = 0.001")
        wait_until("it sees that its file is not in the store", lambda: said("is not the one in the store"), 30)
        assert len(os.listdir(base + "/machines")) == 1
        desk.types("init")
        wait_until("it goes by the new limit", lambda: said("the limit of 0.001 is reached"), 30)
        child.send_signal(signal.SIGINT)
        assert child.wait(20) in (-signal.SIGINT, 130), child.returncode
    finally:
        child.kill()
        child.wait()
        log.close()
    wait_until("the machine is gone", lambda: subprocess.run([PROGRAM, "fleet", "watch", desk.file, "--once"], check=False,
                                                             capture_output=True, env=desk.environment).returncode == 9)
    assert "LIMIT" in desk.types("status", expect=9) and not machines_left(base)


def main():
    assert PRACTICE
    for case in (vast, wrong_key, what_is_missing, somebody_elses, no_way_in, stays):
        if sys.argv[3:] and case.__name__ not in sys.argv[3:]:
            continue
        with Scratch() as base:
            case(base)
        print(f"ok: {case.__name__}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
