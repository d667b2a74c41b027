#include "ui/report/markdown_tables.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "core/collected.h"
#include "core/host_figures.h"
#include "ui/report/markdown_run.h"
#include "ui/view/decisions.h"
#include "ui/view/machine.h"
#include "ui/view/pace.h"
#include "ui/view/rollout_times.h"

namespace mw {
namespace {

constexpr size_t kQuoted = 200;  // bytes of a quoted text
constexpr size_t kMetricsShown = 200;
constexpr size_t kOthersShown = 60;
constexpr size_t kConstantsShown = 30;
constexpr size_t kTemplatesShown = 15;
constexpr size_t kBatchesShown = 5;  // columns
constexpr size_t kSourcesShown = 30;
constexpr size_t kChangesShown = 60;
constexpr size_t kActionsShown = 60;

std::string percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? "" : cat(format_short(100.0 * static_cast<double>(part) / static_cast<double>(whole), 3), " %");
}
std::string seconds(double s) { return format_duration(Duration::seconds(s)); }

bool unchanged(const SignalLine& line) { return line.min == line.max && line.before == line.last; }

std::string metric_table(const std::vector<SignalLine>& lines, size_t limit, bool whole) {
  std::string out =
      whole ? "| Signal | Name in the run | First | Last | Min | Max | Trend |\n|---|---|---:|---:|---:|---:|---|\n"
            : "| Signal | Name in the run | Before | First | Last | Min | Max | Trend |\n"
              "|---|---|---:|---:|---:|---:|---:|---|\n";
  for (size_t i = 0; i < lines.size() && i < limit; ++i) {
    const SignalLine& line = lines[i];
    const auto value = [&line](double v) { return format_value(v, line.unit); };
    const bool same = !whole && unchanged(line);
    out += cat("| ", markdown_text(line.name),
               line.unit.empty() || line.unit == "1" || line.unit == "bytes" ? "" : cat(" (", line.unit, ")"), " | ",
               line.raw == line.name || line.raw.empty() ? "" : markdown_code(clip(line.raw, kQuoted)), " | ");
    if (!whole) out += std::isnan(line.before) ? " | " : cat(value(line.before), " | ");
    out += cat(value(line.first), " | ", value(line.last), " | ", value(line.min), " | ", value(line.max), " | ",
               same ? "unchanged since last" : trend_word(line.trend), " |\n");
  }
  if (lines.size() > limit) out += cat("\n… and ", lines.size() - limit, " more.\n");
  return out;
}

bool of_reward_parts(const SignalLine& line) {
  return line.name.rfind("reward.component.", 0) == 0 || line.name == "reward.pass_rate" ||
         line.name == "format.pass_rate";
}

std::vector<SignalLine> unmapped(const State& state, const Cycle& cycle) {
  std::vector<SignalLine> others = other_metrics(state, cycle);
  std::erase_if(others, [](const auto& l) { return of_machine(l.name); });  // they have a table of their own
  return others;
}

std::string metrics(const State& state, const Cycle& cycle) {
  std::vector<SignalLine> lines = canonical_metrics(state, cycle), parts;
  const auto cut = std::stable_partition(lines.begin(), lines.end(), [](const auto& l) { return !of_reward_parts(l); });
  parts.assign(std::make_move_iterator(cut), std::make_move_iterator(lines.end()));
  lines.erase(cut, lines.end());
  std::string out = "\n## Metrics\n\n";
  if (lines.empty() && parts.empty() && unmapped(state, cycle).empty()) {
    out +=
        cycle.whole() ? "No metric was seen in these files.\n" : "Unchanged since last: no new metric in this cycle.\n";
  }
  if (!lines.empty()) out += metric_table(lines, kMetricsShown, cycle.whole());
  if (!parts.empty()) {
    out += "\n### Reward components and pass rates\n\n" + metric_table(parts, kMetricsShown, cycle.whole());
  }
  return out + markdown_rewards(state, cycle) + markdown_evaluations(state, cycle);
}

/// What no dialect maps and so nothing judges. Of what never changed, one line.
std::string further_metrics(const State& state, const Cycle& cycle) {
  std::vector<SignalLine> others = unmapped(state, cycle);
  const size_t all = others.size();
  if (!cycle.whole()) std::erase_if(others, [](const auto& l) { return unchanged(l); });
  const size_t old = all - others.size();
  std::string constant;
  size_t constants = 0;
  for (const SignalLine& line : others) {
    if (line.min != line.max || line.points.size() < 2) continue;
    if (++constants <= kConstantsShown)
      constant += cat(constant.empty() ? "" : ", ", markdown_text(line.name), " ", format_value(line.last, line.unit));
  }
  std::erase_if(others, [](const auto& l) { return l.min == l.max && l.points.size() > 1; });
  std::string out;
  if (!others.empty()) out += metric_table(others, kOthersShown, cycle.whole());
  if (!constant.empty()) {
    out += cat(out.empty() ? "" : "\n", "Constant: ", constant,
               constants > kConstantsShown ? cat(", and ", constants - kConstantsShown, " more") : "", ".\n");
  }
  if (old > 0) out += cat(out.empty() ? "" : "\n", "Unchanged since last: ", old, " further metrics.\n");
  constexpr std::string_view kHead =
      "\n## Further metrics of the run\n\nNothing judges them: no dialect maps their names, or another name of the "
      "same figure counts.\n\n";
  return out.empty() ? out : cat(kHead, out);
}

/// The last batches of each rule side by side.
std::string formats_by_step(const State& state, const FormatBatches& batches) {
  const std::vector<int64_t> steps = batches.last_steps(kBatchesShown);
  if (steps.size() < 2) return "";
  std::string out = "\n### Format compliance, by step\n\n| Rule", line = "|---";
  for (const int64_t step : steps) {
    out += cat(" | ", step);
    line += "|---:";
  }
  out += cat(" |\n", line, "|\n");
  for (const auto& [rule, judged] : state.formats) {
    out += cat("| ", markdown_text(format_label(rule)));
    for (const int64_t step : steps) out += cat(" | ", batch_text(batches.of(rule), step, judged.passed > 0));
    out += " |\n";
  }
  return out;
}

std::string formats(const State& state, const Cycle& cycle, const FormatBatches* batches) {
  if (state.formats.empty()) return "";
  const bool beside = !cycle.whole() && batches != nullptr;  // the whole run's count stands beside the cycle's
  std::string out = cat("\n## Format compliance\n\n| Rule | Passed | Failed | Pass rate |",
                        beside ? " In the whole run |" : "", "\n|---|---:|---:|---:|", beside ? "---:|" : "", "\n");
  for (const auto& [rule, judged] : state.formats) {
    const bool counted = judged.passed > 0;  // many trainers log failures only
    out += cat("| ", markdown_text(format_label(rule)), " | ", counted ? cat(judged.passed) : "not said", " | ",
               judged.failed, " | ", counted ? percent(judged.passed, judged.passed + judged.failed) : "",
               beside ? cat(" | ", batch_text({batches->total(rule)}, kNoStep, counted)) : "", " |\n");
  }
  return batches == nullptr ? out : out + formats_by_step(state, *batches);
}

/// "### Single rollouts": how long they take, and which of them a step waits for.
std::string single_rollouts(const State& state, const Cycle& cycle) {
  const RolloutTimes times = rollout_times(state, cycle);
  std::string rows, findings;
  const auto cell = [](double value) { return std::isnan(value) ? std::string() : seconds(value); };
  const auto row = [&](std::string_view what, const RolloutTimes::Row& r) {
    if (!r.known() || (r.mean == 0 && !(r.slowest_of_all > 0))) return;
    rows += cat("| ", what, " | ", cell(r.mean), " | ", cell(r.p90), " | ", cell(r.slowest), " | ",
                cell(r.slowest_of_all), " |\n");
  };
  row("from prompt to reward", times.whole);
  row("in the engine", times.generation);
  row("in tools or the environment", times.tools);
  row("in the judge or reward function", times.score);
  for (const std::string& finding : rollout_findings(times, seconds_per_step(state))) {
    findings += cat("\n", finding, "\n");
  }
  if (rows.empty() && findings.empty()) return "";
  constexpr std::string_view kHead =
      "\n| Time of a rollout | Mean | 90 % within | Slowest of a step, mean | Slowest of all |\n"
      "|---|---:|---:|---:|---:|\n";
  return cat("\n### Single rollouts\n", rows.empty() ? "" : kHead, rows, findings);
}

std::string timing(const State& state, const Cycle& cycle) {
  std::string out;
  if (const std::vector<TimeShare> split = time_split(state, cycle); !split.empty()) {
    out += "\n## Where a step's time goes\n\n| Phase | Per step | Share |\n|---|---:|---:|\n";
    for (const TimeShare& part : split) {
      const std::string share = part.beside          ? "beside the rest"
                                : part.share < 0.001 ? "< 0.1 %"
                                                     : cat(format_short(part.share * 100, 3), " %");
      out += cat("| ", part.phase, " | ", seconds(part.seconds_per_step), " | ", share, " |\n");
    }
    if (const std::string bound = bound_by(split); !bound.empty()) out += cat("\nThe run is bound by ", bound, ".\n");
    for (const std::string& win : time_to_win(split)) out += cat("\n", win, "\n");
  }
  out += single_rollouts(state, cycle);
  if (!state.phases.empty()) {
    out +=
        "\n### Phases as the log states them\n\n| Phase | Times | Mean | Longest | Last | In all "
        "|\n|---|---:|---:|---:|---:|---:|\n";
    for (const auto& [name, phase] : state.phases) {
      if (phase.times == 0) continue;
      out += cat("| ", markdown_text(name), " | ", phase.times, " | ",
                 seconds(phase.seconds_sum / static_cast<double>(phase.times)), " | ", seconds(phase.seconds_max),
                 " | ", seconds(phase.seconds_last), " | ", seconds(phase.seconds_sum), " |\n");
    }
  }
  return out;
}

std::string machine(const State& state, const Cycle& cycle) {
  const MachineView view = machine_view(state, cycle);
  if (view.empty()) return "";
  std::string out = "\n## Machine\n";
  if (!view.gpus.empty()) {
    out +=
        "\n| GPU | Busy, mean | Idle, share of time | Memory, peak | Power, mean | Hottest | Uncorrected memory errors "
        "|\n"
        "|---:|---:|---:|---:|---:|---:|---:|\n";
  }
  for (const GpuLine& gpu : view.gpus) {
    out += cat("| ", gpu.index, " | ", machine_value(gpu.busy, "%"), " | ", machine_value(gpu.idle * 100, "%"), " | ",
               std::isfinite(gpu.memory_bytes) ? machine_value(gpu.memory_bytes, "bytes")
                                               : machine_value(gpu.memory_percent, "%"),
               " | ", machine_value(gpu.watts, "W"), " | ", machine_value(gpu.celsius, "°C"), " | ",
               machine_value(gpu.uncorrected, ""), " |\n");
  }
  if (!view.host.empty()) out += "\n| Host | |\n|---|---:|\n";
  for (const HostLine& line : view.host) {
    out += cat("| ", markdown_text(line.what), " | ", machine_value(line.value, line.unit), " |\n");
  }
  return out;
}

std::string warnings(const State& state, const Cycle& cycle) {
  std::vector<const TemplateState*> order;
  for (const TemplateState& t : state.templates) {
    if (in_cycle(state, cycle, t.last)) order.push_back(&t);
  }
  if (order.empty()) return "";
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return a->level != b->level ? a->level > b->level : a->count > b->count;
  });
  std::string out = cat("\n## Warnings and errors\n\n| ", cycle.whole() ? "Count" : "Count in this cycle, at least",
                        " | Level | Text | First | Last |\n|---:|---|---|---|---|\n");
  for (size_t i = 0; i < order.size() && i < kTemplatesShown; ++i) {
    const TemplateState& t = *order[i];
    const std::string last = t.count > 1 ? markdown_text(describe(state, t.last)) : "";
    out += cat("| ", t.count, " | ", t.level == event::Logged::Level::kWarning ? "warning" : "error", " | ",
               markdown_code(clip(trim(t.text), kQuoted)), " | ", markdown_text(describe(state, t.first)), " | ", last,
               " |\n");
  }
  if (order.size() > kTemplatesShown) out += cat("\n… and ", order.size() - kTemplatesShown, " more kinds.\n");
  return out;
}

