#include "sense/checkpoints/saves_where.h"

#include <algorithm>

#include "base/text.h"
#include "core/state.h"
#include "sense/checkpoints/below_declared.h"
#include "sense/checkpoints/ownership.h"
#include "sense/checkpoints/roots.h"

namespace mw {
namespace {

constexpr Duration kPeriod = Duration::seconds(5);
constexpr Duration kRarely = Duration::seconds(600);  // when all is said
constexpr Duration kPatience = Duration::millis(50);

/// "": what it saves in `root` lies where it was declared, or the disk does not say. Unset: nothing is there. `saved`:
/// the checkpoint, where the log says no more than its name, which may lie in any folder.
std::optional<std::string> sentence_for(Disk& disk, const std::vector<std::string>& declared, const std::string& root,
                                        const std::string& saved) {
  const auto own = disk.info(saved.empty() ? root : saved);
  if (!own.ok()) return std::nullopt;
  if (!saved.empty()) return sentence_for(disk, declared, root, "");
  std::string all;
  for (const std::string& one : declared) {
    const auto info = disk.info(one);
    if (!info.ok() && is_silent(info.error())) return "";
    const bool same = info.ok() && info->inode != 0 && info->inode == own->inode && info->device == own->device;
    if (same || plain_path(root) == plain_path(one)) return "";
    all += cat(all.empty() ? "" : ", ", one);
  }
  const auto below = below_declared(disk, declared, root);
  if (!below.ok()) return "";
  if (!below->empty())
    return cat("this run saves in ", *below, ", below ", all, ": that folder is taken for the one of its checkpoints");
  return cat("this run saves in ", root, ", and nothing of it in ", all,
             ", which was declared for its checkpoints: none of them is quarantined or removed, and no pointer is set. "
             "--checkpoints ",
             root, " names it");
}

}  // namespace

std::optional<Duration> SavesWhereTask::turn(const State& state, bool, EventWriter& writer) {
  if (const auto answer = call_.take()) {
    said_ = answer->has_value();
    const std::string text = clip(answer->value_or(""), kTextLimit);
    const bool known = std::any_of(state.notes.begin(), state.notes.end(),
                                   [&text](const auto& note) { return note.second.text == text; });
    if (!text.empty() && !known) {
      scope_.say(text);
      (void)writer.note({"midwatch", text}, clock_.now()).ok();
    }
    if (!said_) return kPeriod;
  }
  if (call_.started()) return kPatience;
  if (said_ || scope_.declared.empty()) return kRarely;
  const CheckpointLayout layout = scope_.layout(state.saver());
  for (const auto& [moment, saved] : state.checkpoints) {
    const std::string root = saved.path.empty() ? "" : root_of(saved.path, layout);
    if (root.empty()) continue;
    const bool named_only = saved.path.find('/') == std::string::npos;
    call_.start([disk = scope_.disk, declared = scope_.declared,
                 path = plain_path(root.starts_with("/") ? root : cat(scope_.folder, "/", root)),
                 named = named_only ? cat(scope_.folder, "/", saved.path) : std::string()] {
      return sentence_for(*disk, declared, path, named);
    });
    return kPatience;
  }
  return kPeriod;
}

}  // namespace mw
