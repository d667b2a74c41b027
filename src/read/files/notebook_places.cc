#include "read/files/notebook_places.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/text.h"
#include "core/is_a.h"

namespace mw {
namespace {

// Runs that the cells between two may have taken: where there are more, their numbers may be of two sessions.
constexpr int64_t kNextRuns = 10;

/// The number of a run by which it is known that the kernel which ran this cell lived to run another one; 0: none says
/// so. Output that stands behind it shows nothing: it may be an older session's.
int64_t run_behind(const std::vector<CellRun>& cells, size_t training) {
  int64_t before = cells[training].count;
  // Of a cell whose own number is not kept, the run took one between those of the cells around it.
  for (size_t i = 0; cells[training].count == 0 && i < training; ++i) {
    before = std::max(before, cells[i].count > 0 ? cells[i].count + 1 : 0);
  }
  for (size_t i = training + 1; before > 0 && i < cells.size(); ++i) {
    if (cells[i].count > before && cells[i].count <= before + kNextRuns) return cells[i].count;
  }
  return 0;
}

}  // namespace

void NotebookPlaces::put(Event&& event) {
  const uint64_t line = event.where.line;
  const bool own = notebook_.in_error(line);
  const Where where{event.where.source, in_file(line)};
  event.where = where;
  bool failed = false;
  if (auto* const trace = std::get_if<event::TraceSeen>(&event.body)) {
    if (own && !seen_.insert(line).second) return;  // said again, as the log ends with it
    trace->last_line = in_file(trace->last_line);
    trace->sample = trace->sample && !own;
    failed = own && !trace->handled;
  } else if (auto* const match = std::get_if<event::Matched>(&event.body)) {
    match->sample = match->sample && !own;
  } else if (const auto* const measured = std::get_if<event::Measured>(&event.body)) {
    if (!measured->eval) last_measured_ = std::max(last_measured_, line);
  } else if (is_a<event::Progressed>(event)) {
    last_drawn_ = std::max(last_drawn_, line);
  }
  const Time at = event.at;
  sink_.put(std::move(event));
  if (failed) put_failed(at, where, notebook_.cell_at(line));
}

void NotebookPlaces::put_failed(Time at, Where where, const CellRun* cell) {
  if (cell == nullptr) return;
  // What keeps a notebook from importing its trainer keeps it from training.
  const bool trains = cell->trains || (cell->imports && last_measured_ == 0);
  sink_.put({at, where,
             event::Matched{"notebook-cell-failed",
                            trains ? "the cell of the training failed" : "a cell that trains nothing failed"}});
}

void NotebookPlaces::put_ends(uint32_t source, uint64_t lines) {
  put_unseen(source);
  put_end_of_training(source, lines);
}

/// IPython shows some errors without a traceback, and editors show some with lines of their own in it.
void NotebookPlaces::put_unseen(uint32_t source) {
  for (const CellError& error : notebook_.errors()) {
    const auto known = seen_.lower_bound(error.first);
    if (error.exception.empty() || (known != seen_.end() && *known <= error.last)) continue;
    const CellRun* const cell = notebook_.cell_at(error.first);
    event::TraceSeen trace;
    trace.exception = clip(sanitize_utf8(error.exception), 160);
    trace.message = clip(redact_secrets(sanitize_utf8(error.message)), kTextLimit);
    if (cell != nullptr && cell->count > 0) trace.frame = cat("Cell In[", cell->count, "]");
    trace.last_line = in_file(error.last);
    const Where where{source, in_file(error.first)};
    sink_.put({{}, where, std::move(trace)});
    put_failed({}, where, cell);
  }
}

void NotebookPlaces::put_end_of_training(uint32_t source, uint64_t lines) {
  const CellRun* const training = last_measured_ > 0 ? notebook_.cell_at(last_measured_) : nullptr;
  if (training == nullptr || training->failed) return;
  const std::vector<CellRun>& cells = notebook_.cells();
  const bool drawn = training->first <= last_drawn_ && last_drawn_ <= training->last;
  std::string said;
  if (!training->trains && !drawn && training->count > 0) {
    said = cat("[", training->count, "] only shows figures");
  } else if (const int64_t later = run_behind(cells, static_cast<size_t>(training - cells.data())); later > 0) {
    said = cat("[", later, "] ran after the cell of the training");
  }
  if (!said.empty()) put({{}, {source, lines}, event::Matched{"notebook-ran-on", std::move(said)}});
}

uint64_t NotebookPlaces::in_file(uint64_t line) const {
  const std::vector<uint32_t>& lines = notebook_.file_lines();
  return line == 0 || lines.empty() ? line : lines[std::min<size_t>(line, lines.size()) - 1];
}

}  // namespace mw
