// The rotated parts of a log ("train.log.1", "train.log.2"), and which of them is the oldest.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/event.h"
#include "platform/disk.h"

namespace mw {

/// "train.log.3" → ("train.log", 3); 0 when `path` is not the name of a rotated part.
std::pair<std::string_view, int64_t> rotated_part(std::string_view path);

struct RotatedPart {
  int64_t number = 0;
  std::string path;
  Time changed;
  uint64_t device = 0, inode = 0;  ///< 0: not known
};
/// Those that lie beside the log, in no order; none that is packed.
std::vector<RotatedPart> rotated_beside(Disk& disk, const std::string& log);

/// Sorts the parts of a log, the oldest first, by what they hold. logrotate and its kin move each part one number
/// further, so that the highest one is the oldest; where nothing shows another order, this one is taken. Others (the
/// output of midwatch's own runs, too) give each part the next number. `changed`: when the log itself was.
void sort_oldest_first(Disk& disk, std::vector<RotatedPart>& parts, Time changed);

/// The paths of rotated_beside(), the oldest first.
std::vector<std::string> parts_beside(Disk& disk, const std::string& log);

/// The step that a line names, as in "step:12", "Step 12 |", "\"global_step\": 12"; kNoStep where it names none.
int64_t step_named(std::string_view line);

/// Does the file begin with these bytes (by their hash and number)? An error: not to be said now, as it cannot be read.
Result<bool> begins_like(Disk& disk, const std::string& path, uint64_t head_hash, int64_t head_bytes);

}  // namespace mw
