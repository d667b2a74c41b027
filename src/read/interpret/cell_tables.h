// Tables of a notebook that show a training's records: each is of a training of its own, unless it shows one again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "read/lines/row.h"

namespace mw {

/// One per source.
class CellTables {
 public:
  static constexpr size_t kRowLimit = 1 << 20;  ///< rows that are known again
  static constexpr size_t kStepLimit = 32;      ///< likewise, of one step

  enum class Row : uint8_t {
    kNext,         ///< of the training whose rows came before, or of the first one
    kOfAnother,    ///< another training begins with it
    kShownBefore,  ///< an earlier table has its figures at the same step
  };
  /// A row of the `table`th table.
  Row row(size_t table, int64_t step, std::span<const RowNumber> numbers);
  /// The trainer said that its training is over.
  void ended() { trains_ = false; }
  /// Has a training begun that is not over, as far as was said?
  bool trains() const { return trains_; }
  size_t trainings() const { return trainings_; }

 private:
  bool was_shown(int64_t step, std::span<const RowNumber> numbers) const;

  using Figures = std::vector<std::pair<std::string, double>>;
  std::map<int64_t, std::vector<Figures>> rows_;  // by step
  size_t kept_ = 0;
  size_t table_ = 0;        // of the training's last row
  size_t shown_again_ = 0;  // the last table that showed rows of an earlier one
  int64_t last_ = 0;        // step of the training's last row
  size_t trainings_ = 0;
  bool trains_ = false;
};

}  // namespace mw
