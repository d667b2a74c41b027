// Each lint: a command that it must report, and one like it that it must not.
#include <doctest/doctest.h>

#include <functional>

#include "sense/preflight/testing/world.h"

using namespace mw;
using namespace mw::preflight;

namespace {

struct Case {
  std::string lint;
  std::string toml;                   ///< of prime-rl, on top of a sound configuration
  std::function<void(World&)> spoil;  ///< what is wrong with the machine
  Level level = Level::kError;
  std::string says;  ///< a part of what is said
  std::vector<std::string> command = {"uv", "run", "rl", "@", "rl.toml"};
};

const std::string kSound =
    "max_steps = 500\n[model]\nname = \"Qwen/Qwen3-0.6B\"\n[ckpt]\ninterval = 10\nkeep_last = 2\n"
    "[orchestrator]\nbatch_size = 64\nrollouts_per_example = 8\nseq_len = 2048\n[orchestrator.sampling]\nmax_tokens = "
    "1024\n"
    "[trainer.model.lora]\nrank = 8\n[wandb]\nproject = \"p\"\n";

std::vector<preflight::Finding> look(World& world, const std::string& toml,
                                     const std::vector<std::string>& command = {"uv", "run", "rl", "@", "rl.toml"}) {
  world.system.files["/work/rl.toml"] = toml;
  return world.look(command);
}

std::string replaced(std::string text, const std::string& before, const std::string& after) {
  const size_t at = text.find(before);
  MW_CHECK(at != std::string::npos);
  return text.replace(at, before.size(), after);
}

/// Every lint by what makes it speak; the sound configuration is the one that must not.
const std::vector<Case> kCases = {
    {"unreadable-configuration", kSound + "x = \n", {}, Level::kError, "value"},
    {"unknown-key", replaced(kSound, "max_tokens", "max_token"), {}, Level::kError, "max_tokens is"},
    {"unknown-key",
     replaced(kSound, "seq_len = 2048", "seq_len = 2048\ngpu_memory_utilization = 0.5"),
     {},
     Level::kError,
     "wrong table"},
    {"unknown-key",
     replaced(kSound, "max_steps = 500\n", "max_steps = 500\n[deployment]\nnum_train_gpus = 1\n[extra]\n"),
     {},
     Level::kError,
     "2026-08"},
    {"unknown-key", replaced(kSound, "interval = 10", "interv = 10"), {}, Level::kError, "interval is"},
    {"context-overflow",
     replaced(kSound, "max_tokens = 1024", "max_tokens = 50000"),
     {},
     Level::kError,
     "Qwen3-0.6B was made for"},
    {"context-overflow",
     replaced(kSound, "max_tokens = 1024", "max_tokens = 4000"),
     {},
     Level::kWarning,
     "what is trained of a rollout"},
    {"context-overflow",
     replaced(kSound, "max_tokens = 1024", "max_tokens = 2048"),
     {},
     Level::kNote,
     "is all of orchestrator.seq_len = 2048"},
    {"group-of-one",
     replaced(kSound, "rollouts_per_example = 8", "rollouts_per_example = 1"),
     {},
     Level::kError,
     "every advantage is 0"},
    {"vision-model",
     replaced(kSound, "Qwen3-0.6B", "Qwen2.5-VL-3B-Instruct"),
     {},
     Level::kError,
     "vision-language model"},
    {"model-trouble", replaced(kSound, "Qwen/Qwen3-0.6B", "/models/gone"), {}, Level::kError, "no such folder"},
    {"gpu-count", kSound, [](World& w) { w.gpus = {80e9}; }, Level::kError, "GPU 1 is asked for"},
    {"gpu-count", kSound, [](World& w) { w.gpus = {}; }, Level::kNote, "no NVIDIA GPU"},
    {"engine-memory-share",
     kSound + "[inference]\ngpu_memory_utilization = 90\n",
     {},
     Level::kError,
     "a share from 0 to 1"},
    {"engine-memory-share",
     kSound + "[inference]\ngpu_memory_utilization = 0.99\n",
     {},
     Level::kWarning,
     "leaves nothing"},
    {"gpu-memory", replaced(kSound, "Qwen3-0.6B", "Qwen3-32B"), {}, Level::kError, "the trainer needs about"},
    {"gpu-memory", kSound + "[inference]\ngpu_memory_utilization = 0.01\n", {}, Level::kError, "the engine may take"},
    {"gpu-busy", kSound,
     [](World& w) {
       w.gpus_used = {0, 30e9};
     },
     Level::kWarning, "GPU 1 30.0 GB"},
    {"driver-cuda", kSound,
     [](World& w) {
       w.system.files["/usr/lib/python3.11/site-packages/torch-2.8.0+cu128.dist-info/METADATA"] = "";
       w.system.files["/proc/driver/nvidia/version"] =
           "NVRM version: NVIDIA UNIX x86_64 Kernel Module  515.65.01  Wed Jul 20\n";
     },
     Level::kError, "wants driver 525.60.13"},
    {"no-checkpoints",
     replaced(kSound, "[ckpt]\ninterval = 10\nkeep_last = 2\n", ""),
     {},
     Level::kWarning,
     "checkpoints are off"},
    {"keeps-everything", replaced(kSound, "keep_last = 2\n", ""),
     [](World& w) {
       w.system.spaces["/"] = {20'000'000'000, 1'000'000'000'000, 1, 1};
     },
     Level::kWarning, "full after"},
    {"checkpoint-disk", kSound,
     [](World& w) {
       w.system.spaces["/"] = {5'000'000'000, 1'000'000'000'000, 1, 1};
     },
     Level::kError, "2 kept and one"},
    {"stale-state", kSound,
     [](World& w) {
       w.system.files["/work/outputs/checkpoints/step_40/a"] = "";
       w.system.files["/work/outputs/run_default/checkpoints/step_45/a"] = "";
     },
     Level::kError, "out of step"},
    {"stale-state", kSound,
     [](World& w) {
       w.system.files["/work/outputs/checkpoints/step_40/a"] = "";
       w.system.files["/work/outputs/run_default/checkpoints/step_40/a"] = "";
     },
     Level::kWarning, "does not resume"},
    {"login-missing", kSound, [](World& w) { w.environment.erase("WANDB_API_KEY"); }, Level::kError, "W&B"},
    {"login-missing", replaced(kSound, "Qwen/Qwen3-0.6B", "meta-llama/Llama-3.2-1B-Instruct"),
     [](World& w) { w.environment.erase("HF_TOKEN"); }, Level::kWarning, "accepted its terms"},
    {"program-missing", kSound, [](World& w) { w.system.files.erase("/usr/bin/uv"); }, Level::kError,
     "uv is no program"},
    {"program-missing",
     kSound,
     {},
     Level::kError,
     "there is no file nofile.py",
     {"python3", "-u", "nofile.py", "--lr"}},
    {"program-missing", kSound, {}, Level::kError, "there is no file src/t.py", {"bash", "-c", "cd src; python3 t.py"}},
    {"program-missing",
     kSound,
     [](World& w) { w.asked.finds_module = [](auto&, auto& one) { return one != "nosuch"; }; },
     Level::kError,
     "finds no module nosuch",
     {"python3", "-m", "nosuch.module"}},
    {"program-missing",
     kSound,
     [](World& w) {
       w.system.files["/work/train_grpo.sh"] = "#!/bin/bash\nuv run rl @ rl.toml\n";
       Entry entry;
       entry.file = true;
       entry.executable = false;
       w.system.entries["/work/train_grpo.sh"] = entry;
     },
     Level::kError,
     "may not be executed",
     {"/work/train_grpo.sh"}},
    {"out-of-sight", kSound, {}, Level::kWarning, "sbatch queues the job", {"sbatch", "train.sh"}},
    {"out-of-sight", kSound, {}, Level::kWarning, "ray queues", {"ray", "job", "submit", "--no-wait", "--", "uv"}},
    {"out-of-sight", kSound, {}, Level::kWarning, "in the background", {"docker", "run", "-d", "image"}},
    {"out-of-sight", kSound, {}, Level::kWarning, "only follows", {"ray", "job", "submit", "--", "python"}},
    {"out-of-sight", kSound, {}, Level::kWarning, "in a container", {"sudo", "docker", "run", "--rm", "image"}},
    {"out-of-sight", kSound, {}, Level::kWarning, "in a pod", {"kubectl", "exec", "pod", "--", "python"}},
    {"out-of-sight", kSound, {}, Level::kWarning, "keeps all output back", {"conda", "run", "-n", "rl", "python"}},
    {"port-taken", kSound,
     [](World& w) {
       w.system.files["/proc/self/net/tcp"] =
           "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
           "   0: 00000000:1F40 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 "
           "0000000000000000 100 0 0 10 0\n";
     },
     Level::kWarning, "port 8000 is taken"},
    {"open-files", kSound,
     [](World& w) { w.limits = "Max open files            1024                 4096                 files     \n"; },
     Level::kError, "1024 files"},
    {"shared-memory", kSound,
     [](World& w) {
       w.system.spaces["/dev/shm"] = {67'108'864, 67'108'864, 1, 1};
     },
     Level::kError, "/dev/shm has"},
    {"core-dumps", kSound,
     [](World& w) {
       w.limits =
           "Max open files            65536                65536                files     \nMax core file size        "
           "unlimited            unlimited            bytes     \n";
       w.system.spaces["/"] = {300'000'000'000, 1'000'000'000'000, 1, 1};
     },
     Level::kWarning, "core dump"},
    {"clock", kSound,
     [](World& w) {
       w.asked.now = Time{1'700'000'000'000'000'000};
       Entry entry;
       entry.name = "rl.toml";
       entry.file = true;
       entry.changed_ns = 1'700'003'600'000'000'000;
       w.system.entries["/work/rl.toml"] = entry;
     },
     Level::kWarning, "behind by"},
};

}  // namespace

TEST_CASE("the sound configuration on the sound machine: nothing to mend") {
  World world;
  CHECK(lines_of(look(world, kSound), true) == "");
}

TEST_CASE("every lint speaks where it must, at the right level") {
  for (const Case& one : kCases) {
    CAPTURE(one.lint);
    CAPTURE(one.says);
    World world;
    if (one.spoil) one.spoil(world);
    const auto found = look(world, one.toml, one.command);
    CAPTURE(lines_of(found, true));
    const bool said = std::any_of(found.begin(), found.end(), [&](const preflight::Finding& finding) {
      return finding.lint == one.lint && finding.level == one.level && contains(finding.what, one.says);
    });
    CHECK(said);
    for (const preflight::Finding& finding : found) {
      CHECK(!finding.why.empty());
      CHECK(!finding.fix.empty());
      CHECK(!finding.source.empty());
    }
  }
}

TEST_CASE("a command that stays is in sight") {
  for (const auto& command : std::vector<std::vector<std::string>>{{"docker", "build", "."},
                                                                   {"conda", "run", "--no-capture-output", "python"},
                                                                   {"srun", "python", "train.py"}}) {
    World world;
    CAPTURE(command[0]);
    CHECK(find_lint(look(world, kSound, command), "out-of-sight") == nullptr);
  }
}

TEST_CASE("every lint has a case here") {
  for (const Lint* lint : all_lints()) {
    const bool there =
        std::any_of(kCases.begin(), kCases.end(), [&](const Case& one) { return one.lint == lint->name; });
    CHECK_MESSAGE(there, lint->name);
  }
}

TEST_CASE("what is not known is not judged: variables of the shell, a machine elsewhere") {
  World world;
  world.system.files["/work/rl.toml"] = kSound;
  world.system.files["/work/train.sh"] =
      "uv run rl @ rl.toml --orchestrator.sampling.max-tokens $LENGTH --trainer.model.seq-len $(cat n)\n";
  CHECK(lines_of(world.look({"bash", "train.sh"})) == "");
  world.gpus = {};
  world.limits = "";
  world.environment.erase("WANDB_API_KEY");
  world.system.spaces.clear();
  world.asked.gpus = std::vector<Gpu>{{"0", "h100", 80e9, 0}, {"1", "h100", 80e9, 0}};
  CHECK(lines_of(world.look({"bash", "train.sh"}), true) == "");
}

TEST_CASE("a measured checkpoint takes the place of the estimate") {
  World world;
  world.asked.measured = {"earlier", 2e12};
  const auto found = look(world, kSound);
  REQUIRE(find_lint(found, "checkpoint-disk") != nullptr);
  CHECK(contains(find_lint(found, "checkpoint-disk")->what, "measured in run earlier"));
}

TEST_CASE("no value of a secret is kept") {
  World world;
  world.system.files["/work/rl.toml"] = kSound;
  world.system.files["/work/train.sh"] =
      "export WANDB_API_KEY=local-0123456789abcdef0123456789abcdef01234567\nuv run rl @ rl.toml --api-key "
      "sk-verysecretvalue0123456789\n";
  (void)world.look({"bash", "train.sh"});
  CHECK(world.facts.host.environment.at("WANDB_API_KEY") == "<redacted>");
  for (const auto& [key, setting] : world.facts.settings.all()) CHECK(!contains(setting.text, "verysecret"));
  for (const std::string& word : world.facts.command) CHECK(!contains(word, "verysecret"));
}

TEST_CASE("a W&B key behind an option that does not sound like one is a secret, too, and a login") {
  World world;
  world.environment.erase("WANDB_API_KEY");
  const auto found = world.look(
      {"python3", "-m", "openrlhf.cli.train_ppo_ray", "--use_wandb", "0123456789abcdef0123456789abcdef01234567"});
  CHECK(find_lint(found, "login-missing") == nullptr);
  CHECK(world.facts.command.back() == "<redacted>");
  CHECK(world.facts.settings.find("use_wandb")->text == "<redacted>");
}

TEST_CASE("files that files begin with, and settings on the command line") {
  World world;
  world.system.files["/work/conf/base.yaml"] =
      "grpo:\n  num_prompts_per_step: 32\n  num_generations_per_prompt: 16\npolicy:\n  train_global_batch_size: 512\n";
  world.system.files["/work/conf/own.yaml"] =
      "defaults: base.yaml\ngrpo:\n  num_prompts_per_step: 33\n  async_grpo:\n    enabled: false\n";
  const auto found = world.look({"python", "examples/run_grpo.py", "--config", "conf/own.yaml"});
  const preflight::Finding* batch = find_lint(found, "nemo-rl/global-batch");
  REQUIRE(batch != nullptr);
  CHECK(place_text(batch->place) == "conf/own.yaml:3");
  CHECK(world.facts.files == std::vector<std::string>{"conf/own.yaml", "conf/base.yaml"});
  const auto mended =
      world.look({"python", "examples/run_grpo.py", "--config", "conf/own.yaml", "grpo.num_prompts_per_step=64"});
  CHECK(find_lint(mended, "nemo-rl/global-batch") == nullptr);
}

TEST_CASE("a missing file is an error, a configuration inside hydra's package is none") {
  World world;
  const auto missing = world.look({"uv", "run", "rl", "@", "gone.toml"});
  REQUIRE(find_lint(missing, "unreadable-configuration") != nullptr);
  CHECK(contains(find_lint(missing, "unreadable-configuration")->what, "gone.toml"));
  const auto hydra = world.look(
      {"python3", "-m", "verl.trainer.main_ppo", "--config-name=ppo_megatron_trainer", "trainer.save_freq=10"});
  CHECK(find_lint(hydra, "unreadable-configuration") == nullptr);
}
