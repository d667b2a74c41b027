// Deletes one thing that a plan chose, if all that spoke for it still holds.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "act/cleanup/cleanup_plan.h"
#include "platform/disk.h"
#include "platform/remove_tree.h"
#include "platform/system.h"

namespace mw {

/// What deleting needs of the machine.
struct RemovalDoors {
  Disk& disk;
  System& system;
  /// remove_tree() of platform/remove_tree.h.
  std::function<Result<Removed>(const std::string& root, const std::string& below, const Identity* only)> remove_tree;
  std::function<void(const std::string& folder)> remove_empty;  ///< rmdir(2)
};

/// Deletes the item if it still is what was checked and nobody uses it by now. Errors as of remove_tree(). A checkpoint
/// or a quarantine gets another name first, under which no trainer looks for one, so that no part of it is taken for
/// it; before that its grounds are checked again. What was cut short after that is planned as unfinished. An unfinished
/// one that turns out to be another thing than the one that was to go gets its name back.
Result<Removed> remove_item(const RemovalDoors& doors, const CleanupItem& item);
/// Likewise on this machine.
Result<Removed> remove_item(System& system, const CleanupItem& item);

/// The folder, beside what goes or beside the root of it (own_folders.h), in which it lies until all of it is gone.
inline constexpr std::string_view kRemovingFolder = ".midwatch-removing";

/// What lies there under `name` was called so before, and is that thing; inode 0: an earlier midwatch did not say.
struct Removing {
  std::string name;
  Identity only;
};
Removing removing_of(std::string_view name);

}  // namespace mw
