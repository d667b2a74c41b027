// A trainer that is started again into the log of the start before draws the bar over its steps anew, with no time
// passed. Where its first record stands says less: one that resumes right after a save goes on with the next step.
#pragma once

#include <cstdint>
#include <string_view>

namespace mw {

/// Why an attempt began where this says so.
constexpr std::string_view kLoopAgain = "the progress bar of the training began again";

class LoopAgain {
 public:
  /// A program may have ended there, or loads a model: what is drawn anew behind it may be another start's.
  void may_begin() { may_begin_ = true; }
  /// The bar over the steps of the run shows `done` of them after `elapsed` seconds (below 0: not said). Returns
  /// whether the loop of another start drew it. A bar that a process closes when it ends shows the time that it took;
  /// one of an evaluation of as many batches comes behind nothing that ends a program.
  bool bar(int64_t done, double elapsed) {
    const bool again = may_begin_ && elapsed == 0 && elapsed_ > 0 && done <= done_;
    if (again || done > done_) may_begin_ = false;
    done_ = done;
    elapsed_ = elapsed;
    return again;
  }

 private:
  bool may_begin_ = false;
  int64_t done_ = -1;
  double elapsed_ = -1;
};

}  // namespace mw
