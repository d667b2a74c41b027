#include "core/plan_bar.h"

#include <algorithm>

#include "base/text.h"

namespace mw {
namespace {

/// Its title says what a bar goes over; that of Transformers' Trainer has none.
bool over_steps(std::string_view title) {
  return title.empty() || contains_folded(title, "train") || contains_folded(title, "step");
}

/// Steps from one record of the last attempt to the next.
int64_t stride(const State& state) {
  const size_t last = state.attempts.size() - 1;
  for (const Series& series : state.series) {
    const auto& points = series.points();
    if (points.size() < 2 || points[points.size() - 2].attempt != last) continue;
    const int64_t before = points[points.size() - 2].step, now = points.back().step;
    if (before != kNoStep && now > before) return now - before;
  }
  return 1;
}

}  // namespace

void add_bar_mark(const State& state, AttemptState& attempt, const event::Progressed& bar, const Where& where) {
  const int64_t total = attempt.total_steps > 0 ? attempt.total_steps : state.total_steps;
  if (!(bar.elapsed >= 0) || total <= 1 || bar.total != total || bar.done > total || !over_steps(bar.what)) return;
  auto& marks = attempt.bar;
  const bool again = !marks.empty() && (bar.done < marks.back().done || bar.elapsed < marks.back().elapsed);
  if (again && bar.done <= attempt.last_step) return;
  if (again) marks.clear();
  if (!marks.empty() && bar.done == marks.back().done) return;
  if (marks.size() >= AttemptState::kBarMarks) {
    size_t kept = 0;
    for (size_t i = 0; i < marks.size(); i += 2) marks[kept++] = marks[i];
    marks.resize(kept);
  }
  marks.push_back({bar.done, bar.elapsed, where});
}

int64_t done_by_bar(const State& state) {
  if (state.attempts.empty()) return kNoStep;
  const AttemptState& attempt = state.attempts.back();
  const int64_t total = attempt.total_steps > 0 ? attempt.total_steps : state.total_steps;
  // A bar is kept by its title alone: it is the last attempt's only where that has gone on close behind it.
  const bool several = state.attempts.size() > 1;
  if (total <= 1 || (several && attempt.last_step == kNoStep)) return kNoStep;
  const int64_t most = several ? attempt.last_step + stride(state) : total;
  int64_t done = kNoStep;
  for (const auto& [title, bar] : state.progress) {
    const int64_t step = attempt.first_step == 0 ? bar.done - 1 : bar.done;  // its records count from 0
    const bool reached =
        bar.total == total && bar.done > 0 && bar.done <= total && step >= attempt.last_step && step <= most;
    if (reached && over_steps(title)) done = std::max(done, step);
  }
  return done;
}

int64_t shown_before(const AttemptState& attempt, uint32_t source, uint64_t line) {
  for (auto mark = attempt.bar.rbegin(); mark != attempt.bar.rend(); ++mark) {
    if (mark->where.source != source || mark->where.line >= line) continue;
    return attempt.first_step == 0 ? mark->done - 1 : mark->done;  // its records count from 0
  }
  return kNoStep;
}

BarBegun bar_begun(const State& state, const AttemptState& attempt) {
  BarBegun begun;
  for (const AttemptState::BarMark& mark : attempt.bar) {
    if (mark.where.source >= state.sources.size()) continue;
    const LineClock& clock = state.sources[mark.where.source].clock;
    const Duration elapsed = Duration::seconds(mark.elapsed);
    if (const Time before = clock.before(mark.where.line); before.known()) {
      const Time then{before.ns - elapsed.ns};
      if (!begun.not_before.known() || then > begun.not_before) begun.not_before = then;
    }
    if (const Time after = clock.after(mark.where.line); after.known()) {
      const Time then{after.ns - elapsed.ns};
      if (!begun.not_after.known() || then < begun.not_after) begun.not_after = then;
    }
  }
  return begun;
}

int64_t last_saved(const State& state) {
  int64_t last = kNoStep;
  for (const AttemptState& attempt : state.attempts) last = std::max(last, attempt.last_checkpoint);
  return last;
}

int64_t last_step_known(const State& state) {
  const int64_t done = std::max(state.steps().last, done_by_bar(state));
  if (done != kNoStep) return done;
  int64_t began = kNoStep;
  for (const AttemptState& attempt : state.attempts) began = std::max(began, attempt.last_step);
  return began > 0 ? began : std::max(began, last_saved(state));
}

}  // namespace mw
