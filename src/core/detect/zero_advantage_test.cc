#include <doctest/doctest.h>

#include <algorithm>

#include "core/detect/support/reward_count.h"
#include "core/planted_run_for_test.h"

namespace mw {
namespace {

/// A run whose rewards never have a spread in a group, as its log says.
std::vector<Incident> without_spread(double gradient, bool moves) {
  PlantedRun run;
  for (int64_t step = 1; step <= 60; ++step) {
    const double reward = moves ? 0.2 + 0.005 * static_cast<double>(step) + 0.01 * static_cast<double>(step % 3) : 0.5;
    run.say(event::Measured{step,
                            false,
                            {{"reward.mean", "reward", reward},
                             {"reward.std", "reward_std", 0},
                             {"grad_norm", "grad_norm", gradient + gradient * 0.1 * static_cast<double>(step % 4)}}});
  }
  return run.close();
}

bool says_so(const std::vector<Incident>& incidents) {
  return std::any_of(incidents.begin(), incidents.end(),
                     [](const Incident& one) { return one.kind == "zero-advantage"; });
}

}  // namespace

TEST_CASE("a spread that is 0 from the first record on is not measured where the gradient lives and the reward moves") {
  CHECK_FALSE(says_so(without_spread(0.45, true)));
  CHECK(says_so(without_spread(0, true)));
  CHECK(says_so(without_spread(0.45, false)));
}

TEST_CASE("how far rewards lie apart is no reward") {
  for (const auto* const name : {"reward.component.std", "reward.component.format_std", "reward.component.format/std"})
    CHECK(counts_rewards(name));
  CHECK_FALSE(counts_rewards("reward.component.standard"));
}

}  // namespace mw
