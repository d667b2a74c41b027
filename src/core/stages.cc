#include "core/stages.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "core/attempts.h"
#include "core/checkpoint_trust.h"

namespace mw {
namespace {

using Names = std::set<std::string_view>;

/// Of its metric records; an engine's own, which name no step, are no trainer's.
Names figures_of(const State& state, size_t attempt) {
  Names names;
  for (const Series& series : state.series) {
    const auto is_its = [attempt](const Series::Part& part) {
      return part.attempt == attempt && part.least != kNoStep;
    };
    if (std::any_of(series.parts().begin(), series.parts().end(), is_its)) names.insert(series.raw);
  }
  return names;
}

/// Is one of `names` in `wanted`, and not in `other`?
bool has_of(const Names& names, const Names& wanted, const Names& other) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return wanted.count(name) != 0 && other.count(name) == 0; });
}

/// Where the command that an attempt is of began.
size_t command_of(const State& state, size_t attempt) {
  while (attempt > 0 && state.attempts[attempt].why != kKeeperBegan) --attempt;
  return attempt;
}

/// Something else came after it within its command.
bool is_gone_through(const State& state, size_t attempt) {
  return attempt + 1 < state.attempts.size() && state.attempts[attempt + 1].why != kKeeperBegan;
}

bool has_saved(const State& state, size_t attempt) {
  const auto its = [attempt](const auto& one) { return one.first.attempt == attempt; };
  return std::any_of(state.checkpoints.begin(), state.checkpoints.end(), its) ||
         std::any_of(state.checkpoint_scans.begin(), state.checkpoint_scans.end(),
                     [&its](const auto& one) { return its(one) && !is_gone(one.second); });
}

/// What earlier commands trained, and saved, behind their stage at the place of `stage`.
struct Trained {
  Names figures;
  int64_t planned = 0;
  bool any = false;
};
Trained trained_behind(const State& state, size_t stage, size_t before) {
  Trained trained;
  const size_t place = stage - command_of(state, stage);
  for (size_t i = 0; i < before; ++i) {
    if (i - command_of(state, i) <= place || !has_saved(state, i)) continue;
    trained.any = true;
    trained.figures.merge(figures_of(state, i));
    trained.planned = std::max(trained.planned, state.attempts[i].total_steps);
  }
  return trained;
}

bool may_be(const State& state, size_t attempt, size_t stage) {
  const Trained trained = trained_behind(state, stage, attempt);
  if (!trained.any) return false;
  const AttemptState &now = state.attempts[attempt], &was = state.attempts[stage];
  const Names figures = figures_of(state, attempt), first = figures_of(state, stage);
  if (has_of(figures, trained.figures, first)) return false;
  if (has_of(figures, first, trained.figures)) return true;
  const bool same_plan = now.total_steps > 0 && now.total_steps == trained.planned;
  if (same_plan && was.total_steps != now.total_steps) return false;
  // What looks alike may itself be what saved.
  return !has_saved(state, stage) && was.last_step != kNoStep && now.last_step <= was.last_step;
}

/// The steps that earlier attempts saved.
std::set<int64_t> saved_before(const State& state, size_t attempt) {
  std::set<int64_t> steps;
  const auto note = [&](const Moment& moment, int64_t step) {
    if (moment.attempt < attempt && step != kNoStep && step > 0) steps.insert(step);
  };
  for (const auto& [moment, saved] : state.checkpoints) note(moment, saved.step != kNoStep ? saved.step : moment.step);
  for (const auto& [moment, seen] : state.checkpoint_scans) note(moment, seen.step);
  return steps;
}

/// Did the counter go from `from` to `to`, past all that lies between, where `to` is the step behind a save?
bool goes_behind_save(const std::set<int64_t>& saved, int64_t from, int64_t to, int64_t stride) {
  const auto next = saved.lower_bound(to - stride);
  return next != saved.end() && *next < to && from + 2 * stride < *next;
}

/// The series with the most points of the attempt.
const Series* fullest(const State& state, size_t attempt) {
  const Series* found = nullptr;
  size_t most = 0;
  for (const Series& series : state.series) {
    size_t points = 0;
    for (const Series::Part& part : series.parts())
      if (part.attempt == attempt && part.least != kNoStep) points += part.end - part.begin;
    if (points <= most) continue;
    most = points;
    found = &series;
  }
  return found;
}

/// The series of the attempt that began last.
const Series* latest(const State& state, size_t attempt) {
  const Series* found = nullptr;
  int64_t begins = kNoStep;
  for (const Series& series : state.series) {
    int64_t least = kNoStep;
    for (const Series::Part& part : series.parts())
      if (part.attempt == attempt && part.least != kNoStep)
        least = least == kNoStep ? part.least : std::min(least, part.least);
    if (least == kNoStep || (found != nullptr && least <= begins)) continue;
    begins = least;
    found = &series;
  }
  return found;
}

/// Its steps, to the first one beyond `most`.
void note_steps(const Series& series, const Series::Part& part, int64_t most, std::set<int64_t>& steps) {
  for (size_t i = part.begin; i < part.end; ++i) {
    const int64_t step = series.points()[i].step;
    if (step != kNoStep) steps.insert(step);
    if (step > most) return;
  }
}

/// The least that its counter moved by, in its first records.
int64_t least_gap(const Series& series, const Series::Part& part) {
  constexpr size_t kFirst = 64;
  int64_t gap = kNoStep;
  for (size_t i = part.begin + 1; i < std::min(part.end, part.begin + kFirst); ++i) {
    const int64_t moved = series.points()[i].step - series.points()[i - 1].step;
    if (moved > 0) gap = gap == kNoStep ? moved : std::min(gap, moved);
  }
  return gap;
}

}  // namespace

bool may_be_another_stage(const State& state, size_t attempt) {
  if (attempt == 0 || attempt >= state.attempts.size()) return false;
  const size_t command = command_of(state, attempt);
  for (size_t stage = 0; stage < command; ++stage) {
    const bool not_before = stage - command_of(state, stage) >= attempt - command;
    if (not_before && is_gone_through(state, stage) && may_be(state, attempt, stage)) return true;
  }
  return false;
}

bool counter_resumes(const State& state, size_t attempt) {
  if (attempt == 0 || attempt >= state.attempts.size()) return false;
  const std::set<int64_t> saved = saved_before(state, attempt);
  if (saved.empty()) return false;
  int64_t planned = 0;
  for (size_t i = 0; i < attempt; ++i) planned = std::max(planned, state.attempts[i].total_steps);
  const int64_t left = state.attempts[attempt].total_steps;
  if (left > 0 && left < planned && saved.count(planned - left) != 0) return true;
  int64_t stride = kNoStep;
  std::set<int64_t> steps;  // of two figures: one may have been reported only before it resumed, and one since
  for (const Series* const series : {fullest(state, attempt), latest(state, attempt)}) {
    if (series == nullptr) continue;
    for (const Series::Part& part : series->parts()) {
      if (part.attempt > attempt || part.least == kNoStep) continue;
      const int64_t gap = part.attempt < attempt ? least_gap(*series, part) : kNoStep;
      if (gap != kNoStep) stride = stride == kNoStep ? gap : std::min(stride, gap);
      if (part.attempt == attempt) note_steps(*series, part, *saved.rbegin(), steps);
    }
  }
  int64_t last = kNoStep;
  for (const int64_t step : steps) {
    if (last != kNoStep && goes_behind_save(saved, last, step, stride == kNoStep ? 1 : stride)) return true;
    last = step;
  }
  return false;
}

}  // namespace mw
