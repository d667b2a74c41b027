// Who writes the files of a run that is only read, and whether they still live: a log that ends because its writer was
// killed looks like one of a run that thinks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/knowledge.h"
#include "core/task.h"
#include "platform/clock.h"
#include "platform/open_files.h"
#include "platform/process.h"

namespace mw {

/// Finds the processes of this machine that have a file of the run open to write it. When all of them are gone and
/// nobody else has one open, the attempt has ended, unless the log says so itself. Children that outlive the process
/// which they inherited the file from (engines, data loaders) keep it open: they do not count once they are silent.
/// Nothing is concluded where no writer was seen (the file may be written on another machine), nor from the end of a
/// program that only fetches what is written elsewhere (kubectl logs, ssh).
class FileWriters final : public Task {
 public:
  static constexpr Duration kCheck = Duration::seconds(1);    ///< between checks whether they live
  static constexpr Duration kSearch = Duration::seconds(60);  ///< between searches, which read of every process
  /// The same while nobody is known and files grow; each that finds nobody waits twice as long, at most kRarely.
  static constexpr Duration kSoon = Duration::seconds(5), kRarely = Duration::seconds(600);
  static constexpr Duration kLate = Duration::seconds(2);   ///< within which what they wrote is still read
  static constexpr Duration kLived = Duration::seconds(5);  ///< that a writer has to be seen to live: others only copy
  static constexpr Duration kOrphans = Duration::seconds(60);  ///< of silence, from which on orphans do not count

  struct Scope {
    const Knowledge& knowledge;
    std::function<std::vector<ProcessInfo>()> all;
    std::function<Result<ProcessInfo>(int64_t pid)> info;
    std::function<Result<std::vector<OpenFile>>(int64_t pid)> files;
    std::function<std::string(const std::string& path)> real;  ///< as /proc shows it: absolute, no link in it
    std::function<void(const std::string& sentence)> say;
    int64_t self = 0;  ///< midwatch's own pid
  };
  FileWriters(Clock& clock, Scope scope) : clock_(clock), scope_(std::move(scope)) {}

  std::optional<Duration> turn(const State& state, bool quiet, EventWriter& writer) override;

 private:
  struct Writer {
    ProcessInfo process;
    std::string path;
    Duration since;  ///< seen to have it open
  };
  void search(const State& state);
  void keep_tops(std::vector<Writer> found);
  bool lives() const;
  void report(const State& state, EventWriter& writer);

  Clock& clock_;
  Scope scope_;
  std::vector<Writer> writers_;      ///< those that no other one started
  std::vector<ProcessId> children_;  ///< the others, and those of them that are left
  Duration checked_, searched_;      ///< by the steady clock; 0: not yet
  Duration pause_ = kSoon;
  bool silent_ = false;  ///< nothing was written for kSearch
  Duration gone_;        ///< since when nobody has a file open who had; 0: somebody has, or nobody had
};

}  // namespace mw
