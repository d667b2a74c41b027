// A reward that is low from the first record of an attempt on.
#include <doctest/doctest.h>

#include <cstdint>
#include <string_view>

#include "core/planted_run_for_test.h"

namespace mw {
namespace {

/// An attempt of 60 steps that learned, and one from step 51 on whose reward falls at `falls`.
bool leads(std::string_view cause, int64_t falls) {
  PlantedRun run;
  const auto measured = [&run](int64_t step, double reward) {
    run.say(
        event::Measured{step, false, {{"reward.mean", "reward", reward + 0.004 * static_cast<double>(step * 7 % 5)}}});
  };
  for (int64_t step = 1; step <= 60; ++step) measured(step, 0.25 + 0.005 * static_cast<double>(step));
  run.say(event::AttemptBegan{"start"});
  run.say(event::Resumed{50, ""});
  for (int64_t step = 51; step <= 120; ++step) measured(step, step < falls ? 0.55 : 0.2);
  return has(run.close(), "reward-collapse", cause);
}

}  // namespace

TEST_CASE("a reward that is low since an attempt began is not that of the weights that were trained") {
  CHECK(leads("resumed-without-weights", 51));
  CHECK_FALSE(leads("resumed-without-weights", 80));
}

}  // namespace mw
