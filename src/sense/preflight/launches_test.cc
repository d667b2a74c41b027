// The failed launches that a team wrote down while it brought one prime-rl run up (2026-01): eight numbered issues, and
// four attempts to fit trainer and engine on one GPU. Each must be caught before anything is started; the configuration
// that worked in the end must pass.
#include <doctest/doctest.h>

#include "sense/preflight/testing/world.h"

using namespace mw;
using namespace mw::preflight;

namespace {

const std::vector<std::string> kLaunch = {"uv", "run", "rl", "@", "rl.toml"};

/// "8. attempt 7-8, Qwen2.5-7B on two A6000": the configuration that stood.
const std::string kWorked = R"(max_steps = 1000
inference_gpu_ids = [0]
trainer_gpu_ids = [1]

[model]
name = "Qwen/Qwen2.5-7B-Instruct"

[trainer.model.experimental.lora]
rank = 8
alpha = 32

[trainer.model.ac]
freq = 1

[ckpt]
interval = 5
keep = 3

[orchestrator]
batch_size = 128
rollouts_per_example = 8
seq_len = 2048

[orchestrator.sampling]
max_tokens = 2000

[[orchestrator.env]]
id = "seconds-0/beautiful-soup-env"

[wandb]
project = "beautiful-soup-env"
)";

std::string with(std::string text, const std::string& before, const std::string& after) {
  const size_t at = text.find(before);
  MW_CHECK(at != std::string::npos);
  return text.replace(at, before.size(), after);
}

World two_a6000(const std::string& toml) {
  World world;
  world.gpus = {49140.0 * 1024 * 1024, 49140.0 * 1024 * 1024};
  world.system.files["/work/rl.toml"] = toml;
  return world;
}

/// One H100 for trainer and engine, as the "memory optimization journey" had it.
const std::string kOneGpu = R"(inference_gpu_ids = [0]
trainer_gpu_ids = [0]
max_steps = 1000

[model]
name = "Qwen/Qwen2.5-7B-Instruct"

[ckpt]
interval = 5
keep_last = 3

[trainer.model]
seq_len = 2048

[trainer.model.ac]
freq = 1

[trainer.model.lora]
rank = 8
alpha = 32

[orchestrator]
batch_size = 8
rollouts_per_example = 2
seq_len = 2048

[orchestrator.sampling]
max_tokens = 2000

[inference]
gpu_memory_utilization = 0.50

[inference.model]
enforce_eager = true
max_model_len = 4096
)";

World one_h100(const std::string& toml) {
  World world;
  world.gpus = {81559.0 * 1024 * 1024};
  world.system.files["/work/rl.toml"] = toml;
  return world;
}

}  // namespace

TEST_CASE("issue 1, config format errors: seq_len at the top, top_p in sampling, buffer.type") {
  // "`seq_len` must be under `[orchestrator]`, not top-level"
  // "`top_p` not allowed in `[orchestrator.sampling]`"
  // "`[orchestrator.buffer]` uses `online_difficulty_filtering = true`, not `type = "online-difficulty"`"
  std::string toml = with(kWorked, "max_steps = 1000\n", "max_steps = 1000\nseq_len = 8192\n");
  toml = with(toml, "max_tokens = 2000\n", "max_tokens = 2000\ntop_p = 0.9\n");
  toml += "\n[orchestrator.buffer]\ntype = \"online-difficulty\"\n";
  World world = two_a6000(toml);
  const auto found = world.look(kLaunch);
  CAPTURE(lines_of(found));
  CHECK(world.facts.version == "2025-12");
  const preflight::Finding* seq = find_lint(found, "prime-rl/top-level-seq-len");
  REQUIRE(seq != nullptr);
  CHECK(seq->level == Level::kError);
  CHECK(place_text(seq->place) == "rl.toml:2");
  CHECK(seq->value == "8192");
  CHECK(contains(seq->fix, "[orchestrator] seq_len = 8192"));
  const preflight::Finding* top_p = find_lint(found, "prime-rl/sampling-top-p");
  REQUIRE(top_p != nullptr);
  CHECK(top_p->level == Level::kError);
  CHECK(top_p->place.line == 27);
  const preflight::Finding* buffer = find_lint(found, "prime-rl/buffer-type");
  REQUIRE(buffer != nullptr);
  CHECK(buffer->level == Level::kError);
  CHECK(contains(buffer->fix, "online_difficulty_filtering = true"));
}

