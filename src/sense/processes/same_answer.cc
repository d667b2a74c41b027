#include "sense/processes/same_answer.h"

#include <algorithm>

namespace mw::components {

std::optional<SameAnswer::Figures> SameAnswer::take(const Answer& answer, uint64_t attempt, int64_t step) {
  const bool busy = answer.figures.running.value_or(0) > 0;
  if (!answer.score || busy || step == kNoStep || attempt == 0) return std::nullopt;
  const bool anew = attempt != attempt_ || step < since_;
  Figures figures = anew || !reported_ ? Figures{} : *reported_;
  if (anew || answer.token != token_ || *answer.score != score_) {
    // Two answers within one step are of one version, or of the two around its update.
    if (!anew && step > since_) figures.changes = std::min(figures.changes + 1, kChanges);
    attempt_ = attempt;
    token_ = answer.token;
    score_ = *answer.score;
    since_ = step;
  }
  figures.same = static_cast<double>(step - since_);
  if (!anew && reported_ == figures) return std::nullopt;
  reported_ = figures;
  return figures;
}

}  // namespace mw::components
