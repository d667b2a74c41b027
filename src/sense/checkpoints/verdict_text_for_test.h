// All that a verdict says, for tests.
#pragma once

#include <string>

#include "base/text.h"
#include "sense/checkpoints/verify.h"

namespace mw {

inline std::string text_of(const CheckpointVerdict& verdict) {
  std::string out(word_of(verdict.state));
  for (const CheckpointProblem& one : verdict.problems)
    out += cat("\n  ", word_of(one.trouble), " ", one.path, ": ", one.what);
  for (const std::string& note : verdict.notes) out += cat("\n  note ", note);
  return out;
}

}  // namespace mw
