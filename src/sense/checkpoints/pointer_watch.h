// Does a framework's file that names its newest checkpoint name one that is there and whole? Frameworks write it
// before, during or after a save, and some remove the checkpoint that it names before they move it: so it is judged
// only when a further save is over and the trainer has gone on without moving it, or nothing has moved for a long time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/time.h"
#include "core/checkpoint_layout.h"
#include "core/event.h"
#include "platform/disk.h"

namespace mw {

/// One scan of the pointer in a folder of checkpoints.
struct PointerScan {
  bool known = false;      ///< there is one, and the disk answered
  std::string text;        ///< what stands in it, without blanks around it
  int64_t step = kNoStep;  ///< that it names
  bool dangles = false;    ///< what it names is not there
  bool empty = false;      ///< what it names is an empty folder
  uint64_t folder =
      0;  ///< of names, sizes and times there, where it leads to nothing: the same number means that all is still
};
PointerScan scan_pointer(Disk& disk, const std::string& root, const CheckpointLayout& layout);

class PointerWatch {
 public:
  /// For which nothing may have changed in the folder: network file systems show a change to others after up to a
  /// minute.
  static constexpr Duration kPatience = Duration::seconds(120);
  /// Likewise where no further save is seen.
  static constexpr Duration kLong = Duration::seconds(1800);
  /// Steps that the trainer must have gone on: asynchronous saves move the pointer in a later step.
  static constexpr int64_t kSteps = 2;

  /// What else is known by then.
  struct Facts {
    Duration now;                     ///< by the steady clock
    int64_t run_step = kNoStep;       ///< that the trainer is at; kNoStep: nothing shows that it goes on
    bool saving = false;              ///< a save is under way, or somebody writes there
    std::set<int64_t> whole, broken;  ///< checkpoints beside it, as they were found last
  };
  /// Call it with every scan. What to report, once; and that it is right again, where it was reported.
  std::optional<event::PointerSeen> judge(const std::string& root, const CheckpointLayout& layout,
                                          const PointerScan& scan, const Facts& facts);
  /// It was reported as wrong before this watch began.
  void reported(const std::string& root) { kept_[root].reported = true; }
  /// Was it looked at before?
  bool met(const std::string& root) const { return kept_.count(root) != 0; }
  /// Is it wrong, though perhaps not for long?
  bool doubted(const std::string& root) const;

 private:
  struct Kept {
    std::string wrong;  ///< as it was found last; "": it was right
    std::string text;
    uint64_t folder = 0;
    int64_t newest_before = kNoStep;  ///< whole checkpoint, when it was first found wrong
    int64_t newest = kNoStep;
    Duration still_since;
    int64_t still_from = kNoStep;  ///< the trainer's step then
    bool reported = false;
  };
  std::map<std::string, Kept> kept_;  // by folder
};

}  // namespace mw
