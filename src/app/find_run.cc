#include "app/find_run.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <utility>

#include "act/supervise/run_files.h"
#include "app/registry.h"
#include "app/run_status.h"
#include "base/checksum.h"
#include "base/text.h"
#include "platform/durable.h"
#include "platform/real/posix_disk.h"
#include "platform/system.h"
#include "read/recorder.h"
#include "ui/view/run_filter.h"

namespace mw {
namespace {

constexpr std::string_view kHomesFolder = "homes";   // in the user's own home: a file each, which holds a path
constexpr size_t kHomesLimit = 500;                  // of them that are read
constexpr size_t kComparedWith = 50;                 // runs, for one of the same framework
constexpr size_t kListed = 8;                        // runs that an error names
constexpr Duration kHeard = Duration::seconds(600);  // within which a run that is watched elsewhere was written

std::vector<std::string> homes(Disk& disk, const std::string& given) {
  const char* set = std::getenv("MIDWATCH_HOME");
  if (!given.empty() || (set != nullptr && *set != '\0')) return {absolute_path(home_of(given))};
  const std::string own = home_of("");
  std::vector<std::string> all = {absolute_path(own), absolute_path(std::string(kOldHome))};
  const auto names = disk.list(cat(own, "/", kHomesFolder));
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    if (all.size() >= kHomesLimit) break;
    const auto path = read_small(disk, cat(own, "/", kHomesFolder, "/", name));
    if (path.ok()) all.emplace_back(trim(*path));
  }
  std::set<std::string> seen;
  std::erase_if(all, [&seen](const std::string& home) { return !seen.insert(home).second; });
  return all;
}

Time begun(Disk& disk, const std::string& folder) {
  const auto spec = disk.info(run_spec_path(disk, folder));
  if (spec.ok()) return spec->changed;
  const auto watcher = disk.info(cat(folder, "/", kWatcherFile));
  return watcher.ok() ? watcher->changed : Time();
}

struct Known {
  RunStatus status;
  Time began;
};

/// Written so lately that somebody on another machine or in another container may still watch it.
bool heard_lately(const RunStatus& status) {
  return status.elsewhere && status.heard.known() && status.now - status.heard < kHeard;
}

/// Of a run that was watched elsewhere and whose last attempt has ended, whether it is over: its journal alone says so.
void ask_journal(Disk& disk, Processes& processes, RunStatus& status) {
  if (!heard_lately(status) || status.phase != RunStatus::Phase::kEnded) return;
  const auto state = read_recorded(disk, status.folder);
  if (!state.ok()) return;
  auto known = run_status(disk, processes, status.folder, state->supervision);
  if (!known.ok()) return;
  known->now = status.now;
  status = std::move(*known);
}

/// Without what the journals hold, where it is known without; the latest begun first.
std::vector<Known> known_runs(Disk& disk, Processes& processes, Time now, const std::string& home) {
  std::vector<Known> runs;
  for (const std::string& folder : recorded_runs(disk, home)) {
    auto status = run_status(disk, processes, folder, Supervision());
    if (!status.ok()) continue;
    status->now = now;
    ask_journal(disk, processes, *status);
    runs.push_back({std::move(*status), begun(disk, folder)});
  }
  std::stable_sort(runs.begin(), runs.end(), [](const Known& a, const Known& b) { return a.began > b.began; });
  return runs;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < kListed; ++i) text += cat(i == 0 ? "" : ", ", names[i]);
  return names.size() > kListed ? cat(text, " and ", names.size() - kListed, " more") : text;
}

/// "root", or its number where it has no name here; "": it is not known.
std::string owner_of(const std::string& path) {
  const auto entry = make_posix_system()->entry(path);
  if (!entry.ok()) return "";
  return entry->owner == 0 ? "root" : cat("user ", entry->owner);
}

