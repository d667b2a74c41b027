#include "core/supervise/breaker.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <vector>

#include "core/components.h"
#include "core/detect/support/host.h"
#include "core/detect/support/still_answered.h"
#include "core/detect/tools/track.h"
#include "core/incident_kind.h"
#include "core/overwrites.h"
#include "core/supervise/policy.h"

namespace mw {
namespace {

constexpr std::string_view kFromScratch = "restart-from-scratch";
constexpr std::string_view kNeverAnswered = "component-never-answered";  // of the causes
constexpr std::string_view kNothing = "ignore";                          // of the reactions
constexpr Duration kFirstRead = Duration::seconds(15);                   // within which the machine is first read
constexpr std::string_view kRestart = "restart";                         // the action of beginning another attempt

// A single step may be a hiccup that the run mends by itself; two completed ones are no accident of one batch.
constexpr size_t kPoisonedSteps = 2;
// One figure alone, without another kind of evidence, must stay so for longer.
constexpr size_t kGoneAlone = 4;
// Half precision skips a step whose gradients overflow and halves the loss's scale, from 2^16 down to 1: so many norms
// in a row are no numbers where nothing is wrong with the weights.
constexpr size_t kNormsAlone = 20;
constexpr size_t kNeverAbove = 10;                       // as a cold start may be
constexpr double kEmptyLength = 2, kGivenUpShare = 0.9;  // of answers, as core/detect/zero_reward.cc has them
constexpr int64_t kTogether = 3;                         // steps between the onsets of two signs of one failure

/// midwatch is just restarting a component: what that cannot mend still shows in the rewards.
bool being_restarted(const State& state) {
  return std::any_of(state.actions.begin(), state.actions.end(), [](const ActionState& action) {
    return action.intent.action == kRestartComponent && !action.done;
  });
}

/// Did midwatch itself begin the attempt that runs now? A command of the user's may well train several models one after
/// the other, each from nothing.
bool begun_by_midwatch(const State& state) {
  const auto last = std::find_if(state.actions.rbegin(), state.actions.rend(),
                                 [](const ActionState& action) { return action.intent.action == kRestart; });
  return last != state.actions.rend() && last->attempt + 2U >= state.attempts.size();
}

using Trouble = ComponentState::Trouble;

/// The trouble of the attempt that runs now in which a component still is, and it is certain or no other does its work;
/// nullptr when there is none. Certain is no process that is only stopped.
const Trouble* trouble_now(const State& state, bool certain) {
  for (const ComponentState& component : state.components) {
    if (component.troubles.empty()) continue;
    if (certain && component.last.health == event::ComponentSaw::Health::kFrozen) continue;  // it may be continued
    const Trouble& last = component.troubles.back();
    const bool here = !last.ended && last.began.attempt + 1U == state.attempts.size();
    if (here && (last.certain || (!certain && !others_serve(state, component)))) return &last;
  }
  return nullptr;
}

/// Values of `signal` in the attempt that runs now from `step` on, in order.
std::vector<double> values_since(const State& state, std::string_view signal, int64_t step) {
  std::vector<double> values;
  const Series* series = state.find(signal);
  if (series == nullptr) return values;
  for (const Point& point : series->points()) {
    if (point.attempt + 1U == state.attempts.size() && point.step >= step) values.push_back(point.value);
  }
  return values;
}

bool all_of_last(const std::vector<double>& values, size_t count, bool (*is)(double)) {
  return values.size() >= count && std::all_of(values.end() - static_cast<ptrdiff_t>(count), values.end(), is);
}

/// Completed steps in a row in which nothing, or next to nothing, was answered.
bool answers_are_empty(const State& state, int64_t step) {
  const auto empty = [](double length) { return length < kEmptyLength; };
  const auto given_up = [](double share) { return share > kGivenUpShare; };
  return all_of_last(values_since(state, "response.length", step), kPoisonedSteps, empty) ||
         all_of_last(values_since(state, "response.aborted", step), kPoisonedSteps, given_up);
}

/// Steps in a row on the floor, more than ever before: a few where the reward had left it, more where it never had.
bool reward_on_floor(const State& state, int64_t step) {
  const Series* reward = detect::reward_series(state);
  if (reward == nullptr || step == kNoStep) return false;
  detect::FloorStreak floor;
  size_t since = 0;  // how many of the floor's steps are at `step` or later
  bool above = false;
  for (const Point& point : reward->points()) {
    if (point.attempt + 1U != state.attempts.size() || !std::isfinite(point.value)) continue;
    floor.see(point.value);
    if (point.step < step) {
      above = floor.left();
    } else {
      since = std::min(since + 1, floor.steps());
    }
  }
  return since >= std::max(above ? kPoisonedSteps : kNeverAbove, floor.longest_before() + 1);
}

/// An engine is dead: seen by the live watch, or the text says so and completed steps since are empty or worth nothing.
bool engine_is_dead(const State& state, const Incident& incident) {
  if (trouble_now(state, false) != nullptr) return true;
  const int64_t step = incident.latest.step;
  if (step == kNoStep) return false;
  // A line may be quoted, or be of a server that was started again; that a process is gone was seen.
  const bool seen = std::any_of(state.components.begin(), state.components.end(), [&incident](const auto& component) {
    return std::any_of(component.troubles.begin(), component.troubles.end(), [&incident](const auto& trouble) {
      return trouble.saw.kind == "engine" && trouble.began.attempt == incident.latest.attempt && !trouble.ended;
    });
  });
  if (!seen && detect::still_answered(state, incident.latest.attempt, step)) return false;
  return answers_are_empty(state, step) || reward_on_floor(state, step);
}

/// Does an incident of another kind show, with the zero rewards, that what gives answers or rewards fails?
bool something_failed(const State& state, const Incident& zero) {
  if (trouble_now(state, false) != nullptr) return true;
  return std::any_of(state.incidents.begin(), state.incidents.end(), [&state, &zero](const Incident& other) {
    const bool serves = other.kind == "engine-dead" || other.kind == "network" || other.kind == "worker-lost" ||
                        other.kind == "environment-fault";
    const bool never_answered = !other.causes.empty() && other.causes.front().id == kNeverAnswered;
    if (other.kind == "engine-dead" && detect::still_answered(state, other.latest.attempt, other.latest.step))
      return false;
    return serves && !never_answered && other.latest.attempt == zero.latest.attempt && other.latest.step != kNoStep &&
           zero.latest.step - other.latest.step <= kTogether;
  });
}

BreakCase on_zero_reward(const State& state, const Incident& zero) {
  const int64_t onset = zero.latest.step;
  const bool failed = something_failed(state, zero);
  if (failed && (answers_are_empty(state, onset) || trouble_now(state, false) != nullptr)) {
    return {&zero, BreakReason::kDeadComponent};
  }
  // Rewards that were never anything else give no gradient, so that nothing is lost by waiting.
  const AttemptState& attempt = state.attempts.back();
  const bool from_start = attempt.first_step != kNoStep && onset <= attempt.first_step + 1;
  return from_start && !failed && !answers_are_empty(state, onset) ? BreakCase()
                                                                   : BreakCase{&zero, BreakReason::kLearning};
}

/// The weights are gone: what they are updated by is still not a number after completed steps.
bool weights_are_gone(const State& state) {
  const auto is_nan = [](double value) { return !std::isfinite(value); };
  size_t short_runs = 0;
  for (const std::string_view signal : {"loss.total", "loss.policy", "grad_norm"}) {
    const std::vector<double> values = values_since(state, signal, 0);
    if (all_of_last(values, signal == "grad_norm" ? kNormsAlone : kGoneAlone, is_nan)) return true;
    short_runs += all_of_last(values, kPoisonedSteps, is_nan) ? 1 : 0;
  }
  return short_runs >= 2;
}

/// A figure of the machine that was bad when it was first read, as the attempt began: an end of that one mends nothing.
bool was_bad_before(const State& state, const Incident& incident) {
  const SupervisedAttempt* const attempt = state.supervision.attempt(static_cast<int64_t>(state.attempts.size()));
  if (attempt == nullptr || incident.evidence.empty() || !state.by_host(incident.onset.where)) return false;
  const Time onset = incident.onset.at;
  if (!onset.known() || !attempt->started_at.known() || onset > attempt->started_at + kFirstRead) return false;
  const auto all = detect::host_series(state, incident.evidence.front().signal);
  return std::any_of(all.begin(), all.end(), [&](const Series* one) {
    return !one->points().empty() && one->points().front().at == onset &&
           one->points().front().value == incident.evidence.front().value;
  });
}

BreakCase on(const State& state, const Incident& incident) {
  if (incident.severity != Severity::kCritical || !trips_breaker(incident.kind)) return {};
  const BreakCase dead{&incident, BreakReason::kDeadComponent};
  if (incident.kind == "engine-dead") {
    return !being_restarted(state) && engine_is_dead(state, incident) ? dead : BreakCase();
  }
  if (incident.kind == "stall" || incident.kind == "worker-lost") {
    if (trouble_now(state, true) != nullptr) return dead;
    if (stopped_by_somebody(state) != nullptr) return {};  // whoever stopped it may continue it: nothing is lost
    return incident.kind == "stall" ? BreakCase{&incident, BreakReason::kHang} : BreakCase();
  }
  if (incident.kind == "zero-reward") return on_zero_reward(state, incident);
  if (incident.kind == "non-finite" && weights_are_gone(state)) return {&incident, BreakReason::kLearning};
  const bool ruled = incident.kind == kUserRule && !incident.reaction.empty() && incident.reaction != kNothing;
  return ruled && !was_bad_before(state, incident) ? BreakCase{&incident, BreakReason::kRule} : BreakCase();
}

}  // namespace

std::string_view break_reason_name(BreakReason why) {
  switch (why) {
    case BreakReason::kDeadComponent:
      return "dead-component";
    case BreakReason::kLearning:
      return "learning";
    case BreakReason::kRule:
      return "rule";
    case BreakReason::kHang:
      return "hang";
    case BreakReason::kFromScratch:
      return "from-scratch";
  }
  return "";
}

bool save_is_due(const State& state) {
  if (state.attempts.empty()) return false;
  const AttemptState& attempt = state.attempts.back();
  std::set<int64_t> steps;
  for (const auto& [moment, saved] : state.checkpoints) {
    const int64_t step = saved.step != kNoStep ? saved.step : moment.step;
    if (moment.attempt + 1U == state.attempts.size() && step != kNoStep) steps.insert(step);
  }
  if (steps.empty() || attempt.last_step == kNoStep) return false;
  const int64_t last = *steps.rbegin();
  const int64_t before = steps.size() > 1 ? *std::next(steps.rbegin()) : std::max<int64_t>(0, attempt.resumed_at);
  // The step that is under way has no figures yet, and it may save before it logs them.
  return last - before > 0 && attempt.last_step + 2 >= last + (last - before);
}

bool has_left_floor(const State& state) {
  const Series* const reward = detect::reward_series(state);
  if (reward == nullptr) return false;
  detect::FloorStreak floor;
  bool any = false;
  for (const Point& point : reward->points()) {
    if (point.attempt + 1U != state.attempts.size() || !std::isfinite(point.value)) continue;
    floor.see(point.value);
    any = true;
  }
  return any && floor.steps() == 0;
}

BreakCase breaker(const State& state, bool from_scratch) {
  BreakCase hang;  // what says more goes first
  for (const Incident& incident : state.incidents) {
    if (!incident.open || incident.latest.attempt + 1U != state.attempts.size()) continue;  // of one that is over
    const bool anew = incident.kind == kFromScratch && !from_scratch && incident.severity != Severity::kInfo;
    const bool by_midwatch = incident.latest.attempt == 0 || begun_by_midwatch(state);
    if (anew && by_midwatch && about_to_overwrite(state, incident.latest.attempt))
      return {&incident, BreakReason::kFromScratch};
    const BreakCase found = on(state, incident);
    if (found.incident == nullptr) continue;
    if (found.why != BreakReason::kHang) return found;
    hang = found;
  }
  return hang;
}

const Incident* tainted_by(const State& state, bool from_scratch) {
  const BreakCase found = breaker(state, from_scratch);
  if (found.incident != nullptr && found.why != BreakReason::kHang) return found.incident;
  for (const Incident& incident : state.incidents) {
    const bool of_last = incident.open && incident.latest.attempt + 1U == state.attempts.size();
    if (taints(incident.kind) && of_last && incident.severity == Severity::kCritical && !being_restarted(state))
      return &incident;
  }
  return nullptr;
}

}  // namespace mw
