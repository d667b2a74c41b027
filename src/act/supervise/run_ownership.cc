#include "act/supervise/run_ownership.h"

#include <algorithm>

#include "act/keeper/record.h"
#include "base/text.h"
#include "core/checkpoint_trust.h"
#include "core/reach.h"
#include "core/trainings.h"
#include "platform/durable.h"
#include "sense/checkpoints/below_declared.h"
#include "sense/checkpoints/beside.h"
#include "sense/checkpoints/output_words.h"
#include "sense/checkpoints/parts.h"
#include "sense/checkpoints/roots.h"
#include "sense/checkpoints/writers.h"

namespace mw {
namespace {

constexpr int kAttempts = 100'000;                         // whose records are read
constexpr double kEpochsUnlogged = 1.01;                   // records; they are rounded
constexpr Duration kUnheard = Duration::seconds(30);       // that a run lives on after the last sign of it, at most
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

/// The last sign of life of a run whose keeper recorded no end: what it logged, or its midwatch wrote down.
Time last_sign(Disk& disk, const std::string& run_folder) {
  Time last;
  const auto see = [&](const std::string& path) {
    const auto info = disk.info(path);
    if (info.ok()) last = std::max(last, info->changed);
  };
  see(cat(run_folder, "/", kOutputFile));
  const auto segments = disk.list(cat(run_folder, "/journal"));
  for (const std::string& name : segments.ok() ? *segments : std::vector<std::string>())
    see(cat(run_folder, "/journal/", name));
  return last;
}

/// Where a run saves: as it declared it, as its files named it, and as its processes were seen to.
std::set<std::string> roots_of(Disk& disk, const std::string& run_folder, const RunSpec& spec,
                               const CheckpointLayout& layout) {
  std::set<std::string> roots;
  for (const std::string& folder : spec.checkpoints) {
    roots.insert(plain_path(folder));
    if (!layout.below.empty()) roots.insert(plain_path(cat(folder, "/", layout.below)));
    for (const std::string& role : role_folders(plain_path(folder))) roots.insert(role);
  }
  const auto text = read_small(disk, cat(run_folder, "/", kWritersFile));
  Writers writers = text.ok() ? parse_writers(*text) : Writers();
  roots.merge(writers.own);
  roots.merge(writers.named);
  return roots;
}

/// Other runs of the same home that save, or saved, where this one does. One that cannot be read is left out.
void add_others(Disk& disk, const std::string& run_folder, const RunSpec& spec, const CheckpointLayout& layout,
                Ownership& into) {
  const std::set<std::string> own = roots_of(disk, run_folder, spec, layout);
  const auto names = disk.list(folder_of(run_folder));
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    const std::string folder = cat(folder_of(run_folder), "/", name);
    const auto other = name == basename(run_folder) ? Result<RunSpec>(RunSpec()) : load_run_spec(disk, folder);
    if (!other.ok() || name == basename(run_folder)) continue;
    Ownership::Other one{name, roots_of(disk, folder, *other, layout), {}};
    std::erase_if(one.roots, [&own](const std::string& root) { return own.count(root) == 0; });
    if (one.roots.empty()) continue;
    auto lives = lives_of(disk, folder);
    if (!lives.ok()) continue;
    for (Ownership::Life& life : *lives) {
      if (!life.ended.known()) life.ended = last_sign(disk, folder) + kUnheard;
    }
    one.lives = std::move(*lives);
    into.others.push_back(std::move(one));
  }
}

/// When the run had saved twice more than what it said of each step, as far as its steps and the clock of the machine
/// show: what is written there still later is not this save.
void add_passed(const State& state, Ownership& into) {
  std::vector<int64_t> saves;
  for (const auto& [moment, saved] : state.checkpoints) {
    if (saved.complete && saved.step != kNoStep && (saves.empty() || saves.back() != saved.step))
      saves.push_back(saved.step);
  }
  std::vector<const Tick*> ticks;  // that say at which step the run was
  for (const Tick& tick : state.ticks) {
    if (tick.step != kNoStep) ticks.push_back(&tick);
  }
  std::vector<int64_t> lowest(ticks.size());  // step from that tick on
  for (size_t i = ticks.size(); i-- > 0;)
    lowest[i] = i + 1 < ticks.size() ? std::min(ticks[i]->step, lowest[i + 1]) : ticks[i]->step;
  for (size_t i = 0; i + 2 < saves.size(); ++i) {
    const int64_t later = std::max({saves[i], saves[i + 1], saves[i + 2]});
    const auto beyond = std::upper_bound(lowest.begin(), lowest.end(), later);  // for good
    into.passed.erase(saves[i]);
    if (beyond == lowest.end()) continue;
    into.passed[saves[i]] = ticks[static_cast<size_t>(beyond - lowest.begin())]->at;
  }
  for (size_t i = saves.size() - std::min<size_t>(2, saves.size()); i < saves.size(); ++i) into.passed.erase(saves[i]);
}

/// Numbers of saves that its files name.
void add_counted(const State& state, const CheckpointLayout& layout, const RunSpec& spec, Ownership& into) {
  std::map<uint16_t, int64_t> last;  // by attempt
  for (const auto& [moment, saved] : state.checkpoints) {
    const std::string path = plain_path(saved.path.starts_with("/") ? saved.path : cat(spec.folder, "/", saved.path));
    const std::string folder = saved.path.empty() ? "" : checkpoint_in(path, layout);
    const auto number = step_in(layout.folder, basename(folder));
    if (!number) continue;
    into.named.insert(folder_of(folder));
    into.said.insert(*number);
    last[moment.attempt] = *number;
  }
  for (const auto& [attempt, number] : last) into.last_said.insert(number);
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
  if (const Reach reach = reach_before(state, state.attempts.size()); reach.names_saves) into.beyond = reach.beyond;
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
  std::map<uint16_t, int64_t> last;  // by attempt
  for (const auto& [moment, saved] : state.checkpoints) {
    const int64_t step = saved.step != kNoStep ? saved.step : moment.step;
    if (step != kNoStep) into.said.insert(step);
    if (step != kNoStep) last[moment.attempt] = step;
    if (step != kNoStep && !state.by_host(moment.where)) into.logged.insert(step);
    const std::string root = root_of(saved.path, layout);
    const std::string place = root.empty() ? saved.path : root;  // some name only where all of theirs are
    if (place.empty()) continue;
    into.named.insert(plain_path(place.starts_with("/") ? place : cat(spec.folder, "/", place)));
  }
  if (std::string said = said_folder(state, spec.folder); !said.empty()) into.named.insert(std::move(said));
  for (const auto& [attempt, step] : last) into.last_said.insert(step);
  add_passed(state, into);
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

std::string folder_of_saves(Disk& disk, const RunSpec& spec, const State& state, const CheckpointLayout& layout,
                            Time began) {
  constexpr int kLevels = 3;  // below the folder in which the command works: "outputs/RUN/checkpoints"
  const std::map<int64_t, Time> announced = announced_saves(state);
  if (!layout.known() || layout.counts_saves || !began.known() || announced.empty()) return "";
  std::map<std::string, int> folders;
  for (const std::string& one : output_folders(spec.command, spec.folder)) folders[one] = 1;
  for (const std::string& one : spec.checkpoints) folders[plain_path(one)] = 1;
  folders[plain_path(spec.folder)] = kLevels;
  StepsInTime steps;
  for (const Tick& tick : state.ticks) {
    if (tick.at >= began) steps.at(tick.at, tick.step);
  }
  std::map<std::string, SavedBeside> saved = saved_below(disk, folders, layout);
  // Nor did what trains now save what was there when the training before it was last seen.
  const Time since = std::max(began, EarlierTrainings(state).last_before());
  std::erase_if(saved, [since](const auto& one) { return one.second.changed < since; });
  return steps.folder_of(saved, announced);
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
  for (std::string& one : output_folders(spec.command, spec.folder)) of.named.insert(std::move(one));
  if (!spec.first_root.empty()) of.named.insert(plain_path(spec.first_root));
  for (const std::string& one : std::set<std::string>(of.named)) {
    auto below = below_declared(disk, spec.checkpoints, one);
    if (!below.ok()) return below.error();
    if (!below->empty()) of.named.insert(std::move(*below));
  }
  if (const auto text = read_small(disk, cat(run_folder, "/", kWritersFile)); text.ok()) {
    Writers writers = parse_writers(*text);
    of.seen = std::move(writers.own);
    of.strangers = std::move(writers.strangers);
  }
  if (layout.counts_saves) add_counted_before(state, layout, of);
  add_others(disk, run_folder, spec, layout, of);
  return of;
}

}  // namespace mw
