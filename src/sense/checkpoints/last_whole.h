// Which checkpoint a restart is to go on from: the newest that the disk does not show to be broken.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/checkpoint_layout.h"
#include "core/event.h"
#include "platform/disk.h"
#include "sense/checkpoints/save_order.h"

namespace mw {

/// What the run's journal knows of its checkpoints.
struct EarlierFindings {
  std::map<std::string, event::CheckpointRead> unsound = {};  ///< what reading all bytes found wrong, by path
  std::set<std::string> whole_in = {};      ///< folders in which one was found whole, though it may be gone since
  std::set<int64_t> left_behind = {};       ///< steps that the run went back behind: it goes on without those saves
  std::vector<EndedAttempt> attempts = {};  ///< that may have ended while they saved
};

struct LastWhole {
  int64_t from = kNoStep;  ///< the checkpoints from this step on are to be quarantined; kNoStep: none is
  int64_t kept = kNoStep;  ///< the newest one before them; kNoStep: none
  std::string why;         ///< why: of the newest one that is not to be resumed from, one sentence
  std::vector<event::CheckpointSeen> seen;  ///< that were looked at, the newest first
  std::string writing = {};                 ///< one that counts is not whole as it is being written; "": none
  std::set<std::string> written = {};       ///< by their real paths: that somebody writes just now, as far as was asked
  /// Folders whose pointer is missing and belongs there: `kept`, proven to be resumed from, is what it is to name.
  std::set<std::string> pointerless = {};
  /// Folders whose pointer names what is broken, by what it says, and is to name `kept`: that is newer, or what is
  /// named has no name of a step.
  std::map<std::string, std::string> misled = {};
  std::set<int64_t> halves = {};  ///< steps that only one of two roles has, of those that were looked at
};

/// Looks at what the framework would resume from, in all `roots` of one run (of an actor and a critic there may be one
/// each: a resume takes each by its own pointer, so only a step counts that both have, and both pointers are to name
/// it), and where that is broken or missing, for the newest one before that no root shows to be broken. Checkpoints
/// of `before` and later steps do not count (kNoStep: all do). Where the pointer names a whole one, newer checkpoints
/// do no harm and stay; what it names under another name than a step's is left alone, unless that is broken. Where what
/// it names is broken, a newer one is taken that a resume can begin from: the trainer died before it set the pointer. A
/// trainer begins from nothing where its pointer is missing: that counts as a broken one where no folder has any, or a
/// role lost its own. Folders of `skip` are none of the run's: they are not looked at, and a pointer that names one is
/// left alone. What is `earlier.unsound` is not resumed from, unless it was saved anew since. In a folder of
/// `earlier.whole_in` it is known how this run saves, also where no older one is left to compare with. What is not
/// whole and `is_written` (by whomever: another run may save into the same folder) is not broken, and is none of
/// `seen`.
LastWhole find_last_whole(Disk& disk, const std::vector<std::string>& roots, const CheckpointLayout& layout,
                          int64_t before, const std::set<std::string>& skip = {}, const EarlierFindings& earlier = {},
                          const std::function<bool(const std::string& path)>& is_written = nullptr);

}  // namespace mw
