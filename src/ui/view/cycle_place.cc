#include "ui/view/cycle_place.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "core/plan_bar.h"
#include "core/written_span.h"

namespace mw {
namespace {

/// Of the records of training that say their step.
struct Clocked {
  bool any = false, all = true;        ///< has one a clock? has each?
  Time first, last;                    ///< of those that have one
  int64_t highest = kNoStep;           ///< step of those
  std::optional<int64_t> at_or_after;  ///< the lowest step of those at or after the wanted time
};

Clocked clocked(const State& state, Time from) {
  Clocked out;
  for (const Series& series : state.series) {
    if (series.signal.empty()) continue;
    for (const Point& point : series.points()) {
      if (point.step == kNoStep) continue;
      out.all = out.all && point.at.known();
      if (!point.at.known()) continue;
      out.first = out.any ? std::min(out.first, point.at) : point.at;
      out.last = out.any ? std::max(out.last, point.at) : point.at;
      out.highest = std::max(out.highest, point.step);
      out.any = true;
      if (point.at >= from) out.at_or_after = std::min(out.at_or_after.value_or(point.step), point.step);
    }
  }
  return out;
}

/// The first step that the attempt's bar shows to be done at `from` or later; nothing where `from` lies before the bar
/// began, or no clock shows when that was.
std::optional<int64_t> step_by_bar(const State& state, const AttemptState& attempt, Time from) {
  if (attempt.bar.empty()) return std::nullopt;
  const BarBegun bar = bar_begun(state, attempt);
  const Time begun = bar.not_before.known() ? bar.not_before : bar.not_after;
  const bool first = &attempt == &state.attempts.front();
  if (!begun.known() || (from < begun && !first)) return std::nullopt;
  const int64_t counted = attempt.first_step == 0 ? 1 : 0;  // its records count from 0
  const double wanted = (from - begun).seconds();
  int64_t done = 0;
  double elapsed = 0;
  for (const AttemptState::BarMark& mark : attempt.bar) {
    if (mark.elapsed >= wanted) {
      const double span = mark.elapsed - elapsed;
      const double part = span > 0 ? std::clamp((wanted - elapsed) / span, 0.0, 1.0) : 1.0;
      const double step = static_cast<double>(done) + part * static_cast<double>(mark.done - done);
      return std::max<int64_t>(0, static_cast<int64_t>(std::ceil(step)) - counted);
    }
    done = mark.done;
    elapsed = mark.elapsed;
  }
  return std::max(attempt.bar.back().done - counted, attempt.last_step) + 1;
}

/// The same of the attempt that went on then: the last whose bar had begun. What the ones after it did again is of the
/// cycle as well: its steps are no lower than theirs.
std::optional<int64_t> step_by_bar(const State& state, Time from) {
  if (state.attempts.empty() || seconds_by_bar(state) <= 0) return std::nullopt;
  for (size_t i = state.attempts.size(); i-- > 0;) {
    auto step = step_by_bar(state, state.attempts[i], from);
    if (!step) continue;
    for (size_t k = i + 1; k < state.attempts.size(); ++k) {
      if (const int64_t begins = state.attempts[k].first_step; begins != kNoStep) step = std::min(*step, begins);
    }
    return step;
  }
  return std::nullopt;
}

}  // namespace

Result<Cycle> placed(const State& state, const Cycle& cycle) {
  if (!cycle.from.known() || cycle.from_step != kNoStep) return cycle;
  const Clocked records = clocked(state, cycle.from);
  if (records.all) return cycle;
  if (const Time since = written_since(state); since.known() && cycle.from <= since) return cycle;  // all of it
  Cycle with_step = cycle;
  if (records.any && records.first < cycle.from && records.at_or_after) {
    with_step.from_step = *records.at_or_after;
    return with_step;
  }
  if (records.any && records.first < cycle.from && records.highest >= state.steps().last) {  // all of them were before
    with_step.from_step = records.highest + 1;
    return with_step;
  }
  if (const auto step = step_by_bar(state, cycle.from)) {
    with_step.from_step = *step;
    return with_step;
  }
  return Error{Error::Code::kNotFound,
               "--since: the records of this run have no clock, and no progress bar shows when its steps were done",
               "Name a step in place of the time: --since step:120."};
}

}  // namespace mw
