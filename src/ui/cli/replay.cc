// midwatch replay: what happened in these files?
#include <algorithm>

#include "base/text.h"
#include "ui/cli/take_run.h"
#include "ui/cli/verb.h"
#include "ui/report/terminal.h"
#include "ui/view/replay_json.h"
#include "ui/view/series_csv.h"

namespace mw {
namespace {

void declare(ArgSpec& spec) {
  spec.positional("paths", "files or directories of one run, finished or going", true, true);
  spec.flag("json", "print one JSON object, schema midwatch.replay/1 (docs/formats/replay-json.md)");
  spec.flag("series", "print all figures by attempt and step as CSV (docs/formats/series-csv.md)");
  spec.option("framework", "NAME", "do not recognise the framework, use this dialect");
  spec.option("timezone", "ZONE",
              "of clocks that name none: UTC, local, +08:00 (default: by W&B's folder or by the steps of "
              "a file with a zone, else UTC)");
  spec.option("knowledge", "DIR", "also load dialects, signatures and rules from DIR");
  spec.option("config", "FILE", "judge by the rules of this midwatch.toml, too");
  spec.option("arm", "NAME",
              "of several arms of an experiment in one file (seeds, methods) this one, by its name or value");
  spec.option("fail-on", "SEVERITY", "exit with 10 when an incident this severe is found", "", 0,
              {"info", "warning", "critical"});
  spec.flag("full", "also all signals, where the time goes, checkpoints and warnings");
  spec.flag("quiet", "no progress on standard error", 'q');
}

bool fails(const Replayed& replayed, const std::string& limit) {
  if (!replayed.runs.empty()) {
    return std::any_of(replayed.runs.begin(), replayed.runs.end(),
                       [&](const FolderRun& run) { return fails(run.replayed, limit); });
  }
  for (const Incident& incident : replayed.state.incidents) {
    const Severity least = limit == "critical"  ? Severity::kCritical
                           : limit == "warning" ? Severity::kWarning
                                                : Severity::kInfo;
    if (!limit.empty() && incident.severity >= least) return true;
  }
  return false;
}

void show_notes(const Replayed& result, const Console& console) {
  for (const std::string& note : result.notes) console.err(cat("note: ", escape_terminal(note), "\n"));
}

Exit show_runs(const Replayed& result, const Args& args, const Console& console) {
  const std::vector<std::string> paths = args.list("paths");
  const std::string folder = paths.size() == 1 ? paths.front() : folder_of(paths.front());
  if (args.has("series") || args.has("full")) return report_error(console, one_run_wanted(folder, result));
  console.out(args.has("json") ? replays_json(result.runs) : terminal_runs(result, folder, console));
  show_notes(result, console);
  if (fails(result, args.get("fail-on"))) return Exit::kIncident;
  return result.partial ? Exit::kPartial : Exit::kOk;
}

Exit run(const Args& args, Services& services, const Console& console) {
  if (args.has("json") && args.has("series")) {
    return report_error(console, {Error::Code::kInvalid, "--json and --series are two outputs",
                                  "Give one of them; --json has the first, last, least and greatest of each series."});
  }
  ReplayRequest request;
  request.paths = args.list("paths");
  request.framework = args.get("framework");
  request.timezone = args.get("timezone");
  request.knowledge = args.list("knowledge");
  request.config = args.get("config");
  request.arm = args.get("arm");
  const bool progress = console.err_is_terminal && !args.has("quiet");
  if (progress) {
    request.progress = [&console](int64_t done, int64_t all) {
      const double share = all > 0 ? 100.0 * static_cast<double>(done) / static_cast<double>(all) : 0;
      console.err(cat("\r\x1b[Kreading ", format_bytes(static_cast<double>(done)), " of ",
                      format_bytes(static_cast<double>(all)), " (", format_short(share, 3), " %)"));
    };
  }
  auto replayed = services.replay(request);
  if (progress) console.err("\r\x1b[K");
  if (!replayed.ok()) return report_error(console, replayed.error());
  const Replayed& result = **replayed;
  if (!result.runs.empty()) return show_runs(result, args, console);
  if (args.has("json")) {
    console.out(replay_json(result.state, result.input, result.notes));
  } else if (args.has("series")) {
    console.out(series_csv(result.state));
  } else if (!result.unknown) {  // of no run it cannot be said that no trouble was seen
    console.out(args.has("full") ? terminal_report(result, console)
                                 : terminal_brief(result, console, "More: --full, and midwatch why NUMBER PATH"));
  }
  if (result.unknown) {
    console.err(cat("midwatch: nothing in ", escape_terminal(request.paths.front()),
                    " is what a run writes, as far as midwatch knows\n  ", kGiveRun, "\n"));
  }
  show_notes(result, console);
  if (fails(result, args.get("fail-on"))) return Exit::kIncident;
  if (result.unknown && !result.partial) return Exit::kUnknown;
  return result.partial ? Exit::kPartial : Exit::kOk;
}

}  // namespace

namespace verbs {
extern const Verb replay;
const Verb replay = {
    "replay",
    "Read the files of a run: what it is, how it went, what went wrong, when and why",
    "  midwatch replay runs/2026-02-19/          a directory; the framework is recognised by itself\n"
    "  midwatch replay train.log metrics.jsonl   any mix of files of one run\n"
    "  midwatch replay outputs/                  a folder of several runs: how each of them stands\n"
    "  midwatch replay --full train.log          all signals, where the time goes, checkpoints, warnings\n"
    "  midwatch replay --json train.log | jq .incidents\n"
    "  midwatch replay --series train.log > run.csv   for a spreadsheet, pandas or gnuplot\n"
    "  midwatch replay --fail-on critical logs/  for scripts: exit code 10 when the run is sick\n",
    declare,
    run,
    false};
}  // namespace verbs

}  // namespace mw
