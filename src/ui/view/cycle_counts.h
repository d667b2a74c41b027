// What was counted within a cycle: tool calls, format rules, phases, warnings. The state of a run counts them from its
// beginning.
#pragma once

#include <map>

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
  /// The first that the cycle heard of a warning, by its key in State::template_index. Warnings are emitted when their
  /// number has doubled, so those between the one before and this one are not known to lie in the cycle.
  struct FirstWarning {
    uint64_t count = 0;
    Moment moment;
  };
  Cycle cycle_;
  State counts_;
  std::map<uint64_t, FirstWarning> warnings_;
};

}  // namespace mw
