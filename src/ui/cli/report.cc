// midwatch report: the cycle report, generated.
#include <algorithm>

#include "base/text.h"
#include "core/cost.h"
#include "ui/cli/take_price.h"
#include "ui/cli/take_run.h"
#include "ui/cli/take_store.h"
#include "ui/cli/verb.h"
#include "ui/report/markdown.h"
#include "ui/report/markdown_history.h"
#include "ui/view/compare.h"
#include "ui/view/cycle_counts.h"
#include "ui/view/cycle_place.h"
#include "ui/view/replay_json.h"

namespace mw {

namespace {

/// "2026-02-19", "2026-02-19T10", "2026-02-19T10:00+02:00": with what ISO 8601 lets a writer leave out.
std::string with_seconds(std::string_view text) {
  constexpr size_t kDay = 10, kHour = 13, kMinute = 16;  // bytes up to there
  if (text.size() == kDay) return cat(text, "T00:00:00");
  const size_t zone = std::min(text.find_first_of("Z+-", kDay), text.size());
  if (zone == kHour) return cat(text.substr(0, zone), ":00:00", text.substr(zone));
  if (zone == kMinute) return cat(text.substr(0, zone), ":00", text.substr(zone));
  return std::string(text);
}

}  // namespace

Result<Cycle> parse_since(const std::string& text) {
  Cycle cycle;
  if (text.empty()) return cycle;
  const std::string_view digits =
      text.rfind("step:", 0) == 0 ? std::string_view(text).substr(5) : std::string_view(text);
  if (const auto step = parse_int(digits); step && *step >= 0) {
    cycle.from_step = *step;
    return cycle;
  }
  const auto time = parse_time(with_seconds(text));
  if (!time) {
    return Error{Error::Code::kInvalid, cat("--since: '", text, "' is neither a step nor a time"),
                 "Write a step number (120), a day (2026-02-19) or a UTC time (2026-02-19T10:00)."};
  }
  cycle.from = *time;
  return cycle;
}

namespace {

void declare(ArgSpec& spec) {
  declare_run(spec);
  spec.option("from", "PLACE", "the run of a store (s3://BUCKET/RUN, or a folder), over all machines that it lived on");
  declare_place(spec);
  spec.option("output", "FILE", "write the report there instead of to standard output", "", 'o');
  declare_price(spec);
  spec.flag("json", "print one JSON object, schema midwatch.replay/1; with --since its metrics are those of the cycle");
  spec.option(
      "since", "WHEN",
      "report only what came after a step (\"step:120\" or \"120\") or a time (ISO 8601, UTC); where records have "
      "no clock, the progress bar shows which step that was");
}

Exit put_out(const std::string& report, const Args& args, Services& services, const Console& console) {
  const std::string path = args.get("output");
  if (path.empty() || path == "-") {
    console.out(report);
  } else if (const auto written = services.write_file(path, report); !written.ok()) {
    return report_error(console, written.error());
  } else {
    console.err(cat("wrote ", path, "\n"));
  }
  return Exit::kOk;
}

Exit of_store(const Args& args, Services& services, const Console& console) {
  for (const std::string_view word : {"run", "since", "json", "paths"}) {
    if (!args.has(word)) continue;
    return report_error(console,
                        {Error::Code::kInvalid, cat("--from goes with no other run, and not with --since and --json"),
                         "midwatch checkpoint logs PLACE DIR receives each machine's record."});
  }
  const auto history = services.history(take_place(args, args.get("from")));
  if (!history.ok()) return report_error(console, history.error());
  const bool whole = std::all_of(history->records.begin(), history->records.end(),
                                 [](const RunHistory::Record& one) { return one.replayed != nullptr; });
  const Exit written = put_out(markdown_history(*history), args, services, console);
  return written != Exit::kOk ? written : whole && history->notes.empty() ? Exit::kOk : Exit::kPartial;
}

/// What is counted of a cycle while the run is read.
struct Counted {
  explicit Counted(const Cycle& of) : cycle(of), counts(of) {}
  Result<std::unique_ptr<Replayed>> read(const Args& args, Services& services) {
    return take_run(args, services, [this](const State& state, const Event& event) {
      if (state.events <= heard) *this = Counted(cycle);  // all of it is read once more
      heard = state.events;
      batches.hear(state, event);
      if (!cycle.whole()) counts.hear(state, event);
    });
  }

  Cycle cycle;
  CycleCounts counts;
  FormatBatches batches;
  uint64_t heard = 0;  ///< State::events at the last one
};

Exit run(const Args& args, Services& services, const Console& console) {
  if (args.has("from")) return of_store(args, services, console);
  const auto price = take_price(args);
  if (!price.ok()) return report_error(console, price.error());
  const auto wanted = parse_since(args.get("since"));
  if (!wanted.ok()) return report_error(console, wanted.error());
  Counted counted(*wanted);
  auto replayed = counted.read(args, services);
  if (!replayed.ok()) return report_error(console, replayed.error());
  const auto cycle = placed((*replayed)->state, *wanted);
  if (!cycle.ok()) return report_error(console, cycle.error());
  if (cycle->from_step != wanted->from_step) {  // what it counts is known now
    counted = Counted(*cycle);
    replayed = counted.read(args, services);
    if (!replayed.ok()) return report_error(console, replayed.error());
  }
  if (*price > 0) set_cost_per_hour((*replayed)->state, *price);
  if (!cycle->whole()) {
    counted.counts.put_into((*replayed)->state);
    if (args.has("json")) (*replayed)->state = since(std::move((*replayed)->state), *cycle);
  }
  const std::string report = args.has("json") ? replay_json((*replayed)->state, (*replayed)->input, (*replayed)->notes)
                                              : markdown_report(**replayed, *cycle, &counted.batches);
  if (const Exit written = put_out(report, args, services, console); written != Exit::kOk) return written;
  return (*replayed)->partial ? Exit::kPartial : Exit::kOk;
}

}  // namespace

namespace verbs {
extern const Verb report;
const Verb report = {"report",
                     "Write a report in Markdown, for a whole run or for a cycle",
                     "  midwatch report runs/2026-02-19/ -o report.md\n"
                     "  midwatch report train.log --since 120             what happened after step 120\n"
                     "  midwatch report train.log --cost-per-hour 5.73    what it costs, and what a crash would cost\n"
                     "  midwatch report --since 2026-02-19T10:00          of the run that attach recorded last\n"
                     "  midwatch report --from s3://bucket/run -o run.md  of a run over all its machines\n",
                     declare,
                     run,
                     false};
}  // namespace verbs

}  // namespace mw
