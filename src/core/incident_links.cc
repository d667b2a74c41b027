#include "core/incident_links.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/detect/support/other_weights.h"
#include "core/incident_kind.h"

namespace mw {
namespace {

constexpr int64_t kNearSteps = 20;
constexpr double kNearSeconds = 1800;
constexpr int64_t kWithSteps = 3;   // an outage shows in the rewards at once
constexpr int64_t kGoodSteps = 10;  // of a later attempt, after which what ended the one before is over

using Family = IncidentKind::Family;

bool is_of(std::string_view kind, Family family) {
  const IncidentKind* known = find_incident_kind(kind);
  return known != nullptr && known->family == family;
}

bool near(const Moment& before, const Moment& after) {
  if (before.step != kNoStep && after.step != kNoStep && before.attempt == after.attempt)
    return after.step - before.step <= kNearSteps;
  return before.at.known() && after.at.known() && (after.at - before.at).seconds() <= kNearSeconds;
}

/// What of the signature that the incident names was seen; null: it names none.
const SignatureState* seen_of(const State& state, const Incident& incident) {
  return incident.causes.empty() ? nullptr : state.signature(incident.causes.front().id);
}

/// What was over long before has brought nothing about. An outage shows in the figures of learning at once, however
/// long it lasts.
bool reaches(const State& state, const Knowledge& knowledge, const Incident& cause, const Incident& effect) {
  if (near(cause.onset, effect.onset) || seen_with(state, cause, effect) > 0) return true;
  return cause.open && !(is_outage(knowledge, cause) && is_of(effect.kind, Family::kLearning));
}

/// A cause does not begin after its effect. A failure that ends a run, and of which neither a step nor a clock says
/// when it came, came at the end: what was learnt before it went wrong without it.
bool began_later(const Incident& cause, const Incident& effect) {
  const Moment &from = cause.onset, &to = effect.onset;
  if (from.attempt != to.attempt || to.step == kNoStep) return false;
  if (from.step != kNoStep) return from.step > to.step + kWithSteps;
  return !from.at.known() && ends_runs(cause.kind) && is_of(effect.kind, Family::kLearning);
}

/// The network that answers and rewards come over: not that of a tracker, of downloads, of the ranks or of a watch.
bool carries_answers(const Knowledge& knowledge, const Incident& network) {
  static constexpr std::array<std::string_view, 5> kOthers{"wandb", "logging", "credentials", "nccl", "provider"};
  const Signature* signature = network.causes.empty() ? nullptr : knowledge.find(network.causes.front().id);
  return signature == nullptr || std::find(kOthers.begin(), kOthers.end(), signature->layer) == kOthers.end();
}

/// Did the attempt do a step of its own before what came at `moment`?
bool trained_before(const State& state, const Moment& moment) {
  if (moment.attempt >= state.attempts.size()) return false;
  const int64_t first = state.attempts[moment.attempt].first_step;
  return first != kNoStep && (moment.step == kNoStep || moment.step > first);
}

/// Did the attempt do many steps of its own before what came at `moment`?
bool trained_long_before(const State& state, const Moment& moment) {
  return moment.step != kNoStep && trained_before(state, moment) &&
         moment.step > state.attempts[moment.attempt].first_step + kGoodSteps;
}

/// What a program or a part of it did in one attempt ended that one. What ends a later one, which trained until then,
/// is a failure of its own, and so is what is learnt there that gets worse after many good steps; the machine, the
/// saves and what lies around the run outlast an attempt.
bool ended_with_its_attempt(const State& state, const Knowledge& knowledge, const Incident& cause,
                            const Incident& effect) {
  if (effect.onset.attempt == cause.onset.attempt || !ends_runs(cause.kind)) return false;
  const bool learns_worse = is_of(effect.kind, Family::kLearning) && !ends_runs(effect.kind);
  if (!ends_runs(effect.kind) && !learns_worse) return false;
  const bool outlasts = is_of(cause.kind, Family::kMachine) || is_of(cause.kind, Family::kRecord) ||
                        cause.kind == "network" || is_outage(knowledge, cause);
  if (outlasts) return false;
  return learns_worse ? trained_long_before(state, effect.onset) && seen_with(state, cause, effect) == 0
                      : trained_before(state, effect.onset);
}

/// What the resume brought about is none of what ended the attempt before.
bool came_of_resume(const Incident& cause, const Incident& effect) {
  return cause.onset.attempt < effect.onset.attempt && !effect.causes.empty() &&
         effect.causes.front().id == detect::kOtherWeights;
}

}  // namespace

size_t seen_with(const State& state, const Incident& cause, const Incident& effect) {
  const SignatureState* seen = seen_of(state, cause);
  const Moment& onset = effect.onset;
  if (seen == nullptr || seen->sample || onset.step == kNoStep) return 0;
  return static_cast<size_t>(std::count_if(seen->matches.begin(), seen->matches.end(), [&](const auto& match) {
    return match.moment.attempt == onset.attempt && match.moment.step != kNoStep &&
           match.moment.step + kWithSteps >= onset.step;
  }));
}

bool first_failed_before(const State& state, const Incident& cause, const Incident& effect) {
  const SignatureState* seen = seen_of(state, cause);
  const Moment& onset = effect.onset;
  if (seen == nullptr || seen->sample || onset.step == kNoStep || seen->first.step == kNoStep) return false;
  if (seen->first.attempt != onset.attempt || seen->first.step + 1 < onset.step) return false;
  return onset.attempt < state.attempts.size() && state.attempts[onset.attempt].first_step != kNoStep &&
         seen->first.step > state.attempts[onset.attempt].first_step + kWithSteps;
}

bool is_outage(const Knowledge& knowledge, const Incident& cause) {
  return cause.kind == "environment-fault" || (cause.kind == "network" && carries_answers(knowledge, cause));
}

bool may_have_led_to(const State& state, const Knowledge& knowledge, const Incident& cause, const Incident& effect) {
  if (effect.onset.attempt < cause.onset.attempt || effect.onset.attempt > cause.onset.attempt + 1) return false;
  if (ended_with_its_attempt(state, knowledge, cause, effect) || came_of_resume(cause, effect)) return false;
  if (!may_lead_to(cause.kind, effect.kind) || began_later(cause, effect) || !reaches(state, knowledge, cause, effect))
    return false;
  return cause.kind != "network" || !is_of(effect.kind, Family::kLearning) || carries_answers(knowledge, cause);
}

}  // namespace mw
