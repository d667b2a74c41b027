// midwatch runs show: the record of one run.
#include "base/text.h"
#include "ui/cli/take_price.h"
#include "ui/cli/verb.h"
#include "ui/report/run_record.h"

namespace mw {
namespace {

void declare(ArgSpec& spec) {
  spec.positional("run", "its name, or the beginning of it (default: as of midwatch status)", false, false);
  spec.option("home", "DIR", "where runs are recorded (default: $MIDWATCH_HOME, or all places that you used)");
  declare_price(spec);
  spec.flag("json", "print it as JSON, schema midwatch.run/1");
}

Exit run(const Args& args, Services& services, const Console& console) {
  const auto price = take_price(args);
  if (!price.ok()) return report_error(console, price.error());
  auto record = services.record(args.get("home"), args.get("run"));
  if (!record.ok()) return report_error(console, record.error());
  if (!record->trouble.empty())
    return report_error(console, {Error::Code::kIo, cat(record->status.name, ": ", record->trouble), ""});
  if (*price > 0) record->record.cost_per_hour = *price;
  console.out(args.has("json") ? json_of_run(*record) + "\n" : terminal_record(*record, console));
  return Exit::kOk;
}

}  // namespace

namespace verbs {
extern const Verb runs_show;
const Verb runs_show = {"runs show", "The record of one run: what it was, did and cost, and what people noted",
                        "  midwatch runs show\n"
                        "  midwatch runs show 20260219-090811-train\n"
                        "  midwatch runs show 20260219 --cost-per-hour 5.73\n"
                        "  midwatch runs show --json | jq .incidents\n"
                        "\nThe record is made from the run's journal and the fingerprints of its attempts, and says\n"
                        "what differs from the run of the same framework that began before it.\n",
                        declare, run};
}  // namespace verbs

}  // namespace mw
