// Counted format rules: whose failures are a finding, and whose cannot be judged.
#include <doctest/doctest.h>

#include <algorithm>

#include "core/advance.h"
#include "core/state.h"

namespace mw {
namespace {

void add_judged(State& state, const char* rule, uint64_t passed, uint64_t failed) {
  Event event;
  event.body = event::FormatJudged{rule, passed, failed};
  fold(state, event);
}

bool reports(const State& state) {
  const Knowledge none;
  const auto incidents = judge(state, none);
  return std::any_of(incidents.begin(), incidents.end(), [](const auto& one) { return one.kind == "format-failures"; });
}

TEST_CASE("failures of one rule are judged against the verdicts of its set") {
  State state;
  add_judged(state, "seven", 4000, 500);
  add_judged(state, "seven/2-one-think", 0, 500);
  CHECK_FALSE(reports(state));
  add_judged(state, "seven", 0, 4000);
  CHECK(reports(state));
}

TEST_CASE("a rule whose passes nobody logs is no finding by its count alone") {
  State state;
  add_judged(state, "context/fits", 0, 400);
  CHECK_FALSE(reports(state));
}

TEST_CASE("a rule that is counted both ways is judged by its own share") {
  State state;
  add_judged(state, "mine/boxed", 10, 290);
  CHECK(reports(state));
}

}  // namespace
}  // namespace mw
