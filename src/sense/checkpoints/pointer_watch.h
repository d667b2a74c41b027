// Is a framework's file that names its newest checkpoint there, and does it name one that is there, whole, and the
// newest? Frameworks write it before, during or after a save, some only when the next save begins, and some remove it,
// or the checkpoint that it names, before they move it: so it is judged only when further saves are over and the
// trainer has gone on without moving it, or nothing has moved for a long time.
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
  bool missing = false;    ///< there is none, and the disk answered
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
  /// Whole saves that must have left it where it is, one that asynchronous saves move when the next one begins: until
  /// then it is one behind, or not there yet.
  static constexpr size_t kLag = 2;
  /// Whole saves that no framework makes without moving it: nothing has to be still by then.
  static constexpr size_t kMany = 4;

  /// What else is known by then.
  struct Facts {
    Duration now;                     ///< by the steady clock
    int64_t run_step = kNoStep;       ///< that the trainer is at; kNoStep: nothing shows that it goes on
    bool saving = false;              ///< a save is under way, or somebody writes there
    std::set<int64_t> whole, broken;  ///< checkpoints beside it, as they were found last
    bool elsewhere = false;           ///< there is one in another folder of the run: this may be one of exports
  };
  /// Call it with every scan. What to report, once; and that it is right again, where it was reported.
  std::optional<event::PointerSeen> judge(const std::string& root, const CheckpointLayout& layout,
                                          const PointerScan& scan, const Facts& facts);
  /// It was reported as wrong, when it named `step`, before this watch began.
  void reported(const std::string& root, int64_t step) {
    kept_[root].reported = true;
    kept_[root].reported_step = step;
  }
  /// Was it looked at before?
  bool met(const std::string& root) const { return kept_.count(root) != 0; }
  /// Is it wrong, though perhaps not for long?
  bool doubted(const std::string& root) const;

 private:
  struct Kept {
    bool met = false;                   ///< it was looked at
    bool was_there = false;             ///< at some time
    std::map<int64_t, Duration> whole;  ///< since when the steps are whole; 0: since it was first looked at
    std::string text;                   ///< as it stood last
    int64_t step = kNoStep;             ///< that it names
    Duration text_since;
    std::string wrong;  ///< as it was found last, without what changes with each save; "": it was right
    Duration wrong_since;
    int64_t wrong_from = kNoStep;  ///< the trainer's step then
    uint64_t folder = 0;
    int64_t newest = kNoStep;
    Duration still_since;
    int64_t still_from = kNoStep;
    bool reported = false;
    int64_t reported_step = kNoStep;  ///< that it named then

    /// Saves that became whole since, of steps above `above`; kNoStep: of all.
    size_t saved(Duration since, int64_t above) const;
  };
  void meet(Kept& kept, const PointerScan& scan, const Facts& facts);
  std::string what_is_wrong(const Kept& kept, const PointerScan& scan, const Facts& facts) const;
  bool is_settled(const Kept& kept, const Facts& facts) const;
  std::map<std::string, Kept> kept_;  // by folder
};

}  // namespace mw
