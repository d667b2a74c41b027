// Room on a disk that is too full to quarantine anything: of what is to be quarantined the broken checkpoints go at
// once, where [cleanup] may delete such by itself.
#pragma once

#include <functional>
#include <string>

#include "act/cleanup/cleanup_plan.h"
#include "core/checkpoint_layout.h"
#include "core/event_writer.h"
#include "platform/disk.h"
#include "platform/remove_tree.h"
#include "sense/checkpoints/quarantine.h"

namespace mw {

struct BrokenRoom {
  Disk& disk;
  const CleanupSettings& settings;
  std::function<Result<Removed>(const CleanupItem& item)> remove;  ///< of remove_item.h
  std::function<void(const std::string& sentence)> say;
};

/// Deletes those of `plan` that a scan finds broken now, each recorded before it is done. Nothing where the settings
/// delete no broken checkpoints by themselves, or where the one that the run goes back to is not proven whole. `plan`
/// holds only what is proven to be the run's own. Was anything deleted?
bool remove_broken(const BrokenRoom& room, const CheckpointLayout& layout, const QuarantinePlan& plan,
                   EventWriter& writer);

}  // namespace mw
