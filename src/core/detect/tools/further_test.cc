#include "core/detect/tools/further.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "core/planted_run_for_test.h"

namespace mw::detect {
namespace {

Track track_of(const std::vector<double>& values) {
  Track track;
  track.values = values;
  for (size_t i = 0; i < values.size(); ++i) {
    Point point;
    point.step = static_cast<int64_t>(i) + 1;
    point.value = values[i];
    track.points.push_back(point);
  }
  return track;
}

TEST_CASE("a change that went on is said to the level that it came to") {
  std::vector<double> kl(40, 0.001);
  while (kl.size() < 100) kl.push_back(kl.back() * 1.35);
  CHECK(and_further(track_of(kl), {0.001, 1.2, 64, {}}) == ", and to 4.894e+04 by step 99");
  std::vector<double> reward(40, 0.6);
  while (reward.size() < 99) reward.push_back(reward.back() - 0.01);
  CHECK(and_further(track_of(reward), {0.6, 0.45, 55, {}}, 1) == ", and to 0.01 by step 99");
  CHECK(and_further(track_of(reward), {0.6, 0.45, 55, 60}, 1).empty());  // it was over soon after
}

TEST_CASE("a change that stayed about where it was found, or one record alone, went no further") {
  std::vector<double> up(40, 1);
  for (int i = 0; i < 60; ++i) up.push_back(5 + 0.5 * (i % 3));
  up[80] = 500;
  CHECK(and_further(track_of(up), {1, 5, 44, {}}).empty());
  CHECK(and_further(track_of(up), {1, 1, 44, {}}).empty());
  CHECK(and_further(track_of(up), {NAN, 5, 44, {}}).empty());
}

TEST_CASE("answers that shrink to nothing while the reward rises are one incident") {
  PlantedRun run;
  for (int64_t step = 1; step <= 100; ++step) {
    const auto x = static_cast<double>(step);
    run.say(event::Measured{step,
                            false,
                            {{"reward.mean", "reward", 0.2 + 0.005 * x},
                             {"response.length", "length", std::max(12.0, 500 * std::exp(-0.07 * x))}}});
  }
  size_t falls = 0;
  for (const Incident& incident : run.close()) {
    if (incident.kind != "length-collapse") continue;
    ++falls;
    CHECK(contains(incident.summary, ", and to 1"));
  }
  CHECK(falls == 1);
}

}  // namespace
}  // namespace mw::detect
