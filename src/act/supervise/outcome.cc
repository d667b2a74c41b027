#include "act/supervise/outcome.h"

#include <algorithm>
#include <utility>

#include "core/exit_status.h"
#include "core/incident_kind.h"
#include "core/supervise/client.h"
#include "core/supervise/time_limit.h"
#include "sense/checkpoints/roots.h"

namespace mw {

namespace {

/// It said so, or did every step that was planned and saved the last one where it saves any.
bool is_complete(const State& state, const AttemptState& attempt, int64_t last_checkpoint) {
  if (attempt.ended && attempt.ended->how == event::Ended::How::kComplete) return true;
  const int64_t total = attempt.total_steps > 0 ? attempt.total_steps : state.total_steps;
  if (total <= 0 || attempt.last_step == kNoStep || attempt.last_step < total) return false;
  return state.checkpoints.empty() || last_checkpoint >= attempt.last_step;
}

/// What is known of its cause.
void add_knowledge(const Knowledge& knowledge, bool engine_failed, AttemptOutcome& of) {
  if (const Signature* known = knowledge.find(of.cause); known != nullptr) {
    of.transient = known->transient;
    of.layer = knowledge.is_engine(known->layer) ? std::string(kEngineLayer) : known->layer;
    // The incident's own reaction is for whoever reads files: that it came back counts there, and progress does not.
    if (!known->reaction.empty()) of.reaction = known->reaction;
  }
  if (engine_failed) of.layer = kEngineLayer;  // whatever leads: the answers were not the policy's
  if (const Cause* row = knowledge.find_cause(of.cause); row != nullptr && !row->reaction.empty()) {
    of.reaction = row->reaction;
  }
}

/// What is learnt got worse, which ends no process: something else did.
bool only_learns_worse(std::string_view kind) {
  const IncidentKind* const known = find_incident_kind(kind);
  return known != nullptr && known->family == IncidentKind::Family::kLearning && !taints(kind);
}

/// The incident that leads in the last attempt: the earliest that is critical and that can have ended it, else the
/// earliest; nullptr: there is none.
const Incident* leading(const State& state) {
  const Incident* found = nullptr;
  for (const Incident& incident : state.incidents) {
    if (incident.severity != Severity::kCritical || incident.latest.attempt + 1U != state.attempts.size()) continue;
    // Without the breaker they are for people.
    if (incident.kind == kUserRule || incident.kind == "restart-from-scratch") continue;
    if (incident.kind == "checkpoint-incomplete" && state.by_host(incident.onset.where)) continue;  // it ended nothing
    if (!only_learns_worse(incident.kind)) return &incident;
    if (found == nullptr) found = &incident;
  }
  return found;
}

/// The attempt before ended of an incident of the same kind and cause, and yet of another: the errors differ.
bool is_new_error(const State& state, const Incident& lead) {
  const size_t last = state.attempts.size() - 1;
  if (last == 0 || lead.onset.attempt != last || lead.causes.empty()) return false;
  return std::any_of(state.incidents.begin(), state.incidents.end(), [&](const Incident& before) {
    return before.id != lead.id && before.kind == lead.kind && before.severity == lead.severity &&
           before.latest.attempt + 1U == last && !before.causes.empty() &&
           before.causes.front().id == lead.causes.front().id;
  });
}

}  // namespace

AttemptOutcome outcome_of(const AttemptEnd& end, const State& state, const Knowledge& knowledge) {
  AttemptOutcome of;
  of.started = end.kept.failure.empty();
  of.stop_requested = end.stopping;
  if (end.stopping) of.stopped_for = end.stopped_for;
  of.tripped = end.trip.has_value();
  of.made_room = end.made_room;
  if (end.kept.ending) {
    of.known = end.kept.ending->known;
    of.code = end.kept.ending->code;
    of.signal = end.kept.ending->signal;
    const Time start = end.kept.started, over = end.kept.ending->at;
    if (start.known() && over > start) of.lasted = over - start;
  }
  if (state.attempts.empty()) return of;
  const AttemptState& last = state.attempts.back();
  of.first_step = last.first_step;
  of.last_step = last.last_step;
  // Where its records go to a file that nobody reads, the bar over its plan counts its steps.
  if (of.last_step == kNoStep && !last.bar.empty() && last.bar.back().done > 0) of.last_step = last.bar.back().done;
  of.last_checkpoint = last_good_checkpoint(state, end.way ? end.way->seen : std::vector<event::CheckpointSeen>());
  of.resumed_at = last.resumed_at;
  of.planned = last.total_steps > 0 ? last.total_steps : state.total_steps;
  // A keeper that took over gets no usage, and output that its command wrote while no keeper ran may be lost.
  const bool heard_out = end.kept.ending && end.kept.ending->peak_bytes > 0;
  if (heard_out && of.known && of.code == 0 && !of.tripped && !of.stop_requested) {
    of.unfinished = belies_status(state, knowledge);
    WordOfEnd word = word_of_end(state, knowledge, state.attempts.size() - 1);
    of.said = std::move(word.text);
    of.from_outside = word.from_outside;
  }
  of.finished = !of.known && is_complete(state, last, of.last_checkpoint);
  if (end.trip) {
    of.kind = end.trip->kind;
    of.onset = end.trip->step;
    of.cause = end.trip->cause;
    of.reaction = end.trip->reaction;
  }
  of.suspect = end.suspect;
  if (const Incident* const lead = end.trip ? nullptr : leading(state); lead != nullptr) {
    of.kind = lead->kind;
    of.reaction = lead->reaction;
    if (!lead->causes.empty()) of.cause = lead->causes.front().id;
    of.new_error = is_new_error(state, *lead);
  }
  const bool engine_failed = std::any_of(state.incidents.begin(), state.incidents.end(), [&state](const Incident& one) {
    return one.kind == "engine-dead" && one.latest.attempt + 1U == state.attempts.size();
  });
  of.provider = of.kind == "preempted";
  add_knowledge(knowledge, engine_failed, of);
  of.time_limit = ended_by_limit(end.command, of);
  of.trains_on = may_train_on(state, end.command, of);
  return of;
}

}  // namespace mw
