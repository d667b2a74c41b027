#include "act/notify/notices.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "core/collected.h"
#include "core/incident_json.h"
#include "core/incident_kind.h"
#include "core/resume_advice.h"
#include "core/supervise/breaker.h"
#include "core/supervise/decide_component.h"
#include "core/supervise/outcome_json.h"

namespace mw {
namespace {

constexpr const char* kMendComponent =
    "Read what the component wrote (output/NAME.log in the run's folder), mend it, and start the run again.";
constexpr size_t kProcessBytes = 600;  // of what one process did

std::string cause_sentence(const Incident& incident) {
  if (incident.causes.empty() || incident.causes.front().score < kWorthNaming) return "";
  const RankedCause& cause = incident.causes.front();
  std::string text = cause_text(cause);
  if (!cause.reasons_for.empty()) text += cat(" [", cause.reasons_for.front(), "]");
  return text;
}

std::string hang_sentence(const NoticeContext& context) {
  const Mode mode = context.breaking_hang;
  if (mode == Mode::kWatch) return "It only watches; else it would end this attempt, which does nothing any more.";
  if (mode == Mode::kAct)
    return "If it goes on doing nothing ([run] hang_patience), the circuit breaker ends this attempt, and the next one "
           "begins.";
  const std::string alone =
      context.answer_patience.ns == 0
          ? std::string()
          : cat(" Without an answer within ", format_duration(context.answer_patience),
                " midwatch ends it by itself, if its processes rest or its engine does no work all the while.");
  return cat(
      "If it goes on doing nothing ([run] hang_patience), midwatch asks; midwatch approve then ends this attempt, and "
      "the next one begins.",
      alone);
}

std::string action_sentence(const State& state, const Incident& incident, const NoticeContext& context) {
  if (!context.supervises) return "It only watches this run.";
  for (auto action = state.actions.rbegin(); action != state.actions.rend(); ++action) {
    const std::string& what = action->intent.action;
    if (action->intent.incident != incident.id || what == "notify" || what == "hook" || what == kCollectEvidence)
      continue;
    if (what == "break") return cat("The circuit breaker ended ", action->intent.target, ".");
    return cat("Decided: ", what, " ", action->intent.target, ". ", action->intent.why);
  }
  const BreakCase trips = context.breaker ? breaker(state) : BreakCase();
  if (trips.incident != nullptr && trips.incident->id == incident.id) {
    if (trips.why == BreakReason::kHang) return hang_sentence(context);
    const bool learning = trips.why == BreakReason::kLearning;
    const Mode mode = learning ? context.breaking_learning : context.breaking;
    if (mode == Mode::kAct) return "The circuit breaker ends this attempt, which trains on poisoned data.";
    if (mode == Mode::kWatch)
      return "It only watches; else the circuit breaker would end this attempt, which trains on poisoned data.";
    return learning
               ? "It asks: midwatch approve ends this attempt and rolls back, midwatch resume lets it continue. The "
                 "run goes on meanwhile and is paused before its next save; checkpoints since the onset are tainted."
               : "It pauses the run, which trains on poisoned data, and asks: midwatch approve ends this attempt "
                 "and rolls back, midwatch resume lets it continue.";
  }
  return "It supervises the run, and restarts the command if it ends and a restart makes sense.";
}

/// "Approve it with midwatch approve --run NAME --home HOME": of the verb that answers.
std::string answer_with(std::string_view verb, const NoticeContext& context) {
  return cat("midwatch ", verb, " --run ", context.run, " --home ", context.home);
}

/// What a person is asked about while an attempt runs. A pause that it brings is news of its own: from then on nothing
/// is trained until somebody answers.
std::optional<Notice> approval_notice(const State& state, const NoticeContext& context) {
  const auto& attempts = state.supervision.attempts;
  if (attempts.empty() || !attempts.back().breaking.waits() || attempts.back().exited) return std::nullopt;
  const SupervisedAttempt& attempt = attempts.back();
  const bool paused = state.supervision.pause && state.supervision.pause_by == kByMidwatch;
  Notice notice;
  notice.event = "asks";
  notice.key = cat(kAsksKey, attempt.number, paused ? ":paused:" : ":", attempt.breaking.asked_at.ns);
  notice.severity = Severity::kCritical;
  notice.since = attempt.breaking.asked_at;
  notice.what = cat("midwatch asks: ", attempt.breaking.text, ".");
  const BreakCase found = breaker(state);
  if (found.incident != nullptr) {
    notice.kind = found.incident->kind;
    notice.step = found.incident->onset.step;
    if (!found.incident->causes.empty()) notice.cause = found.incident->causes.front().id;
    notice.what += cat(" ", found.incident->summary, ".");
    const bool alone = found.why == BreakReason::kHang && context.answer_patience.ns > 0;
    notice.did = found.why != BreakReason::kHang ? action_sentence(state, *found.incident, context)
                 : alone ? cat("Waits. Without an answer within ", format_duration(context.answer_patience),
                               " midwatch ends it by itself, if its processes rest or its engine does no work all the "
                               "while.")
                         : "Waits: the attempt does nothing, and goes on doing nothing until somebody answers.";
  }
  if (paused)
    notice.did =
        "The command is paused and asks: nothing is trained until somebody answers, and the machine costs what "
        "it costs.";
  notice.advice = cat("To end the attempt: ", answer_with("approve", context),
                      ". To let it continue: ", answer_with("resume", context), ".");
  if (const auto from = resume_advice(state)) notice.advice += cat(" ", to_sentence(*from));
  return notice;
}

/// What was decided after an attempt.
Notice attempt_notice(const SupervisedAttempt& attempt) {
  const auto facts = facts_from_json(attempt.facts);
  const AttemptOutcome outcome = facts ? facts->outcome : AttemptOutcome();
  const bool for_component = !outcome.stopped_for.empty();  // however its command takes the signal
  const bool finished = !attempt.restart && outcome.started && outcome.code == 0 && !outcome.unfinished &&
                        !outcome.tripped && !for_component;
  const bool by_request = outcome.stop_requested && !for_component;
  Notice notice;
  notice.event = attempt.asks ? "asks" : attempt.restart ? "restarted" : finished ? "finished" : "stopped";
  notice.severity = attempt.asks             ? Severity::kCritical
                    : attempt.restart        ? Severity::kWarning
                    : finished || by_request ? Severity::kInfo
                                             : Severity::kCritical;
  notice.key = cat(notice.event, ":", attempt.number);
  notice.kind = outcome.kind;
  notice.cause = outcome.cause;
  notice.step = outcome.last_step;
  notice.since = attempt.decided_at;
  notice.what = cat("Attempt ", attempt.number, " is over. ", attempt.why);
  if (attempt.asks) {
    notice.did = cat("Waits: midwatch approve begins attempt ", attempt.number + 1, ", midwatch stop ends the run.");
  } else if (attempt.restart) {
    notice.did =
        cat("Starts attempt ", attempt.number + 1, " in ", format_duration(Duration::seconds(attempt.wait_s)), ".");
  } else if (!finished) {
    notice.did = "Starts nothing more; the run is over.";
    if (for_component) {
      notice.advice = kMendComponent;
    } else if (!outcome.stop_requested) {
      notice.advice = "Find out why it ended, fix it, and start the run again.";
    }
  }
  return notice;
}

/// After a person's approval the next attempt began: whoever did not give it hears that the run goes on.
std::optional<Notice> begun_notice(const SupervisedAttempt& attempt, const Supervision& known) {
  const bool approved = attempt.asks && attempt.restart && attempt.restarting.answer == Approval::Answer::kYes;
  const SupervisedAttempt* const next = approved ? known.attempt(attempt.number + 1) : nullptr;
  if (next == nullptr || !next->started || next->number != known.attempts.back().number) return std::nullopt;
  Notice notice = attempt_notice(attempt);
  notice.event = "restarted";
  notice.severity = Severity::kWarning;
  notice.key = cat(notice.event, ":", attempt.number);
  notice.since = next->started_at;
  notice.did = cat("Started attempt ", next->number, ", as it was approved.");
  return notice;
}

/// Of a run that ended for want of a component before any attempt of it began.
Notice never_begun_notice(const Supervision& known) {
  Notice notice;
  notice.event = "stopped";
  notice.key = "stopped:0";
  notice.severity = Severity::kCritical;
  notice.what = cat("No attempt began. ", given_up(known));
  if (!known.requests.empty()) notice.since = known.requests.back().received;
  notice.did = "Starts nothing more; the run is over.";
  notice.advice = kMendComponent;
  return notice;
}

}  // namespace

std::string opened_key(uint32_t incident, Severity severity) {
  return cat("opened:", incident, ":", severity_name(severity));
}
std::string closed_key(uint32_t incident) { return cat("closed:", incident); }

std::vector<std::string> covered_keys(const std::string& key) {
  std::vector<std::string> keys = {key};
  const auto parts = split(key, ':');
  if (parts.size() == 3 && parts[0] == "opened") {
    for (const Severity lower : {Severity::kInfo, Severity::kWarning}) {
      if (parts[2] == severity_name(lower)) break;
      keys.push_back(cat(parts[0], ":", parts[1], ":", severity_name(lower)));
    }
  }
  return keys;
}

std::vector<Notice> incident_news(const State& state, const NoticeContext& context) {
  std::vector<Notice> news;
  for (const Incident& incident : state.incidents) {
    Notice notice;
    notice.event = incident.open ? "opened" : "closed";
    notice.key = incident.open ? opened_key(incident.id, incident.severity) : closed_key(incident.id);
    notice.severity = incident.severity;
    notice.incident = incident.id;
    notice.step = incident.onset.step;
    notice.since = incident.onset.at;
    news.push_back(std::move(notice));
  }
  if (!context.supervises && state.verdict == "finished") {
    Notice notice;
    notice.event = "finished";
    notice.key = cat("finished:", state.attempts.size());
    notice.what = "The run says that it has finished.";
    notice.step = state.attempts.empty() ? kNoStep : state.attempts.back().last_step;
    notice.since = state.last_at;
    news.push_back(std::move(notice));
  }
  return news;
}

void fill_in(Notice& notice, const State& state, const NoticeContext& context) {
  if (notice.incident == 0) return;
  const auto found = std::find_if(state.incidents.begin(), state.incidents.end(),
                                  [&](const Incident& incident) { return incident.id == notice.incident; });
  if (found == state.incidents.end()) return;
  const Incident& incident = *found;
  notice.kind = incident.kind;
  notice.what = incident.summary;
  notice.step = incident.onset.step;
  notice.since = incident.onset.at;
  if (!incident.causes.empty()) notice.cause = incident.causes.front().id;
  notice.why = cause_sentence(incident);
  for (const ActionState* snapshot : collected(state, incident.id)) {
    // The notice that it closed leaves this out: the notice that it opened had it.
    if (incident.open && snapshot->done && snapshot->ok)
      notice.what += cat(" ", clip(collected_line(*snapshot), kProcessBytes), ".");
  }
  if (incident.open) {
    notice.did = action_sentence(state, incident, context);
  } else {
    notice.what += " It is over again.";
  }
  if (!incident.causes.empty() && incident.open) {
    const RankedCause& cause = incident.causes.front();
    notice.advice = !cause.fix.empty() ? cause.fix : cause.check;
  }
  if (incident.open && (taints(incident.kind) || ends_runs(incident.kind))) {
    if (const auto from = resume_advice(state))
      notice.advice += cat(notice.advice.empty() ? "" : " ", to_sentence(*from));
  }
  notice.advice += cat(notice.advice.empty() ? "" : " ", "More: midwatch why ", incident.id, " --run ", context.run,
                       " --home ", context.home);
  notice.incident_json = shown_incident_json(incident, state);
}

std::vector<Notice> attempt_news(const State& state, const NoticeContext& context) {
  std::vector<Notice> notices;
  const auto advice = resume_advice(state);
  for (const SupervisedAttempt& attempt : state.supervision.attempts) {
    if (!attempt.decided) continue;
    notices.push_back(attempt_notice(attempt));
    const bool last = attempt.number == static_cast<int64_t>(state.attempts.size());
    if (last && advice && notices.back().event != "finished") notices.back().what += cat(" ", to_sentence(*advice));
    if (auto begun = begun_notice(attempt, state.supervision)) notices.push_back(std::move(*begun));
  }
  const Supervision& known = state.supervision;
  if (known.attempts.empty() && !given_up(known).empty()) notices.push_back(never_begun_notice(known));
  if (auto asks = approval_notice(state, context)) notices.push_back(std::move(*asks));
  return notices;
}

}  // namespace mw
