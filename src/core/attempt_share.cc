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
      if (point.at > last.at) last = {point.step, point.at, point.where, number, false};
    }
  }
  attempt.last = attempt.busy = last;
}

}  // namespace

void share_with_newest(State& state, uint32_t speaker, Time since) {
  if (state.attempts.size() < 2 || !since.known()) return;
  const auto to = static_cast<uint16_t>(state.attempts.size() - 1);
  const auto from = static_cast<uint16_t>(to - 1);
  const std::vector<bool> moves = went_on(state, from, speaker, since);
  if (std::find(moves.begin(), moves.end(), true) == moves.end()) return;
  const auto by_mover = [&moves](uint32_t source) { return source < moves.size() && moves[source]; };
  AttemptState &before = state.attempts[from], &newest = state.attempts[to];
  for (std::vector<Series>* all : {&state.series, &state.eval, &state.host}) {
    for (Series& series : *all) {
      if (!by_mover(series.source)) continue;
      const auto [first, last] = series.move_attempt_since(from, to, since);
      if (all == &state.series) take_steps(newest, first, last);
    }
  }
  const auto move = [&](auto& one) {
    if (one.attempt == from && one.at.known() && one.at >= since && by_mover(one.where.source)) one.attempt = to;
  };
  for_each_moment(state, [&](Moment& moment) { move(moment); });
  for (auto& [name, phase] : state.phases) {
    for (Point& end : phase.ends) move(end);
  }
  if (before.last.at >= since) {
    newest.last = before.last;
    newest.busy = before.busy.at >= since ? before.busy : before.last;
    newest.last.attempt = newest.busy.attempt = to;
  }
  if (before.ended && before.ended_at.at.known() && before.ended_at.at >= since &&
      by_mover(before.ended_at.where.source)) {
    newest.ended = std::exchange(before.ended, std::nullopt);
    newest.ended_at = before.ended_at;
    newest.ended_heard = std::exchange(before.ended_heard, Time{});
    newest.ended_at.attempt = to;
  }
  measure_again(state, from);
  for (const uint16_t number : {from, to}) state.attempts[number].last_checkpoint = last_checkpoint_in(state, number);
}

}  // namespace mw
