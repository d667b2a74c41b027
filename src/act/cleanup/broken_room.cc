#include "act/cleanup/broken_room.h"

#include <algorithm>

#include "act/cleanup/cleanup_result.h"
#include "base/text.h"
#include "sense/checkpoints/scan.h"

namespace mw {
namespace {

using How = event::CheckpointSeen::How;

constexpr std::string_view kBroken = kBrokenCheckpoints;

bool may_delete(const CleanupSettings& settings) {
  return settings.mode == Mode::kAct &&
         std::find(settings.what.begin(), settings.what.end(), kBroken) != settings.what.end();
}

}  // namespace

bool remove_broken(const BrokenRoom& room, const CheckpointLayout& layout, const QuarantinePlan& plan,
                   EventWriter& writer) {
  if (!may_delete(room.settings) || plan.keep == kNoStep) return false;
  const auto folder = [&](int64_t step) { return cat(plan.root, "/", with_step(layout.folder, step)); };
  const CheckpointScan kept = scan_checkpoint(room.disk, folder(plan.keep), step_of_number(layout, plan.keep), nullptr);
  if (!kept.there || kept.seen.how != How::kWhole) return false;
  bool any = false;
  for (const QuarantinePlan::Item& item : plan.items) {
    const auto info = room.disk.info(folder(item.step));
    const bool known = item.identity.inode != 0 && info.ok() && info->inode == item.identity.inode &&
                       info->device == item.identity.device;
    if (!known) continue;
    const CheckpointScan scan = scan_checkpoint(room.disk, folder(item.step), step_of_number(layout, item.step), &kept);
    if (!scan.there || scan.seen.how != How::kBroken) continue;
    CleanupItem gone{std::string(kBroken),
                     plan.root,
                     with_step(layout.folder, item.step),
                     scan.seen.bytes,
                     cat(checkpoint_called(layout, item.step), " is broken: ", scan.seen.what,
                         "; the disk is full, and the run goes back to ", number_called(layout, plan.keep)),
                     {info->device, info->inode, 0, false},
                     CleanupGrounds{{{folder(plan.keep), step_of_number(layout, plan.keep), kept.state}}}};
    gone.beside = layout.takes_any_folder;
    const auto action = intend_to_remove(writer, gone, 0);
    if (!action.ok()) continue;
    const CleanupResult::Item done = record_removal(writer, *action, gone, room.remove(gone));
    room.say(cat(done.ok ? "removed " : "could not remove ", done.path, " (", done.text, "): ", gone.why));
    any = any || done.ok;
  }
  return any;
}

}  // namespace mw
