// What was counted within a cycle: tool calls, format rules, phases. The state of a run counts them from its beginning.
#pragma once

#include "core/state.h"
#include "ui/view/overview.h"

namespace mw {

class CycleCounts {
 public:
  explicit CycleCounts(const Cycle& cycle) : cycle_(cycle) {}
  /// Of every event of the run, in order, with the state that it was folded into.
  void hear(const State& state, const Event& event);
  /// Puts them into the state of the run, in place of those of the whole run.
  void put_into(State& state) const;

 private:
  Cycle cycle_;
  State counts_;
};

}  // namespace mw
