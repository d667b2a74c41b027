#include "read/interpret/cell_tables.h"

#include <algorithm>
#include <cmath>

namespace mw {
namespace {

/// Zeros and ones, and what is rounded to them, are equal by chance.
bool is_telling(double value) { return std::isfinite(value) && value != std::round(value); }

/// As a table rounds what another one has in full.
bool is_same(double a, double b) {
  constexpr double kRounded = 5e-7, kRelative = 1e-5;
  return std::fabs(a - b) <= std::max(kRounded, kRelative * std::fabs(a));
}

}  // namespace

/// Is there an earlier row of the step that has the same figures, as far as both have them?
bool CellTables::was_shown(int64_t step, std::span<const RowNumber> numbers) const {
  const auto rows = rows_.find(step);
  if (rows == rows_.end()) return false;
  return std::any_of(rows->second.begin(), rows->second.end(), [&numbers](const Figures& row) {
    size_t same = 0;
    for (const auto& known : row) {
      const auto one = std::find_if(numbers.begin(), numbers.end(),
                                    [&known](const RowNumber& number) { return number.key == known.first; });
      if (one == numbers.end() || !is_telling(known.second)) continue;
      if (!is_same(known.second, one->value)) return false;
      ++same;
    }
    return same > 0;
  });
}

CellTables::Row CellTables::row(size_t table, int64_t step, std::span<const RowNumber> numbers) {
  if (table != table_ && was_shown(step, numbers)) {
    shown_again_ = table;
    return Row::kShownBefore;
  }
  const bool goes_on = table == shown_again_ && step > last_;
  const bool another = table != table_ && table_ != 0 && !goes_on;
  if (another || trainings_ == 0) ++trainings_;
  table_ = table;
  last_ = step;
  trains_ = true;
  if (kept_ < kRowLimit && rows_[step].size() < kStepLimit) {
    Figures& row = rows_[step].emplace_back();
    for (const RowNumber& one : numbers) row.emplace_back(std::string(one.key), one.value);
    ++kept_;
  }
  return another ? Row::kOfAnother : Row::kNext;
}

}  // namespace mw
