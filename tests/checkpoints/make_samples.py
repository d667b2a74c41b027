#!/usr/bin/env python3
"""Writes the sample checkpoints under samples/ with the real libraries: tests/checkpoints/make_samples.py [FOLDER]

Needs Debian's python3-torch (1.13); the tests need only what it wrote, which is committed. Each sample is a folder of
checkpoints of steps 10 and 20, laid out as one framework lays them out; tensors are tiny. torch.save and
torch.distributed.checkpoint write the files of theirs; safetensors and zarr files are written here, by their formats.
"""
import dataclasses
import json
import os
import shutil
import struct
import sys
import tempfile

# torch 1.13 has defaults that Python 3.11 takes for mutable; with a hash they are not.
process_class = dataclasses._process_class
dataclasses._process_class = lambda cls, init, rep, eq, order, unsafe_hash, *more, **named: process_class(
    cls, init, rep, eq, order, unsafe_hash or (eq and "__hash__" not in cls.__dict__), *more, **named)

import torch  # noqa: E402
from torch.distributed._shard import checkpoint as dcp  # noqa: E402

ROOT = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "samples")
STEPS = (10, 20)
CONFIG = {"architectures": ["TinyForCausalLM"], "hidden_size": 8, "num_hidden_layers": 1, "torch_dtype": "bfloat16", "vocab_size": 16}
WORDS = {torch.float32: "F32", torch.bfloat16: "BF16", torch.float16: "F16", torch.float64: "F64", torch.int64: "I64"}


def place(*path):
    path = os.path.join(ROOT, *path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return path


def text(path, content):
    with open(place(path), "w", encoding="utf-8") as file:
        file.write(content if isinstance(content, str) else json.dumps(content, indent=1))


def raw(tensor):
    return bytes(tensor.contiguous().view(torch.uint8).numpy()) if tensor.dtype != torch.bfloat16 else bytes(
        tensor.contiguous().view(torch.int16).numpy())


def safetensors(path, tensors):
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, tensor in tensors.items():
        bytes_of = raw(tensor)
        header[name] = {"dtype": WORDS[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(bytes_of)]}
        data += bytes_of
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    with open(place(path), "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head + data)


def save(path, value, **more):
    torch.save(value, place(path), **more)


def weights(step, dtype=torch.bfloat16):
    torch.manual_seed(step)
    return {"model.embed.weight": torch.randn(16, 8).to(dtype), "model.layers.0.q.weight": torch.randn(8, 8).to(dtype),
            "lm_head.weight": torch.randn(16, 8).to(dtype)}


def optimizer_of(step):
    torch.manual_seed(step + 1)
    parameter = torch.nn.Parameter(torch.randn(8, 8))
    optimizer = torch.optim.AdamW([parameter], lr=1e-6)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda _: 1.0)
    for _ in range(step):
        parameter.grad = torch.randn(8, 8)
        optimizer.step()
        schedule.step()
    return optimizer.state_dict(), {key: value for key, value in schedule.state_dict().items() if key != "lr_lambdas"}


def rng():
    return {"cpu": torch.get_rng_state()[:64].clone(), "python": (3, (1, 2, 3), None)}


def distributed(path, state, one_file=False):
    folder = os.path.join(ROOT, path)
    os.makedirs(folder, exist_ok=True)
    dcp.save_state_dict(state, dcp.FileSystemWriter(folder, single_file_per_rank=one_file), no_dist=True)


class EveryRank(dcp.default_planner.DefaultSavePlanner):
    """Plain tensors of each rank are saved, as torch 2 does; 1.13 saves those of the coordinator only."""

    def init(self, state_dict, is_coordinator):
        super().init(state_dict, True)


def distributed_by_two(path, state_of):
    """As two processes write it together, each what state_of(rank) gives: layers and optimizer of its own pipeline stage."""
    folder, meeting = os.path.join(ROOT, path), tempfile.mktemp()
    os.makedirs(folder, exist_ok=True)
    children = []
    for rank in range(2):
        children.append(os.fork())
        if children[-1] == 0:
            torch.distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=2)
            dcp.save_state_dict(state_of(rank), dcp.FileSystemWriter(folder, single_file_per_rank=True), planner=EveryRank())
            torch.distributed.barrier()
            os._exit(0)
    for child in children:
        assert os.waitpid(child, 0)[1] == 0


