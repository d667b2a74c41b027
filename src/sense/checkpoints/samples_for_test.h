// The sample checkpoints of tests/checkpoints/samples, which real libraries wrote, on a disk in memory. For tests.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/text.h"
#include "platform/fake/fake_disk.h"

namespace mw::testing {

struct Sample {
  const char* layout;
  const char* path;    ///< of the checkpoint of step 20, below the samples
  const char* before;  ///< of that of step 10; "" where there is one slot
  bool resumable;
};

inline const std::vector<Sample>& samples() {
  static const std::vector<Sample> kAll = {
      {"TRL, safetensors", "trl/checkpoint-20", "trl/checkpoint-10", true},
      {"TRL, sharded by index", "trl-sharded/checkpoint-20", "trl-sharded/checkpoint-10", true},
      {"TRL, LoRA adapter", "trl-lora/checkpoint-20", "trl-lora/checkpoint-10", true},
      {"torch.save, sharded", "torch-bin/step_20", "torch-bin/step_10", false},
      {"torch.save, legacy", "torch-legacy/step-20", "torch-legacy/step-10", false},
      {"verl, FSDP ranks", "verl/global_step_20", "verl/global_step_10", true},
      {"verl, Megatron", "verl-megatron/global_step_20", "verl-megatron/global_step_10", true},
      {"SkyRL, FSDP ranks", "skyrl/global_step_20", "skyrl/global_step_10", true},
      {"SkyRL, Megatron", "skyrl-megatron/global_step_20", "skyrl-megatron/global_step_10", true},
      {"prime-rl, DCP", "prime-rl/checkpoints/step_20", "prime-rl/checkpoints/step_10", true},
      {"prime-rl, DCP of two stages", "prime-rl-stages/checkpoints/step_20", "prime-rl-stages/checkpoints/step_10",
       true},
      {"OpenRLHF, ZeRO 2", "openrlhf/_actor/global_step20", "openrlhf/_actor/global_step10", true},
      {"DeepSpeed, ZeRO 1", "deepspeed-zero1/global_step20", "deepspeed-zero1/global_step10", true},
      {"DeepSpeed, ZeRO 3", "deepspeed-zero3/global_step20", "deepspeed-zero3/global_step10", true},
      {"slime, Megatron", "slime/iter_0000020", "slime/iter_0000010", true},
      {"Megatron, zarr", "megatron-zarr/iter_0000020", "megatron-zarr/iter_0000010", false},
      {"Megatron, ranks", "megatron-legacy/iter_0000020", "megatron-legacy/iter_0000010", true},
      {"NeMo-RL, DCP", "nemo-rl/step_20", "nemo-rl/step_10", true},
      {"AReaL, recover slot", "areal", "", true},
      {"AReaL, export", "areal-export/epoch0epochstep20globalstep20", "areal-export/epoch0epochstep10globalstep10",
       false},
  };
  return kAll;
}

inline std::string samples_folder() { return MW_SOURCE_DIR "/tests/checkpoints/samples"; }

/// Puts all of them below /ck, dated 2026-01-15.
inline void put_samples(FakeDisk& disk) {
  namespace fs = std::filesystem;
  disk.set_time(Time::from_seconds(1768465800));
  for (const auto& entry : fs::recursive_directory_iterator(samples_folder())) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    std::stringstream content;
    content << file.rdbuf();
    disk.put(cat("/ck/", fs::relative(entry.path(), samples_folder()).string()), content.str());
  }
}

}  // namespace mw::testing
