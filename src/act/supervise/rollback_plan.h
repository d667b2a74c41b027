// What exactly is set aside before the next attempt, and whether that may be: only this run's own checkpoints move,
// never all of them without leave, and nothing but this run's own is pointed at.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "act/supervise/judgement.h"
#include "act/supervise/run_spec.h"
#include "base/result.h"
#include "core/checkpoint_layout.h"
#include "platform/disk.h"
#include "sense/checkpoints/last_whole.h"
#include "sense/checkpoints/ownership.h"

namespace mw {

/// From which step on checkpoints are to be set aside, and why; no roots yet. `suspect`: the first that was saved after
/// the data had turned to poison, or kNoStep. `way`: what the disk shows.
Rollback rollback_from(int64_t suspect, const std::optional<LastWhole>& way);

struct RollbackPlan {
  Rollback back;              ///< no plans: there is nothing to do
  bool from_nothing = false;  ///< done so, the trainer would begin from nothing although it has saved
  std::string trouble;        ///< why it cannot be done at all; "": it can
};

/// What is looked at.
struct RollbackScope {
  const Ownership& own;
  const CheckpointLayout& layout;
  const std::vector<std::string>& roots;  ///< in which the run may save
  const std::optional<LastWhole>& way;    ///< what the disk shows
  bool told = false;                      ///< the trainer is told what to resume from
  std::string label;                      ///< nobody else's, below kQuarantineFolder
};

/// Takes what rollback_from() says apart. In trouble: a checkpoint that is not proven to be this run's would be resumed
/// from. kIo when the disk does not answer.
Result<RollbackPlan> plan_rollback(Disk& disk, const RollbackScope& scope, Rollback back);

/// A label that no other run has, and that is the same whenever this attempt is asked about.
std::string quarantine_label(const std::string& run_folder, int attempt, Time began);

/// Puts the plan into a judgement that was made on the grounds that it can be done: in trouble the run stops, and where
/// it would begin from nothing it waits for leave or stops, unless that is allowed.
void guard_rollback(const RollbackPlan& plan, const RunSpec& spec, Judgement& judgement);
/// Can it be done, with leave at least?
bool may_roll_back(const RollbackPlan& plan, const RunSpec& spec);

/// What a manifest says of the move, before it is known what moves.
QuarantineManifest quarantine_note(const std::string& run_folder, int attempt, Time at, const std::string& why);

/// Sets aside what `back` plans; says in one sentence what was done. It may be done again after it was cut short.
Result<std::string> roll_back(Disk& disk, const CheckpointLayout& layout, const Rollback& back,
                              const QuarantineManifest& of);

/// An error that another try may not meet.
bool may_pass(const Error& error);

}  // namespace mw
