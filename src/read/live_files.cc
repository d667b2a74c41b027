// Which files of a folder are of the run that is watched live, where logs of several lie in it.
#include <algorithm>

#include "core/mixed_runs.h"
#include "read/folder_runs.h"
#include "read/older_runs.h"
#include "read/part_order.h"
#include "read/run_reader.h"
#include "read/shown_files.h"

namespace mw {
namespace {

constexpr int64_t kReadTwice = int64_t{256} << 20;  // bytes in all that are read beforehand, for whose they are

constexpr Duration kQuietByClocks = Duration::seconds(26 * 3600);  // the clocks of two zones lie less apart

}  // namespace

/// Live there is one run in a folder: that of the log which is being written. What a journal has was of it before.
void RunReader::leave_out_older_runs(std::vector<FoundFile>& files) {
  if (clock_ == nullptr || recorder_ == nullptr || shared_.keeper_nonce || files.size() < 2) return;
  std::vector<std::string> paths;
  int64_t bytes = 0;
  for (const FoundFile& file : files) {
    paths.push_back(file.path);
    paths.insert(paths.end(), file.older.begin(), file.older.end());
    bytes += file.info.size;
  }
  if (bytes > kReadTwice || std::all_of(files.begin(), files.end(), [](const auto& file) { return file.named; }))
    return;
  RunReader before(disk_, knowledge_, Judge::kAtClose, nullptr, {});
  before.shared_.zone = shared_.zone;
  if (!before.open(paths, "").ok()) return;
  before.read_all({});
  for (const std::string& path : older_runs(before.state(), files)) {
    const auto is_it = [&path](const auto& file) { return file.path == path; };
    const auto& known = recorder_->sources();
    if (std::any_of(known.begin(), known.end(), [&](const auto& one) { return one.second.path == path; })) continue;
    const auto file = std::find_if(files.begin(), files.end(), is_it);
    if (file == files.end()) continue;
    left_out_[path] = file->info.changed;
    files.erase(file);
  }
}

/// Where a log was rotated since an earlier watch began to read it: the parts from the one that it began with on. They
/// are read again, so that nothing is lost that was written while nobody watched.
std::vector<std::string> RunReader::parts_in_journal(const FoundFile& file) {
  if (recorder_ == nullptr) return {};
  const auto known = recorder_->sources().find(number_of(file.path));
  if (known == recorder_->sources().end() || known->second.events == 0) return {};
  const auto began_with = [&](const std::string& path) {
    const auto like = begins_like(disk_, path, known->second.head_hash, known->second.head_bytes);
    return like.ok() && *like;
  };
  if (began_with(file.path)) return {};
  std::vector<std::string> parts = parts_beside(disk_, file.path);
  parts.erase(parts.begin(), std::find_if(parts.begin(), parts.end(), began_with));
  return parts;
}

std::vector<std::string> RunReader::left_out() const {
  std::vector<std::string> paths;
  for (const auto& [path, changed] : left_out_) paths.push_back(path);
  return paths;
}

/// Of two runs' logs in one folder the later one is the run that is watched: with its first record an attempt begins.
void RunReader::begin_another(const Event& event) {
  const auto* const measured = std::get_if<event::Measured>(&event.body);
  if (measured == nullptr || measured->eval || measured->step == kNoStep) return;
  if (beside_.erase(event.where.source) == 0) return;
  const auto last_written = [this](const std::string& path) {
    const auto info = disk_.info(path);
    return info.ok() ? info->changed : Time();
  };
  const Time now = last_written(state_.sources[event.where.source].path);
  // A file that was copied is as new as its copy: its own clocks show how old it is, by days whatever their zones are.
  const auto ended_before = [&](const SourceState& source) {
    return source.last_at.known() && event.at.known() && event.at - source.last_at >= kQuietByClocks;
  };
  const auto quiet = [&](const std::string& path) {
    const bool by_clocks = std::any_of(state_.sources.begin(), state_.sources.end(), [&](const SourceState& source) {
      return source.path == path && ended_before(source);
    });
    return by_clocks || now - last_written(path) >= kQuiet;
  };
  if (begins_another_run(state_, event.where.source, *measured, quiet))
    put({event.at, event.where, event::AttemptBegan{std::string(kAnotherLog)}});
}

}  // namespace mw
