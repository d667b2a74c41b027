// What stands of a share of failures that is over.
#include <doctest/doctest.h>

#include "core/planted_run_for_test.h"

namespace mw {
namespace {

/// The incident after failures of 14 and 29 % at steps 31 and 32, and `after` for so many steps.
Incident failures(double after, int steps) {
  PlantedRun run;
  int64_t step = 0;
  const auto lost = [&](double share) {
    run.say(event::Measured{++step, false, {{"env.error_rate", "judge/failure_rate", share}}});
  };
  for (int i = 0; i < 30; ++i) lost(0.02 + 0.001 * (i % 5));
  lost(0.14);
  lost(0.29);
  for (int i = 0; i < steps; ++i) lost(after + 0.001 * (i % 5));
  const std::vector<Incident> found = judge(run.state, run.knowledge);
  REQUIRE(found.size() == 1);
  return found[0];
}

TEST_CASE("failures are over once their share has been the usual one for some records") {
  CHECK(failures(0.02, 2).open);
  CHECK_FALSE(failures(0.02, 12).open);
  CHECK(contains(failures(0.02, 12).summary, "it is over"));
  CHECK(failures(0.2, 12).open);
  CHECK(failures(0.09, 12).open);
}

}  // namespace
}  // namespace mw
