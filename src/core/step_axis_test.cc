#include "core/step_axis.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/text.h"

namespace mw {
namespace {

/// Noise in which hardly a value occurs twice, as a file of that kind has it along its own axis.
void steps(State& state, uint32_t source, const char* kind, int64_t scale, int64_t origin, int seed = 1,
           int every = 1) {
  fold(state, {{}, {source, 0}, event::SourceOpened{source, cat(kind, source), kind, 0, 0, 0}});
  uint64_t line = 0;
  for (int64_t i = every; i <= 200; i += every) {
    const double value = 0.5 + 0.3 * std::sin(static_cast<double>(seed) + 2.3 * static_cast<double>(i));
    fold(state,
         {{},
          {source, ++line},
          event::Measured{origin + scale * i, false, {{"reward.mean", "reward", std::round(value * 1e4) / 1e4}}}});
  }
}

TEST_CASE("a sink that counts samples is on a straight line with the log of the same figures") {
  for (const int64_t scale : {2, 8, 512}) {
    for (const int64_t origin : {int64_t{0}, -scale}) {
      CAPTURE(scale);
      State state;
      steps(state, 0, "tensorboard", scale, origin);
      steps(state, 1, "text", 1, 0, 1, 5);
      const auto axes = other_axes(state);
      REQUIRE(axes.size() == 1);
      CHECK(axes.begin()->first == "tensorboard0");
      CHECK(axes.begin()->second == StepAxis{scale, origin});
      CHECK(axes.begin()->second.step(origin + 7 * scale) == 7);
    }
  }
}

TEST_CASE("the same axis, another run and one file alone give none") {
  State same, other, alone;
  steps(same, 0, "tensorboard", 1, 0);
  steps(same, 1, "text", 1, 0);
  CHECK(other_axes(same).empty());
  steps(other, 0, "tensorboard", 8, 0);
  steps(other, 1, "text", 1, 0, 2);
  CHECK(other_axes(other).empty());
  steps(alone, 0, "tensorboard", 8, 0);
  CHECK(other_axes(alone).empty());
}

}  // namespace
}  // namespace mw
