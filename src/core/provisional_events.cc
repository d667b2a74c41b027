#include "core/provisional_events.h"

#include <algorithm>

namespace mw {

void add_provisional(State& state, ProvisionalEvent word) {
  if (state.provisional.size() >= State::kLastWordLimit) state.provisional.erase(state.provisional.begin());
  state.provisional.push_back(std::move(word));
}

std::optional<ProvisionalEvent> take_provisional(State& state, const Where& where, const std::string& signature) {
  const auto known =
      std::find_if(state.provisional.begin(), state.provisional.end(),
                   [&](const ProvisionalEvent& word) { return word.where == where && word.signature == signature; });
  if (known == state.provisional.end()) return std::nullopt;
  ProvisionalEvent word = *known;
  state.provisional.erase(known);
  return word;
}

void forget_provisional(State& state, uint32_t source) {
  std::erase_if(state.provisional, [source](const ProvisionalEvent& word) { return word.where.source == source; });
}

}  // namespace mw