std::string sources(const State& state) {
  if (state.sources.empty()) return "";
  std::string out = "\n## Files\n\n| File | Kind | Size | Lines | Steps | Remarks |\n|---|---|---:|---:|---|---|\n";
  for (size_t i = 0; i < state.sources.size() && i < kSourcesShown; ++i) {
    const SourceState& s = state.sources[i];
    if (s.kind == kHostKind) continue;  // no file: the machine
    std::string remarks = s.torn ? "ends within a record" : "";
    for (const std::string& problem : s.problems) remarks += (remarks.empty() ? "" : "; ") + problem;
    out += cat("| ", markdown_code(clip(s.path, kQuoted)), " | ", markdown_text(s.kind), " | ",
               format_bytes(static_cast<double>(s.bytes)), " | ", s.lines, " | ",
               s.first_step == kNoStep ? "" : cat(s.first_step, " to ", s.last_step), " | ", markdown_text(remarks),
               " |\n");
  }
  if (state.sources.size() > kSourcesShown) out += cat("\n… and ", state.sources.size() - kSourcesShown, " more.\n");
  return out;
}

std::string changes(const State& state) {
  if (state.changes.empty()) return "";
  std::string out =
      "\n## What changed between attempts\n\n| Attempt | What | Name | Before | After |\n|---:|---|---|---|---|\n";
  size_t shown = 0;
  for (const event::Changed& change : state.changes) {
    if (++shown > kChangesShown) break;
    if (change.what == "nothing") {
      out += cat("| ", change.attempt, " | nothing | | | |\n");
      continue;
    }
    const auto side = [](std::string text) {
      std::replace(text.begin(), text.end(), '\n', ';');
      return text.empty() ? text : markdown_code(clip(trim(text), kQuoted));
    };
    out += cat("| ", change.attempt, " | ", markdown_text(change.what), " | ", markdown_text(change.name), " | ",
               side(change.before), " | ", side(change.after), " |\n");
  }
  if (state.changes.size() > kChangesShown) out += cat("\n… and ", state.changes.size() - kChangesShown, " more.\n");
  return out;
}

