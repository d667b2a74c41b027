// Stale resources: what dead processes of a run left in /dev/shm and in Ray's temporary folder, and which of it is
// proven to be used by nobody.
#pragma once

#include <string>
#include <string_view>

#include "act/cleanup/cleanup_plan.h"
#include "platform/disk.h"

namespace mw {

inline constexpr std::string_view kSharedMemory = "shared-memory", kRaySessions = "ray-sessions";

/// Adds the resources of the kind `word` (one of the two above) to `plan`.
///
/// Shared memory is deleted when all of this holds: a library of kMakers named it so (resource_ledger.h), which creates
/// it anew and never opens one that it left; a process of this run was seen to hold this very file (device, inode,
/// birth); it was made after that attempt began; the attempt and all that it started have ended; the file is this
/// user's and has one name; and nobody on this machine, in whatever container, has it open or mapped, by the kernel's
/// own count.
///
/// A Ray session is deleted when: a raylet or GCS of this run was seen to run it; the folder (device, inode, birth) is
/// the one it ran in, made after the attempt began; the attempt and all that it started have ended; no live process
/// and no socket uses it; and nothing in its logs has changed for two minutes (a live raylet writes its state
/// there every 10 s, also one that cannot be seen from here).
void plan_stale_resources(Disk& disk, const CleanupDoors& doors, const CleanupScope& scope, const std::string& word,
                          const std::string& shared, CleanupPlan& plan);

/// Who still uses the Ray session of this name, in words; "" when nobody does.
std::string use_of_session(System& system, const std::string& name);

}  // namespace mw