/// A run that may be the one, or all of them, but that this user may not read; nullopt: there is none.
std::optional<Error> forbidden(Disk& disk, const std::string& home, const std::string& run) {
  const auto denied = [](const std::string& path) {
    const std::string owner = owner_of(path);
    return Error{Error::Code::kDenied,
                 cat(path, ": permission denied", owner.empty() ? "" : cat("; it belongs to ", owner)),
                 "Its owner may read it, and so may root: the record of a run is closed to others."};
  };
  for (const std::string& one : homes(disk, home)) {
    const std::string runs = cat(one, "/runs");
    const auto names = disk.list(runs);
    if (!names.ok() && names.error().code == Error::Code::kDenied) return denied(disk.info(runs).ok() ? runs : one);
    for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
      if (!name.starts_with(run)) continue;
      const auto journal = disk.info(cat(runs, "/", name, "/journal"));
      if (!journal.ok() && journal.error().code == Error::Code::kDenied) return denied(cat(runs, "/", name));
    }
  }
  return std::nullopt;
}

Error no_run(Disk& disk, const std::string& home, const std::string& run) {
  if (auto closed = forbidden(disk, home, run)) return *closed;
  const std::string where = home.empty() ? home_of("") : home;
  if (run.empty()) {
    return {Error::Code::kNotFound, cat("no recorded run in ", where),
            "Watch one: midwatch run -- COMMAND, or midwatch attach PATH. Only to read files: midwatch replay PATH"};
  }
  return {Error::Code::kNotFound, cat("no run called ", run, " is recorded in ", where),
          "midwatch runs lists all that are known; --home says where another one is recorded."};
}

Result<std::string> named(Disk& disk, const std::string& home, const std::string& run) {
  if (contains(run, "/")) {
    const std::string folder = absolute_path(run);
    if (disk.info(cat(folder, "/journal")).ok()) return folder;
    return Error{Error::Code::kNotFound, cat(folder, " is not the folder of a recorded run"), ""};
  }
  std::vector<std::string> same, like, names;
  for (const std::string& folder : recorded_runs(disk, home)) {
    const std::string_view name = basename(folder);
    if (name == run) same.push_back(folder);
    if (!name.starts_with(run)) continue;
    like.push_back(folder);
    names.emplace_back(name);
  }
  const std::vector<std::string>& found = same.empty() ? like : same;
  if (found.size() == 1) return found.front();
  if (found.empty()) return no_run(disk, home, run);
  return Error{Error::Code::kInvalid, cat("--run ", run, " may be any of ", found.size(), " runs"),
               cat("They are: ", listed(same.empty() ? names : same), ".")};
}

}  // namespace

void remember_home(Disk& disk, const std::string& home) {
  const std::string own = home_of(""), path = absolute_path(home);
  if (path == own) return;
  const std::string folder = cat(own, "/", kHomesFolder), file = cat(folder, "/", hex_of(fnv1a(path)));
  if (disk.info(file).ok() || !disk.make_folders(folder).ok()) return;
  (void)write_privately(disk, file, cat(path, "\n")).ok();
}

std::vector<std::string> recorded_runs(Disk& disk, const std::string& home) {
  std::vector<std::string> folders;
  for (const std::string& one : homes(disk, home)) {
    const auto names = disk.list(cat(one, "/runs"));
    for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
      std::string folder = cat(one, "/runs/", name);
      if (disk.info(cat(folder, "/journal")).ok()) folders.push_back(std::move(folder));
    }
  }
  return folders;
}

bool is_live(const RunStatus& status) {
  return status.watcher != 0 || status.pid != 0 || (status.phase != RunStatus::Phase::kOver && heard_lately(status));
}

Result<std::string> find_run(Disk& disk, Processes& processes, Time now, const RunName& name, Purpose purpose) {
  if (!name.run.empty()) return named(disk, name.home, name.run);
  const std::vector<Known> runs = known_runs(disk, processes, now, name.home);
  std::vector<std::string> live;
  const Known* chosen = nullptr;
  for (const Known& run : runs) {
    if (!is_live(run.status)) continue;
    live.push_back(run.status.name);
    if (chosen == nullptr) chosen = &run;
  }
  if (live.size() > 1 && purpose == Purpose::kActing) {
    return Error{Error::Code::kInvalid, cat(live.size(), " runs are live: ", listed(live)), "Name one: --run NAME"};
  }
  for (const Known& run : runs) {
    if (live.empty() && (chosen == nullptr || run.status.heard > chosen->status.heard)) chosen = &run;
  }
  return chosen == nullptr ? Result<std::string>(no_run(disk, name.home, "")) : chosen->status.folder;
}

