#include <algorithm>
#include <cmath>

#include "core/host_figures.h"
#include "ui/report/paint.h"
#include "ui/report/terminal.h"
#include "ui/view/decisions.h"
#include "ui/view/machine.h"
#include "ui/view/overview.h"
#include "ui/view/pace.h"
#include "ui/view/plot.h"
#include "ui/view/reward_parts.h"
#include "ui/view/rollout_times.h"
#include "ui/view/tool_times.h"

namespace mw {
namespace {

constexpr size_t kTemplatesShown = 8;
constexpr size_t kMetricsShown = 40;
constexpr size_t kEvalsShown = 12;
constexpr size_t kOthersShown = 12;  // metrics that no dialect maps, where hardly any is mapped
constexpr size_t kFewMapped = 3;     // signals: with fewer the run's own names are shown too
constexpr size_t kToolsShown = 12;
constexpr size_t kGpusShown = 16;
constexpr size_t kAttemptsShown = 20;
constexpr size_t kDecisionLines = 4;  // of the terminal, for one sentence
constexpr size_t kStepRows = 24;
constexpr size_t kBatchesShown = 3;
constexpr size_t kPartName = 16;   // cells
constexpr size_t kNumber = 11;     // cells of a number
constexpr size_t kSparkMost = 32;  // cells of a sparkline

/// The columns of the metric table that have room: name, first and last always, the others from left to right.
struct Columns {
  size_t name = 0, numbers = 2, spark = 0;
  explicit Columns(size_t width) {
    name = std::clamp<size_t>(width - std::min(width, 2 + 2 * kNumber + 4), 10, width >= 78 ? 26 : 20);
    const size_t rest = width - std::min(width, 2 + name + 2 * kNumber + 4);
    numbers = rest >= 2 * kNumber ? 4 : 2;
    const size_t left = rest - (numbers - 2) * kNumber;
    spark = left >= 10 ? std::min(kSparkMost, left - 1) : 0;
  }
};

std::string metric_row(const Columns& columns, std::string_view label, const SignalLine& line, bool unicode) {
  std::string out = cat("  ", pad(label, columns.name));
  const double values[] = {line.first, line.last, line.min, line.max};
  for (size_t i = 0; i < columns.numbers; ++i)
    out += pad(fit(format_value(values[i], line.unit), kNumber - 1), kNumber, true);
  std::string_view arrow = trend_arrow(line.trend);
  if (!unicode) arrow = trend_word(line.trend).substr(0, 1);
  out += cat("  ", pad(arrow, 2), columns.spark > 0 ? sparkline(line.points, columns.spark, unicode) : "");
  return out.substr(0, out.find_last_not_of(' ') + 1) + "\n";
}

std::string metrics(const Painter& paint, const State& state, const Console& console) {
  const std::vector<SignalLine> lines = canonical_metrics(state, {});
  std::vector<SignalLine> others = other_metrics(state, {});
  std::erase_if(others, [](const auto& l) { return of_machine(l.name); });  // they have a table of their own
  const std::vector<SignalLine> evals = evaluations(state, {});
  if (lines.empty() && others.empty() && evals.empty()) {
    return "\n" + paint.hanging("", "No metric was seen in these files.", 2, &Painter::dim);
  }
  const Columns columns(paint.width());
  std::string head = cat("  ", pad("signal", columns.name));
  static constexpr std::string_view kHeads[] = {"first", "last", "min", "max"};
  for (size_t i = 0; i < columns.numbers; ++i) head += pad(kHeads[i], kNumber, true);
  std::string out = paint.heading("Signals") + paint.dim(head + (columns.spark > 0 ? "    trend" : "")) + "\n";
  std::vector<std::string> names;
  std::vector<const SignalLine*> rows;
  const auto add = [&](const std::vector<SignalLine>& some, size_t most, std::string_view what) {
    for (size_t i = 0; i < some.size() && i < most; ++i) {
      names.push_back(escape_terminal(cat(what, some[i].name)));
      rows.push_back(&some[i]);
    }
  };
  const size_t others_shown = lines.size() < kFewMapped ? std::min(others.size(), kOthersShown) : 0;
  add(lines, kMetricsShown, "");
  add(evals, kEvalsShown, "eval ");
  add(others, others_shown, "");
  names = fit_names(names, columns.name);
  for (size_t i = 0; i < rows.size(); ++i) out += metric_row(columns, names[i], *rows[i], console.unicode);
  const size_t hidden = lines.size() - std::min(lines.size(), kMetricsShown) + evals.size() -
                        std::min(evals.size(), kEvalsShown) + others.size() - others_shown;
  if (hidden > 0)
    out += paint.hanging("  ", cat("… and ", hidden, " more (report and --json have them)"), 1, &Painter::dim);
  return out;
}

std::string percent(double share) { return share < 0.001 ? "<0.1 %" : cat(format_short(share * 100, 3), " %"); }

std::string time_split_rows(const Painter& paint, const State& state, const Console& console) {
  const std::vector<TimeShare> split = time_split(state, {});
  if (split.empty()) return "";
  std::string out = paint.heading("Where a step's time goes");
  const size_t most = std::min<size_t>(40, paint.width() - 34);
  for (const TimeShare& part : split) {
    const auto bars = static_cast<size_t>(std::round(part.share * static_cast<double>(most)));
    std::string bar;
    for (size_t i = 0; i < bars; ++i) bar += console.unicode ? "█" : "#";
    std::string row =
        cat("  ", pad(part.phase, 10), pad(format_duration(Duration::seconds(part.seconds_per_step)), 10, true),
            pad(part.beside ? "beside" : percent(part.share), 9, true));
    out += row + (bars > 0 ? "  " + paint.cyan(bar) : "") + "\n";
  }
  if (const std::string bound = bound_by(split); !bound.empty()) out += cat("  The run is bound by ", bound, ".\n");
  for (const std::string& win : time_to_win(split)) out += cat("  ", win, "\n");
  for (const std::string& finding : rollout_findings(rollout_times(state, {}), seconds_per_step(state))) {
    out += paint.hanging("  ", finding, 0);
  }
  return out;
}

std::string machine(const Painter& paint, const State& state) {
  const MachineView view = machine_view(state, {});
  if (view.empty()) return "";
  std::string out = paint.heading("Machine");
  for (size_t i = 0; i < view.gpus.size() && i < kGpusShown; ++i) {
    const GpuLine& gpu = view.gpus[i];
    std::string text;
    const auto add = [&text](std::string_view what, const std::string& value) {
      if (!value.empty()) text += cat(text.empty() ? "" : ", ", what, value);
    };
    add("busy ", machine_value(gpu.busy, "%"));
    add("idle ", gpu.idle > 0 ? cat(machine_value(gpu.idle * 100, "%"), " of the time") : "");
    add("memory up to ", std::isfinite(gpu.memory_bytes) ? machine_value(gpu.memory_bytes, "bytes")
                                                         : machine_value(gpu.memory_percent, "%"));
    add("", machine_value(gpu.watts, "W"));
    add("up to ", machine_value(gpu.celsius, "°C"));
    if (gpu.uncorrected > 0) add("uncorrected memory errors ", machine_value(gpu.uncorrected, ""));
    out += paint.hanging(cat("  GPU ", pad(escape_terminal(gpu.index), 3)), text, 2);
  }
  if (view.gpus.size() > kGpusShown) out += paint.dim(cat("  … and ", view.gpus.size() - kGpusShown, " more")) + "\n";
  std::string text;
  for (const HostLine& line : view.host) {
    text += cat(text.empty() ? "" : "; ", escape_terminal(line.what), " ", machine_value(line.value, line.unit));
  }
  if (!text.empty()) out += paint.hanging("  host   ", text, 2);
  return out;
}

std::string tools(const Painter& paint, const State& state) {
  if (state.tools.empty()) return "";
  std::vector<std::pair<std::string, const ToolState*>> order;
  for (const auto& [name, tool] : state.tools) order.emplace_back(name, &tool);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second->calls > b.second->calls; });
  std::string out = paint.heading("Tools");
  for (size_t i = 0; i < order.size() && i < kToolsShown; ++i) {
    const ToolState& tool = *order[i].second;
    std::string text = cat(tool.calls, tool.calls == 1 ? " call" : " calls");
    if (tool.model_errors > 0) text += cat(", ", tool.model_errors, " failed by the model");
    if (tool.environment_errors > 0) text += cat(", ", tool.environment_errors, " by the environment");
    if (tool.timeouts > 0) text += cat(", ", tool.timeouts, " timed out");
    if (tool.slow > 0) {
      text += cat(", ", tool.slow, " slow (over ", format_duration(Duration::seconds(ToolState::kSlowSeconds)), ")");
    }
    if (tool.timed > 0) {
      text += cat(", median ", format_duration(Duration::seconds(time_quantile(tool, 0.5))), ", 95 % under ",
                  format_duration(Duration::seconds(time_quantile(tool, 0.95))), ", longest ",
                  format_duration(Duration::seconds(tool.seconds_max)));
    }
    out += paint.hanging(
        cat("  ", column(escape_terminal(order[i].first), std::min<size_t>(24, paint.width() / 3)), "  "), text, 2);
  }
  if (order.size() > kToolsShown) out += paint.dim(cat("  … and ", order.size() - kToolsShown, " more")) + "\n";
  return out;
}

