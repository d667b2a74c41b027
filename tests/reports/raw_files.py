"""Readers of the raw files of real runs, for reports.py. They share no code with the program: each takes the figures out
of the trainer's own file, step by step, in its own names."""
import csv
import json
import re
import struct


def jsonl(path, key="step", count=False):
    """Records of one line each; their step is under `key`, or (count) they are counted from 1."""
    figures = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        record = json.loads(line)
        step = number if count else record[key]
        figures.setdefault(step, {}).update({k: v for k, v in record.items() if isinstance(v, (int, float))})
    return figures


def json_list(path):
    return {one["step"]: one for one in json.loads(path.read_text())}


def by_name(path):
    """{"name": {"1": value, ...}, ...}"""
    figures = {}
    for name, values in json.loads(path.read_text()).items():
        for step, value in values.items():
            figures.setdefault(int(step), {})[name] = value
    return figures


def comma_separated(path):
    figures = {}
    with path.open() as file:
        for row in csv.DictReader(file):
            figures.setdefault(int(row["step"]), {}).update({k: float(v) for k, v in row.items() if v != ""})
    return figures


def trainer_state(path):
    """Training records and evaluations of transformers' trainer_state.json."""
    trained, judged = {}, {}
    for record in json.loads(path.read_text())["log_history"]:
        into = judged if any(name.startswith("eval_") for name in record) else trained
        into.setdefault(record["step"], {}).update(record)
    return trained, judged


def dict_lines(path, every, last):
    """Python dicts that a Trainer prints every so many steps; its closing record is of the last step."""
    figures = {}
    for found in re.finditer(r"\{'(?:loss|train_runtime)':.*?\}", path.read_text(errors="replace")):
        record = {k: float(v) for k, v in re.findall(r"'([\w/]+)': (-?[\d.]+(?:e[+-]?\d+)?)", found[0])}
        figures[last if "train_runtime" in record else (len(figures) + 1) * every] = record
    return figures


def verl_lines(path):
    """step:N - name:value - name:np.float64(value) ..."""
    figures = {}
    for line in path.read_text(errors="replace").split("\n"):
        if found := re.search(r"\bstep:(\d+) - (.*)", line):
            pairs = re.findall(r"([\w/@.-]+):(?:np\.float\d+\()?(-?[\d.]+(?:e[+-]?\d+)?)", found[2])
            figures.setdefault(int(found[1]), {}).update({name: float(value) for name, value in pairs})
    return figures


def areal_tables(path):
    """Boxes of "│ name │ value │ …" below "Train step N/M done."; and the clock of the last box."""
    figures, step, clock = {}, None, ""
    for line in path.read_text(errors="replace").split("\n"):
        if found := re.search(r"Train step (\d+)/\d+ done", line):
            step = int(found[1])
            figures[step] = {}
        elif step is not None and "│" in line:
            for name, value in re.findall(r"│ ([\w/]+)\s*│\s*(-?\d\.\d+e[+-]\d+) ", line):
                figures[step][name] = float(value)
                clock = line[11:19]
    return {step: one for step, one in figures.items() if one}, clock


def skyrl_phases(path):
    """Seconds of the phases of each training step, in the order of the log; steps count from 1."""
    figures, now = {}, {}
    for line in path.read_text(errors="replace").split("\n"):
        found = re.search(r"Finished: '(\w+)', time cost: ([\d.]+)s", line)
        if not found:
            continue
        now[found[1]] = float(found[2])
        if found[1] == "step":
            figures[len(figures) + 1] = now
            now = {}
    return figures


def minimind(path):
    figures = {}
    pattern = re.compile(r"\((\d+)/\d+\), Reward: (\S+), KL_ref: (\S+), .*Avg Response Len: (\S+), Learning Rate: (\S+)")
    for found in pattern.finditer(path.read_text(errors="replace")):
        figures[int(found[1])] = dict(zip(("reward", "kl", "length", "lr"), map(float, found.groups()[1:])))
    return figures


# ---- W&B run files: LevelDB's log format around protobuf records ------------------------------------------------------
BLOCK = 32768


def wandb_records(path):
    data, at, joined = path.read_bytes(), 7, b""
    while at + 7 <= len(data):
        left = BLOCK - at % BLOCK
        if left < 7:
            at += left
            continue
        size, kind = struct.unpack_from("<HB", data, at + 4)
        piece = data[at + 7:at + 7 + size]
        if kind == 0 or len(piece) < size:
            return
        at += 7 + size
        joined = piece if kind in (1, 2) else joined + piece
        if kind in (1, 4):
            yield joined


def protobuf(data):
    """(field, value) pairs; messages and strings are bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 1:
            at += 8
        elif key & 7 == 5:
            at += 4
        else:
            size = varint()
            yield key >> 3, data[at:at + size]
            at += size


def items(message, field):
    """name -> number, of the key_value items in a history or stats record."""
    out = {}
    for number, value in protobuf(message):
        if number != field:
            continue
        name, text = None, "null"
        for key, part in protobuf(value):
            if key in (1, 2):
                name = part.decode() if key == 1 else "/".join(filter(None, [name, part.decode()]))
            elif key == 16:
                text = part.decode()
        figure = json.loads(text)
        if isinstance(figure, (int, float)):
            out[name] = figure
    return out


def wandb(path, step_key):
    """History by the trainer's own step, and the samples of the machine in their order."""
    figures, samples = {}, []
    for record in wandb_records(path):
        for number, value in protobuf(record):
            if number == 2:  # history
                row = items(value, 1)
                if step_key in row:
                    figures.setdefault(int(row[step_key]), {}).update(row)
            elif number == 7:  # stats
                samples.append(items(value, 3))
    return figures, samples
