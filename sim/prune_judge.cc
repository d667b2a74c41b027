#include "sim/prune_judge.h"

#include <algorithm>

#include "act/cleanup/remove_item.h"
#include "base/text.h"

namespace mw::sim {

std::optional<std::pair<std::string, int64_t>> PruneJudge::checkpoint_at(const std::string& path) const {
  for (const std::string& root : world_.roots) {
    const auto step = folder_of(path) == root ? step_in(world_.layout.folder, basename(path)) : std::nullopt;
    if (step) return std::pair(root, *step);
  }
  return std::nullopt;
}

void PruneJudge::judge(std::string_view what, const std::string& path, const std::string& to) {
  if (path.starts_with(cat(kPruneRun, "/"))) return;
  if (path.ends_with("/.midwatch-probe")) return;  // an empty file
  for (const std::string& root : world_.roots) {
    if (world_.layout.takes_any_folder && to.starts_with(cat(root, "/.midwatch")))
      return wrong(cat(path, " was moved to where its trainer takes it for a checkpoint: ", to));
  }
  const std::string aside = cat("/", kRemovingFolder, "/");
  if (what == "remove") {
    if (path.ends_with(".part") || path.ends_with(cat("/", kRemovingFolder))) return;
    const size_t at = path.find(aside);
    if (at == std::string::npos) return wrong(cat(path, " was deleted under its own name"));
    const bool empty = std::any_of(world_.roots.begin(), world_.roots.end(), [&path](const std::string& root) {
      return path == own_folder_beside(root, kRemovingFolder)->path();
    });
    const bool meant = std::any_of(aside_.begin(), aside_.end(), [&path](const std::string& top) {
      return path == top || path.starts_with(top + "/");
    });
    if (!empty && !meant) wrong(cat(path, " was deleted, which nobody said might go"));
    return;
  }
  if (path.find(aside) != std::string::npos) {  // it gets its name back
    if (to.find(aside) != std::string::npos) wrong(cat(path, " was moved to ", to));
    return;
  }
  if (path.ends_with(".part")) return judge_written(path, to);
  if (contains(to, aside)) return judge_removal(path, to);
  if (back && contains(to, cat("/", kQuarantineFolder, "/")) && contains(to, cat("/", label)))
    return judge_quarantine(path, to);
  wrong(cat(path, " was moved to ", to));
}

void PruneJudge::judge_written(const std::string& path, const std::string& to) {
  for (const std::string& root : world_.roots) {
    const auto places = quarantine_places(root);
    const bool manifest = std::any_of(places.begin(), places.end(),
                                      [&to](const OwnFolder& one) { return to.starts_with(one.path() + "/"); });
    if (manifest) return;
    if (!back || to != cat(root, "/", world_.layout.pointer)) continue;
    const auto step = step_in(world_.layout.pointer_text, world_.disk.content(path));
    ++pointers;
    set_pointers_.insert(root);
    // Of one with nothing but settings nothing is known where no other shows what is not in it.
    const bool alone = step && !world_.disk.exists(world_.path_of(root, *step) + "/model.safetensors") &&
                       std::none_of(world_.saves[root].begin(), world_.saves[root].end(),
                                    [&](const auto& one) { return world_.is_whole(root, one.first); });
    if (!step || (!world_.is_whole(root, *step) && !alone))
      wrong(cat("the pointer of ", root, " is set to what is not whole"));
    return;
  }
  wrong(cat("midwatch wrote ", to));
}

void PruneJudge::judge_quarantine(const std::string& path, const std::string& to) {
  if (path.ends_with(cat("/", world_.layout.pointer)) && !world_.layout.pointer.empty()) return;
  const auto at = checkpoint_at(path);
  if (!at || world_.saves[at->first].count(at->second) == 0)
    return wrong(cat(path, " was quarantined, which is not the run's own"));
  if (at->second < back->from) wrong(cat(path, " was quarantined, which is older than the trouble"));
  Held& held = held_[folder_of(to)];
  held.root = at->first;
  held.furthest = std::max(held.furthest, at->second);
  held.any_whole = held.any_whole || world_.is_whole(at->first, at->second);
  ++moved;
}

/// What a person may want back goes by itself only once the run got as far again.
void PruneJudge::judge_end_of_quarantine(const std::string& path) {
  const auto known = held_.find(path);
  if (known == held_.end() || !known->second.any_whole) return;
  const Held& held = known->second;
  for (const auto& [step, save] : world_.saves[held.root]) {
    if (step >= held.furthest && world_.is_whole(held.root, step)) return;
  }
  wrong(cat(path, " goes, and the run did not get as far as step ", held.furthest, " again"));
}

void PruneJudge::judge_removal(const std::string& path, const std::string& to) {
  if (swaps && world_.dice.chance(0.7)) {
    swaps = false;
    const auto at = checkpoint_at(path);
    // What the run was resumed from counts as its own, whoever saved it.
    if (at && world_.resumed.count(at->second) == 0) {
      if (world_.dice.chance(0.5)) world_.disk.die_after(1);  // before midwatch has seen it
      return world_.swap(path);                               // it must come back
    }
  }
  aside_.insert(to);
  if (contains(path, cat("/", kQuarantineFolder, "/"))) {
    if (!basename(path).starts_with(label)) wrong(cat(path, " goes, which is another's"));
    if (mode != Mode::kAct && !asked) wrong(cat(path, " goes, which nobody allowed"));
    if (!asked) judge_end_of_quarantine(path);
    return;
  }
  const auto at = checkpoint_at(path);
  if (!at || world_.saves[at->first].count(at->second) == 0) return wrong(cat(path, " goes, which is not the run's"));
  const auto& [root, step] = *at;
  const PruneWorld::Save& save = world_.saves[root][step];
  if (save.writing) return wrong(cat(path, " goes while it is being written"));
  // One of which only settings are gone so far looks whole, and goes by the rules as the trainer wants it.
  if (save.deleting && !world_.disk.exists(path + "/model.safetensors"))
    return wrong(cat(path, " goes while the trainer deletes it"));
  if (const std::string use = use_of(step); !use.empty()) return wrong(cat(path, " goes, which ", use));
  if (!save.whole) return judge_broken(root, step);
  std::string why = against(rules, root, step);
  if (!why.empty() && asked) why = against(*asked, root, step);
  if (!why.empty()) wrong(cat(path, " goes: ", why));
}

/// Who holds it, or what belongs to it in another root; "": nobody.
std::string PruneJudge::use_of(int64_t step) const {
  for (const std::string& root : world_.roots) {
    const std::string path = world_.path_of(root, step);
    if (world_.pointed(root) == step) return "the pointer names";
    if (world_.is_linked(path)) return "a link leads to";
    if (world_.is_open(path)) return "a process reads";
  }
  return "";
}

void PruneJudge::judge_broken(const std::string& root, int64_t step) {
  if (mode != Mode::kAct && !asked) wrong("a broken one goes, which nobody allowed");
  for (const auto& [other, save] : world_.saves[root]) {
    if (other > step && world_.is_resumable(root, other)) return;
  }
  wrong(cat("broken step ", step, " goes, and no newer one is whole"));
}

/// Why the whole one must stay; "": it may go.
std::string PruneJudge::against(const RetentionRules& by, const std::string& root, int64_t step) const {
  std::set<int64_t> verified = shipped, sound, sound_shipped;
  int64_t newest = kNoStep, newest_sound = kNoStep;
  for (const auto& [other, save] : world_.saves.at(root)) {
    if (!world_.is_resumable(root, other)) continue;
    verified.insert(other);
    newest = other;
    if (is_sound(other)) newest_sound = other;
  }
  for (const int64_t other : verified) {
    if (is_sound(other)) sound.insert(other);
    if (is_sound(other) && shipped.count(other) != 0) sound_shipped.insert(other);
  }
  if (by.keep_last <= 0) return "all are to be kept";
  if (step == newest || newest == kNoStep) return "it is the newest whole one here";
  if (verified.size() < static_cast<size_t>(by.keep_last)) return "there are fewer than are to be kept";
  if (step >= *std::prev(verified.end(), by.keep_last)) return cat("it is one of the last ", by.keep_last);
  if (step == newest_sound) return "it is the newest one here from before the trouble";
  if (is_sound(step) &&
      (sound.size() < static_cast<size_t>(by.keep_last) || step >= *std::prev(sound.end(), by.keep_last)))
    return cat("it is one of the last ", by.keep_last, " from before the trouble");
  if (world_.has_store && (sound_shipped.empty() || step > *sound_shipped.rbegin())) return "no newer one is shipped";
  if (by.keep_every > 0 && step % by.keep_every == 0) return "it is one of every so many";
  if (!by.keep_best.empty() && world_.acts == acts_at_round && is_best(verified, step)) return "it is the best";
  return "";
}

bool PruneJudge::is_best(const std::set<int64_t>& verified, int64_t step) const {
  // Of which a part went while another was the best is none any more: nobody could resume from what is left.
  const auto lacks = [&](const std::string& root) { return !world_.disk.has_folder(world_.path_of(root, step)); };
  if (std::any_of(world_.roots.begin(), world_.roots.end(), lacks)) return false;
  const auto score = [this](int64_t of) {
    const auto after = scores.upper_bound(of);
    return after == scores.begin() ? -1.0 : std::prev(after)->second;
  };
  return std::all_of(verified.begin(), verified.end(),
                     [&](int64_t other) { return other == step || score(other) < score(step); });
}

/// Whatever a rollback was cut short in: a pointer that it set names what can be resumed from.
void PruneJudge::check_pointers() {
  for (const std::string& root : world_.roots) {
    if (set_pointers_.count(root) == 0) continue;
    const auto named = world_.pointed(root);
    if (!named || !world_.disk.has_folder(world_.path_of(root, *named)))
      wrong(cat("the pointer of ", root, ", which midwatch set, leads to nothing"));
  }
  set_pointers_.clear();
}

}  // namespace mw::sim
