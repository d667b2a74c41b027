"""Small logs of trainers that nobody described: how loops of one's own print their steps.

Each maker gives a list of records; a record is the lines that one step prints, and nothing may be put inside of one.
"""
import json
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "shapes"))
import shapes  # noqa: E402  (tests/shapes)

STEPS = 40


def figures(rng, step, of=STEPS):
    return {"loss": round(0.7 - 0.4 * step / of + rng.uniform(-0.05, 0.05), 4),
            "reward": round(0.2 + 0.5 * step / of + rng.uniform(-0.05, 0.05), 4),
            "kl": round(0.002 + 0.01 * step / of + rng.uniform(0, 0.001), 5)}


def clock(step):
    return f"2026-01-15 {8 + step // 60:02d}:{step % 60:02d}:07"


OPENING = ("Loading the model ...", "trainable parameters: 1,543,714,304", "starting")


def made(line, opening=(), first=1):
    """A maker of one record a step: `line` gives its lines."""
    def make(rng):
        head = [[text] for text in (*OPENING, *opening)]
        return head, [line(step, figures(rng, step)) for step in range(first, STEPS + first)]
    return make


def row(cells, width=10):
    return "|" + "|".join(f" {cell:<{width}}" for cell in cells) + "|"


def boxed(step, f):
    edge = "+" + "-" * 30 + "+"
    return [edge, f"| step      | {step:<16} |", *(f"| {k:<9} | {v:<16} |" for k, v in f.items()), edge]


def drawn(step, f):
    return ["┌" + "─" * 28 + "┐", f"│ step    │ {step:<16} │", *(f"│ {k:<7} │ {v:<16} │" for k, v in f.items()),
            "└" + "─" * 28 + "┘"]


def sb3(step, f):
    edge = "-" * 38
    return [edge, "| rollout/           |               |", f"|    ep_rew_mean     | {f['reward']:<13} |",
            "| train/             |               |", f"|    loss            | {f['loss']:<13} |",
            f"|    iteration       | {step:<13} |", edge]


def bar(step, f):
    return [f"Training: {100 * step // STEPS:3d}%|{'#' * (step // 4):<10}| {step}/{STEPS} [{step // 60:02d}:{step % 60:02d}<01:00,  "
            f"1.00s/it, loss={f['loss']}, reward={f['reward']}]"]


