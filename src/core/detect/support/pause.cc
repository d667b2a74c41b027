#include "core/detect/support/pause.h"

#include <algorithm>

#include "core/components.h"

namespace mw::detect {

bool is_paused(const State& state) {
  for (size_t i = state.actions.size(); i-- > 0;) {
    const std::string& action = state.actions[i].intent.action;
    if (action == "resume" || action == "restart") return false;
    if (action == "pause") return true;
  }
  return false;
}

Time last_resumed(const State& state) {
  for (size_t i = state.actions.size(); i-- > 0;) {
    if (state.actions[i].intent.action == "resume") return state.actions[i].at;
  }
  return {};
}

Time last_set_going(const State& state) { return std::max(last_resumed(state), last_continued(state)); }

}  // namespace mw::detect
