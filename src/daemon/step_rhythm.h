// How long the steps of a run take by this machine's own clock: many a log tells no time.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "core/state.h"

namespace mw {

class StepRhythm {
 public:
  static constexpr size_t kLeast = 5;   ///< steps; fewer have no rhythm
  static constexpr size_t kKept = 101;  ///< the last steps that count

  /// What the files have told by `now`, a steady clock's.
  void look(const State& state, Duration now);

  bool known() const { return spans_.size() >= kLeast; }
  double usual() const;                        ///< s, the median time of a step; 0 while not known
  double longest() const { return longest_; }  ///< s, from one step to the next, evaluations and saves included

 private:
  std::vector<double> spans_;  ///< s for one step, a ring
  size_t next_ = 0, attempt_ = 0;
  int64_t step_ = kNoStep;
  Duration at_;
  double longest_ = 0;
};

}  // namespace mw