std::vector<std::string> live_runs(Disk& disk, Processes& processes, Time now, const std::string& home) {
  std::vector<std::string> names;
  for (const Known& run : known_runs(disk, processes, now, home)) {
    if (is_live(run.status)) names.push_back(run.status.name);
  }
  return names;
}

namespace {

/// Fills in all but what differs from another run.
RunsAnswer::Run run_of(Disk& disk, Processes& processes, const Known& known) {
  RunsAnswer::Run run;
  run.began = known.began;
  run.live = is_live(known.status);
  run.status = known.status;
  auto record = run_record(disk, known.status, run.live);
  if (!record.ok()) {
    run.trouble = record.error().what;
    return run;
  }
  run.record = std::move(*record);
  if (!run.live) {
    run.status.asks = run.record.asks;
    run.status.output = run.record.ended.known() ? run.record.ended : run.status.heard;
    return run;
  }
  // What midwatch does with a live run now is in its journal.
  const auto state = read_recorded(disk, known.status.folder);
  auto status = run_status(disk, processes, known.status.folder, state.ok() ? state->supervision : Supervision());
  if (status.ok()) run.status = std::move(*status);
  run.status.now = known.status.now;
  // The journal of a run that hangs is written all the same: its age says nothing of the trainer.
  if (state.ok()) add_ages(disk, *state, run.status);
  if (!run.status.output.known()) run.status.output = std::max(run.status.stepped, run.record.ended);
  return run;
}

/// The run that began before it and is of the same framework; `runs` stand the latest begun first.
void compare_with_the_one_before(Disk& disk, Processes& processes, const std::vector<Known>& runs,
                                 RunsAnswer::Run& run) {
  bool passed = false;
  size_t compared = 0;
  for (const Known& known : runs) {
    if (!std::exchange(passed, passed || known.status.folder == run.status.folder)) continue;
    if (++compared > kComparedWith) return;
    const RunsAnswer::Run before = run_of(disk, processes, known);
    if (!before.trouble.empty() || before.record.framework != run.record.framework) continue;
    run.before = before.status.name;
    run.differs = differences_of(disk, before.record, run.record);
    return;
  }
}

}  // namespace

RunsAnswer list_runs(Disk& disk, Processes& processes, Time now, const RunsRequest& request) {
  const std::vector<Known> by_time = known_runs(disk, processes, now, request.home);
  std::vector<Known> runs = by_time;
  std::stable_partition(runs.begin(), runs.end(), [](const Known& run) { return is_live(run.status); });
  RunsAnswer answer;
  for (const Known& known : runs) {
    const bool full = answer.runs.size() >= request.limit;
    if (full && request.filter.empty()) {
      ++answer.left_out;
      continue;
    }
    RunsAnswer::Run run = run_of(disk, processes, known);
    if (!passes(request.filter, run)) continue;
    if (full) {
      ++answer.left_out;
      continue;
    }
    if (request.differences && run.trouble.empty()) compare_with_the_one_before(disk, processes, by_time, run);
    answer.runs.push_back(std::move(run));
  }
  return answer;
}

RunsAnswer::Run one_run(Disk& disk, Processes& processes, Time now, const std::string& folder) {
  const std::vector<Known> runs = known_runs(disk, processes, now, folder_of(folder_of(folder)));
  for (const Known& known : runs) {
    if (known.status.folder != folder) continue;
    RunsAnswer::Run run = run_of(disk, processes, known);
    if (run.trouble.empty()) compare_with_the_one_before(disk, processes, runs, run);
    return run;
  }
  // It lies in no home: copied, or received from a store.
  Known alone;
  auto status = run_status(disk, processes, folder, Supervision());
  if (status.ok()) alone.status = std::move(*status);
  alone.status.folder = folder;
  alone.status.name = basename(folder);
  alone.status.now = now;
  return run_of(disk, processes, alone);
}

}  // namespace mw
