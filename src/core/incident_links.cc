#include "core/incident_links.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/incident_kind.h"

namespace mw {
namespace {

constexpr int64_t kNearSteps = 20;
constexpr double kNearSeconds = 1800;
constexpr int64_t kWithSteps = 3;  // an outage shows in the rewards at once

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

/// The network that answers and rewards come over: not that of a tracker, of downloads, of the ranks or of a watch.
bool carries_answers(const Knowledge& knowledge, const Incident& network) {
  static constexpr std::array<std::string_view, 5> kOthers{"wandb", "logging", "credentials", "nccl", "provider"};
  const Signature* signature = network.causes.empty() ? nullptr : knowledge.find(network.causes.front().id);
  return signature == nullptr || std::find(kOthers.begin(), kOthers.end(), signature->layer) == kOthers.end();
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
  if (!may_lead_to(cause.kind, effect.kind) || !reaches(state, knowledge, cause, effect)) return false;
  return cause.kind != "network" || !is_of(effect.kind, Family::kLearning) || carries_answers(knowledge, cause);
}

}  // namespace mw
