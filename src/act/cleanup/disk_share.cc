#include "act/cleanup/disk_share.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"

namespace mw {
namespace {

/// Bytes that must go before less than the share is used; none: that is so.
double above(const Space& space, double share) {
  const auto size = static_cast<double>(space.size);
  return size - static_cast<double>(space.free) - share * size;
}

std::string percent(double share) { return cat(format_short(100 * std::clamp(share, 0.0, 1.0), 3), " %"); }

struct Filled {
  double need = 0;       ///< bytes
  double may_go = 0;     ///< likewise, by the plan
  std::string sentence;  ///< for a person
};

}  // namespace

bool is_above_share(System& system, const std::vector<std::string>& roots, double share) {
  return share > 0 && share < 1 && std::any_of(roots.begin(), roots.end(), [&](const std::string& root) {
           const auto space = system.space(root);
           return space.ok() && above(*space, share) > 0;
         });
}

void keep_what_share_needs(Disk& disk, System& system, const std::vector<std::string>& roots, double share,
                           CleanupPlan& plan) {
  const auto device_of = [&disk](const std::string& folder) {
    const auto info = disk.info(folder);
    return info.ok() ? std::optional(info->device) : std::nullopt;
  };
  std::map<uint64_t, Filled> disks;
  for (const std::string& root : roots) {
    const auto space = system.space(root);
    const auto device = device_of(root);
    if (!space.ok() || !device || above(*space, share) <= 0) continue;
    const double used = 1 - static_cast<double>(space->free) / static_cast<double>(space->size);
    disks[*device] = {above(*space, share), 0,
                      cat("The disk of ", root, " is ", percent(used), " full, more than the ", percent(share),
                          " of disk_share of [cleanup]")};
  }
  plan.above_share = !disks.empty();
  std::vector<std::pair<CleanupItem, uint64_t>> there;
  std::vector<CleanupItem> kept;
  for (CleanupItem& item : plan.items) {
    const auto device = device_of(item.root);
    if (item.unfinished) kept.push_back(item);
    if (item.unfinished || !device || disks.count(*device) == 0) continue;
    disks[*device].may_go += static_cast<double>(item.bytes);
    there.emplace_back(std::move(item), *device);
  }
  for (auto& [item, device] : there) {
    Filled& filled = disks[device];
    if (filled.may_go < filled.need || filled.need <= 0) continue;
    if (!filled.sentence.empty()) plan.notes.push_back(std::exchange(filled.sentence, ""));
    filled.need -= static_cast<double>(item.bytes);
    filled.may_go -= static_cast<double>(item.bytes);
    kept.push_back(std::move(item));
  }
  plan.items = std::move(kept);
}

}  // namespace mw
