N=8
LEN=8192
MODEL=${MODEL_PATH:-Qwen/Qwen3-8B}
COMMON=(
  data.max_prompt_length=2048
  data.max_response_length=$LEN
  actor_rollout_ref.model.path=Qwen/Qwen3-8B      # the same as MODEL
  actor_rollout_ref.actor.use_dynamic_bsz=True
  actor_rollout_ref.actor.ppo_max_token_len_per_gpu=$LEN
)
ray job submit --address="http://127.0.0.1:8265" --runtime-env-json='{"env_vars": {"A": "b"}}' -- \
  python3 -m verl.trainer.main_ppo "${COMMON[@]}" \
  algorithm.adv_estimator=grpo data.train_batch_size=512 actor_rollout_ref.actor.ppo_mini_batch_size=32 \
  actor_rollout_ref.rollout.n=$N actor_rollout_ref.rollout.tensor_model_parallel_size=2 \
  actor_rollout_ref.actor.fsdp_config.param_offload=True actor_rollout_ref.actor.fsdp_config.optimizer_offload=True \
  trainer.n_gpus_per_node=8 trainer.nnodes=2 trainer.save_freq=50 trainer.max_actor_ckpt_to_keep=2 "$@" 2>&1 | tee log.txt
