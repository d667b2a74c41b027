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

namespace {

/// Records of TRL, each the mean of `every` steps.
struct TrlRecords {
  PlantedRun run;
  int64_t every = 5, step = 0;

  TrlRecords() { run.state.framework = "trl"; }

  void say(double reward, const char* what, double value, double answer = -1) {
    step += every;
    event::Measured record{step, false, {{"reward.mean", "reward", reward}, {what, what, value}}};
    if (answer >= 0) record.readings.push_back({"reward.component.env_reward/mean", "rewards/env_reward/mean", answer});
    run.say(record);
  }
};

Severity worst_of(const std::vector<Incident>& incidents) {
  Severity worst = Severity::kInfo;
  for (const Incident& one : incidents) {
    if (one.kind == "zero-advantage") worst = std::max(worst, one.severity);
  }
  return worst;
}

}  // namespace

TEST_CASE("a reward that always stood near its highest record has no ceiling by that") {
  const auto with = [](double first, double rise) {
    TrlRecords records;
    records.every = 40;
    for (int i = 0; i < 14; ++i) records.say(first + rise * i + 0.3 * (i % 3), "reward.zero_std_groups", 0.88);
    return worst_of(records.run.close());
  };
  CHECK(with(10, 0.1) == Severity::kWarning);
  CHECK(with(1, 0.8) == Severity::kInfo);  // a run that learns may waste groups
}

TEST_CASE("a reward that rises to its end by form alone is no ceiling, where the environment pays nothing") {
  const auto with = [](double answer) {
    TrlRecords records;
    for (int i = 0; i < 50; ++i) {
      const bool formed = i >= 12;
      const double reward = formed ? 1.5 - (i % 4 == 0 ? 0.2 : 0) : 0.2 + 0.1 * i;
      records.say(reward, "reward.zero_std_groups", formed && i % 3 > 0 ? 1 : formed ? 0.8 : 0.4, answer);
    }
    return worst_of(records.run.close());
  };
  CHECK(with(0) == Severity::kWarning);
  CHECK(with(0.9) == Severity::kInfo);
}

TEST_CASE("records of several steps each of which some have no spread at all speak for most of their steps") {
  const auto with = [](int uniform_of_ten, double rise) {
    TrlRecords records;
    for (int i = 0; i < 30; ++i) {
      records.say(-0.1 + rise * i + 0.004 * (i % 3), "reward.std", (i * 7) % 10 < uniform_of_ten ? 0 : 0.02);
    }
    return says_so(records.run.close());
  };
  CHECK(with(4, 0));
  CHECK_FALSE(with(1, 0));
  CHECK_FALSE(with(4, 0.02));
}

TEST_CASE("how far rewards lie apart is no reward") {
  for (const auto* const name : {"reward.component.std", "reward.component.format_std", "reward.component.format/std"})
    CHECK(counts_rewards(name));
  CHECK_FALSE(counts_rewards("reward.component.standard"));
}

}  // namespace mw
