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
  /// and a loss that no update moves is: so many other figures must repeat with it, or have changed before. One figure
  /// alone is set each so many steps, as a rule. Figures that repeat for much longer than they ever did stand still.
  bool again(std::string_view text, std::span<const RowNumber> numbers) {
    constexpr size_t kBytes = 1000;
    constexpr std::ptrdiff_t kEnough = 4;
    if (text.size() > kBytes) return false;
    const bool same = text == last_;
    if (!same) {
      changes_ += last_.empty() ? 0 : 1;
      longest_ = std::max(longest_, repeats_);
      last_ = text;
    }
    repeats_ = same ? repeats_ + 1 : 0;
    if (!same || repeats_ > most_repeats()) return false;
    const auto exact = std::count_if(numbers.begin(), numbers.end(),
                                     [](const RowNumber& one) { return one.value != std::floor(one.value); });
    return exact >= kEnough || (exact > 0 && (changes_ > 0 || numbers.size() == 1));
  }

 private:
  size_t most_repeats() const {
    constexpr size_t kKnown = 10, kFew = 8, kBlind = 50, kTimes = 3;  // kKnown: changes that show how often it repeats
    return std::max(changes_ >= kKnown ? kFew : kBlind, kTimes * longest_);
  }

  std::string last_;
  size_t changes_ = 0, repeats_ = 0, longest_ = 0;
};

}  // namespace mw
