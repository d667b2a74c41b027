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
  /// Does it say that it is only shown, whatever else is known of the attempt's end? What a signature knows, as a full
  /// disk under a log call, is true wherever it was met.
  bool only_shown(const Symptom& symptom) const;

 private:
  using Header = std::pair<Where, uint64_t>;  ///< and how many lines below it its traceback begins, at most
  static bool stands_behind(const std::vector<Header>& headers, const Symptom& symptom);

  std::vector<Header> headers_, shown_;
};

}  // namespace mw::detect