def stage(step, rank, optimizer, schedule):
    name = f"model.layers.{rank}.q.weight"
    state = {f"app.{name}": weights(step, torch.float32)["model.layers.0.q.weight"] + rank}
    for key, value in optimizer["state"][0].items():
        state[f"app.optimizers.state.{name}.{key}"] = value
    return {**state, "app.scheduler": schedule, "app.progress": {"step": step}} if rank == 0 else state


def trl(folder, step, model):
    model(folder)
    optimizer, schedule = optimizer_of(step)
    save(f"{folder}/optimizer.pt", optimizer)
    save(f"{folder}/scheduler.pt", schedule)
    save(f"{folder}/rng_state.pth", rng())
    save(f"{folder}/training_args.bin", {"learning_rate": 1e-6, "output_dir": "out"})
    text(f"{folder}/trainer_state.json", {"global_step": step, "max_steps": 100, "epoch": step / 100, "log_history": []})


def sharded(folder, step):
    all_of, names = weights(step), {}
    for number, name in enumerate(all_of, 1):
        shard = f"model-{number:05d}-of-{len(all_of):05d}.safetensors"
        safetensors(f"{folder}/{shard}", {name: all_of[name]})
        names[name] = shard
    size = sum(tensor.numel() * tensor.element_size() for tensor in all_of.values())
    text(f"{folder}/model.safetensors.index.json", {"metadata": {"total_size": size}, "weight_map": names})
    text(f"{folder}/config.json", CONFIG)


def lora(folder, step):
    safetensors(f"{folder}/adapter_model.safetensors", {"base.q.lora_A.weight": weights(step, torch.float32)["model.layers.0.q.weight"]})
    text(f"{folder}/adapter_config.json", {"peft_type": "LORA", "r": 8, "base_model_name_or_path": "tiny"})


def single(folder, step):
    safetensors(f"{folder}/model.safetensors", weights(step))
    text(f"{folder}/config.json", CONFIG)
    text(f"{folder}/tokenizer_config.json", {"model_max_length": 128})


def bins(folder, step):
    state, names = weights(step, torch.float16), {}
    for number, name in enumerate(state, 1):
        shard = f"pytorch_model-{number:05d}-of-{len(state):05d}.bin"
        save(f"{folder}/{shard}", {name: state[name]})
        names[name] = shard
    text(f"{folder}/pytorch_model.bin.index.json", {"metadata": {"total_size": 1}, "weight_map": names})
    text(f"{folder}/config.json", {**CONFIG, "torch_dtype": "float16"})


def fsdp(folder, step, world=2):
    optimizer, schedule = optimizer_of(step)
    for rank in range(world):
        name = f"world_size_{world}_rank_{rank}.pt"
        save(f"{folder}/model_{name}", {key: value[rank::world].clone() for key, value in weights(step).items()})
        save(f"{folder}/optim_{name}", optimizer)
        save(f"{folder}/extra_state_{name}", {"lr_scheduler": schedule, "rng": rng()})
    text(f"{folder}/fsdp_config.json", {"FSDP_version": 1, "world_size": world})
    text(f"{folder}/huggingface/config.json", CONFIG)


def megatron(folder, step):
    optimizer, _ = optimizer_of(step)
    state = {**weights(step), "optimizer.state.exp_avg.q": optimizer["state"][0]["exp_avg"], "rng_state/shard_0_1": rng()}
    distributed(folder, state)
    save(f"{folder}/common.pt", {"iteration": step, "checkpoint_version": 3.0, "args": {"tensor_model_parallel_size": 1},
                                 "opt_param_scheduler": {"num_steps": step}, "optimizer": {"param_groups": []}})
    text(f"{folder}/metadata.json", {"sharded_backend": "torch_dist", "sharded_backend_version": 1, "common_backend": "torch",
                                     "common_backend_version": 1})


