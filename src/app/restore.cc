#include "app/restore.h"

#include <algorithm>
#include <set>

#include "act/supervise/judgement.h"
#include "act/supervise/run_files.h"
#include "app/config/settings.h"
#include "app/journal_pages.h"
#include "app/run_status.h"
#include "app/start_fence.h"
#include "base/text.h"
#include "platform/durable.h"
#include "platform/lock.h"
#include "platform/paths.h"
#include "platform/real/posix_disk.h"
#include "read/recorder.h"
#include "sense/checkpoints/quarantine.h"

namespace mw {
namespace {

using Thing = RestoreAnswer::Thing;

constexpr std::string_view kRestore = "restore";

struct FoundManifest {
  std::string path;  ///< of the manifest
  QuarantineManifest manifest;
};

/// Calls `visit` for each folder in which something that was moved out of `root` lies.
template <typename Visit>
void for_each_label(Disk& disk, const std::string& root, const Visit& visit) {
  for (const OwnFolder& place : quarantine_places(root)) {
    const auto labels = disk.list(place.path());
    for (const std::string& label : labels.ok() ? *labels : std::vector<std::string>())
      visit(cat(place.path(), "/", label));
  }
}

/// What was moved out of the way before the run's first attempt: its journal had not begun then. Best effort: other
/// runs' may lie there, too.
void add_moved_before(Disk& disk, const std::string& run_folder, std::set<std::string>& paths,
                      std::vector<FoundManifest>& found) {
  const auto spec = load_run_spec(disk, run_folder);
  std::vector<std::string> roots = spec.ok() ? spec->checkpoints : std::vector<std::string>();
  if (spec.ok() && !spec->first_root.empty()) roots.push_back(spec->first_root);
  for (const std::string& root : roots) {
    for_each_label(disk, root, [&](const std::string& folder) {
      std::string path;
      auto manifest = find_manifest(disk, folder, run_folder, &path);
      const bool before = manifest.ok() && manifest->attempt == 0;
      if (!before || real_path(manifest->run_folder) != real_path(run_folder) || !paths.insert(path).second) return;
      manifest->root = root;
      found.push_back({path, std::move(*manifest)});
    });
  }
}

/// What a run's decisions say that it moved, as far as the manifests are still there. An error: one of them cannot be
/// read.
Result<std::vector<FoundManifest>> manifests_of(Disk& disk, const std::string& run_folder, const Supervision& known) {
  std::vector<FoundManifest> found;
  std::set<std::string> paths;
  add_moved_before(disk, run_folder, paths, found);
  for (const SupervisedAttempt& attempt : known.attempts) {
    if (!attempt.decided) continue;
    const Judgement judgement = judgement_of(attempt);
    for (const QuarantinePlan& plan : judgement.back.plans) {
      for (const OwnFolder& place : quarantine_places(plan.root)) {
        const std::string folder = cat(place.path(), "/", plan.label);
        std::string path;
        auto manifest = find_manifest(disk, folder, run_folder, &path);
        if (!manifest.ok() && manifest.error().code != Error::Code::kNotFound &&
            manifest.error().code != Error::Code::kInvalid) {
          return manifest.error();
        }
        const bool own = manifest.ok() && real_path(manifest->run_folder) == real_path(run_folder);
        if (!own || !paths.insert(path).second) continue;
        manifest->root = plan.root;
        found.push_back({path, std::move(*manifest)});
      }
    }
  }
  return found;
}

/// What nothing but this records, the oldest move first: `onstart` moved it out of the way of a run that never began,
/// or the run's record is gone. `of_run`: becomes a recorded run that moved something from there.
std::vector<FoundManifest> manifests_without_run(Disk& disk, const std::string& root, std::string* of_run = nullptr) {
  std::vector<FoundManifest> found;
  for_each_label(disk, root, [&](const std::string& folder) {
    std::string path;
    auto manifest = find_manifest(disk, folder, "", &path);
    if (!manifest.ok() || manifest->restored) return;
    if (!run_spec_path(disk, manifest->run_folder).empty()) {
      if (of_run != nullptr) *of_run = manifest->run_folder;
      return;
    }
    manifest->root = root;
    found.push_back({path, std::move(*manifest)});
  });
  std::stable_sort(found.begin(), found.end(),
                   [](const FoundManifest& a, const FoundManifest& b) { return a.manifest.at < b.manifest.at; });
  return found;
}

Result<std::string> supervised_folder(Disk& disk, const RestoreRequest& request) {
  std::string absolute = absolute_path(request.run);
  if (!run_spec_path(disk, absolute).empty()) return absolute;
  return Error{Error::Code::kInvalid, cat("run ", basename(absolute), " is only read: nothing of it was quarantined"),
               "midwatch quarantines only what a run saved that 'midwatch run' started."};
}

/// Whether something has that name, if only a link that leads nowhere. An error: it cannot be seen, which is not the
/// same as nothing.
Result<bool> is_there(Disk& disk, const std::string& path) {
  const auto info = disk.info(path);
  if (!info.ok() && info.error().code != Error::Code::kNotFound) return info.error();
  if (info.ok()) return true;
  const auto link = disk.read_link(path);
  if (!link.ok() && link.error().code != Error::Code::kNotFound) return link.error();
  return link.ok();
}

/// What can be put back, and whether anything is left to do of it.
struct Candidate {
  Thing thing;
  std::optional<std::string> after;  ///< of the pointer: its text since the move; unset: there was none
  bool left = false;                 ///< it is not as it was
};

Candidate candidate_of(const QuarantineManifest& manifest) {
  Candidate one;
  one.thing.why = manifest.why;
  one.thing.attempt = manifest.attempt;
  one.thing.at = manifest.at;
  return one;
}

/// What was moved `to` another place: a checkpoint, or a link that led to the last one. Where it cannot be seen it is
/// tried, so that a person learns why it is not back.
Candidate moved(Disk& disk, const QuarantineManifest& manifest, const std::string& to, std::string path) {
  Candidate one = candidate_of(manifest);
  one.thing.from = path_seen_from(manifest.root, to);
  one.thing.path = std::move(path);
  const auto held = is_there(disk, one.thing.from), named = is_there(disk, one.thing.path);
  one.left = !held.ok() || *held;
  if (held.ok() && !*held) {
    one.thing.there = named.ok() && *named;
    one.thing.outcome = !named.ok() ? named.error().what : one.thing.there ? "it is where it was" : "it is gone";
  } else if (held.ok() && named.ok() && *named) {
    one.thing.outcome = "something else has its name now; move that first";
  } else {
    one.thing.may = true;
  }
  return one;
}

/// Whether the pointer says what midwatch wrote. An error: it cannot be read.
Result<bool> pointer_is(Disk& disk, const std::string& path, const std::optional<std::string>& text) {
  const auto now = read_small(disk, path);
  if (!now.ok() && now.error().code != Error::Code::kNotFound) return now.error();
  return text ? now.ok() && trim(*now) == *text : !now.ok();
}

/// The pointer, where midwatch set it.
std::optional<Candidate> pointer_of(Disk& disk, const QuarantineManifest& manifest) {
  if (manifest.pointer.empty() || manifest.restored) return std::nullopt;
  Candidate one = candidate_of(manifest);
  one.thing.path = cat(manifest.root, "/", manifest.pointer);
  one.thing.pointer = true;
  one.thing.from = manifest.pointer_before.value_or("");
  one.after = manifest.pointer_after;
  const auto same = pointer_is(disk, one.thing.path, one.after);
  one.thing.may = manifest.pointer_before.has_value() && (!same.ok() || *same);
  one.left = one.thing.may;
  if (same.ok() && !*same) one.thing.outcome = "it says something else by now, and stays";
  return one;
}

/// A link that midwatch set, which led to a checkpoint that was moved.
Candidate link_of(Disk& disk, const QuarantineManifest& manifest, const PointerLink& link) {
  Candidate one = candidate_of(manifest);
  one.thing.path = path_of_link(manifest.root, link);
  one.thing.pointer = true;
  one.thing.from = link.before;
  one.thing.after = link.after;
  const auto now = disk.read_link(one.thing.path);
  const bool gone = !now.ok() && now.error().code == Error::Code::kNotFound;
  one.thing.may = !gone && (!now.ok() || *now == link.after);
  one.left = one.thing.may;
  if (!one.thing.may) one.thing.outcome = "it leads to something else by now, and stays";
  return one;
}

/// Back in its place, would the link lead somewhere, whatever became of what it led to?
bool would_lead(Disk& disk, const std::string& path, const std::string& text) {
  return disk.info(text.starts_with('/') ? text : cat(folder_of(path), "/", text)).ok();
}

/// The checkpoints, then the pointer and the links: also where an earlier try put the checkpoints back and came no
/// further.
std::vector<Candidate> candidates_of(Disk& disk, const QuarantineManifest& manifest) {
  std::vector<Candidate> all;
  for (const QuarantineManifest::Item& item : manifest.items)
    all.push_back(moved(disk, manifest, item.to, cat(manifest.root, "/", item.name)));
  const bool any = std::any_of(all.begin(), all.end(), [](const Candidate& one) { return one.thing.may; });
  const bool back = !manifest.restored && std::none_of(all.begin(), all.end(), [](const Candidate& one) {
    return one.left || one.thing.outcome == "it is gone";
  });
  auto pointer = pointer_of(disk, manifest);
  if (pointer && (any || manifest.items.empty() || pointer->thing.may)) all.push_back(std::move(*pointer));
  for (const PointerLink& link : manifest.links) {
    const std::string path = path_of_link(manifest.root, link);
    if (!link.after.empty() && (any || back)) all.push_back(link_of(disk, manifest, link));
    if (!link.to.empty() && (any || back || would_lead(disk, path, link.before)))
      all.push_back(moved(disk, manifest, link.to, path));
  }
  return all;
}

Result<void> put_back(Disk& disk, const Candidate& one) {
  const Thing& thing = one.thing;
  if (!thing.after.empty()) {
    const auto led = lead_link(disk, thing.path, thing.after, thing.from);
    if (!led.ok()) return led.error();
    return *led ? Result<void>() : Error{Error::Code::kInvalid, "it leads to something else by now", ""};
  }
  if (thing.pointer) {
    const auto same = pointer_is(disk, thing.path, one.after);
    if (!same.ok()) return same.error();
    if (!*same) return Error{Error::Code::kInvalid, "it says something else by now", ""};
    return write_durably(disk, thing.path, thing.from);
  }
  const auto named = is_there(disk, thing.path);
  if (!named.ok()) return named.error();
  if (*named) return Error{Error::Code::kInvalid, "something else has its name now", ""};
  return disk.rename(thing.from, thing.path);
}

/// `pages`: of the run's journal; nullptr: it has none.
Result<void> restore_one(Disk& disk, const FoundManifest& found, JournalPages* pages, RestoreAnswer& answer) {
  bool back = true, all = true;  // the checkpoints; pointers, too
  for (Candidate& one : candidates_of(disk, found.manifest)) {
    Thing& thing = one.thing;
    // The pointer comes last, and only where all that it may name is back.
    if (thing.pointer && !back) {
      thing.may = false;
      thing.outcome = "not all checkpoints are back, and it stays";
    }
    if (thing.may) {
      const auto action = pages == nullptr
                              ? Result<uint32_t>(0)
                              : pages->intend({0, std::string(kRestore), thing.path, 0, "A person said so."});
      if (!action.ok()) return action.error();
      const auto done = put_back(disk, one);
      thing.done = done.ok();
      thing.outcome =
          done.ok() ? thing.pointer ? cat("it says ", trim(thing.from), " again") : "it is back" : done.error().what;
      if (pages != nullptr) pages->acted({*action, thing.done, thing.outcome, 0});
    }
    all = all && (thing.done || !one.left);
    back = back && (thing.pointer || thing.done || !one.left);
    answer.things.push_back(std::move(thing));
  }
  if (!all) return {};
  // What it says of the past stays; whoever comes to do the move again sees that a person undid it.
  QuarantineManifest over = found.manifest;
  over.restored = true;
  return write_durably(disk, found.path, manifest_text(over));
}

/// The folder of checkpoints, as its manifests name it.
std::string root_of(const RestoreRequest& request) { return real_path(absolute_path(request.checkpoints)); }

Result<RestoreAnswer> restore_in_folder(Disk& disk, Processes& processes, const RestoreRequest& request) {
  RestoreAnswer answer;
  answer.run = root_of(request);
  const auto locks = make_posix_locks();
  const auto fence = fence_start(disk, *locks, processes, make_posix_clock()->now(), request.home, answer.run);
  if (!fence.by.empty()) return Error{Error::Code::kDenied, fence.by, fence.hint};
  const auto all = manifests_without_run(disk, answer.run);
  for (auto found = all.rbegin(); found != all.rend(); ++found) MW_TRY(restore_one(disk, *found, nullptr, answer));
  return answer;
}

}  // namespace

Result<RestoreAnswer> could_restore(Disk& disk, const RestoreRequest& request) {
  if (!request.checkpoints.empty()) {
    RestoreAnswer answer;
    answer.run = root_of(request);
    std::string run;
    for (const FoundManifest& found : manifests_without_run(disk, answer.run, &run)) {
      for (Candidate& one : candidates_of(disk, found.manifest)) answer.things.push_back(std::move(one.thing));
    }
    if (answer.things.empty() && !run.empty())
      return Error{Error::Code::kInvalid, cat("what is quarantined in ", answer.run, " is of the run ", basename(run)),
                   cat("midwatch restore --run ", run)};
    return answer;
  }
  const auto folder = supervised_folder(disk, request);
  if (!folder.ok()) return folder.error();
  RestoreAnswer answer;
  answer.run = basename(*folder);
  const auto state = read_recorded(disk, *folder);
  if (!state.ok()) return state.error();
  const auto all = manifests_of(disk, *folder, state->supervision);
  if (!all.ok()) return all.error();
  for (const FoundManifest& found : *all) {
    for (Candidate& one : candidates_of(disk, found.manifest)) answer.things.push_back(std::move(one.thing));
  }
  return answer;
}

Result<RestoreAnswer> restore_by_hand(Disk& disk, Processes& processes, const RestoreRequest& request,
                                      const std::string& who) {
  if (!request.checkpoints.empty()) return restore_in_folder(disk, processes, request);
  const auto folder = supervised_folder(disk, request);
  if (!folder.ok()) return folder.error();
  const auto how = run_status(disk, processes, *folder, Supervision());
  if (!how.ok()) return how.error();
  if (how->pid != 0) {
    return Error{Error::Code::kDenied, cat("the command of run ", basename(*folder), " lives, and saves there"),
                 "Stop it first: midwatch stop."};
  }
  const auto locks = make_posix_locks();
  RestoreAnswer answer;
  answer.run = basename(*folder);
  auto recorder = Recorder::open(disk, *locks, folder_of(folder_of(*folder)), answer.run, {*folder});
  if (!recorder.ok()) return recorder.error();
  State state;
  MW_TRY((*recorder)->replay_into(state));
  const auto clock = make_posix_clock();
  JournalPages pages(**recorder, *clock, state);
  MW_TRY(pages.note({who, "restore"}, clock->now()));
  const auto all = manifests_of(disk, *folder, state.supervision);
  if (!all.ok()) return all.error();
  // The latest move first: an earlier one may have set the pointer to what it found.
  for (auto found = all->rbegin(); found != all->rend(); ++found) MW_TRY(restore_one(disk, *found, &pages, answer));
  MW_TRY((*recorder)->sync());
  return answer;
}

}  // namespace mw
