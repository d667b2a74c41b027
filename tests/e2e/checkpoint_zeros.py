"""midwatch checkpoint verify with the real program on weights of which a part was never written, and on a step that may not be listed."""
import json
import os
import pathlib
import random
import struct
import subprocess
import sys

from running import PROGRAM
from watching import Scratch

SAVED = 1768465800  # 2026-01-15, long ago
ROW, ROWS, LAYERS = 1024, 256, 6  # numbers of 2 bytes


def weights(step):
    dice = random.Random(step)
    head, data = {}, b""
    for layer in range(LAYERS):
        for part in ("self_attn.q_proj", "mlp.up_proj"):
            tensor = dice.randbytes(2 * ROW * ROWS).replace(b"\xff", b"\x7a").replace(b"\x7f", b"\x3c").replace(b"\0", b"\1")
            head[f"model.layers.{layer}.{part}.weight"] = {"dtype": "BF16", "shape": [ROWS, ROW],
                                                           "data_offsets": [len(data), len(data) + len(tensor)]}
            data += tensor
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def settle(folder):
    for place in [folder, *folder.rglob("*")]:
        when = SAVED + 600 * int(folder.name.split("-")[1])
        os.utime(place, (when, when))


def save(base, step):
    folder = pathlib.Path(base) / "out" / f"checkpoint-{step}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.safetensors").write_bytes(weights(step))
    (folder / "config.json").write_text(json.dumps({"hidden_size": ROW}))
    (folder / "trainer_state.json").write_text(json.dumps({"global_step": step}))
    settle(folder)
    return folder


def verified(base, *args, before=()):
    environment = {**os.environ, "MIDWATCH_HOME": base + "/home"}
    done = subprocess.run([*before, PROGRAM, "checkpoint", "verify", "--json", *args], env=environment, capture_output=True,
                          timeout=60, check=False)
    return done.returncode, json.loads(done.stdout)["checkpoints"]


def clear(folder, begin, end):
    file = folder / "model.safetensors"
    content = bytearray(file.read_bytes())
    end = len(content) if end is None else end
    content[begin:end] = bytes(end - begin)
    file.write_bytes(content)
    settle(folder)


def an_end_that_was_never_written_is_suspect(base):
    last = [save(base, step) for step in (10, 20, 30)][-1]
    assert [one["state"] for one in verified(base, base + "/out")[1]] == ["whole"] * 3
    size = (last / "model.safetensors").stat().st_size
    for begin in (size // 2 + 1234, 4096 * 300, 4096 * 300 + 700, size - 600_001):
        save(base, 30)
        clear(last, begin, None)
        code, all_of_it = verified(base, base + "/out")
        assert code == 10 and [one["state"] for one in all_of_it] == ["whole", "whole", "suspect"], (begin, all_of_it)
        assert "its end was never written" in all_of_it[2]["problems"][0]["what"], all_of_it


def what_fell_to_zero_is_found_in_the_same_command(base):
    last = [save(base, step) for step in (10, 20, 30)][-1]
    tensor = 2 * ROW * ROWS
    size = (last / "model.safetensors").stat().st_size
    data = size - 2 * LAYERS * tensor
    for begin, end, what in ((data + 3 * tensor, data + 4 * tensor, "all 262144 numbers of model.layers.1.mlp.up_proj.weight are zero"),
                             (data + 3 * tensor + 2 * ROW * 16, data + 3 * tensor + 2 * ROW * 128, "model.layers.1.mlp.up_proj.weight")):
        save(base, 30)
        clear(last, begin, end)
        assert verified(base, str(last))[1][0]["state"] == "whole"
        code, all_of_it = verified(base, "--deep", base + "/out")
        assert code == 10 and [one["state"] for one in all_of_it] == ["whole", "whole", "suspect"], all_of_it
        assert what in all_of_it[2]["problems"][0]["what"], all_of_it
        for kept in pathlib.Path(base + "/home/checkpoints").iterdir():
            kept.unlink()
    save(base, 30)
    assert verified(base, "--deep", base + "/out")[0] == 0


def a_step_that_may_not_be_listed_is_shown(base):
    folders = [save(base, step) for step in (10, 20, 30)]
    as_nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups") if os.geteuid() == 0 else ()
    os.chmod(base, 0o755)
    folders[1].chmod(0)
    (folders[2] / "model.safetensors").chmod(0)
    try:
        _, all_of_it = verified(base, base + "/out", before=as_nobody)
    finally:
        folders[1].chmod(0o755)
    assert [one["state"] for one in all_of_it] == ["whole", "unknown", "unknown"], all_of_it
    assert not any("of a format that midwatch does not read" in note for note in all_of_it[2]["notes"]), all_of_it


def in_what_they_differ_is_said_of_several(base):
    last = [save(base, step) for step in (10, 20, 30)][-1]
    file = last / "model.safetensors"
    file.write_bytes(file.read_bytes().replace(f"[{ROWS}, {ROW}]".encode(), f"[{ROW}, {ROWS}]".encode(), 1))
    settle(last)
    done = subprocess.run([PROGRAM, "checkpoint", "verify", "--deep", base + "/out", "--home", base + "/home"], capture_output=True,
                          timeout=60, check=False)
    text = " ".join(done.stdout.decode().split())
    assert done.returncode == 0 and "step 30 model.safetensors: model.layers.0.self_attn.q_proj.weight is BF16 [1024, 256]" in text, text
    assert "No byte of these 3 is damaged" in text and "Nothing is wrong" not in text, text


def main():
    for case in (in_what_they_differ_is_said_of_several, an_end_that_was_never_written_is_suspect,
                 what_fell_to_zero_is_found_in_the_same_command,
                 a_step_that_may_not_be_listed_is_shown):
        with Scratch() as base:
            case(base)
        print(f"{case.__name__}: ok")


main()
sys.exit(0)
