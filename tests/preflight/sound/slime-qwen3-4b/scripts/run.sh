#!/bin/bash
pkill -9 sglang
set -ex
export PYTHONUNBUFFERED=1
CKPT_ARGS=(
   --hf-checkpoint /root/Qwen3-4B
   --ref-load /root/Qwen3-4B_torch_dist
   --load /data/Qwen3-4B_run/
   --save /data/Qwen3-4B_run/
   --save-interval 20
)
ROLLOUT_ARGS=(
   --prompt-data /root/dapo/dapo.jsonl
   --input-key prompt
   --num-rollout 300
   --rollout-batch-size 32
   --n-samples-per-prompt 8
   --rollout-max-response-len 8192
   --rollout-temperature 1
   --global-batch-size 256
   # --balance-data
)
WANDB_ARGS=(
   # --use-wandb
)
ray start --head --node-ip-address ${MASTER_ADDR:-127.0.0.1} --num-gpus 8
ray job submit --address="http://127.0.0.1:8265" \
   --runtime-env-json="{\"env_vars\": {\"PYTHONPATH\": \"/root/Megatron-LM/\"}}" \
   -- python3 train.py --actor-num-nodes 1 --actor-num-gpus-per-node 8 --colocate \
   --tensor-model-parallel-size 2 --sequence-parallel --use-dynamic-batch-size --max-tokens-per-gpu 9216 \
   --recompute-granularity full --recompute-method uniform --recompute-num-layers 1 \
   --advantage-estimator grpo --eps-clip 0.2 --eps-clip-high 0.28 --lr 1e-6 \
   --rollout-num-gpus-per-engine 2 --sglang-mem-fraction-static 0.7 \
   ${CKPT_ARGS[@]} ${ROLLOUT_ARGS[@]} ${WANDB_ARGS[@]}
