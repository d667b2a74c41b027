#include "app/start_fence.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>
#include <vector>

#include "act/supervise/run_files.h"
#include "app/find_run.h"
#include "app/run_status.h"
#include "base/checksum.h"
#include "base/json.h"
#include "base/text.h"
#include "platform/durable.h"
#include "platform/paths.h"
#include "platform/private_folder.h"
#include "platform/real/posix_disk.h"
#include "read/recorder.h"

namespace mw {
namespace {

constexpr std::string_view kStartsFolder = "starts";     // in the user's own home: two files for each folder
constexpr std::string_view kStartsHere = "starts-here";  // likewise, of this machine, whatever $MIDWATCH_HOME says

constexpr size_t kStartsKept = 20;                                 // the latest, however old they are
constexpr Duration kStartsLast = Duration::seconds(30 * 86400.0);  // and all that are younger
constexpr size_t kStartsRemoved = 64;                              // by one start

constexpr int kTries = 10;
constexpr std::chrono::milliseconds kBetween{50};

struct Holder {
  int64_t pid = 0;
  std::string at, home, what;
};

Holder holder_in(Disk& disk, const std::string& path) {
  const auto text = read_small(disk, path);
  const auto json = text.ok() ? Json::parse(*text) : Result<Json>(text.error());
  if (!json.ok()) return {};
  return {json->integer_or("pid", 0), json->string_or("at", ""), json->string_or("home", ""),
          json->string_or("what", "")};
}

std::string holder_text(Time now, const std::string& home, const std::string& what) {
  std::string text;
  JsonWriter json(text);
  json.begin_object().key("version").integer(1).key("pid").integer(::getpid()).key("at").string(format_utc(now));
  json.key("home").string(home).key("what").string(what).end_object();
  return text;
}

/// The run that keeps its checkpoints there and lives; nothing is sought for what is no folder.
std::string live_run(Disk& disk, Processes& processes, const std::string& home, const std::string& root,
                     const std::string& except = "") {
  const auto is_it = [real = except.empty() ? "" : real_path(except)](const std::string& folder) {
    return !real.empty() && real_path(folder) == real;
  };
  for (const std::string& folder : recorded_runs(disk, home)) {
    const auto spec = load_run_spec(disk, folder);
    if (is_it(folder) || !spec.ok() || !declares(disk, *spec, root)) continue;
    const auto status = run_status(disk, processes, folder, Supervision());
    if (status.ok() && (status->pid != 0 || status->watcher != 0)) return folder;
  }
  return "";
}

/// Old ones of folders in which nobody holds the lock and no run lives, with their locks: whoever holds one may remove
/// it.
void remove_old_starts(Disk& disk, Locks& locks, Processes& processes, Time now, const std::string& folder) {
  const auto names = disk.list(folder);
  std::vector<std::pair<Time, std::string>> notes;  // each without its ending
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    if (!name.ends_with(".json")) continue;
    const auto info = disk.info(cat(folder, "/", name));
    if (info.ok()) notes.emplace_back(info->changed, name.substr(0, name.size() - 5));
  }
  if (notes.size() <= kStartsKept) return;
  std::sort(notes.begin(), notes.end());
  notes.resize(std::min(notes.size() - kStartsKept, kStartsRemoved));
  for (const auto& [written, name] : notes) {
    if (now - written < kStartsLast) return;
    const std::string file = cat(folder, "/", name);
    const auto lock = locks.take(cat(file, ".lock"));
    if (!lock.ok() || *lock == nullptr || !(*lock)->excludes()) continue;
    const Holder holder = holder_in(disk, cat(file, ".json"));
    const bool lives = holder.what.starts_with('/') && !live_run(disk, processes, holder.home, holder.what).empty();
    if (lives || !disk.remove(cat(file, ".json")).ok()) continue;
    (void)disk.remove(cat(file, ".lock")).ok();
  }
}

/// The lock of a folder of checkpoints in a folder of starts, and who held it last.
struct Taken {
  std::unique_ptr<Lock> lock;  ///< nullptr: it cannot be kept, or is held
  bool held = false;           ///< by another process
  Holder holder;
};

Taken take_start(Disk& disk, Locks& locks, Processes& processes, const std::string& file, const std::string& text) {
  Taken out;
  const std::string note = cat(file, ".json");
  if (!disk.make_folders(folder_of(file)).ok()) return out;  // such a home must not keep a run from starting
  make_private(folder_of(file));
  auto lock = locks.take(cat(file, ".lock"));
  out.holder = holder_in(disk, note);
  if (lock.ok()) (void)write_privately(disk, note, text).ok();
  out.held = !lock.ok() && lock.error().code == Error::Code::kDenied;
  if (lock.ok()) out.lock = std::move(*lock);
  // It says who it is right after it has the lock.
  for (int tries = 0; out.held && tries < kTries && (out.holder.pid == 0 || !processes.info(out.holder.pid).ok());
       ++tries) {
    std::this_thread::sleep_for(kBetween);
    out.holder = holder_in(disk, note);
  }
  return out;
}

/// One of them may be missing.
class BothLocks final : public Lock {
 public:
  BothLocks(std::unique_ptr<Lock> one, std::unique_ptr<Lock> other) : one_(std::move(one)), other_(std::move(other)) {}
  bool excludes() const override { return one_ == nullptr || one_->excludes(); }

