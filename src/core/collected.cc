#include "core/collected.h"

#include "base/text.h"

namespace mw {

std::vector<const ActionState*> collected(const State& state, uint32_t incident) {
  std::vector<const ActionState*> found;
  for (const ActionState& action : state.actions) {
    if (action.intent.incident == incident && action.intent.action == kCollectEvidence) found.push_back(&action);
  }
  return found;
}

std::string collected_line(const ActionState& action) {
  return cat(action.intent.target, ": ", action.done ? action.outcome : "is being looked at");
}

}  // namespace mw
