// What the trainer of the other world says of its saves, and what reading all bytes of a checkpoint finds.
#include "base/text.h"
#include "sense/checkpoints/scan.h"
#include "sim/supervised_world.h"

namespace mw::sim {
namespace {

std::string place(int64_t step) { return cat(kCheckpointsFolder, "/global_step_", step); }

}  // namespace

/// What it printed of its save leaves its buffer, unless it was killed before.
void SupervisedWorld::say_saved() {
  if (!attempt_->unsaid) return;
  const event::CheckpointSaved saved = *std::exchange(attempt_->unsaid, std::nullopt);
  say(saved);
  if (!reads_.chance(unsound_chance_) || !has_sound_before(saved.step)) return;
  const CheckpointScan scan = scan_checkpoint(disk, saved.path, saved.step, nullptr);
  if (!scan.there || disk_lies || disk.dead()) return;
  unsound_[saved.step] = disk.content(saved.path + "/optimizer.bin");
  say(event::CheckpointRead{saved.step, saved.path, event::CheckpointRead::How::kSuspect, "NaN", scan.state, 1, 1});
}

/// It lies there as it was saved when reading it found its numbers not sane.
bool SupervisedWorld::is_unsound(int64_t step) const {
  const auto found = unsound_.find(step);
  return found != unsound_.end() && found->second == disk.content(place(step) + "/optimizer.bin");
}

bool SupervisedWorld::has_sound_before(int64_t step) const {
  for (int64_t one = 1; one < step; ++one) {
    const std::string weights = place(one) + "/policy.bin";
    if (disk.exists(weights) && disk.content(weights) == "good" && !is_unsound(one)) return true;
  }
  return false;
}

}  // namespace mw::sim
