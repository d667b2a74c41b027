// The one door of the core: events in, decided events out.
#pragma once

#include <vector>

#include "core/event.h"
#include "core/judge_memory.h"
#include "core/knowledge.h"
#include "core/state.h"

namespace mw {

enum class Judge {
  kAlways,   ///< after every event that could change a judgement (attach)
  kAtClose,  ///< once, at event::Closed (replay: the detectors are causal, so the answer is the same)
};

/// Folds `event` into `state` and appends what core decides to `decided` (which is folded already). Pure and total.
/// True when the event could change a judgement and none was made. `memory` is what the judgement before left for this
/// one: it belongs to this state, and makes a judgement cheaper, not different.
bool advance(State& state, const Event& event, const Knowledge& knowledge, JudgeMemory& memory, Judge when,
             std::vector<Event>& decided);
/// The same with nothing to remember: each judgement costs as much as the run is long.
bool advance(State& state, const Event& event, const Knowledge& knowledge, Judge when, std::vector<Event>& decided);

/// Judges `state` again without an event: after several that were only folded, the last of which came from `at` and
/// `where` and was received at `received`; and once after a state was read from a journal, as the process that wrote it
/// may have died between an event and what would have been decided on it.
void review(State& state, const Knowledge& knowledge, JudgeMemory& memory, std::vector<Event>& decided, Time at = {},
            Where where = {}, Time received = {});

/// All findings over `state` → incidents, grouped (one chain, one incident; earliest onset first) and diagnosed.
std::vector<Incident> judge(const State& state, const Knowledge& knowledge, JudgeMemory& memory);
/// The same by a walk over the whole run: what the one with a memory is measured against.
std::vector<Incident> judge(const State& state, const Knowledge& knowledge);

/// The verdict on the run as a whole: running, finished, crashed, ended-early (its command ended with status 0, far
/// short of the plan), stalled, interrupted, unknown.
std::string verdict_of(const State& state, const std::vector<Incident>& incidents);

}  // namespace mw
