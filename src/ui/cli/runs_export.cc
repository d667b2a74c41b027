// midwatch runs export: the experiment log, made from the records of runs.
#include "base/text.h"
#include "ui/cli/take_filter.h"
#include "ui/cli/take_price.h"
#include "ui/cli/verb.h"
#include "ui/report/run_record.h"

namespace mw {
namespace {

void declare(ArgSpec& spec) {
  declare_filter(spec);
  spec.option("output", "FILE", "write it there instead of to standard output", "", 'o');
  spec.flag("json", "as JSON, schema midwatch.runs-export/1, instead of Markdown");
  spec.flag("csv", "as CSV, one line for each run, instead of Markdown");
  declare_price(spec);
  spec.option("home", "DIR", "where runs are recorded (default: $MIDWATCH_HOME, or all places that you used)");
}

Exit run(const Args& args, Services& services, const Console& console) {
  const auto filter = take_filter(args);
  if (!filter.ok()) return report_error(console, filter.error());
  const auto price = take_price(args);
  if (!price.ok()) return report_error(console, price.error());
  if (args.has("json") && args.has("csv"))
    return report_error(console, {Error::Code::kInvalid, "--json and --csv are two forms", "Give one of them."});
  auto answer = services.runs({args.get("home"), *filter, SIZE_MAX, !args.has("csv")});
  if (!answer.ok()) return report_error(console, answer.error());
  for (RunsAnswer::Run& one : answer->runs) {
    if (*price > 0) one.record.cost_per_hour = *price;
  }
  const std::string text = args.has("json")  ? json_of_runs(answer->runs)
                           : args.has("csv") ? csv_of_runs(answer->runs)
                                             : markdown_experiment_log(answer->runs);
  const std::string path = args.get("output");
  if (path.empty() || path == "-") {
    console.out(text);
    return Exit::kOk;
  }
  if (const auto written = services.write_file(path, text); !written.ok())
    return report_error(console, written.error());
  console.err(cat("wrote ", escape_terminal(path), "\n"));
  return Exit::kOk;
}

}  // namespace

namespace verbs {
extern const Verb runs_export;
const Verb runs_export = {"runs export", "Write the experiment log: all recorded runs, or those that you look for",
                          "  midwatch runs export -o experiments.md\n"
                          "  midwatch runs export --framework prime-rl --since 2026-11-01\n"
                          "  midwatch runs export --csv --tag ablation > ablation.csv\n"
                          "  midwatch runs export --json | jq '.runs[].figures'\n"
                          "\nMarkdown: the live runs, a table of those that are over, then each of them with its\n"
                          "specification, what differs from the run before, machines and cost, attempts, incidents,\n"
                          "figures, checkpoints, notes, and last all lessons.\n",
                          declare, run};
}  // namespace verbs

}  // namespace mw
