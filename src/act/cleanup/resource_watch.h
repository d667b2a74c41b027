// Checks now and then, off the watch's thread, which files in /dev/shm and which Ray sessions the run's processes hold,
// and records them in the resource ledger, so that they are known to be the run's when the processes are dead.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "act/cleanup/cleanup_plan.h"
#include "act/cleanup/resource_ledger.h"
#include "core/task.h"
#include "platform/background_call.h"
#include "platform/clock.h"
#include "platform/disk.h"

namespace mw {

class ResourceWatch final : public Task {
 public:
  static constexpr Duration kEvery = Duration::seconds(2);      ///< between checks of the names in /dev/shm
  static constexpr Duration kRayEvery = Duration::seconds(60);  ///< between searches for Ray sessions
  static constexpr Duration kYoung =
      Duration::seconds(180);            ///< age of an attempt up to which each check searches for Ray sessions
  static constexpr int kSparing = 1000;  ///< pause after a check, in multiples of its cost: 0.1 % of a core
  static constexpr int kTries = 3;       ///< checks without a holder after which a file counts as not the run's

  struct Scope {
    std::shared_ptr<Disk> disk;
    std::shared_ptr<System> system;
    std::shared_ptr<Processes> processes;
    int64_t user = -1;
    std::string run_folder;
    std::string shared;           ///< the folder of shared memory; "": it is not checked
    bool ray = true;              ///< search for Ray sessions
    std::function<bool()> holds;  ///< a process of the run is alive
    std::function<Result<void>(const std::string& path, std::string_view text)> write;
  };

  ResourceWatch(Clock& clock, Scope scope);
  std::optional<Duration> turn(const State& state, bool quiet, EventWriter& writer) override;

 private:
  struct Answer {
    ResourceSnapshot snapshot;
    Duration cost;  ///< of a core
  };
  void begin(Duration now);
  void take(Answer answer);

  Clock& clock_;
  Scope scope_;
  std::vector<HeldResource> known_;
  std::map<uint64_t, int> in_vain_;  // by inode, checks that found no holder
  std::vector<uint64_t> ignored_;    // inodes for which kTries checks found no holder
  std::optional<Duration> ray_;      // when Ray sessions were last searched for
  Duration due_;                     // when to check next
  Duration began_;                   // when this attempt was first seen
  bool held_ = false;                // a process of the run was alive at the last turn
  bool unwritten_ = false;
  BackgroundCall<std::unique_ptr<Answer>> checking_;
};

/// For the real machine, as `settings` say; nullptr where `settings` allow neither shared memory nor Ray sessions.
std::unique_ptr<ResourceWatch> watch_resources(
    Clock& clock, const std::string& run_folder, const CleanupSettings& settings, std::function<bool()> holds,
    std::function<Result<void>(const std::string& path, std::string_view text)> write);

}  // namespace mw
