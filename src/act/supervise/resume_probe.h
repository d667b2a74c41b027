// Looks, between two attempts, at what there is on the disk to resume from, off the loop's thread: a disk that does not
// answer holds up a restart for a while, and not for ever.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/background_call.h"
#include "platform/clock.h"
#include "platform/disk.h"
#include "sense/checkpoints/last_whole.h"

namespace mw {

class ResumeProbe {
 public:
  static constexpr Duration kLongest = Duration::seconds(120);  ///< then the trainer's word is believed

  ResumeProbe(Clock& clock, std::shared_ptr<Disk> disk) : clock_(clock), disk_(std::move(disk)) {}

  /// As find_last_whole(); empty while the answer is out: ask again, with the same words.
  std::optional<LastWhole> ask(const std::vector<std::string>& roots, const CheckpointLayout& layout, int64_t before,
                               const std::set<std::string>& skip, const UnsoundReads& unsound);

  /// ask(), for SupervisorDoors::last_whole. Lives as long as this does.
  auto door() {
    return [this](const std::vector<std::string>& roots, const CheckpointLayout& layout, int64_t before,
                  const std::set<std::string>& skip,
                  const UnsoundReads& unsound) { return ask(roots, layout, before, skip, unsound); };
  }

 private:
  Clock& clock_;
  std::shared_ptr<Disk> disk_;
  Duration since_;
  bool given_up_ = false;  // the call that never came back is still out
  BackgroundCall<LastWhole> aside_;
};

}  // namespace mw
