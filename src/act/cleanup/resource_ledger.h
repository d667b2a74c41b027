// What a run's processes were seen to hold outside of the run's own folders, in /dev/shm and in Ray's temporary folder:
// the proof, once they are dead, that midwatch may delete it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "act/supervise/keeper_sessions.h"
#include "base/result.h"
#include "platform/disk.h"
#include "platform/process.h"
#include "platform/system.h"

namespace mw {

inline constexpr std::string_view kResourceLedgerFile = "resources.json";      ///< in a run's folder
inline constexpr std::string_view kOldResourceLedgerFile = "belongings.json";  ///< of midwatch 0.1; still read

struct HeldResource {
  enum class What { kShared, kRay };
  What what = What::kShared;
  std::string folder, name;  ///< absolute; where it is
  uint64_t device = 0, inode = 0;
  int64_t born_ns = 0;  ///< 0 where the file system does not know
  std::string place;    ///< the keeper below which it was last seen held (KeeperSession::place)
  std::string boot;     ///< id of the machine's boot at that time
  bool operator==(const HeldResource&) const = default;
};

/// The text of the ledger in `run_folder`, under its present or its old name.
Result<std::string> read_resource_ledger(Disk& disk, const std::string& run_folder);
std::string resource_ledger_text(const std::vector<HeldResource>& all);
/// kInvalid with what is wrong.
Result<std::vector<HeldResource>> parse_resource_ledger(std::string_view text);

/// The library that names shared memory like this ("PyTorch", "Python", "NCCL", …), when it creates such files for one
/// life of its processes and never opens them again. "" for any other name: it may be data that somebody keeps there on
/// purpose.
std::string_view maker_of(std::string_view name);
/// "session_2026-02-19_09-08-11_123456_4711", as Ray names a session's folder (python/ray/_private/node.py).
bool is_ray_session(std::string_view name);
/// The folders of such sessions that are named in a command line (its arguments with NUL between).
std::vector<std::string> ray_sessions_in(std::string_view words);

struct ResourceDoors {
  Disk& disk;
  System& system;
  Processes& processes;
  int64_t user = -1;  ///< only files of this user count
};

struct ResourceSnapshot {
  std::vector<HeldResource> all;  ///< those known before that are still there, and new ones
  std::vector<uint64_t> unknown;  ///< inodes of shared memory that might be the run's, and that no process of it holds
};

/// Lists the folder `shared`. If it has new files, which are neither in `known` nor in `ignored`, finds out which of
/// them the processes below the run's keepers hold. `ray`: searches for Ray sessions, too.
ResourceSnapshot find_resources(const ResourceDoors& doors, const std::string& run_folder, const std::string& shared,
                                const std::vector<HeldResource>& known, const std::vector<uint64_t>& ignored, bool ray);

}  // namespace mw
