#include "core/written_span.h"

#include <algorithm>

namespace mw {
namespace {

/// Of its first line with a clock; of a record that is no line, as the exit of a W&B run, by the event.
Time first_of(const SourceState& source) {
  const Time line = source.clock.after(0);
  return line.known() && source.first_at.known() ? std::min(line, source.first_at) : std::max(line, source.first_at);
}

bool is_dated(const SourceState& source) { return source.kind != kHostKind && first_of(source).known(); }

/// How much a file's clock leaves open: nothing, the zone, the date.
int open_of(const SourceState& source) { return source.clock_lacks.date ? 2 : source.clock_lacks.zone ? 1 : 0; }

Time end_of(const SourceState& source) {
  return std::max({source.last_at, source.clock.before(UINT64_MAX), source.end_at});
}

/// Who watches came when the run was over: all that its files say is older, and nothing came since.
bool was_over(const State& state) {
  if (state.ticks.empty() || !state.supervision.attempts.empty()) return false;
  if (state.verdict == "running" || state.verdict == "stalled") return false;
  return std::none_of(state.ticks.begin(), state.ticks.end(), [](const Tick& tick) { return tick.speaks; }) &&
         std::all_of(state.sources.begin(), state.sources.end(), [&state](const SourceState& source) {
           return source.kind == kHostKind || end_of(source) < state.ticks.front().at;
         });
}

}  // namespace

std::vector<const SourceState*> best_dated(const State& state) {
  int least = 2, most = 0;
  for (const SourceState& source : state.sources) {
    if (!is_dated(source)) continue;
    least = std::min(least, open_of(source));
    most = std::max(most, open_of(source));
  }
  std::vector<const SourceState*> best;
  for (const SourceState& source : state.sources) {
    if (least < most && is_dated(source) && open_of(source) == least) best.push_back(&source);
  }
  return best;
}

double seconds_by_bar(const AttemptState& attempt) {
  if (attempt.bar.empty()) return 0;
  const AttemptState::BarMark& mark = attempt.bar.back();
  // A bar that stands far behind is of an earlier part of the training.
  const int64_t last = attempt.last_step;
  const bool behind = last != kNoStep && static_cast<double>(mark.done) < 0.9 * static_cast<double>(last);
  return behind ? 0 : std::max(0.0, mark.elapsed);
}

double seconds_by_bar(const State& state) { return state.attempts.empty() ? 0 : seconds_by_bar(state.attempts.back()); }

double seconds_by_bars(const State& state) {
  double seconds = 0;
  for (const AttemptState& attempt : state.attempts) seconds += seconds_by_bar(attempt);
  return seconds;
}

Time written_since(const State& state) {
  const auto best = best_dated(state);
  if (best.empty()) return state.first_at;
  Time first = first_of(*best.front());
  for (const SourceState* source : best) first = std::min(first, first_of(*source));
  return first;
}

Time written_until(const State& state) {
  const auto best = best_dated(state);
  const bool over = was_over(state);
  Time last = best.empty() && !over ? state.last_at : Time{};
  for (const SourceState* source : best) last = std::max(last, end_of(*source));
  for (const SourceState& source : state.sources) {
    if (best.empty() && source.kind != kHostKind) last = std::max(last, over ? end_of(source) : source.end_at);
  }
  return last.known() ? last : state.last_at;
}

Time bar_until(const State& state) {
  const Time since = written_since(state);
  const double seconds = seconds_by_bar(state);
  return since.known() && seconds > 0 ? since + Duration::seconds(seconds) : Time{};
}

Time ran_until(const State& state) {
  const Time by_bar = state.ticks.empty() ? bar_until(state) : Time{};  // who watched it has a clock
  return by_bar.known() ? std::max(state.last_at, by_bar) : state.last_at;
}

}  // namespace mw
