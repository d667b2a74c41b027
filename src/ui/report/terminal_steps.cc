// The terminal's tables that follow the run through its steps, attempts and checkpoints.
#include <algorithm>
#include <cmath>

#include "ui/report/paint.h"
#include "ui/report/terminal.h"
#include "ui/view/attempts.h"
#include "ui/view/checkpoints.h"
#include "ui/view/evaluation_table.h"
#include "ui/view/run_now.h"
#include "ui/view/step_table.h"

namespace mw {
namespace {

constexpr size_t kName = 22;        // cells of a signal's name
constexpr size_t kEvaluation = 26;  // cells of a result's name
constexpr size_t kCell = 9;         // cells of a number, a space before it included
constexpr size_t kWideCell = 12;    // of a clock with its day
constexpr size_t kTrend = 13;       // "  up and down"
constexpr size_t kStepsMost = 8;    // columns
constexpr size_t kConstantLines = 2;
constexpr size_t kNowLines = 2;
constexpr size_t kRowLines = 3;
constexpr size_t kAttemptsShown = 12;
constexpr size_t kCheckpointsShown = 4;

size_t room_for_steps(size_t width, size_t cell) {
  const size_t fixed = 2 + kName + kCell + kTrend;
  return std::clamp<size_t>((width - std::min(width, fixed)) / cell, 1, kStepsMost);
}

/// How many bytes the names of the first rows have in common, up to a '/': a table says them once.
size_t common_folder(const EvaluationTable& table, size_t rows) {
  if (rows < 2) return 0;
  std::string_view common = table.rows.front().name;
  for (size_t i = 1; i < rows; ++i) {
    const std::string_view other = table.rows[i].name;
    const auto differs = std::mismatch(common.begin(), common.end(), other.begin(), other.end()).first;
    common = common.substr(0, static_cast<size_t>(differs - common.begin()));
  }
  return common.rfind('/') == std::string_view::npos ? 0 : common.rfind('/') + 1;
}

/// A line of a table: its head, cells of one width, and what stands behind them.
std::string table_line(const std::string& head, const std::vector<std::string>& cells, size_t cell,
                       std::string_view tail) {
  std::string line = cat("  ", head);
  for (const std::string& text : cells) line += pad(fit(text, cell - 1), cell, true);
  line += tail;
  return cat(line.substr(0, line.find_last_not_of(' ') + 1), "\n");
}

bool of_several_days(const std::vector<std::string>& clocks) {
  return std::any_of(clocks.begin(), clocks.end(), [](const std::string& clock) { return clock.size() >= kCell; });
}

}  // namespace

std::string terminal_now(const State& state, const Console& console) {
  const Painter paint(console);
  std::string out;
  for (const NowLine& line : run_now(state))
    out += paint.hanging(cat("  ", line.what, ": "), line.text, kNowLines, nullptr, &Painter::dim);
  return out.empty() ? out : paint.heading(now_heading(state)) + out;
}

std::string terminal_steps(const State& state, const Console& console, size_t rows) {
  const Painter paint(console);
  size_t cell = kCell;
  StepTable table = last_steps(state, room_for_steps(paint.width(), cell));
  if (table.empty()) return "";
  if (of_several_days(step_clocks(table))) {
    cell = kWideCell;
    table = last_steps(state, room_for_steps(paint.width(), cell));
  }
  const bool narrow = paint.width() < 2 + kName + kCell + kTrend + cell;
  const size_t name = narrow ? paint.width() - std::min(paint.width(), 2 + cell) : kName;
  const auto line_of = [&](std::string_view head, const std::vector<std::string>& cells, std::string_view change,
                           std::string_view trend) {
    const std::string tail = narrow ? "" : cat(pad(fit(change, kCell - 1), kCell, true), "  ", trend);
    return table_line(column(head, name), cells, cell, tail);
  };
  std::vector<std::string> cells;
  for (const int64_t step : table.steps) cells.push_back(cat(step));
  std::string out = paint.heading("The last steps") + paint.dim(line_of("step", cells, "change", "trend"));
  cells = step_clocks(table);
  if (std::any_of(cells.begin(), cells.end(), [](const std::string& clock) { return !clock.empty(); }))
    out += line_of(cat("done at", table.zone), cells, "", "");
  std::vector<std::string> names;
  for (const StepRow& row : table.rows) names.push_back(escape_terminal(row.name));
  names = fit_names(names, name);
  for (size_t i = 0; i < table.rows.size() && i < rows; ++i) {
    const StepRow& row = table.rows[i];
    out += line_of(names[i], step_cells(row, cell - 1), row.change, row.trend);
  }
  if (table.rows.size() > rows) out += paint.dim(cat("  … and ", table.rows.size() - rows, " more")) + "\n";
  if (!table.constant.empty())
    out += paint.hanging("  constant: ", table.constant, kConstantLines, &Painter::dim, &Painter::dim);
  return out;
}

std::string terminal_evaluations(const State& state, const Console& console, size_t rows) {
  const Painter paint(console);
  const size_t name = std::min(kEvaluation, paint.width() - std::min(paint.width(), 2 + 2 * kCell));
  const size_t room = paint.width() - std::min(paint.width(), 2 + name);
  const bool trends = room >= kCell + kTrend;
  const size_t steps = std::clamp<size_t>((room - (trends ? kTrend : 0)) / kCell, 1, kStepsMost);
  const EvaluationTable table = evaluation_table(state, {}, steps);
  const size_t shown = std::min(rows, table.scores > 0 ? table.scores : table.rows.size());
  if (shown == 0) return "";
  const size_t alike = common_folder(table, shown);
  const std::string folder = escape_terminal(std::string_view(table.rows.front().name).substr(0, alike));
  std::string out = paint.heading(fit(cat("Held-out evaluation", alike > 0 ? cat(": ", folder) : ""), paint.width()));
  const auto line_of = [&](std::string_view head, const std::vector<std::string>& cells, std::string_view trend) {
    return table_line(column(head, name), cells, kCell, trends ? cat("  ", trend) : "");
  };
  std::vector<std::string> cells;
  for (const int64_t step : table.steps) cells.push_back(cat(step));
  out += paint.dim(line_of("step", cells, "trend"));
  std::vector<std::string> names;
  for (size_t i = 0; i < shown; ++i)
    names.push_back(escape_terminal(std::string_view(table.rows[i].name).substr(alike)));
  names = fit_names(names, name);
  for (size_t i = 0; i < shown; ++i) {
    const EvaluationRow& row = table.rows[i];
    cells.clear();
    for (const double value : row.values) cells.push_back(std::isnan(value) ? "" : format_value(value, "1"));
    out += line_of(names[i], cells, trend_word(row.trend));
  }
  const size_t hidden = table.rows.size() - shown;
  if (hidden > 0)
    out += paint.dim(fit(cat("  … and ", hidden, " more (report and --json have them)"), paint.width())) + "\n";
  return out;
}

std::string terminal_attempts(const State& state, const Console& console) {
  if (state.attempts.size() < 2) return "";
  const Painter paint(console);
  const std::vector<AttemptRow> rows = attempt_rows(state);
  std::string out = paint.heading("Attempts");
  const size_t skip = rows.size() > kAttemptsShown ? rows.size() - kAttemptsShown : 0;
  if (skip > 0) out += paint.dim(cat("  ", skip, " earlier ones are left out")) + "\n";
  for (size_t i = skip; i < rows.size(); ++i) {
    const AttemptRow& row = rows[i];
    std::string text = row.reached == kNoStep ? "no step" : cat("steps ", steps_done(row));
    if (row.resumed_at != kNoStep) text += cat(", resumed at step ", row.resumed_at);
    if (row.began.known()) text += cat(", began ", when(row.began));
    if (!row.why.empty()) text += cat(" (", row.why, ")");
    if (const std::string time = lasted(row); !time.empty()) text += cat(", lasted ", time);
    text += cat("; ", row.end);
    if (!row.lost.empty()) text += cat("; lost ", row.lost);
    out += paint.hanging(cat("  ", pad(cat(row.number), 3, true), "  "), text, kRowLines);
  }
  return out;
}

std::string terminal_checkpoints(const State& state, const Console& console) {
  const Painter paint(console);
  const std::vector<CheckpointRow> rows = checkpoint_rows(state, {});
  std::string out;
  const size_t skip = rows.size() > kCheckpointsShown ? rows.size() - kCheckpointsShown : 0;
  if (skip > 0) out += paint.dim(cat("  ", skip, " earlier ones are left out")) + "\n";
  for (size_t i = skip; i < rows.size(); ++i) {
    const CheckpointRow& row = rows[i];
    std::string text = row.verified;
    if (row.at.known()) text += cat(", ", when(row.at));
    if (row.seconds > 0) text += cat(", took ", format_duration(Duration::seconds(row.seconds)));
    if (row.bytes > 0) text += cat(", ", format_bytes(static_cast<double>(row.bytes)));
    if (!row.path.empty()) text += cat(", ", row.path);
    out += paint.hanging(row.step == kNoStep ? std::string("  step ?  ") : cat("  step ", row.step, "  "), text,
                         kRowLines);
  }
  if (state.weight_syncs > 0)
    out +=
        paint.hanging("  ", cat(state.weight_syncs, " weight syncs, the last ", describe(state, state.last_sync)), 2);
  return out.empty() ? out : paint.heading("Checkpoints") + out;
}

}  // namespace mw
