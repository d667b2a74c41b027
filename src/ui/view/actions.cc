#include "ui/view/actions.h"

#include <algorithm>

#include "base/text.h"
#include "base/time.h"
#include "core/collected.h"
#include "ui/view/overview.h"

namespace mw {
namespace {

constexpr size_t kOfOne = 8;  // actions shown of one incident

}  // namespace

std::string action_text(const ActionState& action) {
  return cat(when(action.at), " ", action.intent.action, " ", action.intent.target,
             action.intent.incident != 0 ? cat(" because of #", action.intent.incident) : "",
             action.intent.why.empty() ? "" : ": " + action.intent.why,
             !action.done ? " … (not finished)" : cat(" → ", action.ok ? "" : "failed: ", action.outcome));
}

std::vector<std::string> actions_for(const State& state, uint32_t incident) {
  std::vector<std::string> lines;
  for (auto action = state.actions.rbegin(); action != state.actions.rend() && lines.size() < kOfOne; ++action) {
    const bool shown = action->intent.action != kCollectEvidence;  // `midwatch why` shows that
    if (action->intent.incident == incident && shown) lines.push_back(action_text(*action));
  }
  std::reverse(lines.begin(), lines.end());
  return lines;
}

}  // namespace mw
