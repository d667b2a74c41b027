#include "ui/report/markdown_run.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "core/save_interval.h"
#include "core/shipments.h"
#include "ui/report/markdown_tables.h"
#include "ui/view/attempts.h"
#include "ui/view/checkpoints.h"
#include "ui/view/evaluation_table.h"
#include "ui/view/reward_parts.h"
#include "ui/view/run_now.h"
#include "ui/view/tool_times.h"

namespace mw {
namespace {

constexpr size_t kStepsShown = 5;  // columns that fit a page
constexpr size_t kEvaluationsShown = 6;
constexpr size_t kEvaluationRows = 40;
constexpr size_t kCheckpointsShown = 12;
constexpr size_t kAttemptsShown = 30;
constexpr size_t kPath = 200;  // bytes of a path
constexpr size_t kToolsShown = 60;
constexpr double kMedian = 0.5, kHigh = 0.95;
constexpr double kLongCall = 60;  // s: what people call a slow call of a tool

std::string seconds(double s) { return format_duration(Duration::seconds(s)); }

/// What became of the checkpoint of a step in the run's store.
std::string shipped_cell(const std::vector<Shipment>& all, const CheckpointRow& row) {
  for (const Shipment& one : all) {
    if (one.step != row.step || row.step == kNoStep) continue;
    if (row.removed && one.how != Shipment::How::kShipped) return "";  // it waits for nothing any more
    return cat(word_of(one.how), one.how == Shipment::How::kShipped ? cat(" ", when(one.at)) : "");
  }
  return "";
}

/// "| 84 | 85 |" with its line below, right-aligned.
std::string head_of(std::string_view first, const std::vector<int64_t>& steps, const std::vector<std::string>& more) {
  std::string out = cat("| ", first), line = "\n|---";
  for (const int64_t step : steps) {
    out += cat(" | ", step);
    line += "|---:";
  }
  for (const std::string& name : more) {
    out += cat(" | ", name);
    line += "|---";
  }
  return cat(out, " |", line, "|\n");
}

std::string left_out(size_t shown, size_t all) {
  return all > shown ? cat("\n", all - shown, " earlier ones are left out.\n") : "";
}

}  // namespace

std::string markdown_now(const State& state) {
  const std::vector<NowLine> lines = run_now(state);
  if (lines.empty()) return "";
  std::string out = cat("\n## ", now_heading(state), "\n\n");
  for (const NowLine& line : lines) out += cat("- ", line.what, ": ", markdown_text(line.text), "\n");
  return out;
}

std::string markdown_step_table(const StepTable& table) {
  std::string out = head_of("Step", table.steps, {"Change", "Trend"});
  const std::vector<std::string> clocks = step_clocks(table);
  if (std::any_of(clocks.begin(), clocks.end(), [](const std::string& clock) { return !clock.empty(); })) {
    out += cat("| Done at", table.zone);
    for (const std::string& clock : clocks) out += cat(" | ", clock);
    out += " | | |\n";
  }
  for (const StepRow& row : table.rows) {
    out += cat("| ", markdown_text(row.name));
    for (const std::string& cell : step_cells(row)) out += cat(" | ", cell);
    out += cat(" | ", row.change, " | ", row.trend, " |\n");
  }
  if (!table.constant.empty()) out += cat("\nConstant: ", markdown_text(table.constant), ".\n");
  return out;
}

std::string markdown_steps(const State& state) {
  const StepTable table = last_steps(state, kStepsShown);
  if (table.empty()) return "";
  const size_t count = table.steps.size();
  return cat("\n## ", count == 1 ? std::string("The one step") : cat("The last ", count, " steps"), "\n\n",
             markdown_step_table(table));
}

std::string markdown_checkpoints(const State& state, const Cycle& cycle) {
  const std::vector<CheckpointRow> rows = checkpoint_rows(state, cycle);
  std::string out = "\n## Checkpoints\n\n";
  if (rows.empty()) out += cycle.whole() ? "None seen.\n" : "Unchanged since last: no new checkpoint was seen.\n";
  const size_t skip = rows.size() > kCheckpointsShown ? rows.size() - kCheckpointsShown : 0;
  const auto all = shipments(state);
  const bool ships = std::any_of(state.actions.begin(), state.actions.end(), is_ship);
  if (!rows.empty()) {
    out += cat("| Step | Time | Save took | Size | Verified | ", ships ? "Store | " : "", "Path |\n",
               "|---:|---|---:|---:|---|", ships ? "---|" : "", "---|\n");
  }
  for (size_t i = skip; i < rows.size(); ++i) {
    const CheckpointRow& row = rows[i];
    out += cat("| ", row.step == kNoStep ? "" : cat(row.step), " | ", when(row.at), " | ",
               row.seconds > 0 ? seconds(row.seconds) : "", " | ",
               row.bytes > 0 ? format_bytes(static_cast<double>(row.bytes)) : "", " | ", markdown_text(row.verified),
               ships ? cat(" | ", shipped_cell(all, row)) : "", " | ",
               row.path.empty() ? "" : markdown_code(clip(row.path, kPath)), " |\n");
  }
  out += left_out(rows.size() - skip, rows.size());
  if (const std::string advice = save_advice(state); !advice.empty()) {
    out += cat("\nA checkpoint is saved ", markdown_text(advice), ".\n");
  }
  if (state.weight_syncs > 0) {
    out += cat("\nWeight syncs: ", state.weight_syncs, ", the last at ",
               markdown_text(describe(state, state.last_sync)), ".\n");
  }
  return out;
}

std::string markdown_attempts(const State& state) {
  if (state.attempts.size() < 2) return "";
  const std::vector<AttemptRow> rows = attempt_rows(state);
  std::string out =
      "\n## Attempts\n\n| # | Began | Why | Steps | Resumed at | Lasted | End | Lost |\n"
      "|---:|---|---|---|---:|---:|---|---|\n";
  const size_t skip = rows.size() > kAttemptsShown ? rows.size() - kAttemptsShown : 0;
  for (size_t i = skip; i < rows.size(); ++i) {
    const AttemptRow& row = rows[i];
    out += cat("| ", row.number, " | ", when(row.began), " | ", markdown_text(row.why), " | ", steps_done(row), " | ",
               row.resumed_at == kNoStep ? "" : cat(row.resumed_at), " | ", lasted(row), " | ", markdown_text(row.end),
               " | ", row.lost, " |\n");
  }
  return out + left_out(rows.size() - skip, rows.size());
}

std::string markdown_evaluations(const State& state, const Cycle& cycle) {
  const EvaluationTable table = evaluation_table(state, cycle, kEvaluationsShown);
  if (table.rows.empty()) return "";
  std::string out = "\n### Held-out evaluation, by step\n\n" + head_of("Result", table.steps, {"Trend"});
  for (size_t i = 0; i < table.rows.size() && i < kEvaluationRows; ++i) {
    const EvaluationRow& row = table.rows[i];
    out += cat("| ", markdown_text(row.name));
    for (const double value : row.values) out += cat(" | ", std::isnan(value) ? "" : format_value(value, "1"));
    out += cat(" | ", trend_word(row.trend), " |\n");
  }
  if (table.rows.size() > kEvaluationRows) out += cat("\n… and ", table.rows.size() - kEvaluationRows, " more.\n");
  if (table.more > 0) out += cat("\n", table.more, " earlier evaluations are left out.\n");
  return out;
}

std::string markdown_rewards(const State& state, const Cycle& cycle) {
  const RewardParts table = reward_parts(state, cycle, kStepsShown);
  if (table.parts.empty()) return "";
  std::vector<std::string> more;
  if (!cycle.whole()) more.emplace_back("In this cycle");
  more.emplace_back("In the whole run");
  std::string out = "\n### Reward parts, rollout by rollout\n\n" + head_of("Part", table.steps, more);
  for (const RewardPart& part : table.parts) {
    out += cat("| ", markdown_text(part.name));
    for (const RewardCount& batch : part.batches) out += cat(" | ", reward_count_text(part, batch));
    if (!cycle.whole()) out += cat(" | ", reward_count_text(part, part.cycle));
    out += cat(" | ", reward_count_text(part, part.all), " |\n");
  }
  return out + "\nShare that passed (how many of how many), else the mean (least to most); columns are steps.\n";
}

namespace {

std::string tool_row(const std::string& name, const ToolState& tool, const std::string& in_all) {
  const auto top = std::max_element(tool.errors.begin(), tool.errors.end(),
                                    [](const auto& a, const auto& b) { return a.second < b.second; });
  const bool timed = tool.timed > 0;
  return cat("| ", markdown_text(name), " | ", tool.calls, in_all, " | ",
             timed ? seconds(time_quantile(tool, kMedian)) : "", " | ",
             timed ? seconds(time_quantile(tool, kHigh)) : "", " | ", timed ? seconds(tool.seconds_max) : "", " | ",
             timed ? cat(calls_over(tool, kLongCall)) : "", " | ", timed ? cat(tool.slow) : "", " | ", tool.timeouts,
             " | ", tool.model_errors, " | ", tool.environment_errors, " | ",
             top == tool.errors.end() ? "" : cat(markdown_text(top->first), " (", top->second, ")"), " |\n");
}

}  // namespace

std::string markdown_tools(const State& state, const Cycle& cycle, const FormatBatches* batches) {
  if (state.tools.empty()) return "";
  const bool beside = !cycle.whole() && batches != nullptr;  // the whole run's count stands beside the cycle's
  std::string out = cat(
      "\n## Tools\n\n| Function | Calls", beside ? " | Calls in the whole run" : "",
      " | Median | 95 % under | Longest | Over ", seconds(kLongCall), " | Over ", seconds(ToolState::kSlowSeconds),
      " | Timeouts | Model's errors | Environment's errors | Most frequent error |\n|---|---:", beside ? "|---:" : "",
      "|---:|---:|---:|---:|---:|---:|---:|---:|---|\n");
  std::vector<std::pair<std::string, const ToolState*>> order;
  for (const auto& [name, tool] : state.tools) order.emplace_back(name, &tool);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second->calls > b.second->calls; });
  for (size_t i = 0; i < order.size() && i < kToolsShown; ++i) {
    const std::string& name = order[i].first;
    out += tool_row(name, *order[i].second, beside ? cat(" | ", batches->calls(name)) : "");
  }
  if (order.size() > kToolsShown) out += cat("\n… and ", order.size() - kToolsShown, " more.\n");
  return out;
}

}  // namespace mw
