// How much was read.
#pragma once

#include <cstdint>

namespace mw {

struct InputFigures {
  int64_t files = 0;
  int64_t bytes = 0;
  int64_t lines = 0;
  double seconds = 0;  ///< wall time of the whole replay
};

}  // namespace mw
