// What the checkpoints that midwatch itself quarantined take of a disk.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "platform/disk.h"

namespace mw {

struct QuarantineRoom {
  std::string folder;          ///< beside checkpoints
  int64_t bytes = 0;           ///< of what has a manifest
  std::set<std::string> runs;  ///< names of those whose they are
};

/// One for each of `roots` with a quarantine, as far as it lies on the disk of `place`.
std::vector<QuarantineRoom> quarantine_room(Disk& disk, const std::vector<std::string>& roots,
                                            const std::string& place);

/// For a person who has to free `wanted` bytes: where they are and the command that frees them, in one clause; "" where
/// they would be no relevant part of that.
std::string quarantine_words(const std::vector<QuarantineRoom>& rooms, int64_t wanted);

}  // namespace mw
