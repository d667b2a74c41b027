#include "core/detect/support/side_cell.h"

#include <algorithm>

#include "core/plan_bar.h"

namespace mw::detect {
namespace {

constexpr std::string_view kSideCell = "a cell that trains nothing failed";  // as the notebook's reader says it
constexpr int64_t kBehindError = 40;  // lines of the file, of what a hook or a logger says when the cell has failed

const TraceState* raised_in(const Symptom& symptom) {
  return symptom.trace != nullptr ? symptom.trace : symptom.within;
}

/// What the reader of the notebook says of the cell that raised this; "": nothing, it is no cell's own error.
std::string_view said_of_cell(const State& state, const TraceState& raised) {
  const SignatureState* const seen = state.signature("notebook-cell-failed");
  if (seen == nullptr) return "";
  for (const SignatureState::Match& match : seen->matches) {
    const Where& at = match.moment.where;
    if (at.source == raised.moment.where.source && at.line >= raised.moment.where.line &&
        at.line <= raised.trace.last_line)
      return match.text;
  }
  return "";
}

bool plan_done(const State& state, uint16_t attempt) {
  if (attempt >= state.attempts.size()) return false;
  const int64_t own = state.attempts[attempt].total_steps, total = own > 0 ? own : state.total_steps;
  const bool newest = attempt + 1U == state.attempts.size();
  return total > 1 && std::max(last_done(state, attempt), newest ? done_by_bar(state) : kNoStep) + 1 >= total;
}

}  // namespace

bool ended_cell(const State& state, const Symptom& symptom) {
  const TraceState* const raised = raised_in(symptom);
  return raised != nullptr && !said_of_cell(state, *raised).empty();
}

bool is_beside(const State& state, const FailureChain& chain) {
  const TraceState* const raised = raised_in(chain.lead);
  if (raised == nullptr || said_of_cell(state, *raised) != kSideCell) return false;
  uint64_t last = raised->trace.last_line;
  for (const Symptom& other : chain.others) last = std::max(last, other.last_line);
  const SourceState& source = state.sources[raised->moment.where.source];
  return source.lines > static_cast<int64_t>(last) + kBehindError || plan_done(state, chain.attempt);
}

Severity side_severity(const State& state, const FailureChain& chain, Severity severity) {
  if (!is_beside(state, chain)) return severity;
  return std::min(severity, chain.replaced ? Severity::kInfo : Severity::kWarning);
}

}  // namespace mw::detect
