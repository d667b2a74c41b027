#include <doctest/doctest.h>

#include "core/detect/detector.h"
#include "core/judge_memory.h"

namespace mw::detect {

extern const Detector checkpoint_overdue;

namespace {

/// A run that does two steps a second and saves every ten. Of its saves only the disk shows: the last one that was
/// found is that of step 40, at 20 s.
State run(double now) {
  State state;
  state.sources.resize(1);
  state.sources[0].kind = "host";
  state.attempts.resize(1);
  for (int step = 10; step <= 40; step += 10) {
    const Moment moment{step, Time::from_seconds(step / 2.0), {0, static_cast<uint64_t>(step)}, 0, false};
    state.checkpoints.emplace_back(moment, event::CheckpointSaved{step, "/out/step", true});
  }
  for (double at = 0; at <= now; at += 5)
    state.ticks.push_back({0, Time::from_seconds(at), static_cast<int64_t>(2 * at), true});
  state.attempts.back().last_step = static_cast<int64_t>(2 * now);
  return state;
}

size_t found(const State& state) {
  std::vector<Finding> out;
  JudgeMemory memory;
  checkpoint_overdue.judge(state, Knowledge(), memory, out);
  return out.size();
}

TEST_CASE("a save that only the disk shows is not overdue before it would have been found") {
  CHECK(found(run(40)) == 0);  // at step 80; those of 50 to 80 are not found yet
  CHECK(found(run(100)) == 0);
  CHECK(found(run(150)) == 1);
  State said = run(40);
  said.sources[0].kind = "log";
  CHECK(found(said) == 1);
}

}  // namespace
}  // namespace mw::detect