/// What each rollout got, over the run and in the last batches.
std::string rewards(const Painter& paint, const State& state) {
  const RewardParts table = reward_parts(state, {}, kBatchesShown);
  std::string out = table.parts.empty() ? "" : paint.heading("Reward parts, rollout by rollout");
  for (const RewardPart& part : table.parts) {
    std::string text = reward_count_text(part, part.all);
    for (size_t i = 0; i < table.steps.size(); ++i) {
      const std::string batch = reward_count_text(part, part.batches[i]);
      if (!batch.empty()) text += cat("; step ", table.steps[i], " ", batch);
    }
    out += paint.hanging(cat("  ", column(escape_terminal(part.name), kPartName), "  "), text, 2);
  }
  return out;
}

std::string formats(const Painter& paint, const State& state) {
  if (state.formats.empty()) return "";
  std::string out = paint.heading("Format");
  for (const auto& [rule, judged] : state.formats) {
    const double all = static_cast<double>(judged.passed + judged.failed);
    out += paint.hanging(
        cat("  ", column(escape_terminal(format_label(rule)), std::min<size_t>(32, paint.width() / 3)), "  "),
        judged.passed > 0 ? cat(judged.failed, " of ", judged.passed + judged.failed, " failed (",
                                percent(static_cast<double>(judged.failed) / all), ")")
                          : cat(judged.failed, " failed"),
        2);
  }
  return out;
}

