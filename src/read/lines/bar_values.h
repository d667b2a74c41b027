// The figures behind a progress bar.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>

#include "read/lines/row.h"

namespace mw {

/// A bar is drawn more often than its figures are set: then it shows a new step and the figures of an earlier one.
class BarValues {
 public:
  /// Whether these figures, as written and as read, are those of the bar before. Whole numbers may well be equal twice,
  /// and a loss that no update moves is: so many other figures must repeat with it, or have changed before.
  bool again(std::string_view text, std::span<const RowNumber> numbers) {
    constexpr size_t kBytes = 1000;
    constexpr std::ptrdiff_t kEnough = 4;
    if (text.size() > kBytes) return false;
    const bool same = text == last_;
    changed_ = changed_ || (!same && !last_.empty());
    if (!same) last_ = text;
    const auto exact = std::count_if(numbers.begin(), numbers.end(),
                                     [](const RowNumber& one) { return one.value != std::floor(one.value); });
    return same && (exact >= kEnough || (exact > 0 && changed_));
  }

 private:
  std::string last_;
  bool changed_ = false;
};

}  // namespace mw
