// Which incident may have brought another about.
#pragma once

#include "core/incident.h"
#include "core/knowledge.h"
#include "core/state.h"

namespace mw {

/// By kinds, by attempts (the next one at most), and in reach: the cause stood open, or was seen last shortly before
/// the effect. `cause` stands before `effect` in the order of onset, which is not asked again.
bool may_have_led_to(const State& state, const Knowledge& knowledge, const Incident& cause, const Incident& effect);

/// How often what the cause names was seen in the effect's attempt, from shortly before the effect on. 0: what it
/// names is no line of a log.
size_t seen_with(const State& state, const Incident& cause, const Incident& effect);

/// Did what the cause names fail for the first time right before the effect, in a run that had done steps without it?
/// Then once is enough to join the two.
bool first_failed_before(const State& state, const Incident& cause, const Incident& effect);

/// What answers, their rewards or their tools depend on failed, and the figures of learning show it.
bool is_outage(const Knowledge& knowledge, const Incident& cause);

}  // namespace mw
