// Metric records become Measured events: which step they are of, what their names mean, training or evaluation.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/event.h"
#include "read/books/dialect_book.h"
#include "read/interpret/known_names.h"
#include "read/interpret/one_of_each.h"
#include "read/interpret/own_axis.h"
#include "read/interpret/shares.h"
#include "read/interpret/step_counter.h"
#include "read/interpret/step_leap.h"
#include "read/interpret/two_counters.h"
#include "read/interpret/unnamed_records.h"
#include "read/lines/row.h"

namespace mw {

/// One record as its line or row has it.
struct Record {
  std::span<const RowNumber> numbers;
  std::span<KnownName* const> names;  ///< the numbers' names, from Records::names_of()
  int64_t step = kNoStep;             ///< as written in the line; the dialect's offset is still to be added
  int64_t format_step = kNoStep;      ///< as the file's format has it; used when nothing else says
  StepPolicy policy = StepPolicy::kCurrent;
  bool eval = false;        ///< all of it
  bool of_machine = false;  ///< see Row
  bool from_file = false;   ///< a row of a structured file, no line of a log
  bool stale = false;       ///< a bar that shows a step, and the figures of an earlier one
  std::string_view prefix;  ///< put before every name
  Where where;
  Time at;
};

/// One per source. Records whose step is not known yet wait (at most kPendingLimit) until it is.
class Records {
 public:
  static constexpr size_t kPendingLimit = 4096;  ///< records that wait for the progress bar to show their step
  static constexpr size_t kPendingBlind = 64;    ///< the same while there is no bar

  Records(const DialectBook& book, EventSink& sink) : book_(book), sink_(sink), shares_(book) {}

  void set_speaker(std::optional<size_t> dialect);
  void configured(std::string_view key, std::string_view value) { shares_.configured(key, value); }
  /// What is known of the names of the next record, until the one after it.
  std::span<KnownName* const> names_of(std::span<const RowNumber> numbers) { return names_.of_record(numbers); }
  void add(const Record& record);
  /// A progress bar or the trainer's own counter says how many steps are done, of how many (0: it does not say).
  void steps_done(int64_t done, int64_t total = 0);
  void resumed(int64_t step);
  /// The trainer was started again: the bar that is shown next is another one. Where none is, epochs may go on.
  void another_process();
  /// Another attempt begins: records that nobody named are counted from 1 again, and rollouts are of no step before it.
  void begin_unnamed();
  /// The attempt is over, as the keeper says.
  void attempt_over();
  /// A checkpoint of this step (as written) was saved.
  void saved(int64_t step);
  void set_stride(int64_t stride) { counter_.set_stride(stride); }
  void lost_record() { counter_.lost_record(); }
  /// Is the step (as written) so far beyond the run's that the line which names it may be quoted?
  bool leaps(int64_t step) const { return leap_.leaps(step + offset()); }
  /// A line says that the trainer is at this step (as written). True where that may be quoted: then the event waits
  /// until later lines show whether it is.
  bool waits(int64_t step, Event&& event);
  /// The trainer said that it is at this step (as written).
  void set_step(int64_t step) {
    step_named();
    current_ = step + offset();
  }
  /// How the epoch in a record, not added yet, follows those before it.
  StepCounter::Turn epoch_turn(std::span<const RowNumber> numbers) const;
  bool counting() const { return speaker_ && book_.dialects()[*speaker_].count_steps; }
  int64_t current() const { return current_; }
  /// The plan is of so many steps, or of so many rollouts where the records count those.
  void set_plan(int64_t total) { plan_ = total; }
  /// Is a bar of so many one over rounds, of which each has records of its own?
  bool is_outer_bar(int64_t total) const { return counter_.is_outer(total); }
  /// How many steps an epoch has, where a line said so: "Epoch 1 step 10/126".
  void set_epoch_length(int64_t steps) { epochs_.length = steps; }
  int64_t offset() const;
  void finish();

 private:
  struct Pending {
    int64_t ordinal = 0;
    Event event;
  };
  void look_up(KnownName& name) const;
  Reading reading(KnownName& name, double value, bool held_out) const;
  Reading trained(KnownName& name, const Record& record, double value) const;
  int64_t step_under(const Record& record, std::string_view key) const;
  int64_t step_of(const Record& record, int64_t* ordinal);
  int64_t own_step(const Record& record);
  int64_t step_of_rollout(int64_t number, const Record& record);
  int64_t usual_step(const Record& record);
  int64_t over_epochs(int64_t step, const Record& record);
  int64_t by_axis(const Record& record);
  bool counts(const Record& record) const;
  bool is_step_key(const KnownName& name) const;
  bool note_total(const Record& record);  ///< whether it is that of a training that is done
  void note_plan(const Record& record);
  void reach(int64_t step, const Record& record);
  void put(Event&& event, int64_t ordinal);
  bool waits(const Record& record, event::Measured& train);
  bool put_unnamed(const Record& record, event::Measured& train);
  void step_named();
  void put_all(std::vector<Event>& events);
  void release(bool all);

  const DialectBook& book_;
  EventSink& sink_;
  std::optional<size_t> speaker_;
  KnownNames names_;
  OneOfEach signals_;
  Shares shares_;
  StepCounter counter_;
  TwoCounters counters_;
  OwnAxis axis_;
  StepLeap leap_;
  UnnamedRecords unnamed_;
  std::vector<Event> out_;  // scratch
  std::deque<Pending> pending_;
  int64_t current_ = kNoStep;
  double planned_ = 0;  // steps, as the last record with a plan said
  int64_t plan_ = 0;    // as the run's settings say
  bool keyed_ = false;  // records of this source carry a step key
  bool named_ = false;  // the last record that was asked for its step says it itself
  /// Of records that count the steps of each epoch anew.
  struct EpochCount {
    double epoch = -1;
    int64_t last = 0, apart = 1, base = 0, length = 0;
  };
  EpochCount epochs_;
  int64_t trained_ = kNoStep;      // the last record of a step, where others count rollouts
  int64_t steps_per_rollout_ = 0;  // 0: not known, or one
};

}  // namespace mw
