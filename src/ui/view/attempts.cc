#include "ui/view/attempts.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "core/cost.h"
#include "core/detect/support/failure_chain.h"
#include "core/incident_kind.h"
#include "ui/view/overview.h"

namespace mw {
namespace {

constexpr size_t kTextShown = 120;                                       // bytes of why it began or ended
constexpr std::string_view kCounterWentBack = "step counter went back";  // as core/attempts.cc says it

/// The incident that ended an attempt: what ends runs before what is merely critical, the first in time of these.
const Incident* ending(const State& state, size_t attempt) {
  const Incident* found = nullptr;
  for (const Incident& incident : state.incidents) {
    if (incident.onset.attempt != attempt && incident.latest.attempt != attempt) continue;
    const bool ends = ends_runs(incident.kind) || incident.kind == "interrupted" || incident.kind == "preempted";
    if (!ends || incident.severity == Severity::kInfo) continue;
    if (found == nullptr || incident.severity > found->severity) found = &incident;
  }
  return found;
}

std::string by_status(const State& state, size_t number) {
  const SupervisedAttempt* known = state.supervision.attempt(static_cast<int64_t>(number));
  if (known == nullptr || !known->exited || !known->known) return "";
  return known->signal != 0 ? cat("signal ", known->signal) : cat("exit ", known->code);
}

/// Is the line of this attempt, as far as that is known? Lines of one file go by where the attempts begin in it.
bool is_of(const State& state, const Incident& incident, const Where& where, size_t attempt) {
  if (incident.onset.attempt == attempt && incident.latest.attempt == attempt) return true;
  const Where& begins = state.attempts[attempt].began.where;
  if (where.line == 0 || begins.line == 0 || where.source != begins.source || where.line < begins.line) return false;
  if (attempt + 1 >= state.attempts.size()) return true;
  const Where& next = state.attempts[attempt + 1].began.where;
  return next.source != where.source || where.line < next.line;
}

/// The exception with which the attempt failed last, in its own words; "": it shows none.
std::string last_exception(const State& state, size_t attempt) {
  const auto found = std::find_if(state.traces.rbegin(), state.traces.rend(), [attempt](const TraceState& seen) {
    return seen.moment.attempt == attempt && !seen.trace.sample && !seen.trace.handled;
  });
  return found == state.traces.rend() ? "" : brief(cat(found->trace.exception, ": ", found->trace.message), kTextShown);
}

/// The failure in the attempt's own words, else what the incident is. One that came back in several attempts quotes the
/// line of one of them.
std::string words_of(const State& state, const Incident& incident, size_t attempt) {
  for (const Evidence& evidence : incident.evidence) {
    const bool own = evidence.text.starts_with("=== midwatch: ");  // says how it ended, which stands there already
    if (!evidence.signal.empty() || own || trim(evidence.text).empty()) continue;
    if (is_of(state, incident, evidence.where, attempt)) return brief(evidence.text, kTextShown);
  }
  if (incident.onset.attempt != attempt) {
    const std::string exception = last_exception(state, attempt);
    return exception.empty() ? incident.kind : exception;
  }
  return cat(incident.kind, ": ", sentences(incident.summary, kTextShown));
}

std::string end_of(const State& state, size_t attempt) {
  const AttemptState& it = state.attempts[attempt];
  std::string end = by_status(state, attempt + 1);
  if (end.empty() && it.ended) end = brief(it.ended->text, kTextShown);
  const bool complete = it.ended && it.ended->how == event::Ended::How::kComplete;
  const Incident* incident = complete ? nullptr : ending(state, attempt);
  if (incident != nullptr) {
    const std::string words = words_of(state, *incident, attempt);
    if (!contains(end, words)) end += cat(end.empty() ? "" : ": ", words);
  }
  const SupervisedAttempt* known = state.supervision.attempt(static_cast<int64_t>(attempt) + 1);
  if (known != nullptr && known->exited && known->trip && !contains(end, known->trip->kind))
    end += cat(end.empty() ? "" : ", ", "ended by midwatch for ", known->trip->kind);
  if (!end.empty()) return end;
  const bool last = attempt + 1 == state.attempts.size();
  if (last && state.verdict == "running") return "goes on";
  return std::string(complete ? kEndComplete : kNoEndSeen);
}

/// As long as the trainer says that the attempt's steps took, those that were not seen as long as the others; 0: it
/// says nothing.
double seconds_of_steps(const State& state, size_t attempt, const AttemptRow& row) {
  const Series* took = state.find("time.step");
  if (took == nullptr || row.first == kNoStep) return 0;
  double sum = 0, count = 0;
  for (const Point& point : took->points()) {
    if (point.attempt != attempt || !std::isfinite(point.value) || point.value < 0) continue;
    sum += point.value;
    ++count;
  }
  return count > 0 ? sum / count * static_cast<double>(row.reached - row.first + 1) : 0;
}

/// Steps that the next attempt did not resume from, and the time since that step.
std::string lost_in(const State& state, size_t attempt, const AttemptRow& row) {
  if (attempt + 1 >= state.attempts.size() || row.reached == kNoStep) return "";
  const AttemptState& next = state.attempts[attempt + 1];
  const auto& ended = state.attempts[attempt].ended;
  if (ended && ended->how == event::Ended::How::kComplete) return "";      // what comes next is another job
  if (next.resumed_at == kNoStep && next.last_step == kNoStep) return "";  // it never came so far as to tell
  // Nothing but a counter went back: it may count an epoch, an evaluation, or what its caller counts otherwise.
  const bool only_counter = next.why == kCounterWentBack && !ended && next.resumed_at == kNoStep;
  if (only_counter && state.attempts[attempt].last_checkpoint == kNoStep) return "";
  // Where it says nothing, its counter shows from where it resumed.
  const int64_t resumed = next.resumed_at != kNoStep ? next.resumed_at : begun_from(state, attempt + 1);
  const bool anew = resumed == kNoStep || resumed < row.first;
  if (next.resumed_at == kNoStep && next.first_step > row.reached) return "";
  const int64_t from = anew ? begun_from(state, attempt) : resumed;
  if (from >= row.reached) return "";
  const int64_t steps = row.reached - from;
  std::string text = cat(steps, steps == 1 ? " step" : " steps");
  Time since = anew ? row.began : Time{};
  for (const auto& [at, step] : state.anchors) {
    if (!anew && step == from && at >= row.began && at <= row.last) since = at;
  }
  if (since.known() && row.last > since) text += cat(", ", format_duration(row.last - since));
  return text;
}

}  // namespace

int64_t begun_from(const State& state, size_t attempt) {
  const detect::Done done = detect::done_in(state, attempt);
  if (state.attempts[attempt].resumed_at != kNoStep) return state.attempts[attempt].resumed_at;
  if (done.first == kNoStep || done.first == 0) return done.first == 0 ? -1 : kNoStep;
  const int64_t records = std::max<int64_t>(2, state.steps().count);
  const int64_t stride = (done.last - done.first) / (records - 1) + 1;  // steps from one record to the next, at least
  return done.first <= stride ? 0 : done.first - 1;
}

std::vector<AttemptRow> attempt_rows(const State& state) {
  std::vector<AttemptRow> rows;
  for (size_t i = 0; i < state.attempts.size(); ++i) {
    const AttemptState& it = state.attempts[i];
    const detect::Done done = detect::done_in(state, i);
    AttemptRow row;
    row.number = i + 1;
    row.why = brief(it.why, kTextShown);
    row.began = began_by_clock(state, it);
    row.last = std::max(it.last.at, it.ended_at.at);
    if (const SupervisedAttempt* known = state.supervision.attempt(static_cast<int64_t>(i) + 1); known != nullptr) {
      if (!row.began.known()) row.began = known->started_at;
      if (known->exited) row.last = std::max(row.last, known->exited_at);
    }
    row.first = done.first;
    row.reached = done.last;
    row.seconds = attempt_seconds(state, it);
    if (row.seconds <= 0) row.seconds = seconds_of_steps(state, i, row);
    row.resumed_at = it.resumed_at;
    row.end = end_of(state, i);
    row.lost = lost_in(state, i, row);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string lasted(const AttemptRow& row) {
  const double by_clock = row.began.known() && row.last > row.began ? (row.last - row.began).seconds() : 0;
  const double seconds = std::max(by_clock, row.seconds);
  return seconds > 0 ? format_duration(Duration::seconds(seconds)) : "";
}

std::string steps_done(const AttemptRow& row) {
  if (row.reached == kNoStep) return "none";
  return row.first == row.reached ? cat(row.reached) : cat(row.first, " to ", row.reached);
}

}  // namespace mw
