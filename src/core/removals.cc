#include "core/removals.h"

namespace mw {

Removals::Removals(const State& state) {
  for (const ActionState& action : state.actions) {
    if (action.intent.action == "cleanup" && action.done && action.ok) at_[action.intent.target] = action.done_at;
  }
}

std::optional<Time> Removals::of(const std::string& path, Time saved) const {
  if (path.empty()) return std::nullopt;
  for (const auto& [target, at] : at_) {
    const bool same = target == path || (path.front() != '/' && target.ends_with("/" + path));
    if (same && !(saved.known() && at.known() && saved > at)) return at;
  }
  return std::nullopt;
}

}  // namespace mw
