// AReaL's one place to resume from: `recover_info` and `*/recover_checkpoint` of a trial, written over at every save,
// beside exports of its weights (`*/epochEepochstepSglobalstepN`), from which no training resumes.
#pragma once

#include <string>
#include <vector>

#include "sense/checkpoints/find.h"

namespace mw {

/// The trial's folder, which is the checkpoint, of a path within it: a part of the slot, or an export. "" where `path`
/// is none of these, or the trial has no slot.
std::string recover_slot_of(Disk& disk, const std::string& path);
/// Is `path` a part of a slot, and no checkpoint by itself?
bool is_part_of_slot(const std::string& path);
/// Is it such a trial's folder?
bool is_recover_slot(Disk& disk, const std::string& trial);
/// As its `recover_info` has it; kNoStep: that cannot be read.
int64_t step_of_slot(Disk& disk, const std::string& trial);
/// Is its recover_info, which is written after the weights, as new as all of these? Not while a save is between the
/// two: then it names the step of the save before.
bool is_slot_complete(Disk& disk, const std::string& trial);
/// The exports of the trial `slot`, by step.
std::vector<FoundCheckpoint> exports_of(Disk& disk, const std::string& slot);

}  // namespace mw
