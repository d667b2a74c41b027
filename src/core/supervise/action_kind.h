// Everything that midwatch does to a run, and what becomes of it when midwatch is killed between the intent and the
// outcome. ONE table: whoever adds an action adds a row, and whoever carries it out asks here.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/state.h"

namespace mw {

/// Who carries an action out, and settles it when it is in doubt.
enum class Executor { kSupervisor, kComponent, kCleanup, kNotifier, kEvidence, kShipper, kPerson };

/// An intent without an outcome is in doubt in the life of midwatch after the one that recorded it. What then?
enum class InDoubt {
  kByRecord,  ///< the journal and the keeper's record show whether it was begun; what is still due is decided anew
  kGoesOn,    ///< it was begun for good: the next midwatch sees its outcome
  kByDisk,    ///< its target is gone from the disk, or it was not done
  kRepeat,    ///< it is done once more: twice is better than never
  kGiveUp,    ///< it is not done again
};

struct ActionKind {
  std::string_view word;  ///< event::Intended::action
  Executor executor;
  InDoubt in_doubt;
  std::string_view outcome;  ///< of kGiveUp, for people
};

std::span<const ActionKind> action_kinds();
/// nullptr for a word that this version does not know.
const ActionKind* action_kind(std::string_view word);

/// Intents of `executor` without an outcome, in order. Of a word that nobody knows: the supervisor's.
std::vector<ActionState> in_doubt(const State& state, Executor executor);

}  // namespace mw
