// What people said and what midwatch did, as the state keeps it: fold() for these events.
#pragma once

#include "core/state.h"

namespace mw {

void fold_action(State& state, const Event& event, const event::Note& note);
void fold_action(State& state, const Event& event, const event::Changed& changed);
void fold_action(State& state, const Event& event, const event::Intended& intended);
/// How an intent that the state knows came out; of any other nothing is kept.
void fold_action(State& state, const Event& event, const event::Acted& acted);

}  // namespace mw
