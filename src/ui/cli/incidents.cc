// midwatch incidents: the list.
#include "base/json.h"
#include "base/text.h"
#include "core/incident_json.h"
#include "ui/cli/take_run.h"
#include "ui/report/paint.h"
#include "ui/report/terminal.h"
#include "ui/view/actions.h"
#include "ui/view/incident_chains.h"
#include "ui/view/overview.h"

namespace mw {
namespace {

void declare(ArgSpec& spec) {
  declare_run(spec);
  spec.flag("json", "print a JSON array of incidents, as in midwatch.replay/1");
}

std::string one_incident(const Painter& paint, const State& state, const Incident& incident, std::string_view indent) {
  std::string out = paint.hanging(
      cat(indent, indent.empty() ? "" : "then ", "#", incident.id, "  ", incident.kind, "  "),
      cat(severity_name(incident.severity), incident.open ? "" : ", over", ", ", describe(state, incident.onset)), 2,
      &Painter::dim,
      incident.severity == Severity::kCritical  ? &Painter::red
      : incident.severity == Severity::kWarning ? &Painter::yellow
                                                : &Painter::dim);
  out += paint.hanging(cat(indent, "    "), incident.summary, 4);
  for (const std::string& action : actions_for(state, incident.id))
    out += paint.hanging(cat(indent, "    did "), action, 3);
  return out;
}

Exit run(const Args& args, Services& services, const Console& console) {
  auto replayed = take_run(args, services);
  if (!replayed.ok()) return report_error(console, replayed.error());
  const State& state = (*replayed)->state;
  if (args.has("json")) {
    std::string out;
    JsonWriter writer(out);
    writer.begin_object().key("schema").string("midwatch.incidents/1").key("incidents").begin_array();
    for (const Incident& incident : state.incidents) writer.raw(shown_incident_json(incident, state));
    writer.end_array().end_object();
    console.out(out + "\n");
    return Exit::kOk;
  }
  const Painter paint(console);
  std::string out = terminal_status(state, console) + "\n";
  if (state.incidents.empty()) out += "No incident.\n";
  const IncidentChains chains(state);
  for (const Incident& incident : state.incidents) {
    const std::vector<const Incident*> failure = chains.chain_of(incident);
    if (failure.front() != &incident) continue;  // shown with what began it
    for (const Incident* part : failure) {
      out += one_incident(paint, state, *part, part == &incident ? "" : "    ");
    }
  }
  console.out(out);
  return Exit::kOk;
}

}  // namespace

namespace verbs {
extern const Verb incidents;
const Verb incidents = {"incidents",
                        "List the incidents of a run",
                        "  midwatch incidents                  of the run that attach recorded last\n"
                        "  midwatch incidents train.log --json\n",
                        declare,
                        run,
                        false};
}  // namespace verbs

}  // namespace mw
