#include "act/cleanup/stale_resources.h"

#include <algorithm>
#include <set>

#include "act/cleanup/resource_ledger.h"
#include "act/supervise/keeper_sessions.h"
#include "base/text.h"
#include "platform/durable.h"
#include "platform/paths.h"
#include "platform/uses.h"

namespace mw {
namespace {

constexpr Duration kQuiet = Duration::seconds(120);  // for a session's logs
constexpr size_t kCounted = 200'000;                 // files whose sizes are added up
constexpr std::string_view kRayFolder = "/tmp/ray";  // where Ray has its sessions by default
constexpr size_t kLeft = 32;                         // files that stay and are reported, of one kind
constexpr int kDepth = 32;                           // folders in folders

/// Bytes on the disk of all that is in a folder; what cannot be read counts nothing.
int64_t bytes_in(System& system, const std::string& folder, size_t& counted, int depth = 0) {
  const auto names = system.names(folder);
  int64_t bytes = 0;
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    if (++counted > kCounted) break;
    const auto entry = system.entry(cat(folder, "/", name));
    if (!entry.ok()) continue;
    bytes += entry->bytes;
    if (entry->folder && depth < kDepth) bytes += bytes_in(system, cat(folder, "/", name), counted, depth + 1);
  }
  return bytes;
}

/// When something in the folder or in its logs last changed.
int64_t last_change(System& system, const std::string& folder) {
  int64_t last = 0;
  for (const char* part : {"", "/logs", "/sockets"}) {
    const std::string place = folder + part;
    if (const auto entry = system.entry(place); entry.ok()) last = std::max(last, entry->changed_ns);
    const auto names = system.names(place);
    for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
      const auto entry = system.entry(cat(place, "/", name));
      if (entry.ok()) last = std::max(last, entry->changed_ns);
    }
  }
  return last;
}

class StaleResources {
 public:
  StaleResources(Disk& disk, const CleanupDoors& doors, const CleanupScope& scope)
      : doors_(doors),
        scope_(scope),
        boot_(doors.processes.boot()),
        sessions_(keeper_sessions(disk, scope.run_folder)) {
    const auto text = read_resource_ledger(disk, scope.run_folder);
    auto known =
        text.ok() ? parse_resource_ledger(*text) : Result<std::vector<HeldResource>>(std::vector<HeldResource>());
    if (known.ok()) resources_ = std::move(*known);
  }

  void shared_memory(const std::string& shared, CleanupPlan& plan) {
    const auto root = doors_.system.real(shared);
    if (!root.ok() || !check_root(*root).ok()) return;
    auto names = doors_.system.names(*root);
    if (!names.ok()) return;
    std::sort(names->begin(), names->end());
    size_t left = 0;
    for (const std::string& name : *names) {
      const std::string_view maker = maker_of(name);
      if (maker.empty()) continue;
      const auto entry = doors_.system.entry(cat(*root, "/", name));
      if (!entry.ok() || !entry->file || entry->owner != doors_.user) continue;
      CleanupItem item{std::string(kSharedMemory),
                       *root,
                       name,
                       entry->bytes,
                       "",
                       {entry->device, entry->inode, entry->changed_ns, true}};
      const std::string objection = against(item, *entry);
      if (objection.empty()) {
        item.why = cat("shared memory of ", maker, " that dead processes of this run left");
        plan.items.push_back(std::move(item));
      } else if (since_run_began(*entry) && ++left <= kLeft) {
        item.why = objection;
        plan.left.push_back(std::move(item));
      }
    }
  }