std::string actions(const State& state, const Cycle& cycle) {
  std::string rows;
  size_t shown = 0, earlier = 0;
  for (auto action = state.actions.rbegin(); action != state.actions.rend(); ++action) {
    if (!cycle.whole() && cycle.from.known() && action->at < cycle.from) break;
    if (action->intent.action == kCollectEvidence) continue;  // it stands with the incident
    if (++shown > kActionsShown) {
      ++earlier;
      continue;
    }
    const event::Intended& intent = action->intent;
    rows.insert(0,
                cat("| ", markdown_text(format_utc(action->at)), " | ", markdown_text(intent.action), " | ",
                    markdown_code(clip(intent.target, kQuoted)), " | ", markdown_text(intent.why), " | ",
                    !action->done ? "not finished" : cat(action->ok ? "" : "failed: ", markdown_text(action->outcome)),
                    " |\n"));
  }
  if (rows.empty()) return "";
  const std::string before = earlier > 0 ? cat("\n", earlier, " before these.\n") : "";
  return cat("\n## What midwatch did\n\n| When | What | On | Why | Outcome |\n|---|---|---|---|---|\n", rows, before);
}

std::string supervision(const State& state) {
  std::string out;
  for (const std::string& line : decision_lines(state, kActionsShown)) {
    out += cat(line.starts_with(' ') ? "  - " : "- ", markdown_text(trim(line)), "\n");
  }
  return out.empty() ? out : cat("\n## Supervision\n\n", out);
}

}  // namespace

std::string markdown_text(std::string_view text) { return escape_markdown(clip(trim(text), kQuoted)); }

bool in_cycle(const State& state, const Cycle& cycle, const Moment& moment) {
  Time at = moment.at;
  const bool placed = moment.where.line != 0 && moment.where.source < state.sources.size();
  if (!at.known() && cycle.from.known() && placed) {
    const LineClock& clock = state.sources[moment.where.source].clock;
    at = clock.before(moment.where.line);
    if (!at.known()) at = clock.after(moment.where.line);
  }
  return cycle.has(Point{moment.step == kNoStep ? INT64_MAX : moment.step, 0, at, {}, 0});
}

std::string markdown_tables(const State& state, const Cycle& cycle, const FormatBatches* batches) {
  return metrics(state, cycle) + formats(state, cycle, batches) + markdown_tools(state, cycle, batches) +
         timing(state, cycle) + machine(state, cycle) + markdown_checkpoints(state, cycle) + markdown_attempts(state) +
         supervision(state) + changes(state) + actions(state, cycle) + warnings(state, cycle) +
         further_metrics(state, cycle) + sources(state);
}

}  // namespace mw
