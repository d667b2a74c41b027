#include "act/vault/unfinished.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "act/vault/catalogue.h"

namespace mw::vault {
namespace {

bool is_old(Time changed, Time now) { return changed.known() && now - changed > kUnfinished; }

/// Ids with files or uploads in the store, and whether nothing was added to them for long. A page at a time: a store
/// may hold a million files.
class Found {
 public:
  Found(const Keys& keys, Time now) : prefix_(keys.under("checkpoints/")), now_(now) {}

  Result<void> look(ObjectStore& store) {
    std::string from;
    do {
      const auto page = store.list(prefix_, from);
      if (!page.ok()) return page.error();
      for (const ObjectInfo& one : page->objects) add(one.key, one.changed);
      from = page->next;
    } while (!from.empty());
    const auto open = store.uploads(prefix_);
    if (!open.ok()) return open.error();
    for (const OpenUpload& one : *open) {
      if (is_old(one.began, now_)) (void)store.abort(one.key, one.id).ok();
      add(one.key, one.began);
    }
    return {};
  }

  const std::map<std::string, bool, std::less<>>& old_by_id() const { return old_by_id_; }

 private:
  void add(std::string_view key, Time changed) {
    const std::string_view rest = key.substr(prefix_.size());
    const std::string_view id = rest.substr(0, rest.find('/'));
    const auto known = old_by_id_.find(id);
    bool& old = known != old_by_id_.end() ? known->second : old_by_id_.emplace(id, true).first->second;
    old = old && is_old(changed, now_);
  }

  const std::string prefix_;
  const Time now_;
  std::map<std::string, bool, std::less<>> old_by_id_;
};

}  // namespace

void remove_unfinished(const VaultDoors& doors, const Keys& keys, LatestPointer& latest, Time now) {
  Found found(keys, now);
  if (!found.look(doors.store).ok()) return;
  // Also a manifest that cannot be read names its checkpoint here.
  const auto listed = manifest_ids(doors.store, keys);
  if (!listed.ok()) return;
  const std::set<std::string, std::less<>> named(listed->begin(), listed->end());
  for (const auto& [id, old] : found.old_by_id()) {
    const auto step = step_of_id(id);
    if (!old || !step || named.count(id) != 0) continue;
    const auto files = list_all(doors.store, keys.files(id));
    if (!files.ok()) return;
    // Asked again right before: a push of the same files may have begun meanwhile.
    const auto fence = latest.held();
    if (!fence.ok() || !*fence) return;
    if ((*fence)->step <= *step) continue;
    if (std::any_of(files->begin(), files->end(), [&](const auto& one) { return !is_old(one.changed, now); })) continue;
    for (const ObjectInfo& one : *files) (void)doors.store.remove(one.key).ok();
  }
}

}  // namespace mw::vault
