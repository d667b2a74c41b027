// midwatch why N: one incident, explained.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "core/collected.h"
#include "core/incident_json.h"
#include "core/incident_kind.h"
#include "core/resume_advice.h"
#include "ui/cli/take_run.h"
#include "ui/report/paint.h"
#include "ui/report/terminal.h"
#include "ui/view/incident_chains.h"
#include "ui/view/log_words.h"
#include "ui/view/overview.h"
#include "ui/view/ranked.h"

namespace mw {
namespace {

constexpr size_t kTextLines = 12;  // terminal lines of one text

void declare(ArgSpec& spec) {
  spec.positional("number", "the incident's number, as `midwatch incidents` shows it (default: the one that leads)",
                  false, false);
  declare_run(spec);
  spec.flag("json", "print the incident as JSON");
}

std::string reasons(const Painter& paint, const std::vector<std::string>& items, std::string_view mark) {
  std::string out;
  for (const std::string& item : items) {
    const std::string words = reason_words(item);
    out += paint.hanging(mark, words.empty() ? log_words(item) : words, kTextLines);
  }
  return out;
}

std::string explain_cause(const Painter& paint, const RankedCause& cause, size_t rank, const Knowledge& knowledge) {
  std::string out = cat("\n  ", rank, ". ", paint.bold(escape_terminal(cause.id)), "  (", likelihood(cause), ")\n");
  const Signature* signature = knowledge.find(cause.id);
  if (!cause.title.empty()) out += paint.hanging("     ", cause.title, kTextLines);
  out += reasons(paint, cause.reasons_for, "     for      ") + reasons(paint, cause.reasons_against, "     against  ");
  // What usually lies behind it, by the catalogue: nothing that was found here.
  if (signature != nullptr) out += reasons(paint, signature->causes, "     may be   ");
  if (!cause.check.empty()) out += paint.hanging("     check    ", cause.check, kTextLines);
  if (!cause.fix.empty()) out += paint.hanging("     fix      ", cause.fix, kTextLines);
  return out;
}

std::string evidence_line(const Painter& paint, const State& state, const Evidence& e) {
  std::string head = "  ";
  if (e.step != kNoStep) head += cat("step ", e.step, "  ");
  if (e.where.line != 0) head += fit_place(escape_terminal(describe(state, e.where)), paint.width() / 3) + "  ";
  const std::string figure = e.signal.empty() ? "" : cat(e.signal, " = ", e.value, e.text.empty() ? "" : "  ");
  return paint.hanging(head, figure + std::string(trim(e.text)), kTextLines, nullptr, &Painter::dim);
}

/// Long messages that begin alike are one, however often they came.
bool alike(const Evidence& a, const Evidence& b) {
  constexpr size_t kLong = 120, kAlike = 60;
  if (!a.signal.empty() || !b.signal.empty() || a.text.size() < kLong || b.text.size() < kLong) return false;
  return a.text.compare(0, kAlike, b.text, 0, kAlike) == 0;
}

std::string evidence(const Painter& paint, const State& state, const std::vector<Evidence>& all) {
  std::string out;
  for (size_t i = 0; i < all.size(); ++i) {
    const auto like = [&](const Evidence& other) { return alike(all[i], other); };
    const auto at = all.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::any_of(all.begin(), at, like)) continue;
    out += evidence_line(paint, state, all[i]);
    std::string places;
    uint32_t source = at->where.source;  // a file that was just named is not named again
    for (auto other = std::next(at); other != all.end(); ++other) {
      if (!like(*other)) continue;
      const bool again = std::exchange(source, other->where.source) == other->where.source && other->where.line != 0;
      places +=
          cat(places.empty() ? "" : ", ", again ? cat("line ", other->where.line) : describe(state, other->where));
    }
    if (!places.empty()) out += paint.hanging("  likewise  ", places, kTextLines, nullptr, &Painter::dim);
  }
  return out;
}

/// What the run's processes did when the incident was seen.
std::string processes(const Painter& paint, const State& state, const Incident& incident) {
  std::string out;
  for (const ActionState* snapshot : collected(state, incident.id)) {
    if (out.empty()) out = paint.heading("What its processes did");
    out += paint.hanging("  ", collected_line(*snapshot), kTextLines);
  }
  return out;
}

/// The incidents that are one failure with this one, in order.
std::string failure(const Painter& paint, const State& state, const Incident& incident) {
  const std::vector<const Incident*> chain = IncidentChains(state).chain_of(incident);
  if (chain.size() < 2) return "";
  std::string out = paint.heading("One failure, in order");
  for (const Incident* part : chain) {
    out += paint.hanging(part == &incident ? "> " : "  ",
                         cat("#", part->id, " ", part->kind, ", ", describe(state, part->onset), ": ", part->summary),
                         kTextLines);
  }
  return out;
}

std::string explain(const Painter& paint, const State& state, const Incident& incident, const Knowledge& knowledge) {
  std::string out = cat(paint.of(incident.severity, escape_terminal(cat("#", incident.id, " ", incident.kind))), "  ",
                        severity_name(incident.severity), incident.open ? "" : ", over", "\n");
  out += paint.hanging("", incident.summary, kTextLines) + "\n";
  out += paint.hanging("  began     ", describe(state, incident.onset), kTextLines);
  out += paint.hanging("  detected  ", describe(state, incident.detected), kTextLines);
  const Reaction reaction = reaction_to(state, incident);
  out += paint.hanging(reaction.decided ? "  decided   " : "  reaction  ", reaction.text, kTextLines);
  const bool costs = incident.open && (taints(incident.kind) || ends_runs(incident.kind)) &&
                     incident.latest.attempt + 1U >= state.attempts.size();
  const auto advice = costs ? resume_advice(state) : std::nullopt;
  if (advice) out += paint.hanging("  resume    ", to_sentence(*advice), kTextLines);
  if (!incident.evidence.empty()) out += paint.heading("Evidence");
  out += evidence(paint, state, incident.evidence);
  out += processes(paint, state, incident);
  out += paint.heading("Causes, most likely first");
  if (incident.causes.empty()) out += "  none known\n";
  for (size_t i = 0; i < incident.causes.size(); ++i) {
    out += explain_cause(paint, incident.causes[i], i + 1, knowledge);
  }
  return out + failure(paint, state, incident);
}

/// The incident of this number; with 0 the one that leads.
const Incident* find_incident(const State& state, int64_t number) {
  if (number == 0) {
    const std::vector<const Incident*> ranked = ranked_incidents(state);
    return ranked.empty() ? nullptr : ranked.front();
  }
  const auto at = std::find_if(state.incidents.begin(), state.incidents.end(),
                               [number](const Incident& incident) { return incident.id == number; });
  return at == state.incidents.end() ? nullptr : &*at;
}

Exit run(const Args& args, Services& services, const Console& console) {
  std::vector<std::string> paths = args.list("paths");
  const auto number = parse_int(args.get("number"));
  if (number && *number < 1) {
    return report_error(console, {Error::Code::kInvalid, cat("'", args.get("number"), "' is not an incident's number"),
                                  "They begin at 1: midwatch incidents lists them."});
  }
  if (args.has("number") && !number) paths.insert(paths.begin(), args.get("number"));
  auto replayed = take_run_of(paths, args, services);
  if (!replayed.ok()) return report_error(console, replayed.error());
  const State& state = (*replayed)->state;
  const bool partial = (*replayed)->partial;
  for (const std::string& note : (*replayed)->notes) {
    if (partial) console.err(cat("note: ", escape_terminal(note), "\n"));  // which of the paths was not read
  }
  const Exit answered = partial ? Exit::kPartial : Exit::kOk;
  if (const Incident* incident = find_incident(state, number.value_or(0)); incident != nullptr) {
    console.out(args.has("json") ? shown_incident_json(*incident, state) + "\n"
                                 : explain(Painter(console), state, *incident, services.knowledge()));
    return answered;
  }
  if (!number) {  // nothing is wrong with the question
    console.out(args.has("json") ? "null\n" : terminal_status(state, console) + "\nNo incident: nothing to explain.\n");
    return answered;
  }
  return report_error(
      console, {Error::Code::kInvalid, cat("there is no incident ", *number, "; the run has ", state.incidents.size()),
                "midwatch incidents lists them."});
}

}  // namespace

namespace verbs {
extern const Verb why;
const Verb why = {"why",
                  "Explain one incident: evidence, ranked causes, what to check, how to fix",
                  "  midwatch why                  the incident that leads, of the run that was recorded last\n"
                  "  midwatch why 3                of the run that attach recorded last\n"
                  "  midwatch why 1 train.log\n",
                  declare,
                  run,
                  false};
}  // namespace verbs

}  // namespace mw
