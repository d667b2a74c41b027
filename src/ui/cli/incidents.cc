// midwatch incidents: the list.
#include "base/json.h"
#include "base/text.h"
#include "core/incident_json.h"
#include "ui/cli/runs.h"
#include "ui/report/terminal.h"
#include "ui/view/overview.h"

namespace mw {
namespace {

void declare(ArgSpec& spec) {
  declare_run(spec);
  spec.flag("json", "print a JSON array of incidents, as in midwatch.replay/1");
}

Exit run(const Args& args, Services& services, const Console& console) {
  auto told = take_run(args, services);
  if (!told.ok()) return report_error(console, told.error());
  const State& state = (*told)->state;
  if (args.has("json")) {
    std::string out;
    JsonWriter writer(out);
    writer.begin_object().key("schema").string("midwatch.incidents/1").key("incidents").begin_array();
    for (const Incident& incident : state.incidents) writer.raw(incident_json(incident, state));
    writer.end_array().end_object();
    console.out(out + "\n");
    return Exit::kOk;
  }
  const StatusLine line = status_line(state);
  console.out(cat(line.word, "  ", escape_terminal(line.rest), "\n"));
  if (state.incidents.empty()) console.out("No incident.\n");
  for (const Incident& incident : state.incidents) {
    console.out(cat("#", incident.id, "  ", severity_name(incident.severity), "  ", incident.kind, "  ",
                    escape_terminal(describe(state, incident.onset)), incident.open ? "" : "  (over)", "\n    ",
                    escape_terminal(incident.summary), "\n"));
  }
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
