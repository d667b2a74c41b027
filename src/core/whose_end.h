// Of what a line on an end tells: of a helper, of the trainer, of the whole command.
#pragma once

#include "core/state.h"

namespace mw {

/// A shell says that some program was killed, of a command that midwatch keeps and that lives: no end of its trainer,
/// unless the program is one. How the command itself ends the keeper says.
bool is_of_a_helper(const State& state, const Event& event, const event::Ended& ended);

/// The keeper's word, as a live watch reads it, that the command of attempt `own` ended: that is the end of all that it
/// began, whichever file showed it.
bool ends_command(const AttemptState& own, const Event& event);

}  // namespace mw
