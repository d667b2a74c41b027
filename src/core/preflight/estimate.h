// Estimates of memory and disk, made of what is known of the model and the framework.
#pragma once

#include <optional>
#include <string>

#include "core/preflight/facts.h"

namespace mw::preflight {

/// Bytes that the trainer takes on each of its GPUs.
struct TrainerMemory {
  double states = 0;       ///< weights, and of what is trained gradients and optimizer
  double activations = 0;  ///< of one micro batch of one sequence; 0 where the model's shape is not known
  double logits = 0;
  double per_parameter = 0;  ///< bytes of states for each parameter
  double gpus = 1;           ///< that share the states
  bool trains_all = true;    ///< false: adapters (LoRA)
};

/// nullopt: the model's size is not known, or its states lie elsewhere (CPU offload).
std::optional<TrainerMemory> trainer_memory(const Facts& facts);

/// Bytes that the engine needs on each of its GPUs: weights, and room for one sequence of full length.
std::optional<double> engine_memory(const Facts& facts);

/// Bytes of one checkpoint: measured, else parameters by what the framework saves of each.
struct CheckpointSize {
  double bytes = 0;
  bool measured = false;
  std::string how;  ///< "8.2 billion parameters of 14 bytes", "measured in run NAME"
};
std::optional<CheckpointSize> checkpoint_size(const Facts& facts);

/// Checkpoints are saved; nullopt: not known.
std::optional<bool> saves_checkpoints(const Facts& facts);

}  // namespace mw::preflight
