// The axis of a file whose records have no step: a column that counts batches, rounds, environment steps or episodes.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/event.h"
#include "read/interpret/known_names.h"
#include "read/lines/row.h"

namespace mw {

/// A column is the axis where the first record has it near its beginning (0, 1, or for environment steps any number
/// above) and it only rises from there. It may begin again at its beginning, as when a run is started anew and appends
/// to its file: then the steps do, too, unless another column beside it ("stage", "epoch") rose: that counts rounds of
/// it, and the steps go on. A column that goes back elsewhere more than now and then is none. Rows of a Trainer's
/// history without a step have no such column, only the part of an epoch that was done ("epoch": 0.07): they are
/// counted.
class OwnAxis {
 public:
  /// The step of a record by its axis, kNoStep where it has none. Asked twice of a record it answers the same.
  int64_t step_of(std::span<KnownName* const> names, std::span<const RowNumber> numbers);
  /// The source has records with a step.
  void give_up() { dead_ = true; }

 private:
  bool choose(std::span<KnownName* const> names, std::span<const RowNumber> numbers);
  void begin_again(int64_t value, double outer);
  bool counts_rows(std::span<KnownName* const> names, std::span<const RowNumber> numbers);
  int64_t row_of(std::span<KnownName* const> names, std::span<const RowNumber> numbers);

  std::string name_;  // empty: not chosen yet
  bool dead_ = false;
  int64_t first_ = 0, last_ = 0, stride_ = 1, base_ = 0;
  int64_t records_ = 0, backs_ = 0;
  double outer_ = 0;   // of the record before
  bool rows_ = false;  // rows are counted
  double epoch_ = 0;   // of the row before
  uint64_t row_ = 0;   // its numbers, as a hash
};

}  // namespace mw
