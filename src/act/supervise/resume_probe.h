// Looks, between two attempts, at what there is on the disk to resume from, off the loop's thread: a disk that does not
// answer holds up a restart for a while, and not for ever.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/background_call.h"
#include "platform/clock.h"
#include "platform/disk.h"
#include "platform/system.h"
#include "sense/checkpoints/last_whole.h"

namespace mw {

class ResumeProbe {
 public:
  static constexpr Duration kLongest = Duration::seconds(120);  ///< then the trainer's word is believed

  /// For which it waits until nobody writes what counts: another run may save into the same folder.
  static constexpr Duration kWriting = Duration::seconds(60);

  /// `system`: who has files open to write; nullptr: not asked. `say`: one sentence for the person.
  ResumeProbe(Clock& clock, std::shared_ptr<Disk> disk, std::shared_ptr<System> system = nullptr,
              std::function<void(const std::string& sentence)> say = nullptr)
      : clock_(clock), disk_(std::move(disk)), system_(std::move(system)), say_(std::move(say)) {}

  /// As find_last_whole(); empty while the answer is out: ask again, with the same words.
  std::optional<LastWhole> ask(const std::vector<std::string>& roots, const CheckpointLayout& layout, int64_t before,
                               const std::set<std::string>& skip, const EarlierFindings& earlier);

  /// ask(), for SupervisorDoors::last_whole. Lives as long as this does.
  auto door() {
    return [this](const std::vector<std::string>& roots, const CheckpointLayout& layout, int64_t before,
                  const std::set<std::string>& skip,
                  const EarlierFindings& earlier) { return ask(roots, layout, before, skip, earlier); };
  }

 private:
  static constexpr Duration kAgain = Duration::millis(500);

  Clock& clock_;
  std::shared_ptr<Disk> disk_;
  std::shared_ptr<System> system_;
  std::function<void(const std::string&)> say_;
  Duration since_;
  std::optional<Duration> writing_since_;  // somebody writes what counts
  Duration again_;                         // before that it is not asked again
  bool given_up_ = false;                  // the call that never came back is still out
  BackgroundCall<LastWhole> aside_;
};

}  // namespace mw
