#include "ui/view/reward_parts.h"

#include <doctest/doctest.h>

#include "ui/testing/fake_run.h"

namespace mw {
namespace {

struct Scored : FakeRun {
  void step(int64_t number) {
    say(event::StepBegan{number});
    say(event::PhaseBegan{"rollout"});
  }
  void rollout(double gt, double rubric) {
    say(event::Measured{kNoStep, false, {{"", "trajectory/gt_reward", gt}}});
    say(event::Measured{kNoStep, false, {{"", "trajectory/rubric_reward", rubric}}});
  }
  void done() { say(event::PhaseEnded{"rollout", 60, kNoStep}); }
};

Scored two_batches_and_a_half() {
  Scored run;
  run.step(1);
  for (int i = 0; i < 4; ++i) run.rollout(i == 0 ? 0 : 1, 2.5 + i);
  run.done();
  run.step(2);
  for (int i = 0; i < 4; ++i) run.rollout(i < 2 ? 0 : 1, 1.5);
  run.done();
  run.step(3);
  run.rollout(1, 3);
  return run;
}

TEST_CASE("each rollout's parts are counted over the run and by batch") {
  const Scored run = two_batches_and_a_half();
  const RewardParts parts = reward_parts(run.state, {}, 5);
  REQUIRE(parts.parts.size() == 2);
  CHECK(parts.steps == std::vector<int64_t>{1, 2, 3});
  const RewardPart& gt = parts.parts[0];
  CHECK(gt.name == "gt_reward");
  CHECK(reward_count_text(gt, gt.all) == "67 % (6/9)");
  CHECK(reward_count_text(gt, gt.batches[0]) == "75 % (3/4)");
  CHECK(reward_count_text(gt, gt.batches[1]) == "50 % (2/4)");
  CHECK(reward_count_text(gt, gt.batches[2]) == "100 % (1/1)");
  const RewardPart& rubric = parts.parts[1];
  CHECK(reward_count_text(rubric, rubric.all) == "2.778 (1.5 to 5.5)");
  CHECK(reward_count_text(rubric, rubric.batches[1]) == "1.5");
}

TEST_CASE("rollouts that are scored finish no step") {
  const Scored run = two_batches_and_a_half();
  CHECK(run.state.steps().count == 0);  // nothing was trained
  CHECK(run.state.find("reward.mean") == nullptr);
}

TEST_CASE("since a step only its batches count") {
  const Scored run = two_batches_and_a_half();
  Cycle cycle;
  cycle.from_step = 2;
  const RewardParts parts = reward_parts(run.state, cycle, 1);
  CHECK(parts.steps == std::vector<int64_t>{3});
  CHECK(reward_count_text(parts.parts[0], parts.parts[0].cycle) == "60 % (3/5)");
  CHECK(reward_count_text(parts.parts[0], parts.parts[0].all) == "67 % (6/9)");
}

TEST_CASE("how far the batch under way is, the one before says") {
  Scored run = two_batches_and_a_half();
  CHECK(rollouts_scored_text(run.state) == "1 of 4 rollouts scored");
  run.done();
  CHECK(rollouts_scored_text(run.state).empty());
  Scored first;
  first.step(1);
  first.rollout(1, 3);
  CHECK(rollouts_scored_text(first.state) == "1 rollout scored");
  CHECK(rollouts_scored_text(FakeRun().state).empty());
}

}  // namespace
}  // namespace mw