std::string warnings(const Painter& paint, const State& state) {
  std::vector<const TemplateState*> order;
  for (const TemplateState& t : state.templates) order.push_back(&t);
  std::stable_sort(order.begin(), order.end(), [](const TemplateState* a, const TemplateState* b) {
    return a->level != b->level ? a->level > b->level : a->count > b->count;
  });
  if (order.empty()) return "";
  std::string out = paint.heading("Warnings and errors in the logs");
  for (size_t i = 0; i < order.size() && i < kTemplatesShown; ++i) {
    const bool error = order[i]->level != event::Logged::Level::kWarning;
    out += paint.hanging(cat("  ", pad(cat(order[i]->count, "×"), 7, true), error ? " error  " : " warn   "),
                         trim(order[i]->text), 1, nullptr, error ? &Painter::red : &Painter::yellow);
  }
  if (order.size() > kTemplatesShown) {
    out += paint.dim(cat("  … and ", order.size() - kTemplatesShown, " more kinds")) + "\n";
  }
  return out;
}

}  // namespace

std::string terminal_decisions(const State& state, const Console& console) {
  const Painter paint(console);
  std::string out;
  for (const std::string& line : decision_lines(state, kAttemptsShown)) {
    out += paint.hanging(line.starts_with(' ') ? "    " : "  ", trim(line), kDecisionLines);
  }
  return out.empty() ? out : paint.heading("Supervision") + out;
}

std::string terminal_tables(const State& state, const Console& console) {
  const Painter paint(console);
  return terminal_decisions(state, console) + terminal_now(state, console) + terminal_steps(state, console, kStepRows) +
         terminal_evaluations(state, console, kEvalsShown) + metrics(paint, state, console) +
         time_split_rows(paint, state, console) + machine(paint, state) + rewards(paint, state) + tools(paint, state) +
         formats(paint, state) + terminal_checkpoints(state, console) + terminal_attempts(state, console) +
         warnings(paint, state);
}

}  // namespace mw
