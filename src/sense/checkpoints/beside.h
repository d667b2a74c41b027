// Where a run saves that says nothing of it and does so too quickly to be seen at it (adapters of some megabytes).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/checkpoint_layout.h"
#include "core/state.h"
#include "platform/disk.h"
#include "platform/system.h"

namespace mw {

struct SavedBeside {
  int64_t step = 0;
  Time changed;         ///< when something was last made in its folder
  bool output = false;  ///< it lies in a folder that a command's words name as the one in which it saves
};

/// The checkpoints, by their paths, in folders where a run may save: of the files that these processes have open to
/// write, and up to two above each; that their commands name; in which they work, and up to two below. Bounded; never
/// "/tmp" and its like, which many programs share.
std::map<std::string, SavedBeside> saved_beside(Disk& disk, System& system, const std::vector<int64_t>& pids,
                                                const CheckpointLayout& layout);

/// Likewise in these folders, and in what lies up to so many levels below each.
std::map<std::string, SavedBeside> saved_below(Disk& disk, const std::map<std::string, int>& folders,
                                               const CheckpointLayout& layout);

/// The steps that the last attempt's files say it saved, and when, as far as they say.
std::map<int64_t, Time> announced_saves(const State& state);

/// Finds out whose checkpoints they are: the run's are made just when it has reached their steps.
class StepsInTime {
 public:
  /// The run is at this step, at this time; call it about once a second.
  void at(Time now, int64_t step);
  /// Was something that belongs to `step` made at that time? Not known to be for a time before the first call.
  bool fits(int64_t step, Time made) const;
  /// The one folder in which checkpoints were made in time at two steps or more, or at one where a command names it as
  /// its output, or where the log announced that save just then; "" while none, or more than one, has any.
  std::string folder_of(const std::map<std::string, SavedBeside>& saved,
                        const std::map<int64_t, Time>& announced = {}) const;

 private:
  /// Was it made so lately that the step it belongs to may be reached, and is not read yet?
  bool may_come(int64_t step, Time made) const;

  static constexpr size_t kKept = 4096;
  struct Seen {
    Time from;  // the call before: the step was read at some time since then
    Time at;
    int64_t step;
  };
  std::deque<Seen> seen_;  // where the step changed, and the last
  Time called_;
};

}  // namespace mw
