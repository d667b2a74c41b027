// A line of a log that names a step far beyond the run's: the log goes on there, as parts of it are missing, or the
// line is quoted (a model's answer that holds the log of another run).
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/event.h"

namespace mw {

/// One per log. Events of steps that leap ahead wait until a later line shows which of the two it is; a few at most, as
/// no log goes on elsewhere for long without being the run's.
class StepLeap {
 public:
  /// A record of this step comes. True: hold() its events, for now it counts for nothing. Else what waited is settled:
  /// where the steps went on as before it is forgotten, else it is in `out`, to be put before the record.
  bool comes(int64_t step, std::vector<Event>& out);
  void hold(Event&& event) { held_.push_back(std::move(event)); }
  /// Would it be far beyond the steps that count?
  bool leaps(int64_t step) const { return known_ >= kKnown && step > last_ + std::max(kLeast, kStrides * longest_); }
  /// Another attempt begins, at whatever step: what waits was followed by nothing and is forgotten.
  void begin_anew();
  /// The log is over. What waits is in `out`, but for what is beyond the plan (0: not known).
  void finish(int64_t planned, std::vector<Event>& out);

 private:
  static constexpr int64_t kLeast = 20;    ///< steps; holes of fewer do no harm
  static constexpr int64_t kStrides = 10;  ///< of the longest way from one step to the next so far
  static constexpr int kKnown = 3;         ///< ways from one step to the next, before any is far
  static constexpr int kPatience = 3;      ///< steps that wait; the next one shows that they are the run's

  void pass(int64_t step);

  int64_t last_ = kNoStep;   // that counts
  int64_t longest_ = 0;      // way from one step to the next
  int known_ = 0;            // such ways
  int64_t leapt_ = kNoStep;  // the last step that waits
  int waiting_ = 0;          // steps that do
  std::vector<Event> held_;
};

}  // namespace mw
