#include "core/attempt_share.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/attempts.h"

namespace mw {
namespace {

/// The sources of the attempt `from` that have a clock and spoke on after `since`.
std::vector<bool> went_on(State& state, uint16_t from, uint32_t speaker, Time since) {
  std::vector<bool> all(state.sources.size(), false);
  for (size_t i = 0; i < state.sources.size(); ++i) {
    SourceState& source = state.sources[i];
    if (i == speaker || source.attempt != from || !source.last_at.known() || source.last_at < since) continue;
    source.attempt = from + 1;
    all[i] = true;
  }
  return all;
}

void take_steps(AttemptState& attempt, int64_t first, int64_t last) {
  if (first == kNoStep) return;
  attempt.first_step = attempt.first_step == kNoStep ? first : std::min(attempt.first_step, first);
  attempt.last_step = std::max(attempt.last_step, last);
  attempt.shown = true;
}

int64_t last_checkpoint_in(const State& state, uint16_t number) {
  int64_t last = kNoStep;
  for (const auto& [moment, saved] : state.checkpoints) {
    if (moment.attempt == number && saved.complete) last = std::max(last, saved.step);
  }
  return last;
}

/// The last step and sign of life of an attempt of which a part went to the next one.
void measure_again(State& state, uint16_t number) {
  AttemptState& attempt = state.attempts[number];
  attempt.last_step = kNoStep;
  Moment last = attempt.began;
  for (const Series& series : state.series) {
    for (const Point& point : series.points()) {
      if (point.attempt != number) continue;
      attempt.last_step = std::max(attempt.last_step, point.step);
      const bool later = point.at.known() || last.at.known() ? point.at > last.at : point.step > last.step;
      if (later) last = {point.step, point.at, point.where, number, false};
    }
  }
  attempt.last = attempt.busy = last;
}

/// What came at `at` or later by its clock, and of what has none (if `step` is known) from that step on.
struct Since {
  Time at;
  int64_t step = kNoStep;

  bool includes(Time when, int64_t at_step) const {
    if (at.known() && when.known()) return when >= at;
    return step != kNoStep && at_step != kNoStep && at_step >= step;
  }
  /// Of figures: no step before it is of the newest attempt, whatever its clock says.
  bool includes(const Point& point) const { return point.step >= step && includes(point.at, point.step); }
};

/// What the sources that `moves` names said since then of the attempt before the newest, but for their figures.
void move_moments(State& state, const std::vector<bool>& moves, const Since& since) {
  const auto to = static_cast<uint16_t>(state.attempts.size() - 1);
  const auto from = static_cast<uint16_t>(to - 1);
  const auto by_mover = [&moves](uint32_t source) { return source < moves.size() && moves[source]; };
  AttemptState &before = state.attempts[from], &newest = state.attempts[to];
  const auto move = [&](auto& one) {
    if (one.attempt == from && since.includes(one.at, one.step) && by_mover(one.where.source)) one.attempt = to;
  };
  for_each_moment(state, [&](Moment& moment) { move(moment); });
  for (auto& [name, phase] : state.phases) {
    for (Point& end : phase.ends) move(end);
  }
  if (since.includes(before.last.at, before.last.step)) {
    newest.last = before.last;
    newest.busy = since.includes(before.busy.at, before.busy.step) ? before.busy : before.last;
    newest.last.attempt = newest.busy.attempt = to;
  }
  if (before.ended && since.includes(before.ended_at.at, before.ended_at.step) &&
      by_mover(before.ended_at.where.source)) {
    newest.ended = std::exchange(before.ended, std::nullopt);
    newest.ended_at = before.ended_at;
    newest.ended_heard = std::exchange(before.ended_heard, Time{});
    newest.ended_at.attempt = to;
  }
  measure_again(state, from);
  for (const uint16_t number : {from, to}) state.attempts[number].last_checkpoint = last_checkpoint_in(state, number);
}

/// The line from which a file that has no clock says what was done from the step `first` on: where it came there last.
/// Steps that were done again may stand in it twice.
uint64_t line_of(const Series& series, uint16_t attempt, int64_t first) {
  uint64_t line = 0;
  int64_t before = kNoStep;
  for (const Point& point : series.points()) {
    if (point.attempt != attempt || point.step == kNoStep) continue;
    const bool comes = point.step >= first && (before == kNoStep || before < first || point.step < before);
    if (comes) line = point.where.line;
    before = point.step;
  }
  return line;
}

}  // namespace

void share_with_newest(State& state, uint32_t speaker, Time since) {
  if (state.attempts.size() < 2 || !since.known()) return;
  const auto to = static_cast<uint16_t>(state.attempts.size() - 1);
  const auto from = static_cast<uint16_t>(to - 1);
  const Since then{since};
  const std::vector<bool> moves = went_on(state, from, speaker, since);
  if (std::find(moves.begin(), moves.end(), true) == moves.end()) return;
  for (std::vector<Series>* all : {&state.series, &state.eval, &state.host}) {
    for (Series& series : *all) {
      if (series.source >= moves.size() || !moves[series.source]) continue;
      const auto [first, last] =
          series.move_attempt_where(from, to, [&](const Point& point) { return then.includes(point); });
      if (all == &state.series) take_steps(state.attempts[to], first, last);
    }
  }
  move_moments(state, moves, then);
}

void share_steps_with_newest(State& state, const LogBoundary& boundary, bool documents) {
  if (state.attempts.size() < 2) return;
  const auto to = static_cast<uint16_t>(state.attempts.size() - 1);
  const auto from = static_cast<uint16_t>(to - 1);
  const Since since{boundary.at, boundary.first};
  std::vector<bool> moves(state.sources.size(), false);
  for (std::vector<Series>* all : {&state.series, &state.eval}) {
    for (Series& series : *all) {
      if (series.source >= moves.size() || series.source == boundary.before || series.source == boundary.after)
        continue;
      SourceState& source = state.sources[series.source];
      if (source.attempt != from && !moves[series.source]) continue;
      if (documents && source.kind != "json" && (source.kind == "text" || source.last_at.known())) continue;
      if (source.last_step < boundary.first || source.last_step <= boundary.last) continue;
      const uint64_t line = source.last_at.known() ? 0 : line_of(series, from, boundary.first);
      const auto [first, last] = series.move_attempt_where(
          from, to, [&](const Point& point) { return point.where.line >= line && since.includes(point); });
      if (last == kNoStep) continue;
      moves[series.source] = true;
      source.attempt = to;
      if (all == &state.series) take_steps(state.attempts[to], first, last);
    }
  }
  AttemptState& before = state.attempts[from];
  if (boundary.before == boundary.after && std::find(moves.begin(), moves.end(), true) == moves.end()) return;
  const Moment last = before.last, busy = before.busy;
  move_moments(state, moves, since);
  if (boundary.before == boundary.after && last.where.source == boundary.before) {  // the log itself knows its end best
    before.last = last;
    before.busy = busy;
    return;
  }
  const SourceState& log = state.sources[boundary.before];
  const Time began = boundary.before == boundary.after ? state.attempts[to].began.at : Time{};
  if (log.last_at > before.last.at && !(began.known() && log.last_at > began)) {
    before.last = {boundary.last, log.last_at, {boundary.before, log.last_line}, from, false};
    before.busy = before.last;
  }
}

}  // namespace mw
