// Steps of trainers whose metric lines do not say which step they are of (HF Trainer, TRL): from counting records, and
// from the progress bar, which is on stderr and so not held back by a buffer as the records on stdout are.
#pragma once

#include <cstdint>
#include <optional>

namespace mw {

/// A record's step is known when the bar is shown again, by how many records came between two showings:
/// - one: nothing is buffered. tqdm.write() clears the bar, writes the record and draws the bar again, so that the same
///   count before and after the record is its step; a count that moved while the bar was not drawn is seen only behind
///   the record. Whoever prints the record and leaves the bar alone: the count before it.
/// - several: a buffer was flushed; the records lie evenly, `stride` steps apart. A trainer that resumed draws 0 first
///   and then jumps to where it is: what lies between was done before.
class StepCounter {
 public:
  /// The bar showed `done` steps of `total`, which no record can lie beyond; 0: it has no end.
  void bar(int64_t done, int64_t total = 0);
  /// Did so many more records than `total` come while a bar of that many stood still, that it goes over rounds, of
  /// which each has records of its own? Such a bar says nothing of steps.
  bool is_outer(int64_t total) const { return total > 0 && total == outer_; }
  /// The trainer said that it logs every `stride` steps.
  void set_stride(int64_t stride);
  /// The trainer resumed at this step: counting goes on from there. 0: another training begins.
  void resumed(int64_t step);
  /// Whether a record of this epoch is of another attempt than the last one: epochs only rise, and no bar is there to
  /// say more. What still waits for its step is then of the attempt before, and to be settled first.
  bool goes_back(double epoch) const;
  /// How an epoch follows that of the last record.
  enum class Turn : uint8_t { kUnknown, kOn, kBack };
  Turn turn(double epoch) const;
  /// A record came; `epoch` as it says (NaN: it does not). One that goes back is of the step that its epoch was of
  /// before. Returns its ordinal, from 1; lost records are counted, too, where the epochs show a gap.
  int64_t record(double epoch);
  /// A record was cut in two by another stream and could not be read; it counts.
  void lost_record();
  /// The step of a record by its ordinal; nullopt: not known yet.
  std::optional<int64_t> step_of(int64_t ordinal) const;
  /// No more will come, or nobody can wait: decides on what there is.
  void settle();
  int64_t stride() const { return stride_; }
  /// Does step_of() but count records, as nothing has said of which step any of them is?
  bool only_counts() const { return bar_ < 0 && !stated_ && !anchored_; }
  /// The bar's last showing; -1: none yet.
  int64_t shown() const { return bar_; }
  /// A checkpoint of this step was saved, behind the record of the step or of one before it. Where no bar is drawn the
  /// records since the last save lie evenly up to it.
  void saved(int64_t step);
  /// The run said at its end how many steps it made in all.
  void total(int64_t steps);

 private:
  void begin_again(int64_t done);
  void renumber(double epoch);
  void moved(int64_t done);
  void place(int64_t step);
  void spread();
  int64_t skipped() const;

  int64_t ordinal_ = 0;  // of the last record
  int64_t base_ = 0;     // a step that is known: of the record `base_ordinal_`, or before the first one
  int64_t base_ordinal_ = 0;
  int64_t stride_ = 0;        // 0: not known
  int64_t confirmed_ = 0;     // clumps of records that it held for
  bool stated_ = false;       // the stride was stated by the trainer, not inferred
  bool anchored_ = false;     // a save or the end of the run said the step of a record
  int64_t bar_ = -1;          // last shown
  int64_t total_ = 0;         // what it ends at; 0: not known
  int64_t outer_ = 0;         // total of a bar that goes over rounds
  int64_t waiting_ = 0;       // records since the bar was last shown
  bool buffered_ = false;     // several records came at once
  bool redrawn_ = false;      // the bar was drawn again right behind a record
  int64_t left_alone_ = 0;    // times that it was not: it had moved on when it was next shown
  bool resumed_ = false;      // the trainer said where, and no record came since
  bool from_zero_ = false;    // the bar of this run was shown at 0
  int64_t first_move_ = 0;    // by how much it then moved
  int64_t longest_move_ = 0;  // of the later ones
  int64_t moves_ = 0;
  double first_epoch_ = 0, last_epoch_ = 0;
  int64_t epoch_ordinal_ = 0;  // ordinal of first_epoch_; 0: none
};

}  // namespace mw
