// In which zone the clock of a live log is.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "platform/disk.h"
#include "platform/time_zone.h"

namespace mw {

/// Compares the last clock in the file with the time at which the file was written (zone_of_clock()), once, when the
/// first clock without a zone comes.
class ClockZone {
 public:
  /// nullptr: there is nothing to find.
  ClockZone(Disk* disk, std::string path) : disk_(disk), path_(std::move(path)) {}
  /// Of text that is about to be read. Set once at the most.
  std::optional<TimeZone> find(std::string_view bytes);

 private:
  Disk* disk_;  // nullptr: there is nothing more to find
  std::string path_;
};

}  // namespace mw
