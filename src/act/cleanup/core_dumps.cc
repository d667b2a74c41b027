#include "act/cleanup/core_dumps.h"

#include <set>
#include <string>

#include "act/supervise/keeper_sessions.h"
#include "base/text.h"
#include "platform/paths.h"
#include "sense/host/core_file.h"

namespace mw {
namespace {

constexpr size_t kCores = 64;  // of one folder

/// Sessions of all supervised commands: each command leads one, whose id is the command's pid.
std::set<int64_t> sessions_of(Disk& disk, const std::string& run_folder) {
  std::set<int64_t> sessions;
  for (const KeeperSession& session : keeper_sessions(disk, run_folder)) {
    if (session.kept.child.pid > 1) sessions.insert(session.kept.child.pid);
  }
  return sessions;
}

}  // namespace

void plan_core_dumps(Disk& disk, const CleanupScope& scope, CleanupPlan& plan) {
  const std::set<int64_t> sessions = sessions_of(disk, scope.run_folder);
  std::set<std::string> folders(scope.roots.begin(), scope.roots.end());
  folders.insert(scope.folder);
  for (const std::string& folder : folders) {
    const auto names = disk.list(folder);
    if (!names.ok() || !check_root(folder).ok()) continue;
    size_t seen = 0;
    for (const std::string& name : *names) {
      if (!name.starts_with("core") && !contains(name, "core.")) continue;
      const auto info = disk.info(cat(folder, "/", name));
      if (!info.ok() || info->kind != FileInfo::Kind::kFile || ++seen > kCores) continue;
      auto file = disk.open_read(cat(folder, "/", name));
      std::string head;
      if (!file.ok() || !(*file)->read_at(0, host::kCoreHead, head).ok()) continue;
      const auto core = host::parse_core_head(head);
      if (!core || sessions.count(core->session) == 0) continue;
      plan.items.push_back({std::string(kCoreDumps), folder, name, info->size,
                            cat("the core dump of ", core->program, ", process ", core->pid, " of this run"),
                            identity_of(*info)});
    }
  }
}

}  // namespace mw