  void ray_sessions(CleanupPlan& plan) {
    std::set<std::string> seen, roots = {std::string(kRayFolder)};
    for (const HeldResource& one : resources_) {
      if (one.what == HeldResource::What::kRay) roots.insert(one.folder);
      if (one.what != HeldResource::What::kRay || !is_ray_session(one.name)) continue;
      const std::string path = cat(one.folder, "/", one.name);
      const auto entry = doors_.system.entry(path);
      if (!entry.ok() || !entry->folder || !is_there(one, *entry) || !check_root(one.folder).ok()) continue;
      size_t counted = 0;
      CleanupItem item{std::string(kRaySessions),
                       one.folder,
                       one.name,
                       bytes_in(doors_.system, path, counted),
                       "",
                       {entry->device, entry->inode, 0, false}};
      std::string objection = not_ended(one);
      if (objection.empty() && entry->owner != doors_.user) objection = "it is another user's";
      if (objection.empty()) objection = use_of_session(doors_.system, one.name);
      if (objection.empty() && scope_.now.ns - last_change(doors_.system, path) < kQuiet.ns) {
        objection = "something in it changed in the last two minutes";
      }
      const bool may = objection.empty();
      seen.insert(path);
      item.why = may ? "a session of Ray's that this run started and none of whose processes lives" : objection;
      (may ? plan.items : plan.left).push_back(std::move(item));
    }
    for (const std::string& root : roots) report_other_sessions(root, seen, plan);
  }

 private:
  /// Adds to `plan.left` the sessions that began after this run did and are not known to be its own.
  void report_other_sessions(const std::string& root, const std::set<std::string>& seen, CleanupPlan& plan) const {
    const auto names = doors_.system.names(root);
    size_t counted = 0, left = 0;
    for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
      const std::string path = cat(root, "/", name);
      if (!is_ray_session(name) || seen.count(path) != 0) continue;
      const auto entry = doors_.system.entry(path);
      if (!entry.ok() || !entry->folder || entry->owner != doors_.user || !since_run_began(*entry)) continue;
      if (++left > kLeft) return;
      plan.left.push_back({std::string(kRaySessions), root, name, bytes_in(doors_.system, path, counted),
                           "no raylet of this run was seen to run it", Identity()});
    }
  }

  bool is_there(const HeldResource& one, const Entry& entry) const {
    return one.device == entry.device && one.inode == entry.inode && one.born_ns == entry.born_ns && one.boot == boot_;
  }

  /// "" when the keeper below which it was held, and all that this keeper supervised, has ended.
  std::string not_ended(const HeldResource& one) const {
    const auto session = std::find_if(sessions_.begin(), sessions_.end(),
                                      [&one](const KeeperSession& other) { return other.place == one.place; });
    if (session == sessions_.end()) return cat("there is no record of ", one.place);
    return session->over ? "" : cat(one.place, " is still running");
  }

  std::string against(const CleanupItem& item, const Entry& entry) const {
    const auto known = std::find_if(resources_.begin(), resources_.end(), [&](const HeldResource& one) {
      return one.what == HeldResource::What::kShared && one.folder == item.root && one.name == item.name &&
             is_there(one, entry);
    });
    if (known == resources_.end()) return "no process of this run was seen to hold it";
    if (std::string why = not_ended(*known); !why.empty()) return why;
    if (entry.links != 1) return "it has a second name";
    return doors_.unheld(item.root, item.name, item.only) ? "" : "a process holds it, or this cannot be determined";
  }

  /// Older files are not reported.
  bool since_run_began(const Entry& entry) const {
    return std::any_of(sessions_.begin(), sessions_.end(), [&entry](const KeeperSession& one) {
      return one.kept.started.known() && entry.changed_ns >= one.kept.started.ns;
    });
  }

  const CleanupDoors& doors_;
  const CleanupScope& scope_;
  std::string boot_;
  std::vector<KeeperSession> sessions_;
  std::vector<HeldResource> resources_;
};

}  // namespace

std::string use_of_session(System& system, const std::string& name) {
  const Uses uses = uses_of(system, name);
  if (!uses.found.empty()) {
    const Use& use = uses.found.front();
    return use.pid == 0 ? use.how : cat("process ", use.pid, " ", use.how);
  }
  // What other users' processes have open cannot be read. But a session lives only with its raylet, which names it in
  // its command line, for all to read, and holds its sockets, which /proc/net/unix shows.
  return uses.complete ? "" : "not every process of this machine can be asked";
}

void plan_stale_resources(Disk& disk, const CleanupDoors& doors, const CleanupScope& scope, const std::string& word,
                          const std::string& shared, CleanupPlan& plan) {
  StaleResources stale(disk, doors, scope);
  if (word == kSharedMemory && !shared.empty()) stale.shared_memory(shared, plan);
  if (word == kRaySessions) stale.ray_sessions(plan);
}

}  // namespace mw
