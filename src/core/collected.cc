#include "core/collected.h"

#include "base/text.h"

namespace mw {

std::vector<const ActionState*> collected(const State& state, uint32_t incident) {
  std::vector<const ActionState*> looks;
  for (const ActionState& action : state.actions) {
    if (action.intent.incident == incident && action.intent.action == kCollectEvidence) looks.push_back(&action);
  }
  return looks;
}

std::string collected_line(const ActionState& look) {
  return cat(look.intent.target, ": ", look.done ? look.outcome : "is being looked at");
}

}  // namespace mw