 private:
  std::unique_ptr<Lock> one_, other_;
};

void refuse(StartFence& fence, const Holder& holder, const std::string& what) {
  const std::string who = holder.pid == 0 ? std::string("another midwatch onstart")
                                          : cat("process ", holder.pid, ", a midwatch onstart of ", holder.at, ",");
  fence.by = cat(who, " has ", what);
  fence.hint = "Nothing was begun and nothing was changed. midwatch status shows its run; midwatch stop ends it.";
}

}  // namespace

std::pair<std::string, std::string> live_run_beside(Disk& disk, Processes& processes, const std::string& home,
                                                    const std::string& run_folder, const RunSpec& spec) {
  for (const std::string& root : spec.checkpoints) {
    const std::string run = live_run(disk, processes, home, real_path_to_be(disk, root), run_folder);
    if (!run.empty()) return {std::string(basename(run)), root};
  }
  return {};
}

std::string real_path_to_be(Disk& disk, const std::string& path) {
  std::string there = path, rest;
  while (there.size() > 1 && !disk.info(there).ok()) {
    rest = cat("/", basename(there), rest);
    there = folder_of(there);
  }
  const std::string real = real_path(there);
  return real == "/" && !rest.empty() ? rest : cat(real, rest);
}

bool declares(Disk& disk, const RunSpec& spec, const std::string& root) {
  return std::any_of(spec.checkpoints.begin(), spec.checkpoints.end(),
                     [&](const auto& one) { return real_path_to_be(disk, one) == root; });
}

StartFence fence_start(Disk& disk, Locks& locks, Processes& processes, Time now, const std::string& home,
                       const std::string& what) {
  const std::string own = absolute_path(home_of("")), folder = cat(own, "/", kStartsFolder), user = users_home();
  const std::string text = holder_text(now, absolute_path(home_of(home)), what);
  StartFence fence;
  Taken taken = take_start(disk, locks, processes, cat(folder, "/", hex_of(fnv1a(what))), text);
  if (taken.held) {
    refuse(fence, taken.holder, what);
    return fence;
  }
  std::set<std::string> homes = {home};
  if (!taken.holder.home.empty()) homes.insert(taken.holder.home);
  if (!user.empty()) {
    // The user's own home may lie on a file server that other machines use, too, with folders of the same name.
    const std::string file = cat(user, "/", kStartsHere, "/", hex_of(fnv1a(cat(what, "\n", processes.boot()))));
    Taken also = take_start(disk, locks, processes, file, text);
    if (also.held) {
      refuse(fence, also.holder, what);
      return fence;
    }
    if (!also.holder.home.empty()) homes.insert(also.holder.home);
    if (also.lock) {
      remove_old_starts(disk, locks, processes, now, folder_of(file));
      taken.lock = std::make_unique<BothLocks>(std::move(taken.lock), std::move(also.lock));
    }
  }
  fence.lock = std::move(taken.lock);
  for (const std::string& one : homes) {
    const std::string run = what.starts_with('/') ? live_run(disk, processes, one, what) : "";
    if (run.empty()) continue;
    fence.lock.reset();
    fence.by = cat("run ", basename(run), " lives and keeps its checkpoints in ", what);
    fence.hint = cat("Nothing was begun and nothing was changed. midwatch status --run ", run,
                     " shows it; midwatch run --reattach ", basename(run), " watches it again.");
    return fence;
  }
  if (fence.lock) remove_old_starts(disk, locks, processes, now, folder);
  return fence;
}

}  // namespace mw
