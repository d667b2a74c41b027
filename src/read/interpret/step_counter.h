// Steps of trainers whose metric lines do not say which step they are of (HF Trainer, TRL): from counting records, and
// from the progress bar, which is on stderr and so not held back by a buffer as the records on stdout are.
#pragma once

#include <cstdint>
#include <optional>

namespace mw {

/// A record's step is known when the next movement of the bar shows how many records came between two bars:
/// - one record after every movement: nothing is buffered, and the bar before the record is its step;
/// - several at once: a buffer was flushed; the records lie evenly, `stride` steps apart.
class StepCounter {
 public:
  /// The bar showed `done` steps.
  void bar(int64_t done);
  /// The trainer said that it logs every `stride` steps.
  void set_stride(int64_t stride);
  /// The trainer resumed at this step: counting goes on from there.
  void resumed(int64_t step);
  /// A record came; `epoch` as it says (NaN: it does not). Returns its ordinal, from 1; lost records are counted, too,
  /// where the epochs show a gap.
  int64_t record(double epoch);
  /// A record was cut in two by another stream and could not be read; it counts.
  void lost_record();
  /// The step of a record by its ordinal; nullopt: not known yet.
  std::optional<int64_t> step_of(int64_t ordinal) const;
  /// No more will come, or nobody can wait: decides on what there is.
  void settle();
  int64_t stride() const { return stride_; }
  /// The bar's last showing; -1: none yet.
  int64_t shown() const { return bar_; }
  /// The run said at its end how many steps it made in all.
  void total(int64_t steps);

 private:
  void end_of_clump();

  int64_t ordinal_ = 0;       // of the last record
  int64_t base_ = 0;          // step before the first record
  int64_t base_ordinal_ = 0;  // and the ordinal that goes with it
  int64_t stride_ = 0;        // 0: not known
  bool stated_ = false;       // the stride was stated by the trainer, not inferred
  int64_t bar_ = -1;          // last shown
  int64_t clump_ = 0;         // records since the bar last moved
  bool buffered_ = false;     // several records came at once
  int64_t clumps_ = 0;
  double first_epoch_ = 0, last_epoch_ = 0;
  int64_t epoch_ordinal_ = 0;  // ordinal of first_epoch_; 0: none
};

}  // namespace mw
