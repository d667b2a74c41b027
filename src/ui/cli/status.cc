// midwatch status: how the run stands now.
#include "ui/report/status.h"

#include <algorithm>

#include "core/cost.h"
#include "ui/cli/take_price.h"
#include "ui/cli/take_run.h"
#include "ui/cli/verb.h"

namespace mw {
namespace {

void declare(ArgSpec& spec) {
  declare_which(spec);
  spec.flag(
      "check",
      "for scripts: exit with 10 when a critical incident is open, midwatch asks for approval, or nobody watches a "
      "run that goes on");
  declare_price(spec);
  spec.flag("json", "print it as JSON, schema midwatch.status/1");
}

bool needs_somebody(const State& state, const RunStatus& status) {
  return should_be_watched(status) || was_left(state, status) || !status.asks.empty() ||
         std::any_of(state.incidents.begin(), state.incidents.end(), [](const Incident& incident) {
           return incident.open && incident.severity == Severity::kCritical;
         });
}

Exit run(const Args& args, Services& services, const Console& console) {
  const auto price = take_price(args);
  if (!price.ok()) return report_error(console, price.error());
  const auto status = services.status(args.get("home"), args.get("run"));
  if (!status.ok()) return report_error(console, status.error());
  auto replayed = services.recorded("", status->folder, {});
  if (!replayed.ok()) return report_error(console, replayed.error());
  State& state = (*replayed)->state;
  if (*price > 0) set_cost_per_hour(state, *price);
  console.out(args.has("json") ? status_json(state, *status) : terminal_run_status(state, *status, console));
  return args.has("check") && needs_somebody(state, *status) ? Exit::kIncident : Exit::kOk;
}

}  // namespace

namespace verbs {
extern const Verb status;
const Verb status = {"status", "How the run stands: is it OK, since when, who watches it, what was done",
                     "  midwatch status\n"
                     "  midwatch status --json | jq .step\n"
                     "  midwatch status --check || page-somebody     exit code 10: it needs somebody\n",
                     declare, run};
}  // namespace verbs

}  // namespace mw
