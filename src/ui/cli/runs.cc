// midwatch runs: all recorded runs, the live ones first.
#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "ui/cli/take_filter.h"
#include "ui/cli/verb.h"
#include "ui/report/paint.h"
#include "ui/report/run_record.h"
#include "ui/report/status.h"
#include "ui/view/layout.h"
#include "ui/view/run_filter.h"

namespace mw {
namespace {

constexpr size_t kShown = 20;      // runs, unless all are asked for
constexpr size_t kNameCells = 36;  // longer names lose their middle: dates stand in front, what differs often behind

void declare(ArgSpec& spec) {
  spec.option("home", "DIR", "where runs are recorded (default: $MIDWATCH_HOME, or all places that you used)");
  declare_filter(spec);
  spec.flag("all", cat("all of them, not only the live ones and the latest (", kShown, " in all)"));
  spec.flag("json", "print them as JSON, schema midwatch.runs/1");
}

std::string ago(Time then, Time now) {
  return then.known() ? now <= then ? "now" : cat(format_duration(now - then), " ago") : "-";
}

std::string short_name(const std::string& name) {
  if (name.size() <= kNameCells || cells_of(name) != name.size()) return fit(name, kNameCells);
  const size_t half = (kNameCells - 1) / 2;
  return cat(name.substr(0, half), "…", name.substr(name.size() - (kNameCells - 1 - half)));
}

std::string progress(const RunsAnswer::Run& run) {
  const RunRecord& record = run.record;
  if (record.step == kNoStep) return "-";
  return record.planned > 0 ? cat(record.step, "/", record.planned) : cat(record.step);
}

std::string runs_json(const RunsAnswer& answer) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("schema").string("midwatch.runs/1").key("runs").begin_array();
    for (const RunsAnswer::Run& run : answer.runs) {
      json.begin_object().key("name").string(run.status.name).key("folder").string(run.status.folder);
      json.key("live").boolean(run.live).key("state").string(state_of(run)).key("verdict").string(run.record.verdict);
      json.key("supervised").boolean(run.status.supervised).key("watched").boolean(is_watched_here(run.status));
      const RunRecord& record = run.record;
      json.key("attempts").integer(static_cast<int64_t>(record.attempts.size())).key("step");
      record.step == kNoStep ? json.null() : json.integer(record.step);
      json.key("planned_steps");
      record.planned > 0 ? json.integer(record.planned) : json.null();
      json.key("framework").string(record.framework).key("model").string(record_setting(record, "model"));
      json.key("tags").begin_array();
      for (const std::string& tag : record.tags) json.string(tag);
      json.end_array().key("critical").integer(static_cast<int64_t>(record.critical)).key("began");
      run.began.known() ? json.string(format_utc(run.began)) : json.null();
      json.key("heard");
      run.status.heard.known() ? json.string(format_utc(run.status.heard)) : json.null();
      json.key("output_at");
      run.status.output.known() ? json.string(format_utc(run.status.output)) : json.null();
      json.key("asks").string(run.status.asks).key("trouble").string(run.trouble).end_object();
    }
    json.end_array().key("left_out").integer(static_cast<int64_t>(answer.left_out)).end_object();
  }
  return out + "\n";
}

std::string runs_table(const RunsAnswer& answer, const Console& console) {
  const Painter paint(console);
  size_t name = 3, state = 5, step = 4;
  for (const RunsAnswer::Run& run : answer.runs) {
    name = std::max(name, run.status.name.size());
    state = std::max(state, state_of(run).size());
    step = std::max(step, progress(run).size());
  }
  const auto row = [&](std::string_view a, std::string_view b, std::string_view c, std::string_view d,
                       std::string_view e) {
    return cat(pad(a, name), "  ", pad(b, state), "  ", pad(c, step), "  ", pad(d, 12), "  ", e);
  };
  name = std::min(name, kNameCells);
  std::string out = paint.dim(row("RUN", "STATE", "STEP", "OUTPUT", "ATTENTION")) + "\n";
  for (const RunsAnswer::Run& run : answer.runs) {
    const RunStatus& status = run.status;
    const std::string attention =
        !run.trouble.empty()   ? run.trouble
        : !status.asks.empty() ? "midwatch asks: midwatch approve"
        : run.record.critical > 0 && run.live
            ? cat(run.record.critical, run.record.critical == 1 ? " critical incident" : " critical incidents")
            : "";
    const std::string line = row(short_name(escape_terminal(status.name)), state_of(run), progress(run),
                                 ago(status.output, status.now), escape_terminal(attention));
    out += cat(attention.empty() && !should_be_watched(status) ? line : paint.yellow(line), "\n");
  }
  if (answer.left_out > 0) out += paint.dim(cat("and ", answer.left_out, " older: --all")) + "\n";
  return out;
}

Exit run(const Args& args, Services& services, const Console& console) {
  RunsRequest request;
  request.home = args.get("home");
  request.limit = args.has("all") ? SIZE_MAX : kShown;
  const auto filter = take_filter(args);
  if (!filter.ok()) return report_error(console, filter.error());
  request.filter = *filter;
  const auto answer = services.runs(request);
  if (!answer.ok()) return report_error(console, answer.error());
  if (args.has("json")) {
    console.out(runs_json(*answer));
  } else if (answer->runs.empty() && !request.filter.empty()) {
    console.out(
        cat("No recorded run is like that. midwatch runs --all lists all of them.\n",
            request.filter.status.empty()
                ? ""
                : "A STATE is starting, running, paused, waiting, ended, \"not watched\", \"left alone\", finished, "
                  "crashed,\nended-early, stalled, interrupted or unknown; failed is crashed, ended-early or "
                  "stalled.\n"));
  } else if (answer->runs.empty()) {
    console.out("No run is recorded. Watch one: midwatch attach PATH, or midwatch run -- COMMAND\n");
  } else {
    console.out(runs_table(*answer, console));
  }
  return Exit::kOk;
}

}  // namespace

namespace verbs {
extern const Verb runs;
const Verb runs = {"runs", "All recorded runs, or those that you look for: which are live, which need somebody",
                   "  midwatch runs\n"
                   "  midwatch runs --framework prime-rl --model qwen --status failed\n"
                   "  midwatch runs --tag ablation --since 2026-11-01 \"local executor\"\n"
                   "  midwatch runs show 20260219-090811-train          the record of one of them\n"
                   "  midwatch runs export -o experiments.md            all of them as an experiment log\n"
                   "  midwatch runs --json | jq -r '.runs[] | select(.live) | .name'\n",
                   declare, run};
}  // namespace verbs

}  // namespace mw
