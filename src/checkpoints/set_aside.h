// Going back to a checkpoint from before the trouble: later ones are moved aside and the pointer is set back, so that
// the framework's own resume takes the right one. Nothing is deleted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/checkpoint_layout.h"
#include "core/event.h"
#include "platform/disk.h"

namespace mw {

/// The folder, beside the checkpoints, into which suspect ones are moved.
inline constexpr std::string_view kAsideFolder = "set-aside-by-midwatch";

/// Steps of the checkpoints in `root`, ascending; other names there do not count.
Result<std::vector<int64_t>> checkpoint_steps(Disk& disk, const std::string& root, const CheckpointLayout& layout);

/// What the pointer says, without blanks around it; nullopt when there is none that can be read.
std::optional<std::string> read_pointer(Disk& disk, const std::string& root, const CheckpointLayout& layout);

struct SetAside {
  int64_t kept = kNoStep;      ///< the highest step that stays; kNoStep: none, the framework will begin from nothing
  std::vector<int64_t> moved;  ///< ascending; empty when there was nothing to move (any more)
};

/// Moves the checkpoints of `from` and later steps into root/set-aside-by-midwatch/`label`, and has the pointer name
/// the highest one before, first. Done again after it was cut short, it finishes. A pointer that names nothing that is
/// there is set right, too. Errors: the disk's; kInvalid for a root that midwatch refuses ("/", no folder).
Result<SetAside> set_aside(Disk& disk, const std::string& root, const CheckpointLayout& layout, int64_t from,
                           const std::string& label);

}  // namespace mw
