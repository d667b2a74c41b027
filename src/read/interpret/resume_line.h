// "Resumed from out/checkpoint-40": what trainers that nobody described say as they go on from a checkpoint.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/event.h"

namespace mw {

struct ResumeLine {
  int64_t step = kNoStep;    ///< as the line or its path says
  std::string_view path;     ///< into the line; "" when it names none
  bool only_loaded = false;  ///< it says that a checkpoint of that step was loaded, as may be done in mid-run, too
};

/// nullopt for lines of other things that go on or are loaded (data, a tracker's run, a model to begin from), of what
/// failed or is yet to come.
std::optional<ResumeLine> read_resume(std::string_view text);

}  // namespace mw
