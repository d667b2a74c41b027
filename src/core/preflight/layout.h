// Where trainer and engine run, as the settings place them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/preflight/facts.h"

namespace mw::preflight {

struct Layout {
  std::vector<std::string> trainer, engine;  ///< numbers of GPUs, where the settings name them
  std::optional<double> trainer_count, engine_count;
  bool shared = false;       ///< a GPU has both
  bool takes_turns = false;  ///< of shared ones: the engine gives its memory back while the trainer works
};

Layout layout_of(const Facts& facts);

/// Memory of the smallest GPU of the run, in bytes; nullopt: not known.
std::optional<double> gpu_bytes(const Facts& facts);

}  // namespace mw::preflight
