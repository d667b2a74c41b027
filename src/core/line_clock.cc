#include "core/line_clock.h"

#include <algorithm>

namespace mw {

void LineClock::note(uint64_t line, Time at) {
  if (!at.known() || line <= last_.line) return;
  last_ = {line, at};
  if (!marks_.empty() && line < marks_.back().line + spacing_) return;
  marks_.push_back(last_);
  if (marks_.size() <= kMarks) return;
  for (size_t i = 0; 2 * i < marks_.size(); ++i) marks_[i] = marks_[2 * i];
  marks_.resize((marks_.size() + 1) / 2);
  spacing_ = std::max(2 * spacing_, (marks_.back().line - marks_.front().line) / kMarks);
}

Time LineClock::before(uint64_t line) const {
  if (last_.line <= line) return last_.at;
  const auto next = std::upper_bound(marks_.begin(), marks_.end(), line,
                                     [](uint64_t wanted, const Mark& mark) { return wanted < mark.line; });
  return next == marks_.begin() ? Time() : std::prev(next)->at;
}

Time LineClock::after(uint64_t line) const {
  const auto next = std::lower_bound(marks_.begin(), marks_.end(), line,
                                     [](const Mark& mark, uint64_t wanted) { return mark.line < wanted; });
  if (next != marks_.end()) return next->at;
  return last_.line >= line ? last_.at : Time();
}

}  // namespace mw
