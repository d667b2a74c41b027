// What a run's processes were seen to hold outside of the run's own folders, in /dev/shm and in Ray's temporary folder:
// the proof, once they are dead, that it is the run's to remove.
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
  std::string boot;     ///< which start of the machine that was
  bool operator==(const HeldResource&) const = default;
};

/// The text of the ledger in `run_folder`, under its present or its old name.
Result<std::string> read_resource_ledger(Disk& disk, const std::string& run_folder);
std::string resource_ledger_text(const std::vector<HeldResource>& all);
/// kInvalid with what is wrong.
Result<std::vector<HeldResource>> parse_resource_ledger(std::string_view text);

/// Whose shared memory is called so, by the pattern that a library gives to what it makes for one life of its processes
/// and never looks for again: "PyTorch", "Python", "NCCL", …. "" for any other name: it may be data that somebody put
/// there to be found again.
std::string_view maker_of(std::string_view name);
/// "session_2026-02-19_09-08-11_123456_4711", as Ray names a session's folder (python/ray/_private/node.py).
bool is_ray_session(std::string_view name);
/// The folders of such sessions that the words of a command line (with NUL between) name.
std::vector<std::string> ray_sessions_in(std::string_view words);

struct ResourceDoors {
  Disk& disk;
  System& system;
  Processes& processes;
  int64_t user = -1;  ///< whose files count
};

struct ResourceSnapshot {
  std::vector<HeldResource> all;  ///< those known before that are still there, and new ones
  std::vector<uint64_t> unknown;  ///< inodes of shared memory that might be the run's, and that no process of it holds
};

/// Looks at what lies in `shared`, and at the processes below the run's keepers when there is something new among it
/// that is not in `known` or `ignored`. `ray`: look for sessions of Ray's, too.
ResourceSnapshot find_resources(const ResourceDoors& doors, const std::string& run_folder, const std::string& shared,
                                const std::vector<HeldResource>& known, const std::vector<uint64_t>& ignored, bool ray);

}  // namespace mw
