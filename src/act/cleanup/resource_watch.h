// Looks now and then, beside the watch and off its thread, at what the run's processes hold in /dev/shm and of Ray's
// sessions, and writes it down, so that it is known as the run's when they are dead.
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
  static constexpr Duration kEvery = Duration::seconds(2);      ///< between looks at the names in /dev/shm
  static constexpr Duration kRayEvery = Duration::seconds(60);  ///< between looks for Ray's sessions
  static constexpr Duration kYoung = Duration::seconds(180);    ///< an attempt in which Ray is looked for each time
  static constexpr int kSparing =
      400;  ///< a look that took long is not repeated for so many times as long: 0.25 % of a core
  static constexpr int kTries = 3;  ///< looks in vain after which a file counts as nobody's of the run

  struct Scope {
    std::shared_ptr<Disk> disk;
    std::shared_ptr<System> system;
    std::shared_ptr<Processes> processes;
    int64_t user = -1;
    std::string run_folder;
    std::string shared;           ///< the folder of shared memory; "": none is looked at
    bool ray = true;              ///< look for Ray's sessions
    std::function<bool()> holds;  ///< a process of the run lives
    std::function<Result<void>(const std::string& path, std::string_view text)> write;
  };

  ResourceWatch(Clock& clock, Scope scope);
  std::optional<Duration> turn(const State& state, bool quiet, EventWriter& writer) override;

 private:
  struct Answer {
    ResourceSnapshot look;
    Duration took;
  };
  void begin(Duration now);
  void take(Answer answer);

  Clock& clock_;
  Scope scope_;
  std::vector<HeldResource> known_;
  std::map<uint64_t, int> in_vain_;  // by inode, looks that found no holder
  std::vector<uint64_t> ignored_;    // inodes of which kTries looks found none
  std::optional<Duration> ray_;      // when Ray's sessions were last looked for
  Duration due_;                     // when to look next
  Duration began_;                   // this attempt, as far as it was seen
  bool held_ = false;                // a process of the run lived at the last turn
  bool unwritten_ = false;
  BackgroundCall<std::unique_ptr<Answer>> aside_;
};

/// Over this machine itself, as `settings` say; nullptr where nothing of it may go anyway.
std::unique_ptr<ResourceWatch> watch_resources(
    Clock& clock, const std::string& run_folder, const CleanupSettings& settings, std::function<bool()> holds,
    std::function<Result<void>(const std::string& path, std::string_view text)> write);

}  // namespace mw
