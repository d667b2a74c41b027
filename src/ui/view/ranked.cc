#include "ui/view/ranked.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

#include "base/text.h"
#include "core/incident_kind.h"
#include "core/supervise/outcome_json.h"
#include "ui/view/decisions.h"
#include "ui/view/log_words.h"

namespace mw {

namespace {

/// Of a command whose steps nobody can see: its last attempt came to a good end, which is all that is known.
bool ended_well_unseen(const State& state) {
  const auto& end = state.attempts.back().ended;
  return state.steps().count == 0 && end && end->how == event::Ended::How::kExit && end->code == 0;
}

bool is_good_end(const event::Ended& end) {
  using How = event::Ended::How;
  return end.how == How::kComplete || (end.how == How::kExit && end.code == 0);
}

/// It came as far as the one before, and to a good end: there was nothing left to come past.
bool came_as_far_and_ended_well(const AttemptState& before, const AttemptState& later) {
  return later.ended && is_good_end(*later.ended) && before.last_step != kNoStep && later.last_step == before.last_step;
}

/// It did no step, as none was left: it began from the last one of the attempt before, or that one had done all that
/// were planned. And it came to a good end: what ended the one before ended it when its training was over.
bool had_nothing_left(const State& state, const AttemptState& before, const AttemptState& later) {
  if (!later.ended || !is_good_end(*later.ended) || later.last_step != kNoStep || before.last_step == kNoStep)
    return false;
  const int64_t total = before.total_steps > 0 ? before.total_steps : state.total_steps;
  const bool all_done = total > 0 && before.last_step >= total;
  return later.resumed_at == kNoStep ? all_done : later.resumed_at >= before.last_step;
}

/// The one before did all that it was to do, and the later one does something else: another job of one log. It
/// overcomes nothing.
bool is_other_job(const AttemptState& before, const AttemptState& later) {
  const bool complete = before.ended && before.ended->how == event::Ended::How::kComplete;
  return complete && before.total_steps > 0 && later.total_steps > 0 && before.total_steps != later.total_steps;
}

/// Another attempt followed it, as it had died of an exception at its last step.
bool died_too(const State& state, size_t number) {
  const AttemptState& attempt = state.attempts[number];
  if (number + 1 == state.attempts.size() || (attempt.ended && is_good_end(*attempt.ended))) return false;
  return std::any_of(state.traces.begin(), state.traces.end(), [&attempt, number](const TraceState& seen) {
    return seen.moment.attempt == number && !seen.trace.sample && !seen.trace.handled &&
           seen.moment.step >= attempt.last_step;
  });
}

/// A later attempt does steps and nothing stands against it: what ended an earlier one is over, wherever that was, and
/// whether or not another attempt began since. What spoilt the learning may be in what it resumed from.
bool goes_well(const State& state, const AttemptState& own, size_t number) {
  const AttemptState& later = state.attempts[number];
  const bool newest = number + 1 == state.attempts.size();
  const bool badly =
      newest && (state.verdict == "crashed" || state.verdict == "stalled" || state.verdict == "ended-early");
  if (badly || died_too(state, number) || (later.ended && !is_good_end(*later.ended))) return false;
  if (later.first_step == kNoStep || is_other_job(own, later)) return false;
  return std::none_of(state.incidents.begin(), state.incidents.end(), [number](const Incident& incident) {
    return incident.open && incident.severity != Severity::kInfo && incident.latest.attempt == number &&
           (ends_runs(incident.kind) || incident.kind == "died-silently" || incident.severity == Severity::kCritical);
  });
}

}  // namespace

bool overtaken(const State& state, const Incident& incident) {
  if (incident.latest.attempt + 1U >= state.attempts.size()) return false;
  if (ended_well_unseen(state)) return true;
  const AttemptState& own = state.attempts[incident.latest.attempt];
  for (size_t later = incident.latest.attempt + 1U; later < state.attempts.size(); ++later) {
    if (ends_runs(incident.kind) && goes_well(state, own, later)) return true;
  }
  return std::any_of(state.attempts.begin() + incident.latest.attempt + 1, state.attempts.end(),
                     [&state, &own](const AttemptState& later) {
                       const bool as_far = later.last_step > own.last_step || came_as_far_and_ended_well(own, later) ||
                                           had_nothing_left(state, own, later);
                       return as_far && !is_other_job(own, later);
                     });
}

namespace {

/// What a run may show beside the trouble itself, or as its outcome: of two that are equally grave it is named second.
bool beside(std::string_view kind) {
  static constexpr std::array<std::string_view, 10> kBeside{
      "truncation",     "throughput-drop", "clip-saturation", "length-explosion", "loss-spike",
      "gradient-spike", "staleness",       "format-failures", "eval-regression",  "no-learning"};
  return std::find(kBeside.begin(), kBeside.end(), kind) != kBeside.end();
}

}  // namespace

bool matters_more(const State& state, const Incident& a, const Incident& b) {
  const auto weight = [&state](const Incident& incident) {
    // Of a run that stood still, that its files end then is no more than when somebody stopped or copied it.
    const bool after = state.verdict == "stalled" && incident.kind == "died-silently";
    const bool grave = (ends_runs(incident.kind) || taints(incident.kind)) && !after;
    return std::tuple(incident.open && !overtaken(state, incident), incident.severity, incident.latest.attempt, grave,
                      !beside(incident.kind) && !after);
  };
  const auto left = weight(a), right = weight(b);
  return left != right ? left > right : a.id < b.id;
}

std::vector<const Incident*> ranked_incidents(const State& state) {
  std::vector<const Incident*> ranked;
  for (const Incident& incident : state.incidents) {
    if (incident.severity != Severity::kInfo) ranked.push_back(&incident);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [&state](const Incident* a, const Incident* b) { return matters_more(state, *a, *b); });
  return ranked;
}

std::string_view reaction_text(const Incident& incident) {
  using Family = IncidentKind::Family;
  const std::string_view reaction = incident.reaction;
  const IncidentKind* const kind = find_incident_kind(incident.kind);
  const bool may_go_on =
      kind != nullptr &&
      (kind->family == Family::kRecord || kind->family == Family::kLearning || kind->family == Family::kOwn) &&
      !ends_runs(kind->word);
  const bool trips = trips_breaker(incident.kind) && incident.severity == Severity::kCritical;
  if (may_go_on && reaction == "stop-and-notify") {
    return trips ? "end the attempt once it is certain, and notify" : "notify; the run goes on";
  }
  if (may_go_on && reaction == "rollback-before-onset") {
    return trips ? "end the attempt once it is certain, and go back to the last checkpoint before the onset"
                 : "notify; whether to go back to before the onset is for a person to decide";
  }
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kWords{{
      {"config-fix", "none: a setting must be changed first"},
      {"free-space-then-resume", "ask whether space may be freed, then resume"},
      {"ignore", "none"},
      {"restart-component", "restart the component that failed"},
      {"restart-run-from-checkpoint", "restart the run from its last checkpoint"},
      {"retry", "start the run again"},
      {"rollback-before-onset", "go back to the last checkpoint before the onset"},
      {"stop-and-notify", "notify: a person must look before it goes on"},
  }};
  const auto known = std::find_if(kWords.begin(), kWords.end(), [&](const auto& row) { return row.first == reaction; });
  // A refused connection or a judge that fails ends no run by itself: nothing is restarted while it goes on.
  const bool outside = kind != nullptr && (kind->family == Family::kMachine || kind->family == Family::kSetup);
  if (outside && incident.severity != Severity::kCritical) {
    if (reaction == "stop-and-notify") return "notify; the run goes on";
    if (reaction == "retry") return "notify; start the run again if it ends of this";
    if (reaction == "restart-run-from-checkpoint")
      return "notify; restart the run from its last checkpoint if it ends of this";
  }
  if (reaction == "free-space-then-resume" && incident.severity != Severity::kCritical) {
    return "notify; the run goes on";  // that space is short is an incident of its own
  }
  return known != kWords.end() ? known->second : reaction.empty() ? std::string_view("none") : reaction;
}

namespace {

/// What midwatch decided when the attempt that the incident ended was over; nullptr where it decided nothing on it.
const SupervisedAttempt* decided_on(const State& state, const Incident& incident) {
  const SupervisedAttempt* const known = state.supervision.attempt(incident.latest.attempt + 1);
  if (known == nullptr || !known->decided) return nullptr;
  const auto facts = facts_from_json(known->facts);
  return facts && facts->outcome.kind == incident.kind ? known : nullptr;
}

/// Did it leave an attempt that had trained, and not come back? Then that attempt may have come further than any.
bool struck_after_steps(const State& state, const Incident& incident) {
  const size_t attempt = incident.latest.attempt;
  return incident.onset.attempt == attempt && attempt < state.attempts.size() &&
         state.attempts[attempt].last_step != kNoStep;
}

}  // namespace

Reaction reaction_to(const State& state, const Incident& incident) {
  if (const SupervisedAttempt* const attempt = decided_on(state, incident)) return {true, decision_text(*attempt)};
  if (incident.reaction == "config-fix" && struck_after_steps(state, incident)) {  // core/supervise/policy.h, rule 7
    return {false,
            "start the run again if it had come further than before; else none: a setting must be changed first"};
  }
  if (incident.reaction == "free-space-then-resume" && state.by_host(incident.onset.where)) {
    return {false, "notify; the run goes on"};  // a checkpoint on the disk ends nothing
  }
  return {false, std::string(reaction_text(incident))};
}

std::vector<const Evidence*> fresh_evidence(const Incident& incident) {
  std::vector<const Evidence*> fresh;
  for (const Evidence& evidence : incident.evidence) {
    const bool said = evidence.signal.empty() && trim(evidence.text) == trim(incident.summary);
    const bool again = std::any_of(fresh.begin(), fresh.end(), [&evidence](const Evidence* before) {
      return std::tie(before->where, before->text, before->signal, before->step) ==
             std::tie(evidence.where, evidence.text, evidence.signal, evidence.step);
    });
    if (!said && !again) fresh.push_back(&evidence);
  }
  return fresh;
}

std::vector<std::string> fresh_reasons(const Incident& incident, const std::vector<std::string>& reasons) {
  std::vector<std::string> fresh;
  for (const std::string& reason : reasons) {
    const size_t colon = reason.find(": ");
    const bool quotes = reason.starts_with("seen") && colon != std::string::npos;
    const std::string_view quoted = quotes ? trim(std::string_view(reason).substr(colon + 2)) : std::string_view();
    const bool shown =
        quotes && std::any_of(incident.evidence.begin(), incident.evidence.end(), [&](const Evidence& e) {
          return contains(e.text, quoted) || (!e.text.empty() && contains(quoted, trim(e.text)));
        });
    const std::string words = reason_words(reason);
    if (!shown && !words.empty()) fresh.push_back(words);
  }
  return fresh;
}

std::vector<const RankedCause*> shown_causes(const Incident& incident, size_t most) {
  std::vector<const RankedCause*> shown;
  for (const RankedCause& cause : incident.causes) {
    const bool bare = cause.reasons_for.empty() && cause.reasons_against.empty();
    if (shown.size() < most && (shown.empty() || !bare)) shown.push_back(&cause);
  }
  return shown;
}

}  // namespace mw
