// What exactly is quarantined before the next attempt, and whether that is allowed: only this run's own checkpoints
// move, never all of them without approval, and the pointer is set to nothing but this run's own.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "act/supervise/judgement.h"
#include "act/supervise/run_files.h"
#include "base/result.h"
#include "core/checkpoint_layout.h"
#include "core/state.h"
#include "platform/disk.h"
#include "sense/checkpoints/last_whole.h"
#include "sense/checkpoints/ownership.h"
#include "sense/checkpoints/quarantine.h"

namespace mw {

/// From which step on checkpoints are to be quarantined, and why; no roots yet. `suspect`: the first that was saved
/// after the data was poisoned, or kNoStep. `way`: what the disk shows.
Rollback rollback_from(int64_t suspect, const std::optional<LastWhole>& way);

struct RollbackPlan {
  Rollback back;              ///< no plans: there is nothing to do
  std::string from = {};      ///< what a person calls `back.from`: "step 30", "checkpoint_3"
  bool from_nothing = false;  ///< done so, the trainer would begin from nothing although it has saved,
                              ///< and not at any time only what is broken
  std::string trouble;        ///< why it cannot be done at all; "": it can
};

/// What a plan is made from.
struct RollbackScope {
  const Ownership& own;
  const CheckpointLayout& layout;
  const std::vector<std::string>& roots;  ///< in which the run may save
  const std::optional<LastWhole>& way;    ///< what the disk shows
  bool resume_given = false;              ///< midwatch says what the trainer resumes from
  std::string label;                      ///< nobody else's, below kQuarantineFolder
  bool had_whole = false;                 ///< the run had saved one that was whole, whether it is there or not
};

/// Works out what rollback_from() asks for. In trouble: a checkpoint that is not proven to be this run's would be
/// resumed from. kIo when the disk does not answer.
Result<RollbackPlan> plan_rollback(Disk& disk, const RollbackScope& scope, Rollback back);

/// "" where the trainer would resume from nothing of which this run's log shows that somebody else saved it; else what
/// would. Where midwatch says what it resumes from there is nothing to ask. kIo when the disk does not answer.
Result<std::string> anothers_in_the_way(Disk& disk, const RollbackScope& scope);

/// Had the run a checkpoint that was whole, at whichever time: found so on the disk, though it is broken or gone by
/// now, or saved by its trainer's word, as far as `way` does not show it to be broken?
bool had_whole(const State& state, const std::optional<LastWhole>& way);

/// A label that no other run has, and that is the same whenever this attempt is asked about.
std::string quarantine_label(const std::string& run_folder, int attempt, Time began);

/// Puts the plan into a judgement that was made on the grounds that it can be done: in trouble the run stops, and where
/// it would begin from nothing it waits for approval or stops, unless that is allowed.
void guard_rollback(const RollbackPlan& plan, const RunSpec& spec, Judgement& judgement);
/// Can it be done, at least with approval?
bool may_roll_back(const RollbackPlan& plan, const RunSpec& spec);

/// What a manifest says of the move, before it is known what moves.
QuarantineManifest quarantine_note(const std::string& run_folder, int attempt, Time at, const std::string& why);

/// A warning, to be put behind where it lies, where the trainer may delete what was moved; else "".
std::string said_of_exposed(const Quarantined& done);

/// Quarantines what `back` plans; says in one sentence what was done. It may be done again after it was cut short.
/// `elsewhere` as of quarantine().
Result<std::string> roll_back(Disk& disk, const CheckpointLayout& layout, const Rollback& back,
                              const QuarantineManifest& of, const KeepManifest& elsewhere);

/// An error that another try may not meet.
bool may_pass(const Error& error);

}  // namespace mw
