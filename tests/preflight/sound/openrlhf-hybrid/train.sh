set -x
ray job submit --address="http://127.0.0.1:8265" \
   --runtime-env-json='{"working_dir": "/openrlhf"}' \
   -- python3 -m openrlhf.cli.train_ppo_ray \
   --actor.num_nodes 1 --actor.num_gpus_per_node 8 \
   --ref.num_nodes 1 --ref.num_gpus_per_node 8 \
   --vllm.num_engines 4 --vllm.tensor_parallel_size 2 \
   --train.colocate_all \
   --vllm.gpu_memory_utilization 0.6 \
   --vllm.enable_sleep --ds.enable_sleep \
   --actor.model_name_or_path Qwen/Qwen3-4B-Instruct-2507 \
   --algo.advantage.estimator reinforce_baseline \
   --rollout.n_samples_per_prompt 8 --rollout.batch_size 128 \
   --train.batch_size 1024 --train.micro_batch_size 1 \
   --data.max_len 4096 --rollout.max_new_tokens 2048 \
   --actor.adam.lr 5e-7 --algo.kl.init_coef 1e-5 \
   --ckpt.output_dir /data/final --ckpt.path /data/ckpt --ckpt.save_steps 20 --ckpt.max_num 3 --ckpt.load_enable \
   --actor.gradient_checkpointing_enable --ds.packing_samples
