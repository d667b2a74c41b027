// Commands that do several things one after the other: they warm up, check the set-up or fine-tune a model, and then
// train with rewards. Each time such a command begins, it begins with the first of them.
#pragma once

#include <cstddef>

#include "core/state.h"

namespace mw {

/// May attempt number `attempt` (counted from 0) of a supervised run be at something that an earlier command did, and
/// was through with, before it trained what it saved? By the names of its figures: those that only the one or the other
/// has. Where both have the same, by its plan, and as long as it has not got further than that did.
bool may_be_another_stage(const State& state, size_t attempt);

/// Does its counter show that the attempt resumed, though it began at the first step and nothing says so? It went from
/// there right behind the step of an earlier save, or counts as many steps as are left of the plan behind one.
bool counter_resumes(const State& state, size_t attempt);

}  // namespace mw
