// A verdict, and all that it says, for tests.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>

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

namespace testing {

/// On a checkpoint that nobody writes any more.
inline CheckpointVerdict verified(Disk& disk, const std::string& path) {
  VerifyOptions options;
  options.now = Time::from_seconds(4e9);
  auto verdict = verify_checkpoint(disk, path, options);
  REQUIRE(verdict.ok());
  return std::move(*verdict);
}

}  // namespace testing
}  // namespace mw
