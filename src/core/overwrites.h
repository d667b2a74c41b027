// Whether an attempt that began at the first step is about to save over what an earlier one of the same run left.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/checkpoint_trust.h"
#include "core/state.h"

namespace mw {

/// Would attempt number `attempt` (counted from 0), which counts its steps from the first one, write over whole
/// checkpoints that an attempt before it left, or that were there for the first one to go on from? False where anything
/// shows that it resumed after all and only counts anew: it says that it resumed, or a counter of all that was trained
/// (epochs, tokens) goes on from where it was. False where it saves to another folder, where what was left is of
/// another training of the same command and nothing shows that both save to one folder, where midwatch moved away all
/// that was left, and where a person allowed it to begin from nothing.
bool would_overwrite(const State& state, size_t attempt);
/// And is it about to? It trains what the saves are of (core/stages.h), and is near the step at which it would save, by
/// the first save of those before it, or begins to save. A first attempt beside what it was to go on from, of which no
/// save is known: once it has trained with rewards for some steps, as what comes before that training has none.
bool about_to_overwrite(const State& state, size_t attempt);

/// What the scan of a checkpoint says that was there before a run's first attempt, for it to go on from; and where that
/// is not where the command is known to save.
inline constexpr std::string_view kToGoOnFrom = "It was there before the first attempt, to go on from.";
inline constexpr std::string_view kToGoOnFromElsewhere =
    "It was there before the first attempt, to go on from, and not where the command is known to save.";
/// That scan; nullptr: there is none.
const event::CheckpointSeen* to_go_on_from(const State& state);
/// The first attempt trains from its first step on, although there was a checkpoint to go on from.
bool began_beside(const State& state);

/// Did earlier attempts leave whole checkpoints where attempt number `attempt` saves, as far as that is known?
bool left_where_it_saves(const State& state, size_t attempt, const SaveIsGone& gone = nullptr);

/// Likewise, and also what came to no end.
bool saved_where_it_saves(const State& state, size_t attempt);

}  // namespace mw
