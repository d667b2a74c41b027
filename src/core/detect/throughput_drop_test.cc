#include <doctest/doctest.h>

#include "core/planted_run_for_test.h"

namespace mw {
namespace {

constexpr int64_t kSteps = 120, kSlowFrom = 60;

double pace(int64_t step, double slow) {
  return (step < kSlowFrom ? 12.0 : slow) + 0.5 * static_cast<double>(step % 3);
}

const Incident* slower(const std::vector<Incident>& incidents) {
  for (const Incident& one : incidents) {
    if (one.kind == "throughput-drop") return &one;
  }
  return nullptr;
}

/// Records without a clock: what says how long a step takes is the bar over them.
std::vector<Incident> with_bar(double slow) {
  PlantedRun run;
  run.say_without_clock(event::Planned{kSteps});
  double elapsed = 0;
  for (int64_t step = 1; step <= kSteps; ++step) {
    elapsed += pace(step, slow);
    run.say_without_clock(event::Progressed{"", step, kSteps, elapsed});
    const double reward = 0.2 + 0.004 * static_cast<double>(step);
    run.say_without_clock(event::Measured{step, false, {{"reward.mean", "reward", reward}}});
  }
  return run.close();
}

/// The same, and each record ends with seconds, that are those of the step or of the run so far.
std::vector<Incident> with_seconds(double slow, bool of_run) {
  PlantedRun run;
  double elapsed = 0;
  for (int64_t step = 1; step <= kSteps; ++step) {
    elapsed += pace(step, slow);
    const double reward = 0.2 + 0.004 * static_cast<double>(step);
    const double seconds = of_run ? elapsed : pace(step, slow);
    run.say_without_clock(event::Measured{step, false, {{"reward.mean", "reward", reward}, {"", "duration", seconds}}});
  }
  return run.close();
}

/// The same, with what is left of each of two epochs.
std::vector<Incident> with_seconds_left() {
  PlantedRun run;
  for (int64_t step = 1; step <= kSteps; ++step) {
    const double reward = 0.2 + 0.004 * static_cast<double>(step);
    const double left = 60.0 * static_cast<double>((kSlowFrom - 1 - (step - 1) % kSlowFrom) / 2);
    run.say_without_clock(event::Measured{step, false, {{"reward.mean", "reward", reward}, {"", "duration", left}}});
  }
  return run.close();
}

}  // namespace

TEST_CASE("seconds that run down and begin again with the next epoch are none of a step") {
  CHECK(slower(with_seconds_left()) == nullptr);
}

TEST_CASE("steps that take six times as long are seen by the progress bar") {
  const auto incidents = with_bar(75);
  const Incident* found = slower(incidents);
  REQUIRE(found != nullptr);
  CHECK(found->severity == Severity::kWarning);
  CHECK(found->onset.step == kSlowFrom);
  CHECK(slower(with_bar(12)) == nullptr);
}

TEST_CASE("steps that take six times as long are seen by the seconds that a record ends with") {
  const auto incidents = with_seconds(75, false);
  const Incident* found = slower(incidents);
  REQUIRE(found != nullptr);
  CHECK(found->severity == Severity::kWarning);
  CHECK(found->onset.step == kSlowFrom);
  CHECK(slower(with_seconds(12, false)) == nullptr);
  CHECK(slower(with_seconds(12, true)) == nullptr);  // of the run so far: they grow by themselves
}

TEST_CASE("the time that is left of an epoch is not that of a step") {
  PlantedRun run;
  for (int64_t step = 0; step <= 4 * kSteps; ++step) {
    const int64_t left = kSteps - step % kSteps;
    const double seconds = step % kSteps == 0 ? 6420 : static_cast<double>(60 * ((left * 23 + kSteps - 1) / kSteps));
    const double loss = 6 - 0.008 * static_cast<double>(step) + 0.05 * static_cast<double>(step % 3);
    run.say_without_clock(event::Measured{step, false, {{"loss.total", "loss", loss}, {"", "duration", seconds}}});
  }
  CHECK(slower(run.close()) == nullptr);
}

TEST_CASE("of steps that slow down by degrees, the phase is measured over the same records as the step") {
  const auto summary = [](double share) {
    PlantedRun run;
    for (int64_t step = 1; step <= kSteps; ++step) {
      const double seconds = 60 + 1.2 * static_cast<double>(step);
      const double reward = 0.2 + 0.004 * static_cast<double>(step);
      run.say_without_clock(event::Measured{step,
                                            false,
                                            {{"reward.mean", "reward", reward},
                                             {"time.step", "timing_s/step", seconds},
                                             {"time.rollout", "timing_s/gen", share * seconds}}});
    }
    const auto incidents = run.close();
    const Incident* found = slower(incidents);
    return found == nullptr ? std::string() : found->summary;
  };
  const std::string most = summary(0.5), less = summary(0.25);
  CAPTURE(most);
  CHECK(most.find("takes 126.6 s instead of 67.8 s") != std::string::npos);
  CHECK(most.find("; most of it in time.rollout (33.9 to 63.3 s)") != std::string::npos);
  CHECK(less.find("; the largest part of it in time.rollout (16.95 to 31.65 s)") != std::string::npos);
}

}  // namespace mw
