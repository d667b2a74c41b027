// How many processes a training command starts, by its launcher.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace mw::preflight {

/// `accelerate launch --num_processes N`, `torchrun --nproc_per_node N` (on one node, or on `--nnodes` of them), or one
/// of `python SCRIPT`. nullopt where the command does not say: another launcher, a configuration of accelerate's.
std::optional<double> processes_of(const std::vector<std::string>& command);

}  // namespace mw::preflight
