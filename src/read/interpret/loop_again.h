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
  /// A program may have ended there: what is drawn anew behind it may be another start's.
  void failed() {
    may_begin_ = failed_ = true;
    loaded_ = false;
  }
  /// A model is loaded, as a start does before it trains, and an evaluation.
  void loads() { may_begin_ = loaded_ = true; }
  /// Has nothing moved the bar since then?
  bool may_be_another() const { return may_begin_; }
  /// The bar over the steps of the run shows `done` of them after `elapsed` seconds (below 0: not said). Returns
  /// whether the loop of another start drew it. A bar that a process closes when it ends shows the time that it took,
  /// or none where it failed at once: then only a model that is loaded behind the failure shows another start. One of
  /// an evaluation of as many batches comes behind nothing that ends a program.
  bool bar(int64_t done, double elapsed) {
    const bool again = may_begin_ && elapsed == 0 && (elapsed_ > 0 || (failed_ && loaded_)) && done <= done_;
    if (again || done > done_) may_begin_ = failed_ = loaded_ = false;
    done_ = done;
    elapsed_ = elapsed;
    return again;
  }

 private:
  bool may_begin_ = false, failed_ = false, loaded_ = false;
  int64_t done_ = -1;
  double elapsed_ = -1;
};

}  // namespace mw