TRAINERS = {
    "equals": made(lambda s, f: [f"step {s}/{STEPS} loss={f['loss']} reward={f['reward']} kl={f['kl']}"]),
    "equals-lone": made(lambda s, f: [f"step={s} loss={f['loss']} reward={f['reward']}"]),
    "bracket": made(lambda s, f: [f"[{s}] loss {f['loss']} reward {f['reward']}"]),
    "bracket-of": made(lambda s, f: [f"[{s}/{STEPS}] loss: {f['loss']:.4f} reward: {f['reward']:.4f}"]),
    "epoch-pair": made(lambda s, f: [f"Epoch:[1/1]({s}/{STEPS}), Reward: {f['reward']:.4f}, KL: {f['kl']:.4f}, Loss: {f['loss']:.4f}"]),
    "iter-pipe": made(lambda s, f: [f"Iter {s} | loss {f['loss']} | reward {f['reward']} | kl {f['kl']}"]),
    "step-colon": made(lambda s, f: [f"Step {s}: Loss = {f['loss']}, Reward = {f['reward']}"]),
    "episode": made(lambda s, f: [f"Episode {s}, Reward: {f['reward']}, Loss: {f['loss']}"]),
    "epoch-only": made(lambda s, f: [f"Epoch {s}/{STEPS} - loss: {f['loss']} - mean_reward: {f['reward']}"]),
    "dict": made(lambda s, f: [str({"step": s, **f})]),
    "dict-nameless": made(lambda s, f: [f"step {s}: {f}"]),
    "dict-pretty": made(lambda s, f: json.dumps({"step": s, **f}, indent=2).splitlines()),
    "json": made(lambda s, f: [json.dumps({"step": s, **f})]),
    "json-logger": made(lambda s, f: [json.dumps({"time": clock(s), "level": "INFO", "message": "metrics", "step": s, **f})]),
    "table-columns": made(lambda s, f: [f"{s:<8}{f['loss']:<12}{f['reward']:<12}{f['kl']}"],
                          opening=["Step    loss        reward      kl"]),
    "table-pipes": made(lambda s, f: [row([s, *f.values()])], opening=[row(["step", "loss", "reward", "kl"])]),
    "table-csv": made(lambda s, f: [",".join(map(str, [s, *f.values()]))], opening=["step,loss,reward,kl"]),
    "table-tabs": made(lambda s, f: ["\t".join(map(str, [s, *f.values()]))], opening=["Step\tTraining Loss\treward\tkl"]),
    "boxed": made(boxed),
    "drawn": made(drawn),
    "sb3": made(sb3),
    "bar": made(bar),
    "heading": made(lambda s, f: [f"=== Step {s}/{STEPS} ===", f"loss: {f['loss']}", f"reward: {f['reward']}", f"kl: {f['kl']}"]),
    "heading-indented": made(lambda s, f: [f"Step {s}:", *(f"  {k}: {v}" for k, v in f.items()), ""]),
    "rule-block": made(lambda s, f: ["=" * 40, f"step: {s}", *(f"{k}: {v}" for k, v in f.items()), "=" * 40]),
    "logger": made(lambda s, f: [f"{clock(s)},123 - trainer - INFO - step {s}: loss={f['loss']} reward={f['reward']}"]),
    "logger-plain": made(lambda s, f: [f"INFO:trainer:step={s} loss={f['loss']} reward={f['reward']}"]),
    "logger-bracket": made(lambda s, f: [f"[{clock(s)}] [INFO] Step {s}/{STEPS} | loss: {f['loss']} | reward: {f['reward']}"]),
    "nested": made(lambda s, f: [f"[train] step: {s} metrics: {{'loss': {f['loss']}, 'reward/mean': {f['reward']}, 'kl': {f['kl']}}}"]),
    "transformers": made(lambda s, f: [str({"loss": f["loss"], "learning_rate": 1e-6, "reward": f["reward"], "epoch": round(s / STEPS, 3)})]),
    "wide": made(lambda s, f: [f"第 {s} 步: 损失 loss={f['loss']} reward={f['reward']}"]),
    "words": made(lambda s, f: [f"step {s} loss {f['loss']} mean reward {f['reward']}"]),
    "at-step": made(lambda s, f: [f"Loss at step {s}: {f['loss']}", f"Reward at step {s}: {f['reward']}"]),
    "count-bar": made(lambda s, f: [f"{s}/{STEPS} | loss={f['loss']} | reward={f['reward']}"]),
}


WRAPS_ALL = ("srun", "kubectl", "ray", "torchrun", "ts", "journal", "docker")  # by whatever reads the program's output


def shaped(shape):
    """A trainer of tests/shapes: its head, its records, and what stands before a line that it prints."""
    wrap = shapes.WRAPPERS[shape.wrapper]
    end = "\r" if shape.cr else "\n"
    head = [[wrap(line, shape.run[0]) + "\n"] for line in (*OPENING, *shape.head)]
    records = [[wrap(line.format(**f), f) + end for line in shape.lines] for f in shape.run]
    before = (lambda line, i: wrap(line, shape.run[i])) if shape.wrapper in WRAPS_ALL else None
    return head, records, before


def of_shapes():
    rows = [("lines", row) for row in shapes.LINES] + [("blocks", row) for row in shapes.BLOCKS]
    for group, row in rows:
        for variant in range(2):
            yield shapes.Shape(group, row, variant)


SHAPES = {f"{shape.name}/{shape.wrapper}": shape for shape in of_shapes() if not shape.collapses}


def wrapped(piece, before, i):
    if before is None:
        return piece
    lines = piece.decode("utf-8", "surrogateescape").splitlines()
    return b"".join(before(line, i).encode("utf-8", "surrogateescape") + b"\n" for line in lines)


def trainer(name):
    """Head and records of one, each a list of lines of bytes; and how a line that it prints stands in its log."""
    if name in SHAPES:
        head, records, before = shaped(SHAPES[name])
    else:
        head, records = TRAINERS[name](random.Random(name))
        head, records = ([[line + "\n" for line in lines] for lines in part] for part in (head, records))
        before = None
    return *([[line.encode() for line in lines] for lines in part] for part in (head, records)), before
