// Whose a checkpoint is. Moved, deleted or pointed at is only what the run's own attempts were seen to write; a line of
// a log is a hint and never a licence (docs/decisions/0008-whose-checkpoint.md).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/checkpoint_layout.h"
#include "core/event.h"
#include "platform/disk.h"

namespace mw {

/// The folders, and files that may be checkpoints, that lay where a run may save, before its first attempt began.
struct Snapshot {
  struct Thing {
    uint64_t device = 0, inode = 0;  ///< inode 0: not known
  };
  using Things = std::map<std::string, Thing>;  ///< by name
  std::map<std::string, Things> folders;        ///< by absolute path; one that was not there is in it, too, and empty

  /// Is it known what lay in `folder`?
  bool knows(const std::string& folder) const;
  /// Was this very thing there? `knows(folder)`. Of one name with another identity the old one is gone.
  bool had(const std::string& folder, const std::string& name, const Thing& now) const;
};

/// Lists each of `places` and the folders below them, as far as that is no work: kDepth levels, kEntries entries of
/// one place. kIo when a place itself does not answer; what does not answer below one is there and unknown. `enough`:
/// asked between two folders; true ends it.
Result<Snapshot> take_snapshot(Disk& disk, const std::vector<std::string>& places, const std::function<bool()>& enough);
/// As text, as a number of JSON does not hold 64 bits; nothing known of what is no such text.
std::string identity_text(const Snapshot::Thing& thing);
Snapshot::Thing identity_in(std::string_view text);
std::string snapshot_text(const Snapshot& snapshot);
/// kInvalid with what is wrong.
Result<Snapshot> parse_snapshot(std::string_view text);

enum class Whose {
  kOwn,      ///< seen to be written by this run's own attempts, where it may save
  kForeign,  ///< it was there before, or was written while no attempt lived
  kUnknown,  ///< nothing proves either
};

/// What is known of a run, by which the owner of a checkpoint is decided.
struct Ownership {
  struct Life {
    Time began, ended;  ///< of an attempt; `ended` not known: it goes on
  };
  /// Another run that saves, or saved, in folders in which this one may.
  struct Other {
    std::string name;
    std::set<std::string> roots;
    std::vector<Life> lives;  ///< one of which no end is known is over with the last sign of it
  };
  struct Range {
    int64_t lowest = 0, highest = 0;
  };
  bool has_snapshot = false;  ///< without one nothing is proven
  Snapshot snapshot;
  std::vector<Life> lives;
  std::vector<Range> steps;          ///< that its attempts can have saved; none: its files name no steps
  std::set<int64_t> resumed;         ///< steps that it was resumed from
  std::set<int64_t> said;            ///< steps of which its files said that they were saved
                                     ///< (the three are numbers of saves where the layout counts those)
  std::set<std::string> declared;    ///< folders that were declared to hold its checkpoints
  std::vector<std::string> places;   ///< folders below which it may save: declared, worked in, watched
  std::set<std::string> named;       ///< folders with checkpoints that its files named
  std::set<std::string> seen;        ///< likewise in which its processes had files open to write
  std::set<std::string> strangers;   ///< likewise somebody else's
  std::set<int64_t> logged = {};     ///< of `said`, those of which a file of the run says it, and not the disk alone
  int64_t planned = kNoStep;         ///< furthest_planned(), furthest_named() of core/checkpoint_trust.h
  int64_t reached = kNoStep;         ///< likewise
  std::set<int64_t> plans = {};      ///< steps that its attempts planned; none: one of them has no plan
  int64_t beyond = kNoStep;          ///< no save of its own lies further, by core/reach.h, and its log names its saves
  double epoch = -1;                 ///< the furthest that it can have come since its last record; below 0: not known
  std::set<int64_t> last_said = {};  ///< of `said`, the last of each attempt: it may be written after its end
  std::map<int64_t, Time> passed = {};  ///< of `said`, when the run had saved twice more
  std::vector<Other> others = {};
  std::set<std::string> by_saves = {};  ///< of `named`: found by what was saved there when its files say it was
  bool counts_records = false;          ///< its records name no steps, so that only its epochs say how far it came

  /// May checkpoints in `root` be this run's at all? Declared itself; or below a place, and named or seen.
  bool may_save_in(const std::string& path) const;
  /// The other run that may have written at that time in `root`; nullptr: none.
  const Other* other_at(const std::string& root, Time at) const;
  const Other* other_in(const std::string& root) const;
  /// Likewise, that lived while an attempt of this one did.
  const Other* lived_beside(const std::string& root) const;
};

/// Whose a checkpoint is shows in its times and in its step, and another trainer that saves into the same folder at the
/// same time has both: to delete one by a rule it takes more. The run's files name its step; or, where they name none,
/// those there (`steps`) lie evenly, with no wide hole, as those of one trainer do. What midwatch itself deleted
/// (`removed`) lay there, too, and was this run's; among those and below, holes are its own work.
bool may_go_by_rule(const Ownership& of, const std::vector<int64_t>& steps, const std::set<int64_t>& removed,
                    int64_t step);

/// The log does not show that the run has come to this step, of which `steps` are the ones there. By a rule such a one
/// is neither deleted nor does any go for it: it may be somebody else's. kIo when the disk does not answer.
Result<bool> is_ahead(Disk& disk, const Ownership& of, const std::string& root, const CheckpointLayout& layout,
                      const std::vector<int64_t>& steps, int64_t step);

/// Its log names its saves, and this one is none of them, and lies further than the run came, or does not follow them
/// at their distance: somebody else saved it into the same folder meanwhile. False where too little is known of its
/// saves, and for what lay there before.
bool is_anothers(const Ownership& of, int64_t step);

/// Whose is the checkpoint of `step` in `root`? kIo when the disk does not answer.
Result<Whose> whose_is(Disk& disk, const Ownership& of, const std::string& root, const CheckpointLayout& layout,
                       int64_t step);

/// Folders of checkpoints in `roots` that are foreign, and that the run was not resumed from itself.
Result<std::set<std::string>> not_to_resume_from(Disk& disk, const Ownership& of, const std::vector<std::string>& roots,
                                                 const CheckpointLayout& layout);

/// `path` without "." and doubled or last slashes in it; ".." stays.
std::string plain_path(std::string_view path);

/// `path` is `folder` or lies below it; never where it has ".." in it.
bool lies_in(std::string_view path, std::string_view folder);

}  // namespace mw