def zarr(folder, step):
    for name, tensor in weights(step, torch.float32).items():
        text(f"{folder}/{name}/.zarray", {"chunks": [8, 8], "compressor": None, "dtype": "<f4", "fill_value": None, "filters": None,
                                          "order": "C", "shape": list(tensor.shape), "zarr_format": 2})
        for number in range(tensor.shape[0] // 8):
            with open(place(f"{folder}/{name}/{number}.0"), "wb") as file:
                file.write(raw(tensor[number * 8:number * 8 + 8]))
    save(f"{folder}/common.pt", {"iteration": step})
    text(f"{folder}/metadata.json", {"sharded_backend": "zarr", "sharded_backend_version": 1, "common_backend": "torch",
                                     "common_backend_version": 1})


def deepspeed(folder, step, stage):
    optimizer, schedule = optimizer_of(step)
    model = {"module": weights(step), "dp_world_size": 2, "mp_world_size": 1, "global_steps": step, "global_samples": step * 8,
             "skipped_steps": 0, "lr_scheduler": schedule, "ds_version": "0.14.4", "ds_config": {"zero_optimization": {"stage": stage}},
             "data_loader_state_dict": {"position": step}, "global_step": step}
    moments = {key: value for key, value in optimizer["state"][0].items() if key != "step"}
    if stage == 1:  # as CPUAdam counts its steps
        optimizer = {**optimizer, "state": {0: {"step": step, **moments}}}
    if stage == 3:  # as FusedAdam does
        optimizer = {"state": {0: moments}, "param_groups": [{**optimizer["param_groups"][0], "step": step}]}
    kind = "zero_pp_rank" if stage == 3 else "bf16_zero_pp_rank"
    for rank in range(2):
        save(f"{folder}/{kind}_{rank}_mp_rank_00_optim_states.pt",
             {"optimizer_state_dict": {"zero_stage": stage, "partition_count": 2, "base_optimizer_state": optimizer}, "ds_version": "0.14.4"})
        if stage == 3:
            save(f"{folder}/zero_pp_rank_{rank}_mp_rank_00_model_states.pt", model)
    if stage < 3:
        save(f"{folder}/mp_rank_00_model_states.pt", model)


def all_of(step):
    trl(f"trl/checkpoint-{step}", step, lambda folder: single(folder, step))
    trl(f"trl-sharded/checkpoint-{step}", step, lambda folder: sharded(folder, step))
    trl(f"trl-lora/checkpoint-{step}", step, lambda folder: lora(folder, step))
    bins(f"torch-bin/step_{step}", step)
    save(f"torch-legacy/step-{step}/model.pt", weights(step, torch.float64), _use_new_zipfile_serialization=False)
    fsdp(f"verl/global_step_{step}/actor", step)
    save(f"verl/global_step_{step}/data.pt", {"_sampler_iter_state": {"samples_yielded": step}})
    actor = f"verl-megatron/global_step_{step}/actor"
    for part in ("model", "optimizer", "extra"):
        megatron(f"{actor}/{part}/dist_ckpt", step)
    text(f"{actor}/model/huggingface/config.json", CONFIG)
    text(f"{actor}/transformer_config.json", {"hidden_size": 8, "num_layers": 1})
    text(f"{actor}/ckpt_contents.json", {"schema_version": 2, "global_step": step, "world_size": 1, "contents": ["model", "optimizer", "extra"]})
    save(f"verl-megatron/global_step_{step}/data.pt", {"_sampler_iter_state": {"samples_yielded": step}})
    megatron(f"skyrl-megatron/global_step_{step}/policy", step)
    text(f"skyrl-megatron/global_step_{step}/policy/huggingface/config.json", CONFIG)
    save(f"skyrl-megatron/global_step_{step}/data.pt", {"position": step})
    save(f"skyrl-megatron/global_step_{step}/trainer_state.pt", {"global_step": step, "config": {"trainer": {"seed": 1}}})
    fsdp(f"skyrl/global_step_{step}/policy", step)
    save(f"skyrl/global_step_{step}/data.pt", {"position": step})
    save(f"skyrl/global_step_{step}/trainer_state.pt", {"global_step": step, "config": {"trainer": {"seed": 1}}})
    optimizer, schedule = optimizer_of(step)
    state = {**weights(step, torch.float32), "optim.exp_avg": optimizer["state"][0]["exp_avg"], "scheduler": schedule, "progress": {"step": step}}
    distributed(f"prime-rl/checkpoints/step_{step}/trainer", state, one_file=True)
    save(f"prime-rl/checkpoints/step_{step}/orchestrator/progress.pt", {"progress": {"step": step, "total_tokens": 100 * step}})
    distributed_by_two(f"prime-rl-stages/checkpoints/step_{step}/trainer", lambda rank: stage(step, rank, optimizer, schedule))
    save(f"prime-rl-stages/checkpoints/step_{step}/orchestrator/progress.pt", {"progress": {"step": step, "total_tokens": 100 * step}})
    deepspeed(f"openrlhf/_actor/global_step{step}", step, 2)
    text(f"openrlhf/_actor/global_step{step}/metric.json", {"metric_key": "eval", "metric_value": 0.5})
    deepspeed(f"deepspeed-zero1/global_step{step}", step, 1)
    deepspeed(f"deepspeed-zero3/global_step{step}", step, 3)
    megatron(f"slime/iter_{step:07d}", step)
    save(f"slime/rollout/global_dataset_state_dict_{step}.pt", {"sample_offset": step, "epoch_id": 0, "sample_group_index": step})
    zarr(f"megatron-zarr/iter_{step:07d}", step)
    for rank in range(2):
        save(f"megatron-legacy/iter_{step:07d}/mp_rank_{rank:02d}/model_optim_rng.pt",
             {"iteration": step, "checkpoint_version": 3.0, "model": {key: value.chunk(2)[rank].clone() for key, value in weights(step).items()},
              "optimizer": optimizer, "opt_param_scheduler": schedule,
              "rng_state": [rng()], "args": {"tensor_model_parallel_size": 2, "pipeline_model_parallel_size": 1}})
    folder = f"nemo-rl/step_{step}"
    text(f"{folder}/training_info.json", {"step": step, "consumed_samples": step * 32})
    text(f"{folder}/config.yaml", "policy:\n  model_name: tiny\n")
    distributed(f"{folder}/policy/weights", weights(step))
    distributed(f"{folder}/policy/optimizer", {"optim.exp_avg": optimizer["state"][0]["exp_avg"], "sched": schedule})
    save(f"{folder}/train_dataloader.pt", {"position": step})
    single(f"areal-export/epoch0epochstep{step}globalstep{step}", step)


def areal():
    step = 20
    distributed("areal/default/recover_checkpoint", {**weights(step), "optim.exp_avg": optimizer_of(step)[0]["state"][0]["exp_avg"]})
    folder = "areal/recover_info"
    text(f"{folder}/step_info.json", {"epoch": 0, "epoch_step": step, "global_step": step, "steps_per_epoch": 100})
    for name in ("saver", "evaluator", "stats_logger", "checkpoint"):
        text(f"{folder}/{name}_info.json", {"last": step})
    with open(place(folder, "dataloader_info.pkl"), "wb") as file:
        __import__("pickle").dump({"position": step}, file)


def main():
    shutil.rmtree(ROOT, ignore_errors=True)
    for step in STEPS:
        all_of(step)
    areal()
    for pointer, content in {"verl/latest_checkpointed_iteration.txt": "20", "verl-megatron/latest_checkpointed_iteration.txt": "20", "skyrl/latest_ckpt_global_step.txt": "20",
                             "skyrl-megatron/latest_ckpt_global_step.txt": "20", "openrlhf/_actor/latest": "global_step20",
                             "deepspeed-zero1/latest": "global_step20", "deepspeed-zero3/latest": "global_step20", "slime/latest_checkpointed_iteration.txt": "20",
                             "megatron-legacy/latest_checkpointed_iteration.txt": "20",
                             "megatron-zarr/latest_checkpointed_iteration.txt": "20"}.items():
        text(pointer, content)


main()
