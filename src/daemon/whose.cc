#include "daemon/whose.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "daemon/go_back.h"
#include "keeper/record.h"
#include "platform/durable.h"

namespace mw {
namespace {

constexpr int kAttempts = 100'000;                       // whose records are read
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
    if (kept->started.known()) lives.push_back({kept->started, kept->ending ? kept->ending->at : Time()});
  }
  return lives;
}

void add_what_was_told(const State& state, const CheckpointLayout& layout, const Charge& charge, Ownership& into) {
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
    const std::string root = root_of(saved.path, layout);
    const std::string place = root.empty() ? saved.path : root;  // some name only where all of theirs are
    if (place.empty()) continue;
    into.named.insert(plain_path(place.starts_with("/") ? place : cat(charge.folder, "/", place)));
  }
}

void read_roots(const Json& json, std::string_view key, std::set<std::string>& out) {
  const Json* list = json.find(key);
  if (list == nullptr || !list->is_array()) return;
  for (const Json& root : list->items()) out.insert(root.string());
}

}  // namespace

std::vector<std::string> places_of(const Charge& charge) {
  std::vector<std::string> places = charge.checkpoints;
  places.push_back(charge.folder);
  places.insert(places.end(), charge.also.begin(), charge.also.end());
  return places;
}

Result<std::string> snapshot_of(Disk& disk, Clock& clock, const Charge& charge) {
  const int64_t until = clock.steady().ns + kSnapshotLasts.ns;
  const auto taken = take_snapshot(disk, places_of(charge), [&clock, until] { return clock.steady().ns >= until; });
  if (!taken.ok()) return taken.error();
  return snapshot_text(*taken);
}

std::string writers_text(const Writers& writers) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("version").integer(1).key("own").begin_array();
    for (const std::string& root : writers.own) json.string(root);
    json.end_array().key("strangers").begin_array();
    for (const std::string& root : writers.strangers) json.string(root);
    json.end_array().end_object();
  }
  return out;
}

Writers parse_writers(std::string_view text) {
  Writers writers;
  const auto json = Json::parse(text);
  if (!json.ok() || !json->is_object()) return writers;
  read_roots(*json, "own", writers.own);
  read_roots(*json, "strangers", writers.strangers);
  return writers;
}

Result<Ownership> ownership_of(Disk& disk, const std::string& run_folder, const Charge& charge, const State& state,
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
  for (const std::string& folder : charge.checkpoints) of.declared.insert(plain_path(folder));
  of.places = places_of(charge);
  add_what_was_told(state, layout, charge, of);
  if (const auto text = read_small(disk, cat(run_folder, "/", kWritersFile)); text.ok()) {
    Writers writers = parse_writers(*text);
    of.seen = std::move(writers.own);
    of.strangers = std::move(writers.strangers);
  }
  return of;
}

}  // namespace mw
