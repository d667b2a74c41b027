// How fast a run does its steps, by the watch's own clock: the run's may be a file's, or none.
#pragma once

#include <cstdint>
#include <deque>

#include "base/time.h"

namespace mw::components {

class Rhythm {
 public:
  /// Called turn by turn: the attempt that runs and the last step that was heard of in it.
  void saw(size_t attempt, int64_t step, Duration now);

  int64_t steps() const { return steps_; }       ///< that this watch saw being done in this attempt
  Duration last() const { return last_; }        ///< when the last of them was; 0: none yet
  Duration usual() const;                        ///< the median of the last ones; 0: too few to say
  size_t timed() const { return timed_; }        ///< steps whose time was seen, over all attempts
  Duration longest() const { return longest_; }  ///< from one step that was heard of to the next, in any attempt
  /// Nothing has been done since `then` for as long as `least`, and for `times` as long as a step usually takes.
  /// `unknown` is what counts where no usual time is known.
  bool waits(Duration then, Duration now, Duration least, double times, Duration unknown) const;

 private:
  static constexpr size_t kKept = 16, kLeast = 3;
  size_t attempt_ = 0;
  int64_t step_ = INT64_MIN;
  int64_t steps_ = 0;
  Duration last_;
  std::deque<int64_t> spans_;  // nanoseconds of a step
  size_t timed_ = 0;
  Duration longest_;
};

}  // namespace mw::components
