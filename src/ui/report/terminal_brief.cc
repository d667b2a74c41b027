// What a person sees first: one screen.
#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "core/incident.h"
#include "ui/report/paint.h"
#include "ui/report/terminal.h"
#include "ui/view/incident_chains.h"
#include "ui/view/log_words.h"
#include "ui/view/overview.h"
#include "ui/view/ranked.h"

namespace mw {
namespace {

constexpr size_t kIncidentsShown = 4;
constexpr size_t kSummaryLines = 2;
constexpr size_t kPartsShown = 4;  // of one failure, beside the incident that leads
constexpr size_t kCauseLines = 2;
constexpr size_t kFixLines = 3;
constexpr size_t kCurvesShown = 2;
constexpr size_t kCurveRows = 3;
constexpr size_t kStepRows = 8;
constexpr size_t kEvaluationRows = 6;

/// What the machine showed of it, where a log says the rest: that seldom names an engine which does not answer.
std::string seen_beside(const Painter& paint, const State& state, const Incident& incident, std::string_view said) {
  if (state.by_host(incident.onset.where)) return "";
  for (const Evidence& one : incident.evidence) {
    if (!state.by_host(one.where) || one.text.empty() || contains(incident.summary, one.text)) continue;
    if (!contains(said, one.text)) return paint.hanging("   seen   ", one.text, 1, nullptr, &Painter::cyan);
  }
  return "";
}

std::string one_incident(const Painter& paint, const State& state, const Incident& incident) {
  std::string out = incident_title(paint, state, incident);
  out += paint.hanging("   ", sentences(incident.summary, (paint.width() - 3) * kSummaryLines), kSummaryLines);
  if (incident.causes.empty()) return out;
  const RankedCause& cause = incident.causes.front();
  // The evidence is not shown here: what was seen stands with the cause, or alone where the summary names the cause.
  const std::string reason = cause.reasons_for.empty() ? "" : reason_words(cause.reasons_for.front());
  const bool named = cause_name(cause) == cause.id || contains(incident.summary, cause_name(cause));
  if (const std::string quoted = quoted_words(reason); named && !quoted.empty()) {
    out += paint.hanging("   says   ", sentences(quoted, (paint.width() - 10) * kCauseLines), kCauseLines, nullptr,
                         &Painter::cyan);
  } else if (!named || !reason.empty()) {
    const std::string head = cause_text(cause, incident.summary);
    out += paint.hanging("   cause  ", reason.empty() ? head : cat(head, ": ", reason), kCauseLines, nullptr,
                         &Painter::cyan);
  }
  out += seen_beside(paint, state, incident, reason);
  if (!cause.fix.empty())
    out += paint.hanging("   do     ", sentences(cause.fix, (paint.width() - 10) * kFixLines), kFixLines);
  return out;
}

/// What else belongs to the failure, a line each: what it came of, and what came of it.
std::string parts(const Painter& paint, const State& state, const Incident& incident, const IncidentChains& chains) {
  const std::vector<const Incident*> chain = chains.chain_of(incident), causes = chains.causes_of(incident);
  std::string out;
  size_t shown = 0;
  for (const Incident* part : chain) {
    if (part == &incident) continue;
    if (++shown > kPartsShown) continue;
    const std::string since = cat("#", part->id, " ", part->kind, ", ", describe(state, part->onset), ": ");
    // What began it is what there is to mend.
    const bool before = std::find(causes.begin(), causes.end(), part) != causes.end();
    out += paint.hanging(before ? "   from   " : "   then   ", cat(since, part->summary), before ? 2 : 1);
  }
  return shown > kPartsShown ? out + paint.hanging("          ", cat("and ", shown - kPartsShown, " more"), 1) : out;
}

/// Incidents that are only news, and those that found no room, in one sentence: of many of one kind the first.
std::string others(const Painter& paint, const State& state, size_t loud) {
  constexpr size_t kNamed = 2;  // of one kind
  std::map<std::string_view, size_t> of_kind;
  for (const Incident& incident : state.incidents) {
    if (incident.severity == Severity::kInfo) ++of_kind[incident.kind];
  }
  std::string out;
  for (const Incident& incident : state.incidents) {
    size_t& left = of_kind[incident.kind];
    if (incident.severity != Severity::kInfo || left == 0) continue;
    out += cat(out.empty() ? "" : ", ", "#", incident.id, " ", incident.kind);
    if (left <= kNamed) continue;
    out += cat(" and ", left - 1, " more");
    left = 0;
  }
  if (loud > kIncidentsShown) out += cat(out.empty() ? "" : ", and ", loud - kIncidentsShown, " more");
  return out.empty() ? out : paint.hanging("Besides: ", out, 2, &Painter::dim, &Painter::dim);
}

std::string incidents(const Painter& paint, const State& state) {
  if (state.incidents.empty()) return no_incident(paint);
  std::string out;
  size_t loud = 0;
  const IncidentChains chains(state);
  std::set<const Incident*> shown;  // with the incident that leads their failure
  for (const Incident* incident : ranked_incidents(state)) {
    if (shown.count(incident) != 0) continue;
    const std::vector<const Incident*> chain = chains.chain_of(*incident);
    if (++loud <= kIncidentsShown)
      out += one_incident(paint, state, *incident) + parts(paint, state, *incident, chains);
    shown.insert(chain.begin(), chain.end());
  }
  return out + others(paint, state, loud);
}

/// Signals that the worst incidents are about, the reward first where there is none.
std::vector<std::string> signals_of(const State& state) {
  std::vector<std::string> names;
  for (const Incident* incident : ranked_incidents(state)) {
    for (const Evidence& evidence : incident->evidence) {
      if (!evidence.signal.empty() && std::find(names.begin(), names.end(), evidence.signal) == names.end())
        names.push_back(evidence.signal);
    }
  }
  return names.empty() ? leading_signals(state) : names;
}

}  // namespace

std::string terminal_brief(const Replayed& replayed, const Console& console, std::string_view more) {
  const State& state = replayed.state;
  const Painter paint(console);
  const auto loud = std::count_if(state.incidents.begin(), state.incidents.end(),
                                  [](const Incident& incident) { return incident.severity != Severity::kInfo; });
  std::string out = terminal_status(state, console) + "\n" + incidents(paint, state);
  out += terminal_decisions(state, console);
  if (loud == 0) {  // there is room for it
    out += terminal_steps(state, console, kStepRows) + terminal_evaluations(state, console, kEvaluationRows);
  }
  out += terminal_curves(state, console, signals_of(state), loud == 1 ? kCurvesShown : 1, kCurveRows);
  out += "\n" + paint.hanging("", cat(terminal_input(replayed), ". ", more), 2, &Painter::dim);
  return out;
}

}  // namespace mw
