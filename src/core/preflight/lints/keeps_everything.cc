// Old checkpoints are never deleted.
#include <algorithm>

#include "base/numbers.h"
#include "base/text.h"
#include "core/preflight/estimate.h"
#include "core/preflight/lint.h"
#include "core/preflight/values.h"

namespace mw::preflight {
namespace {

constexpr double kManySaves = 30;  // that fit: where the number of saves is not known, so many are enough

/// Of the disk that checkpoints go to; nullptr: not seen.
const DiskSpace* checkpoint_disk_of(const Facts& facts) {
  for (const DiskSpace& disk : facts.host.disks) {
    if (disk.what == "checkpoints") return &disk;
  }
  return nullptr;
}

void check_kept(const Facts& facts, const Lint& lint, std::vector<Finding>& out) {
  if (!saves_checkpoints(facts).value_or(false)) return;
  const Value keep = value_of(facts, "checkpoint_keep");
  if (keep.number.value_or(0) > 0 || (keep.setting != nullptr && keep.setting->unsure)) return;
  if (truth_of(facts, "checkpoint_overwrites").value_or(false)) return;
  const auto size = checkpoint_size(facts);
  const DiskSpace* disk = checkpoint_disk_of(facts);
  const double steps = number_of(facts, "steps_limit").value_or(0),
               every = number_of(facts, "checkpoint_every").value_or(0);
  const double count = steps > 0 && every > 0 ? steps / every : 0;
  const std::string how = keep.set           ? cat(keep.key, " = ", keep.text)
                          : keep.key.empty() ? "there is no setting to limit them"
                                             : cat(keep.key, " is not set");
  const std::string fix =
      keep.key.empty() ? "delete old ones while the run goes on" : cat("set ", keep.key, " to 3, say");
  if (!size.has_value() || disk == nullptr) return;
  const double fit = size->bytes > 0 ? disk->free / size->bytes : 0;
  if (count > 0 ? count * size->bytes <= disk->free : fit >= kManySaves) return;
  out.push_back(finding_at(lint, Level::kWarning,
                           keep.setting != nullptr ? keep.setting : value_of(facts, "checkpoint_every").setting,
                           cat("every checkpoint is kept (", how, "): about ", format_bytes(size->bytes), " each (",
                               size->how, "), and ", disk->folder, " has ", format_bytes(disk->free),
                               " free, which is full after ", std::max<int64_t>(0, static_cast<int64_t>(fit)),
                               count > 0 ? cat(" of ", format_short(count), " saves") : " saves"),
                           fix));
}

}  // namespace

namespace lints {
extern const Lint keeps_everything;
const Lint keeps_everything = {
    "keeps-everything",
    Level::kWarning,
    "All checkpoints are kept, and the disk is full before the run ends.",
    "A save onto a full disk fails, ends the run, and leaves half a checkpoint, from which a resume fails as well.",
    "a prime-rl run of 2026-01 (47 GB a step on a disk with 65 GB free); the frameworks' defaults",
    check_kept};
}  // namespace lints

}  // namespace mw::preflight