TEST_CASE("issue 2, W&B API key missing: No API key configured") {
  World world = two_a6000(kWorked);
  world.environment.erase("WANDB_API_KEY");
  const auto found = world.look(kLaunch);
  const preflight::Finding* login = find_lint(found, "login-missing");
  REQUIRE(login != nullptr);
  CHECK(login->level == Level::kError);
  CHECK(contains(login->fix, "WANDB_API_KEY"));
  // "Fix: Set `offline = true` in config, or configure `/root/.netrc`"
  world.system.files["/root/.netrc"] = "machine api.wandb.ai\n  login user\n  password verysecret\n";
  CHECK(find_lint(world.look(kLaunch), "login-missing") == nullptr);
  world.system.files.erase("/root/.netrc");
  world.system.files["/work/rl.toml"] = kWorked + "offline = true\n";
  CHECK(find_lint(world.look(kLaunch), "login-missing") == nullptr);
}

TEST_CASE("issue 3, CUDA OOM with gpt-oss-20b: CUDA out of memory. Tried to allocate 2.16 GiB") {
  World world = two_a6000(with(kWorked, "Qwen/Qwen2.5-7B-Instruct", "openai/gpt-oss-20b"));
  const auto found = world.look(kLaunch);
  CAPTURE(lines_of(found));
  const preflight::Finding* memory = find_lint(found, "gpu-memory");
  REQUIRE(memory != nullptr);
  CHECK(memory->level == Level::kError);
  CHECK(place_text(memory->place) == "rl.toml:6");
  CHECK(contains(memory->what, "20.9 billion parameters"));
}

TEST_CASE("issue 4, weight reload bug with gpt-oss-20b: default_weight_loader() got an unexpected keyword argument") {
  World world = two_a6000(with(kWorked, "Qwen/Qwen2.5-7B-Instruct", "openai/gpt-oss-20b"));
  const auto found = world.look(kLaunch);
  const preflight::Finding* trouble = find_lint(found, "model-trouble");
  REQUIRE(trouble != nullptr);
  CHECK(trouble->level >= Level::kWarning);  // a later vLLM may be mended
  CHECK(contains(trouble->what, "default_weight_loader()"));
}

TEST_CASE("issue 5, a vision model: Unrecognized configuration class Qwen3VLConfig for AutoModelForCausalLM") {
  World world = two_a6000(with(kWorked, "Qwen/Qwen2.5-7B-Instruct", "qwen/qwen3-vl-8b-instruct"));
  const auto found = world.look(kLaunch);
  const preflight::Finding* vision = find_lint(found, "vision-model");
  REQUIRE(vision != nullptr);
  CHECK(vision->level == Level::kError);
  CHECK(place_text(vision->place) == "rl.toml:6");
}

TEST_CASE("issue 6, not on the hub: mistralai/mistral-small-3.2-24b-instruct is not a valid model identifier") {
  World world = two_a6000(with(kWorked, "Qwen/Qwen2.5-7B-Instruct", "mistralai/mistral-small-3.2-24b-instruct"));
  const auto found = world.look(kLaunch);
  const preflight::Finding* trouble = find_lint(found, "model-trouble");
  REQUIRE(trouble != nullptr);
  CHECK(trouble->level == Level::kError);
  CHECK(contains(trouble->fix, "mistralai/Mistral-Small-3.2-24B-Instruct-2506"));
}

TEST_CASE("issue 7, the model that was taken in the end: nothing to mend") {
  // "Qwen/Qwen2.5-7B-Instruct ... No CPU offloading needed on 2x A6000 (7B fits comfortably)"
  World world = two_a6000(kWorked);
  const auto found = world.look(kLaunch);
  CHECK(lines_of(found) == "");
}

TEST_CASE("issue 8, vLLM V1 engine CUDA segfault: THCPModule_initExtension / cuCtxGetDevice") {
  // "Fix: export VLLM_USE_V1=0, export VLLM_WORKER_MULTIPROC_METHOD=spawn"
  World world = two_a6000(kWorked + "\n[inference.model]\nenforce_eager = true\n");
  CHECK(lines_of(world.look(kLaunch)) == "");
  world.environment.erase("VLLM_WORKER_MULTIPROC_METHOD");
  const auto found = world.look(kLaunch);
  const preflight::Finding* spawn = find_lint(found, "prime-rl/multiprocessing-spawn");
  REQUIRE(spawn != nullptr);
  CHECK(spawn->level == Level::kWarning);
  CHECK(contains(spawn->fix, "VLLM_WORKER_MULTIPROC_METHOD=spawn"));
  // The same cure in a launch script is seen.
  world.system.files["/work/train.sh"] =
      "export VLLM_USE_V1=0\nexport VLLM_WORKER_MULTIPROC_METHOD=spawn\nexec uv run rl @ rl.toml\n";
  CHECK(lines_of(world.look({"bash", "train.sh"})) == "");
}

TEST_CASE("issue 8 the other way round: VLLM_USE_V1=0 ends a vLLM that has no V0 engine any more") {
  World world = two_a6000(kWorked);
  world.environment["VLLM_USE_V1"] = "0";
  world.system.files["/usr/lib/python3.11/site-packages/vllm-0.11.2.dist-info/METADATA"] = "";
  CHECK(find_lint(world.look(kLaunch), "vllm-use-v1-removed") != nullptr);
}

