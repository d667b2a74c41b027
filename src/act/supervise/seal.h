// Files by which one midwatch steers the next ("stop", "paused", a person's leave) count only when midwatch wrote them:
// one that a script made by accident, or a trainer by its own, changes nothing.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "platform/disk.h"

namespace mw {

/// Random letters that nobody guesses.
std::string random_nonce();

/// What such a file holds: the run's nonce, what it is, and when it was written.
std::string seal_text(std::string_view nonce, std::string_view what, Time at);

enum class Seal {
  kNone,     ///< there is no such file
  kOurs,     ///< midwatch wrote it; any file counts in a run without a nonce, which an older midwatch began
  kForeign,  ///< somebody else did: it counts for nothing
};
/// An error: that cannot be told, as the file cannot be read.
Result<Seal> seal_of(Disk& disk, const std::string& path, std::string_view nonce);

/// Is there such a file? An error: that cannot be told, which is not the same as no.
Result<bool> is_there(Disk& disk, const std::string& path);

}  // namespace mw
