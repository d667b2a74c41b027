#include "daemon/whose.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "checkpoints/roots.h"
#include "keeper/record.h"
#include "platform/durable.h"

namespace mw {
namespace {

constexpr int kAttempts = 100'000;                         // whose records are read
constexpr size_t kFilesOpen = 4096;                        // of one process
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

/// Is a file open to write, by its /proc/PID/fdinfo ("flags:\t0100001", octal; the last two bits are the way)?
bool is_to_write(std::string_view fdinfo) {
  const size_t at = fdinfo.find("flags:");
  if (at == std::string_view::npos) return false;
  const std::string_view flags = trim(fdinfo.substr(at + 6, fdinfo.find('\n', at) - at - 6));
  return !flags.empty() && ((flags.back() - '0') & 3) != 0;
}

bool has_mark(System& system, const std::string& pid, const std::string& run_folder) {
  const auto environment = system.read(cat("/proc/", pid, "/environ"), System::kFileBytes);
  const std::string mark = cat("MIDWATCH_RUN=", run_folder, std::string_view("\0", 1));
  return environment.ok() &&
         (environment->starts_with(mark) || contains(*environment, cat(std::string_view("\0", 1), mark)));
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

Result<void> keep_snapshot(Disk& disk, Clock& clock, const Charge& charge, const std::string& run_folder,
                           const std::function<Result<void>(const std::string&, std::string_view)>& write) {
  const int64_t until = clock.steady().ns + kSnapshotLasts.ns;
  const auto taken = take_snapshot(disk, places_of(charge), [&clock, until] { return clock.steady().ns >= until; });
  if (!taken.ok()) return taken.error();
  return write(cat(run_folder, "/", kSnapshotFile), snapshot_text(*taken));
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

Writers writers_below(System& system, const std::vector<std::string>& places, const CheckpointLayout& layout,
                      const std::string& run_folder) {
  Writers writers;
  std::vector<std::pair<std::string, std::string>> real;  // without links, and as it is called
  for (const std::string& place : places) {
    if (const auto path = system.real(place); path.ok()) real.emplace_back(*path, plain_path(place));
  }
  const auto pids = system.names("/proc");
  if (!pids.ok() || real.empty() || !layout.known()) return writers;
  for (const std::string& pid : *pids) {
    if (pid.empty() || pid[0] < '0' || pid[0] > '9') continue;
    const auto files = system.names(cat("/proc/", pid, "/fd"));
    for (size_t i = 0; files.ok() && i < std::min(files->size(), kFilesOpen); ++i) {
      const auto path = system.link(cat("/proc/", pid, "/fd/", (*files)[i]));
      if (!path.ok()) continue;
      for (const auto& [place, called] : real) {
        if (!lies_in(*path, place)) continue;
        const std::string root = root_of(cat(called, path->substr(place.size())), layout);
        if (root.empty()) continue;
        const auto how = system.read(cat("/proc/", pid, "/fdinfo/", (*files)[i]), System::kFileBytes);
        if (how.ok() && is_to_write(*how))
          (has_mark(system, pid, run_folder) ? writers.own : writers.strangers).insert(root);
      }
    }
  }
  return writers;
}

void note_writers(Disk& disk, const std::string& run_folder, const Writers& now) {
  const std::string path = cat(run_folder, "/", kWritersFile);
  const auto text = read_small(disk, path);
  Writers all = text.ok() ? parse_writers(*text) : Writers();
  const size_t known = all.own.size() + all.strangers.size();
  all.own.insert(now.own.begin(), now.own.end());
  all.strangers.insert(now.strangers.begin(), now.strangers.end());
  if (all.own.size() + all.strangers.size() != known) (void)write_durably(disk, path, writers_text(all)).ok();
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
