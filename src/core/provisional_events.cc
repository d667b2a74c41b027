#include "core/provisional_events.h"

#include <algorithm>

namespace mw {

void add_provisional(State& state, ProvisionalEvent event) {
  if (state.provisional.size() >= State::kProvisionalLimit) state.provisional.erase(state.provisional.begin());
  state.provisional.push_back(std::move(event));
}

std::optional<ProvisionalEvent> take_provisional(State& state, const Where& where, const std::string& signature) {
  const auto known =
      std::find_if(state.provisional.begin(), state.provisional.end(),
                   [&](const ProvisionalEvent& event) { return event.where == where && event.signature == signature; });
  if (known == state.provisional.end()) return std::nullopt;
  ProvisionalEvent event = *known;
  state.provisional.erase(known);
  return event;
}

void forget_provisional(State& state, uint32_t source) {
  std::erase_if(state.provisional, [source](const ProvisionalEvent& event) { return event.where.source == source; });
}

}  // namespace mw
