#include "ui/report/terminal.h"

#include <set>

#include "core/collected.h"
#include "ui/report/paint.h"
#include "ui/view/incident_chains.h"
#include "ui/view/overview.h"
#include "ui/view/pace.h"
#include "ui/view/plot.h"
#include "ui/view/ranked.h"

namespace mw {
namespace {

constexpr size_t kCausesShown = 3;
constexpr size_t kEvidenceShown = 4;
constexpr size_t kQuotedLines = 2;   // terminal lines of one quoted log line
constexpr size_t kSummaryLines = 4;  // terminal lines of a summary or a fix
constexpr size_t kStatusLines = 7;   // of the first sentence: its parts are short, and none of them may be cut away
constexpr size_t kIncidentsShown = 20;
constexpr size_t kInfosShown = 6;
constexpr size_t kCurvesShown = 2;
constexpr size_t kCurvePoints = 4;  // fewer points are no curve

std::string facts_of(const State& state) {
  std::string facts = framework_text(state);
  for (const std::string_view key : {"algorithm", "model"}) {
    if (const auto at = state.config.find(std::string(key)); at != state.config.end() && !at->second.empty()) {
      facts += cat(" · ", brief(at->second, 80));
    }
  }
  if (const State::Span steps = state.steps(); steps.count > 0) {
    facts += cat(" · ", steps.count, steps.counted && steps.count != state.total_steps ? " record" : " step",
                 steps.count == 1 ? "" : "s", " seen");
  }
  if (const std::string span = time_span(state); !span.empty()) facts += cat(" · ", span);
  if (const std::string pace = pace_text(state); !pace.empty() && state.steps().count > 0) facts += cat(" · ", pace);
  return facts;
}

std::string evidence_line(const Painter& paint, const State& state, const Evidence& e) {
  if (e.signal.empty()) {
    const std::string place = escape_terminal(describe(state, e.where));
    return paint.hanging(cat("   ", fit_place(place, paint.width() / 3), "  "), trim(e.text), kQuotedLines, nullptr,
                         &Painter::dim);
  }
  return paint.hanging(e.step == kNoStep ? "   " : cat("   step ", e.step, "  "),
                       cat(e.signal, " = ", e.value, e.text.empty() ? "" : "  ", e.text), kQuotedLines, nullptr,
                       &Painter::dim);
}

std::string cause_lines(const Painter& paint, const Incident& incident) {
  std::string out;
  bool first = true;
  for (const RankedCause* cause : shown_causes(incident, kCausesShown)) {
    const std::vector<std::string> reasons = fresh_reasons(incident, cause->reasons_for);
    out += paint.hanging(first ? "   cause  " : "      or  ",
                         cat(cause_text(*cause, incident.summary), reasons.empty() ? "" : cat(": ", reasons.front())),
                         kQuotedLines, first ? &Painter::cyan : nullptr);
    first = false;
  }
  return out;
}

/// Incidents of one failure chain are often mended by one thing: it is said once.
std::string fix_lines(const Painter& paint, const State& state, const Incident& incident) {
  if (incident.causes.empty() || incident.causes.front().fix.empty()) return "";
  const std::string& fix = incident.causes.front().fix;
  for (const Incident* before : ranked_incidents(state)) {
    if (before == &incident) break;
    if (!before->causes.empty() && before->causes.front().fix == fix)
      return paint.hanging("   fix    ", cat("as for #", before->id), 1);
  }
  return paint.hanging("   fix    ", fix, kSummaryLines);
}

std::string one_incident(const Painter& paint, const State& state, const IncidentChains& chains,
                         const Incident& incident) {
  std::string out = incident_title(paint, state, incident, cat(severity_name(incident.severity), ", "));
  out += paint.hanging("   ", incident.summary, kSummaryLines);
  size_t quoted = 0;
  for (const Evidence* e : fresh_evidence(incident)) {
    if (++quoted <= kEvidenceShown) out += evidence_line(paint, state, *e);
  }
  for (const ActionState* snapshot : collected(state, incident.id)) {
    out += paint.hanging("   process  ", collected_line(*snapshot), kSummaryLines, nullptr, &Painter::dim);
  }
  out += cause_lines(paint, incident) + fix_lines(paint, state, incident);
  if (const std::string chain = chain_words(chains, incident); !chain.empty())
    out += paint.hanging("   ", trim(chain), kQuotedLines);
  return out;
}

std::string incidents(const Painter& paint, const State& state) {
  if (state.incidents.empty()) {
    return "\n" + no_incident(paint);
  }
  std::string out = paint.heading("Incidents");
  size_t shown = 0, infos = 0;
  const IncidentChains chains(state);
  for (const Incident* incident : ranked_incidents(state)) {
    if (++shown <= kIncidentsShown) out += one_incident(paint, state, chains, *incident);
  }
  for (const Incident& incident : state.incidents) {
    if (incident.severity != Severity::kInfo || ++infos > kInfosShown) continue;
    out += paint.hanging(cat("#", incident.id, " "),
                         cat(incident.kind, " (info), ", describe(state, incident.onset), ": ", incident.summary),
                         kQuotedLines, &Painter::dim, &Painter::dim);
  }
  const size_t hidden =
      (shown > kIncidentsShown ? shown - kIncidentsShown : 0) + (infos > kInfosShown ? infos - kInfosShown : 0);
  if (hidden > 0) out += paint.dim(cat("… and ", hidden, " more: midwatch incidents lists them all")) + "\n";
  return out;
}

}  // namespace

std::string incident_title(const Painter& paint, const State& state, const Incident& incident, std::string_view grade) {
  const std::string title = cat("#", incident.id, " ", incident.kind);
  const std::string since = cat(grade, incident.open ? "" : "over, ", "since ", describe(state, incident.onset));
  return cat(paint.of(incident.severity, escape_terminal(title)), "  ",
             paint.dim(fit_place(escape_terminal(since), paint.width() - std::min<size_t>(30, title.size() + 2))),
             "\n");
}

std::string no_incident(const Painter& paint) {
  return paint.hanging("No incident. ", "Nothing in these files points to trouble; what they do not show was not seen.",
                       3, &Painter::dim, &Painter::green);
}

std::string terminal_status(const State& state, const Console& console) {
  const Painter paint(console);
  const StatusLine line = status_line(state);
  const Painter::Colour colour = line.mood == StatusLine::Mood::kBad    ? &Painter::red
                                 : line.mood == StatusLine::Mood::kGood ? &Painter::green
                                                                        : &Painter::yellow;
  return paint.hanging(line.word + "  ", line.rest, kStatusLines, nullptr, colour) +
         (line.resume.empty() ? "" : paint.hanging("", line.resume, kSummaryLines, &Painter::bold)) +
         paint.hanging("", facts_of(state), kSummaryLines, &Painter::dim);
}

std::string terminal_curves(const State& state, const Console& console, const std::vector<std::string>& names,
                            size_t most, size_t rows) {
  constexpr size_t kLabel = 11;  // cells left of the curve
  const Painter paint(console);
  std::string out;
  size_t drawn = 0;
  std::set<std::string> seen;
  for (const std::string& name : names) {
    const Series* series = state.find(name);
    if (series == nullptr || series->points().size() < kCurvePoints || drawn >= most || !console.unicode) continue;
    if (!seen.insert(name).second) continue;
    if (drawn++ == 0) out += paint.heading("Curves");
    const int64_t first = series->points().front().step, last = series->points().back().step;
    out += cat("  ", paint.bold(escape_terminal(name)),
               first == kNoStep || last == kNoStep ? "" : paint.dim(cat("  steps ", first, " to ", last)), "\n");
    for (const std::string& line : braille_plot(series->points(), paint.width() - kLabel - 1, rows)) {
      out += paint.cyan(line) + "\n";
    }
  }
  return out;
}

std::vector<std::string> leading_signals(const State& state) {
  for (const std::string_view name : {"reward.mean", "reward.pass_rate", "reward.component.", "accuracy.preference",
                                      "margin", "accuracy.token", "return.mean", "loss.total", "loss.policy"}) {
    for (const Series& series : state.series) {
      const bool is = series.signal == name || (name.ends_with('.') && series.signal.starts_with(name));
      if (is && series.points().size() >= kCurvePoints) return {series.signal};
    }
  }
  return {"reward.mean"};
}

std::string terminal_input(const Replayed& replayed) {
  return cat("read ", replayed.input.files, replayed.input.files == 1 ? " file, " : " files, ",
             format_bytes(static_cast<double>(replayed.input.bytes)), ", ", replayed.input.lines, " lines in ",
             format_duration(Duration::seconds(replayed.input.seconds)));
}

std::string terminal_report(const Replayed& replayed, const Console& console) {
  static const std::vector<std::string> kMain = {"reward.mean", "entropy",         "kl.ref",
                                                 "grad_norm",   "response.length", "loss.total"};
  const State& state = replayed.state;
  std::vector<std::string> curves = leading_signals(state);
  curves.insert(curves.end(), kMain.begin(), kMain.end());
  const Painter paint(console);
  std::string out = terminal_status(state, console);
  out += incidents(paint, state);
  out += terminal_curves(state, console, curves, kCurvesShown, 4);
  out += terminal_tables(state, console);
  out += "\n" + paint.hanging("", terminal_input(replayed), 1, &Painter::dim);
  return out;
}

std::string terminal_incident(const State& state, const Incident& incident, const Console& console) {
  return one_incident(Painter(console), state, IncidentChains(state), incident);
}

}  // namespace mw