TEST_CASE("one GPU, the settings that worked: nothing to mend") {
  // "Fifth attempt (v5 - SUCCESS)": 72 of 81 GB were used.
  World world = one_h100(kOneGpu);
  CHECK(lines_of(world.look(kLaunch)) == "");
}

TEST_CASE("one GPU, first attempt: gpu_memory_utilization = 0.45, no checkpointing, 80 GB total, OOM") {
  std::string toml = with(kOneGpu, "[trainer.model.ac]\nfreq = 1\n", "");
  toml = with(with(toml, "utilization = 0.50", "utilization = 0.45"), "[trainer.model]\nseq_len = 2048",
              "[trainer.model]\nseq_len = 4096");
  World world = one_h100(toml);
  const auto found = world.look(kLaunch);
  CAPTURE(lines_of(found));
  const preflight::Finding* memory = find_lint(found, "gpu-memory");
  REQUIRE(memory != nullptr);
  CHECK(contains(memory->fix, "trainer.model.ac"));
}

TEST_CASE("one GPU, the engine's default share: Free memory on device (48.97/79.18 GiB) is less than desired") {
  World world = one_h100(with(kOneGpu, "gpu_memory_utilization = 0.50\n", ""));
  const auto found = world.look(kLaunch);
  const preflight::Finding* share = find_lint(found, "engine-memory-share");
  REQUIRE(share != nullptr);
  CHECK(share->level == Level::kError);
  CHECK(contains(share->what, "is not set, so it is 0.9"));
}

TEST_CASE("one GPU, second attempt: fsdp_cpu_offload = true, RuntimeError: device mismatch CPU/CUDA") {
  World world = one_h100(with(kOneGpu, "seq_len = 2048\n", "seq_len = 2048\nfsdp_cpu_offload = true\n"));
  const auto found = world.look(kLaunch);
  const preflight::Finding* offload = find_lint(found, "prime-rl/offload-with-lora");
  REQUIRE(offload != nullptr);
  CHECK(offload->level == Level::kError);
  CHECK(place_text(offload->place) == "rl.toml:14");
}

TEST_CASE("one GPU, third attempt: ac = \"selective\", ValidationError: expects config object") {
  std::string toml = with(kOneGpu, "[trainer.model.ac]\nfreq = 1\n", "");
  World world = one_h100(
      with(toml, "[trainer.model]\nseq_len = 2048\n", "[trainer.model]\nseq_len = 2048\nac = \"selective\"\n"));
  const preflight::Finding* table = nullptr;
  const auto found = world.look(kLaunch);
  table = find_lint(found, "prime-rl/ac-wants-table");
  REQUIRE(table != nullptr);
  CHECK(table->level == Level::kError);
  CHECK(contains(table->fix, "[trainer.model.ac] freq = 1"));
}

TEST_CASE("one GPU, fourth attempt: 'max_tokens' is too large: 4000 (4000 > 4096 - 1297), rollouts stand at 0/8") {
  World world = one_h100(with(kOneGpu, "max_tokens = 2000", "max_tokens = 4000"));
  const auto found = world.look(kLaunch);
  CAPTURE(lines_of(found));
  const preflight::Finding* overflow = find_lint(found, "context-overflow");
  REQUIRE(overflow != nullptr);
  CHECK(overflow->level == Level::kError);
  CHECK(overflow->key == "orchestrator.sampling.max_tokens");
  CHECK(overflow->value == "4000");
  CHECK(contains(overflow->what, "96 tokens"));
}

TEST_CASE("later: a remote executor that bounds every step, Ministral, a low limit of open files") {
  World world = one_h100(
      kOneGpu + "\n[[orchestrator.env]]\nid = \"a/b\"\n[orchestrator.env.args]\nexecutor_backend = \"prime\"\n");
  CHECK(find_lint(world.look(kLaunch), "prime-rl/remote-executor") != nullptr);
  world = one_h100(with(kOneGpu, "Qwen/Qwen2.5-7B-Instruct", "mistralai/Ministral-3-8B-Instruct-2512"));
  const auto ministral = world.look(kLaunch);
  REQUIRE(find_lint(ministral, "model-trouble") != nullptr);
  CHECK(contains(find_lint(ministral, "model-trouble")->what, "ministral3"));
  world = one_h100(kOneGpu);
  world.limits =
      "Max open files            32000                1048576              files     \n";  // "Found ulimit of 32000"
  const auto files = world.look(kLaunch);
  REQUIRE(find_lint(files, "open-files") != nullptr);
  CHECK(find_lint(files, "open-files")->level == Level::kWarning);
  world.system.files["/work/train.sh"] = "ulimit -n 65536\nuv run rl @ rl.toml\n";
  CHECK(find_lint(world.look({"bash", "train.sh"}), "open-files") == nullptr);
}
