#include "act/cleanup/quarantine_wait.h"

#include <algorithm>

#include "base/text.h"

namespace mw {
namespace {

using How = event::CheckpointSeen::How;

/// Of those that were moved; kNoStep: no name says it.
int64_t highest(const QuarantineManifest& of, const CheckpointLayout& layout) {
  int64_t highest = kNoStep;
  for (const QuarantineManifest::Item& item : of.items)
    highest = std::max(highest, step_in(layout.folder, item.name).value_or(kNoStep));
  return highest;
}

/// Whatever is left of it.
bool is_all_broken(Disk& disk, const QuarantineManifest& of) {
  return std::all_of(of.items.begin(), of.items.end(), [&](const QuarantineManifest::Item& item) {
    const CheckpointScan scan = scan_checkpoint(disk, path_seen_from(of.root, item.to), kNoStep, nullptr);
    return !scan.there || scan.seen.how == How::kBroken;
  });
}

}  // namespace

std::string why_it_waits(Disk& disk, const QuarantineManifest& of, const CheckpointLayout& layout, int64_t newest,
                         const CheckpointScan& whole, Time now, bool is_short) {
  const int64_t far = highest(of, layout);
  if (newest >= far && whole.seen.how == How::kWhole && whole.newest > of.at) return "";
  if (now.ns - of.at.ns > kQuarantineStays.ns) return "";
  if (is_short && is_all_broken(disk, of)) return "";
  const std::string what =
      far == kNoStep ? "a later checkpoint" : cat(checkpoint_called(layout, far), " or a later one");
  return cat("it stays until ", what, " is saved whole, or for ", kQuarantineDays, " days");
}

}  // namespace mw
