#include "core/line_clock.h"

#include <algorithm>

namespace mw {

void LineClock::note(uint64_t line, Time at) {
  if (!at.known() || line <= last_.line) return;
  last_ = {line, at};
  if (!kept_.empty() && line < kept_.back().line + spacing_) return;
  kept_.push_back(last_);
  if (kept_.size() <= kKept) return;
  for (size_t i = 0; 2 * i < kept_.size(); ++i) kept_[i] = kept_[2 * i];
  kept_.resize((kept_.size() + 1) / 2);
  spacing_ = std::max(2 * spacing_, (kept_.back().line - kept_.front().line) / kKept);
}

Time LineClock::before(uint64_t line) const {
  if (last_.line <= line) return last_.at;
  const auto next = std::upper_bound(kept_.begin(), kept_.end(), line,
                                     [](uint64_t wanted, const Dated& dated) { return wanted < dated.line; });
  return next == kept_.begin() ? Time() : std::prev(next)->at;
}

Time LineClock::after(uint64_t line) const {
  const auto next = std::lower_bound(kept_.begin(), kept_.end(), line,
                                     [](const Dated& dated, uint64_t wanted) { return dated.line < wanted; });
  if (next != kept_.end()) return next->at;
  return last_.line >= line ? last_.at : Time();
}

}  // namespace mw
