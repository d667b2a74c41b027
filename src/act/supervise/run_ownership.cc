#include "act/supervise/run_ownership.h"

#include <algorithm>

#include "act/keeper/record.h"
#include "base/text.h"
#include "core/checkpoint_trust.h"
#include "platform/durable.h"
#include "sense/checkpoints/roots.h"
#include "sense/checkpoints/writers.h"

namespace mw {
namespace {

constexpr int kAttempts = 100'000;                         // whose records are read
constexpr double kEpochsUnlogged = 1.01;                   // records; they are rounded
constexpr Duration kSnapshotLasts = Duration::seconds(3);  // at most: the first attempt waits for it

/// When each attempt lived, by its keeper's record.
Result<std::vector<Ownership::Life>> lives_of(Disk& disk, const std::string& run_folder) {
  std::vector<Ownership::Life> lives;
  for (int number = 1; number < kAttempts; ++number) {
    const std::string folder = cat(run_folder, "/", kAttemptsFolder, "/", number);
    const auto there = disk.info(folder);
    if (!there.ok() && is_silent(there.error())) return there.error();
    if (!there.ok()) break;
    const auto kept = read_kept(disk, folder);
    if (!kept.ok()) {
      if (is_silent(kept.error())) return kept.error();
      continue;
    }
    if (!kept->started.known()) continue;
    lives.push_back({kept->started, kept->ending ? kept->ending->at : Time()});
  }
  return lives;
}

/// Numbers of saves that its files name.
void add_counted(const State& state, const CheckpointLayout& layout, const RunSpec& spec, Ownership& into) {
  for (const auto& [moment, saved] : state.checkpoints) {
    const std::string path = plain_path(saved.path.starts_with("/") ? saved.path : cat(spec.folder, "/", saved.path));
    const std::string folder = saved.path.empty() ? "" : checkpoint_in(path, layout);
    const auto number = step_in(layout.folder, basename(folder));
    if (!number) continue;
    into.named.insert(folder_of(folder));
    into.said.insert(*number);
  }
}

/// Of a run that did not begin anew the highest number that lay there before is what it went on from, as its trainer
/// takes that one.
void add_counted_before(const State& state, const CheckpointLayout& layout, Ownership& into) {
  if (state.attempts.empty()) return;
  const AttemptState& first = state.attempts.front();
  if (first.resumed_at == kNoStep && first.first_step <= 1) return;
  for (const auto& [folder, things] : into.snapshot.folders) {
    int64_t highest = kNoStep;
    for (const auto& [name, thing] : things)
      highest = std::max(highest, step_in(layout.folder, name).value_or(kNoStep));
    if (highest != kNoStep && into.may_save_in(folder)) into.resumed.insert(highest);
  }
}

/// How far the run came, by which what lies beyond is not its own.
void add_reach(const State& state, Ownership& into) {
  into.planned = furthest_planned(state);
  into.reached = furthest_named(state);
  into.counts_records = into.reached == kNoStep && has_nameless_records(state);
  for (const AttemptState& attempt : state.attempts) {
    if (attempt.total_steps > 0) into.plans.insert(attempt.total_steps);
    if (attempt.total_steps <= 0 && attempt.last_step != kNoStep) return into.plans.clear();
  }
  const Series* epochs = state.find("epoch");
  if (epochs == nullptr) epochs = state.find_raw("epoch");
  if (epochs == nullptr || epochs->points().size() < 2) return;
  double widest = 0;  // between two records
  const std::vector<Point>& points = epochs->points();
  for (size_t i = 1; i < points.size(); ++i) widest = std::max(widest, points[i].value - points[i - 1].value);
  into.epoch = epochs->max() + std::min(widest, epochs->max()) * kEpochsUnlogged;
}

void add_what_was_reported(const State& state, const CheckpointLayout& layout, const RunSpec& spec, Ownership& into) {
  for (const AttemptState& attempt : state.attempts) {
    if (attempt.resumed_at != kNoStep) into.resumed.insert(attempt.resumed_at);
    const int64_t first = attempt.resumed_at != kNoStep ? attempt.resumed_at : attempt.first_step;
    if (first != kNoStep && attempt.last_step != kNoStep) {
      into.steps.push_back({std::min(first, attempt.first_step == kNoStep ? first : attempt.first_step),
                            std::max(first, attempt.last_step)});
    }
  }
  for (const auto& [moment, saved] : state.checkpoints) {
    const int64_t step = saved.step != kNoStep ? saved.step : moment.step;
    if (step != kNoStep) into.said.insert(step);
    if (step != kNoStep && !state.by_host(moment.where)) into.logged.insert(step);
    const std::string root = root_of(saved.path, layout);
    const std::string place = root.empty() ? saved.path : root;  // some name only where all of theirs are
    if (place.empty()) continue;
    into.named.insert(plain_path(place.starts_with("/") ? place : cat(spec.folder, "/", place)));
  }
}

}  // namespace

std::vector<std::string> places_of(const RunSpec& spec) {
  std::vector<std::string> places = spec.checkpoints;
  places.push_back(spec.folder);
  places.insert(places.end(), spec.also.begin(), spec.also.end());
  return places;
}

Result<void> keep_snapshot(Disk& disk, Clock& clock, const RunSpec& spec, const std::string& run_folder,
                           const std::function<Result<void>(const std::string&, std::string_view)>& write) {
  const int64_t until = clock.steady().ns + kSnapshotLasts.ns;
  const auto taken = take_snapshot(disk, places_of(spec), [&clock, until] { return clock.steady().ns >= until; });
  if (!taken.ok()) return taken.error();
  return write(cat(run_folder, "/", kSnapshotFile), snapshot_text(*taken));
}

Result<Ownership> ownership_of(Disk& disk, const std::string& run_folder, const RunSpec& spec, const State& state,
                               const CheckpointLayout& layout) {
  Ownership of;
  auto lives = lives_of(disk, run_folder);
  if (!lives.ok()) return lives.error();
  of.lives = std::move(*lives);
  const auto before = read_small(disk, cat(run_folder, "/", kSnapshotFile));
  if (!before.ok() && is_silent(before.error())) return before.error();
  if (auto snapshot = before.ok() ? parse_snapshot(*before) : Result<Snapshot>(before.error()); snapshot.ok()) {
    of.has_snapshot = true;
    of.snapshot = std::move(*snapshot);
  }
  for (const std::string& folder : spec.checkpoints) {
    of.declared.insert(plain_path(folder));
    if (!layout.below.empty()) of.declared.insert(plain_path(cat(folder, "/", layout.below)));
  }
  of.places = places_of(spec);
  layout.counts_saves ? add_counted(state, layout, spec, of) : add_what_was_reported(state, layout, spec, of);
  if (!layout.counts_saves) add_reach(state, of);
  if (spec.first_step > 0 && !layout.counts_saves) of.resumed.insert(static_cast<int64_t>(spec.first_step));
  if (const auto text = read_small(disk, cat(run_folder, "/", kWritersFile)); text.ok()) {
    Writers writers = parse_writers(*text);
    of.seen = std::move(writers.own);
    of.strangers = std::move(writers.strangers);
  }
  if (layout.counts_saves) add_counted_before(state, layout, of);
  return of;
}

}  // namespace mw
