// Errors of threads beside the program's own: nothing that dies there ends the program.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/detect/support/failure_chain.h"
#include "core/knowledge.h"
#include "core/state.h"

namespace mw::detect {

/// What dies in a thread of its own, or as the interpreter ends, does not end the program.
class HelperThreads {
 public:
  HelperThreads(const State& state, const Knowledge& knowledge);

  /// Does a line before the symptom say that it is of such a thread?
  bool died_in(const Symptom& symptom) const;

 private:
  std::vector<std::pair<Where, uint64_t>> headers_;  // and how many lines below each its traceback begins
};

}  // namespace mw::detect
