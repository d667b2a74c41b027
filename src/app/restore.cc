#include "app/restore.h"

#include <algorithm>
#include <set>

#include "act/supervise/judgement.h"
#include "act/supervise/run_files.h"
#include "app/config/settings.h"
#include "app/journal_pages.h"
#include "app/run_status.h"
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

/// What a run's decisions say that it moved, as far as the manifests are still there.
std::vector<FoundManifest> manifests_of(Disk& disk, const std::string& run_folder, const Supervision& known) {
  std::vector<FoundManifest> found;
  std::set<std::string> paths;
  for (const SupervisedAttempt& attempt : known.attempts) {
    if (!attempt.decided) continue;
    const Judgement judgement = judgement_of(attempt);
    for (const QuarantinePlan& plan : judgement.back.plans) {
      for (const std::string_view quarantine : kQuarantineFolders) {
        const std::string folder = cat(plan.root, "/", quarantine, "/", plan.label);
        std::string path;
        auto manifest = find_manifest(disk, folder, run_folder, &path);
        const bool own = manifest.ok() && real_path(manifest->run_folder) == real_path(run_folder);
        if (!own || !paths.insert(path).second) continue;
        manifest->root = plan.root;
        found.push_back({path, std::move(*manifest)});
      }
    }
  }
  return found;
}

Result<std::string> supervised_folder(Disk& disk, const RestoreRequest& request) {
  std::string absolute = absolute_path(request.run);
  if (!run_spec_path(disk, absolute).empty()) return absolute;
  return Error{Error::Code::kInvalid, cat("run ", basename(absolute), " is only read: nothing of it was quarantined"),
               "midwatch quarantines only what a run saved that 'midwatch run' started."};
}

/// One checkpoint; nothing where it is neither quarantined nor in doubt.
Thing thing_of(Disk& disk, const QuarantineManifest& manifest, const QuarantineManifest::Item& item) {
  Thing thing;
  thing.from = cat(manifest.root, "/", item.to);
  thing.path = cat(manifest.root, "/", item.name);
  thing.why = manifest.why;
  thing.attempt = manifest.attempt;
  thing.at = manifest.at;
  if (!disk.info(thing.from).ok()) {
    thing.outcome = disk.info(thing.path).ok() ? "it is where it was" : "it is gone";
  } else if (disk.info(thing.path).ok()) {
    thing.outcome = "something else has its name now; move that first";
  } else {
    thing.may = true;
  }
  return thing;
}

/// The pointer, where midwatch set it.
std::optional<Thing> pointer_of(Disk& disk, const QuarantineManifest& manifest) {
  if (manifest.pointer.empty() || manifest.restored) return std::nullopt;
  Thing thing;
  thing.path = cat(manifest.root, "/", manifest.pointer);
  thing.pointer = true;
  thing.why = manifest.why;
  thing.attempt = manifest.attempt;
  thing.at = manifest.at;
  thing.from = manifest.pointer_before.value_or("");
  const auto now = read_small(disk, thing.path);
  const bool same = manifest.pointer_after ? now.ok() && trim(*now) == *manifest.pointer_after
                                           : !now.ok() && now.error().code == Error::Code::kNotFound;
  thing.may = same && manifest.pointer_before.has_value();
  if (!same) thing.outcome = "it says something else by now, and stays";
  return thing;
}

/// A link that midwatch set, which led to a checkpoint that was moved.
Thing link_of(Disk& disk, const QuarantineManifest& manifest, const PointerLink& link) {
  Thing thing;
  thing.path = path_of_link(manifest.root, link);
  thing.pointer = true;
  thing.why = manifest.why;
  thing.attempt = manifest.attempt;
  thing.at = manifest.at;
  thing.from = link.before;
  thing.after = link.after;
  const auto now = disk.read_link(thing.path);
  thing.may = now.ok() && *now == link.after;
  if (!thing.may) thing.outcome = "it leads to something else by now, and stays";
  return thing;
}

std::vector<Thing> things_of(Disk& disk, const QuarantineManifest& manifest) {
  std::vector<Thing> things;
  for (const QuarantineManifest::Item& item : manifest.items) things.push_back(thing_of(disk, manifest, item));
  const bool any = std::any_of(things.begin(), things.end(), [](const Thing& thing) { return thing.may; });
  auto pointer = pointer_of(disk, manifest);
  if (pointer && (any || manifest.items.empty() || pointer->may)) things.push_back(std::move(*pointer));
  for (const PointerLink& link : manifest.links) {
    if (any && !link.after.empty()) things.push_back(link_of(disk, manifest, link));
  }
  return things;
}

Result<void> put_back(Disk& disk, const Thing& thing) {
  if (!thing.after.empty()) {
    const auto led = lead_link(disk, thing.path, thing.after, thing.from);
    if (!led.ok()) return led.error();
    return *led ? Result<void>() : Error{Error::Code::kInvalid, "it leads to something else by now", ""};
  }
  if (thing.pointer) return write_durably(disk, thing.path, thing.from);
  if (disk.info(thing.path).ok()) return Error{Error::Code::kInvalid, "something else has its name now", ""};
  return disk.rename(thing.from, thing.path);
}

Result<void> restore_one(Disk& disk, const FoundManifest& found, JournalPages& pages, RestoreAnswer& answer) {
  bool all = true;
  for (Thing& thing : things_of(disk, found.manifest)) {
    // The pointer comes last, and only where all that it may name is back.
    if (thing.pointer && !all) {
      thing.may = false;
      thing.outcome = "not all checkpoints are back, and it stays";
    }
    if (thing.may) {
      const auto action = pages.intend({0, std::string(kRestore), thing.path, 0, "A person said so."});
      if (!action.ok()) return action.error();
      const auto done = put_back(disk, thing);
      thing.done = done.ok();
      thing.outcome =
          done.ok() ? thing.pointer ? cat("it says ", trim(thing.from), " again") : "it is back" : done.error().what;
      pages.acted({*action, thing.done, thing.outcome, 0});
    }
    all = all && (thing.done || thing.pointer || !disk.info(thing.from).ok());
    answer.things.push_back(std::move(thing));
  }
  if (!all) return {};
  // What it says of the past stays; whoever comes to do the move again sees that a person undid it.
  QuarantineManifest over = found.manifest;
  over.restored = true;
  return write_durably(disk, found.path, manifest_text(over));
}

}  // namespace

Result<RestoreAnswer> could_restore(Disk& disk, const RestoreRequest& request) {
  const auto folder = supervised_folder(disk, request);
  if (!folder.ok()) return folder.error();
  RestoreAnswer answer;
  answer.run = basename(*folder);
  const auto state = read_recorded(disk, *folder);
  if (!state.ok()) return state.error();
  for (const FoundManifest& found : manifests_of(disk, *folder, state->supervision)) {
    for (Thing& thing : things_of(disk, found.manifest)) answer.things.push_back(std::move(thing));
  }
  return answer;
}

Result<RestoreAnswer> restore_by_hand(Disk& disk, Processes& processes, const RestoreRequest& request,
                                      const std::string& who) {
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
  auto all = manifests_of(disk, *folder, state.supervision);
  // The latest move first: an earlier one may have set the pointer to what it found.
  for (auto found = all.rbegin(); found != all.rend(); ++found) MW_TRY(restore_one(disk, *found, pages, answer));
  MW_TRY((*recorder)->sync());
  return answer;
}

}  // namespace mw
