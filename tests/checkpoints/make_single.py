#!/usr/bin/env python3
"""Writes single files of weights under single/ with the real library: tests/checkpoints/make_single.py [FOLDER]

Needs Debian's python3-torch (1.13); the tests need only what it wrote, which is committed. Each is what a trainer that
saves one file writes; tensors are tiny.
"""
import dataclasses
import os
import sys
import zipfile

# torch 1.13 has defaults that Python 3.11 takes for mutable; with a hash they are not.
process_class = dataclasses._process_class
dataclasses._process_class = lambda cls, init, rep, eq, order, unsafe_hash, *more, **named: process_class(
    cls, init, rep, eq, order, unsafe_hash or (eq and "__hash__" not in cls.__dict__), *more, **named)

import torch  # noqa: E402

ROOT = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "single")
INF, NAN = float("inf"), float("nan")


def save(name, content, **how):
    os.makedirs(ROOT, exist_ok=True)
    torch.save(content, os.path.join(ROOT, name), **how)


def swap(name):
    """As torch.save writes it on a machine of the other byte order."""
    path = os.path.join(ROOT, name)
    with zipfile.ZipFile(path) as archive:
        members = {one: archive.read(one) for one in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for one, content in members.items():
            if "/data/" in one:  # all are of F32
                content = b"".join(content[at:at + 4][::-1] for at in range(0, len(content), 4))
            archive.writestr(zipfile.ZipInfo(one), content)
        archive.writestr(zipfile.ZipInfo(next(iter(members)).split("/")[0] + "/byteorder"), b"big")


def main():
    torch.manual_seed(20)
    net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.LayerNorm(8))
    optimizer = torch.optim.AdamW(net.parameters())
    net(torch.randn(2, 8)).sum().backward()
    optimizer.step()
    model = {name: tensor.detach().clone() for name, tensor in net.state_dict().items()}
    save("best_val.pt", {"model": model, "optimizer": optimizer.state_dict(), "step": 20, "best_val": torch.tensor(INF)})
    save("val_loss.pt", {"model": model, "optimizer": optimizer.state_dict(), "step": 20, "val_loss": torch.tensor(NAN)})
    callbacks = {"ModelCheckpoint{'monitor': None}": {"kth_value": torch.tensor(INF), "best_k_models": {}},
                 "EarlyStopping": {"best_score": torch.tensor(INF), "wait_count": 0}}
    save("lightning.ckpt", {"epoch": 1, "global_step": 20, "state_dict": model, "callbacks": callbacks,
                            "optimizer_states": [optimizer.state_dict()], "lr_schedulers": [{"best": torch.tensor(INF)}],
                            "metrics": {"val_acc": torch.tensor(NAN), "by_class": torch.full((5,), NAN)}})
    save("causal.pt", {**model, "attn.bias": torch.full((1, 1, 8, 8), -INF).triu(1),
                       "causal_bias": torch.full((8, 8), -INF).triu(1) + torch.eye(8)})
    save("sick.pt", {"model": {**model, "logit_scale": torch.tensor(NAN)}, "step": 20, "best_val": torch.tensor(1.5)})
    save("sick_bare.pt", {**model, "logit_scale": torch.tensor(INF)})
    save("nothing.pt", {"step": 20, "args": {"lr": 1e-5, "names": ["a", None]}})
    save("empty.pt", {})
    save("no_optimizer.pt", {"model": model, "optimizer": None, "step": 20})
    whole = torch.nn.Linear(8, 8)
    save("module.pt", whole)
    save("odd_kinds.pt", {"model": model, "complex": torch.ones(3, dtype=torch.cfloat),
                          "quantized": torch.quantize_per_tensor(torch.randn(8, 8), 0.1, 0, torch.qint8)},
         _use_new_zipfile_serialization=False)
    save("other_order.pt", model)
    swap("other_order.pt")


if __name__ == "__main__":
    main()
