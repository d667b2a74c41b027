// midwatch why N: one incident, explained.
#include "base/text.h"
#include "core/incident_json.h"
#include "ui/cli/runs.h"
#include "ui/view/overview.h"

namespace mw {
namespace {

void declare(ArgSpec& spec) {
  spec.positional("number", "the incident's number, as `midwatch incidents` shows it", false, true);
  declare_run(spec);
  spec.flag("json", "print the incident as JSON");
}

std::string bullets(const std::vector<std::string>& items, std::string_view mark) {
  std::string out;
  for (const std::string& item : items) out += cat("      ", mark, " ", escape_terminal(item), "\n");
  return out;
}

std::string explain_cause(const RankedCause& cause, size_t rank, const Knowledge& knowledge) {
  std::string out = cat("\n  ", rank, ". ", cause.id, "  (", format_short(cause.score * 100, 2), " %)\n");
  if (const Signature* signature = knowledge.find(cause.id); signature != nullptr) {
    out += cat("      ", escape_terminal(signature->symptom), "\n");
    for (const std::string& deeper : signature->causes) out += cat("      · ", escape_terminal(deeper), "\n");
  }
  out += bullets(cause.reasons_for, "for:") + bullets(cause.reasons_against, "against:");
  if (!cause.check.empty()) out += cat("      check: ", escape_terminal(cause.check), "\n");
  if (!cause.fix.empty()) out += cat("      fix: ", escape_terminal(cause.fix), "\n");
  return out;
}

std::string explain(const State& state, const Incident& incident, const Knowledge& knowledge) {
  std::string out =
      cat("#", incident.id, " ", incident.kind, " (", severity_name(incident.severity), ")\n",
          escape_terminal(incident.summary), "\n\n  began     ", escape_terminal(describe(state, incident.onset)),
          "\n  detected  ", escape_terminal(describe(state, incident.detected)), "\n  reaction  ",
          incident.reaction.empty() ? "none" : incident.reaction, "\n\nEvidence\n");
  for (const Evidence& e : incident.evidence) {
    out += "  ";
    if (e.step != kNoStep) out += cat("step ", e.step, "  ");
    if (!e.signal.empty()) out += cat(escape_terminal(e.signal), " = ", e.value, "  ");
    if (e.where.line != 0) out += cat(escape_terminal(describe(state, e.where)), "  ");
    out += escape_terminal(e.text) + "\n";
  }
  out += "\nCauses, most likely first\n";
  if (incident.causes.empty()) out += "  none known\n";
  for (size_t i = 0; i < incident.causes.size(); ++i) out += explain_cause(incident.causes[i], i + 1, knowledge);
  for (const uint32_t id : incident.followed_by) out += cat("\nfollowed by #", id);
  return out + (incident.followed_by.empty() ? "" : "\n");
}

Exit run(const Args& args, Services& services, const Console& console) {
  const auto number = parse_int(args.get("number"));
  if (!number || *number < 1) {
    return report_error(console, {Error::Code::kInvalid, cat("'", args.get("number"), "' is not an incident's number"),
                                  "Give the number first: midwatch why 3 [PATH...]"});
  }
  auto told = take_run(args, services);
  if (!told.ok()) return report_error(console, told.error());
  const State& state = (*told)->state;
  for (const Incident& incident : state.incidents) {
    if (incident.id != *number) continue;
    console.out(args.has("json") ? incident_json(incident, state) + "\n"
                                 : explain(state, incident, services.knowledge()));
    return Exit::kOk;
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
                  "  midwatch why 3                of the run that attach recorded last\n"
                  "  midwatch why 1 train.log\n",
                  declare,
                  run,
                  false};
}  // namespace verbs

}  // namespace mw
