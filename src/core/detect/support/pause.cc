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

const State::LongPhase* announced_phase(const State& state, size_t attempt, Time at) {
  // Files are read a little later than they are written; what ends with the silence's first seconds explains none.
  constexpr Duration kReading = Duration::seconds(15), kShort = Duration::seconds(60);
  const auto found =
      std::find_if(state.long_phases.begin(), state.long_phases.end(), [&](const State::LongPhase& phase) {
        return phase.attempt == attempt && phase.from <= at + kReading &&
               (!phase.until.known() || phase.until > at + kShort);
      });
  return found == state.long_phases.end() ? nullptr : &*found;
}

}  // namespace mw::detect
