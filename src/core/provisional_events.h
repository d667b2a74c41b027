// Provisional events (event::Ticked) may come again: then they take the place of what was said before.
#pragma once

#include <optional>
#include <string>

#include "core/state.h"

namespace mw {

void add_provisional(State& state, ProvisionalEvent event);
/// Removes and returns the provisional event of this place and signature ("": a traceback), if there is one.
std::optional<ProvisionalEvent> take_provisional(State& state, const Where& where, const std::string& signature);
/// The source has new content: its places are others now.
void forget_provisional(State& state, uint32_t source);

}  // namespace mw
