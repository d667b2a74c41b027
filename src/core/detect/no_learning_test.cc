#include <doctest/doctest.h>

#include "core/detect/detector.h"
#include "core/planted_run_for_test.h"

namespace mw {
namespace {

const Incident* flat(const std::vector<Incident>& incidents) {
  for (const Incident& one : incidents) {
    if (one.kind == "no-learning") return &one;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("a flat reward is reported as it is at the end of the run, not as it was when it was seen first") {
  PlantedRun run;
  run.steps(1, 900, 0.3);
  const auto incidents = run.close();
  const Incident* found = flat(incidents);
  REQUIRE(found != nullptr);
  CHECK(found->severity == Severity::kWarning);
  CHECK(found->detected.step < 400);
  CHECK(contains(found->summary, "flat over 899 steps"));
}

TEST_CASE("what falls within its noise does not rise, and is not called flat") {
  PlantedRun run;
  for (int64_t step = 1; step <= 300; ++step) {
    const double wave = static_cast<double>(step * 7 % 11 - 5) / 5, past = static_cast<double>(step) / 300;
    run.say(event::Measured{step, false, {{"reward.mean", "reward", 20 + 70 * wave - 15 * past}}});
  }
  const auto incidents = run.close();
  const Incident* found = flat(incidents);
  REQUIRE(found != nullptr);
  CHECK(contains(found->summary, "Reward does not rise over"));
}

TEST_CASE("a reward that was flat and rose before it was judged again is no run that does not learn") {
  PlantedRun run;
  run.steps(1, 244, 0.3);  // as far as is looked at
  run.steps(245, 310, 0.7);
  const auto incidents = run.close();
  const Incident* found = flat(incidents);
  REQUIRE(found != nullptr);
  CHECK(found->severity == Severity::kInfo);
  CHECK(contains(found->summary, "over all 309 steps 0.3"));
}

TEST_CASE("a reward that keeps low figures and surely rose by more than a tenth of its own height is not flat") {
  const auto severity = [](double last) {
    PlantedRun run;
    run.steps(1, 450, 0.06);
    run.steps(451, 900, last);
    const auto incidents = run.close();
    const Incident* found = flat(incidents);
    return found == nullptr ? Severity::kInfo : found->severity;
  };
  CHECK(severity(0.1) == Severity::kInfo);
  CHECK(severity(0.07) == Severity::kInfo);
  CHECK(severity(0.063) == Severity::kWarning);  // a tiny rise is none, however steady
}

TEST_CASE("of a short run that is over the whole is judged, and not of one that is going or was cut off") {
  const auto judged = [](int64_t last, int64_t plan, double rise, bool over) {
    PlantedRun run;
    if (plan > 0) run.say(event::Planned{plan});
    for (int64_t step = 1; step <= last; ++step) {
      const double wave = 0.04 * static_cast<double>(step * 7 % 11 - 5) / 5;
      const double reward = 0.3 + wave + rise * static_cast<double>(step) / static_cast<double>(last);
      run.say(event::Measured{step, false, {{"reward.mean", "reward", reward}}});
    }
    const auto incidents = over ? run.close() : mw::judge(run.state, run.knowledge);
    const Incident* found = flat(incidents);
    return found == nullptr ? std::string() : std::string(severity_name(found->severity));
  };
  CHECK(judged(50, 0, 0, true) == "warning");
  CHECK(judged(50, 50, 0, true) == "warning");
  CHECK(judged(50, 50, 0, false) == "");      // it goes on
  CHECK(judged(50, 500, 0, true) == "info");  // it was to learn for longer
  CHECK(judged(50, 50, 0.1, true) == "");
  CHECK(judged(20, 20, 0, true) == "");  // too few to say
}

TEST_CASE("two hundred steps are long enough whatever was planned, unless the rate still warms up") {
  const auto judged = [](int64_t last, double rate_rise) {
    PlantedRun run;
    run.say(event::Planned{2000});
    for (int64_t step = 1; step <= last; ++step) {
      const double reward = 0.3 + 0.04 * static_cast<double>(step * 7 % 11 - 5) / 5;
      const double rate = 1e-6 + rate_rise * static_cast<double>(step);
      run.say(event::Measured{step, false, {{"reward.mean", "reward", reward}, {"lr", "lr", rate}}});
    }
    const auto incidents = run.close();
    const Incident* found = flat(incidents);
    return found == nullptr ? std::string() : std::string(severity_name(found->severity));
  };
  CHECK(judged(200, 0) == "warning");
  CHECK(judged(200, 1e-8) == "info");
  CHECK(judged(150, 0) == "info");
}

TEST_CASE("training on pairs that ranks them as a guess does, at the loss of a guess, does not learn") {
  const auto trained = [](double last_share, double loss, int64_t steps) {
    PlantedRun run;
    for (int64_t step = 10; step <= steps; step += 10) {
      const double wave = step % 20 == 0 ? 0.06 : -0.06;
      const double share = step > steps / 2 ? last_share : 0.5;
      run.say(event::Measured{
          step,
          false,
          {{"loss.total", "loss", loss + wave / 100}, {"accuracy.preference", "rewards/accuracies", share + wave}}});
    }
    const auto incidents = run.close();
    const Incident* found = flat(incidents);
    return found != nullptr && found->severity == Severity::kWarning;
  };
  CHECK(trained(0.48, 0.71, 200));
  CHECK_FALSE(trained(0.8, 0.71, 200));   // it finds the better one
  CHECK_FALSE(trained(0.48, 0.35, 200));  // at no loss of a guess
  CHECK_FALSE(trained(0.48, 4.5, 200));   // nor is that a loss over pairs alone
  CHECK_FALSE(trained(0.48, 0.71, 80));   // too early to say
}

TEST_CASE("a loss that is printed as 0 from the first record on is a finding once the plan is done, or late") {
  const auto found = [](int64_t steps, int64_t plan, bool ended = false) {
    PlantedRun run;
    if (plan > 0) run.say(event::Planned{plan});
    for (int64_t step = 2; step <= steps; step += 2) run.say(event::Measured{step, false, {{"loss.total", "loss", 0}}});
    if (ended) run.say(event::Ended{event::Ended::How::kComplete, 0, "done"});
    return flat(run.close()) != nullptr;
  };
  CHECK(found(50, 50));
  CHECK(found(50, 0, true));
  CHECK_FALSE(found(50, 0));
  CHECK_FALSE(found(50, 750));  // a policy gradient's is 0 while the policy is near its reference
  CHECK_FALSE(found(20, 20));
  CHECK(found(120, 750));
}

TEST_CASE("a printed loss that repeats itself stands still only where nothing else moves") {
  const auto found = [](double loss, std::string_view name, double level, double wave) {
    PlantedRun run;
    for (int64_t step = 1; step <= 60; ++step) {
      const std::string signal = name == "grad_norm" ? std::string(name) : "";
      const double value = level + (step % 2 == 0 ? wave : -wave);
      run.say(event::Measured{step, false, {{"loss.total", "loss", loss}, {signal, std::string(name), value}}});
    }
    return flat(run.close()) != nullptr;
  };
  CHECK(found(0, "J", 0.4, 0.1));
  CHECK_FALSE(found(0, "terminal_reward", 0.4, 0.1));  // the policy gradient's loss is zero by its nature
  CHECK(found(0, "terminal_reward", 0, 0));
  CHECK_FALSE(found(0, "grad_norm", 0.5, 0.1));
  CHECK(found(0, "grad_norm", 0, 0));
  CHECK(found(1.2345, "J", 0.4, 0.1));
  CHECK_FALSE(found(1.2, "J", 0.4, 0.1));  // in hundredths a loss repeats itself by chance
}

}  // namespace mw
