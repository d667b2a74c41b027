#include "core/detect/support/short_pays.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/state.h"

namespace mw::detect {
namespace {

/// Ten steps at `long_answers`, then six in which they fall to `short_answers`; `part` is a part of the reward at a
/// length. What is said of the fall.
template <typename Part>
std::string said(double long_answers, double short_answers, const Part& part) {
  State state;
  for (int64_t step = 1; step <= 16; ++step) {
    const double swing = 1 + 0.02 * static_cast<double>(step % 3);
    const double done = std::clamp(static_cast<double>(step - 10) / 4, 0.0, 1.0);
    const double length = (long_answers + (short_answers - long_answers) * done) * swing;
    fold(state,
         {{},
          {0, static_cast<uint64_t>(step)},
          event::Measured{step, false, {{"response.length", "l", length}, {"reward.component.p", "p", part(length)}}}});
  }
  Rise fall;
  fall.onset = 10;
  fall.detected = 15;
  fall.base = long_answers;
  fall.peak = short_answers;
  const std::vector<Track> tracks = tracks_of(state.find("response.length"));
  return short_pays(state, tracks.at(0), fall);
}

TEST_CASE("a penalty over all tokens makes short answers pay") {
  CHECK(said(300, 30, [](double length) { return -0.05 * length; }) ==
        "reward.component.p rose from -15.5 to -1.55 as they got shorter: short answers are rewarded");
}

TEST_CASE("nothing pays for being short where the part falls, stands, or gains next to nothing, or answers are empty") {
  CHECK(said(300, 30, [](double length) { return 0.01 * length; }).empty());
  CHECK(said(300, 30, [](double) { return 0.2; }).empty());
  CHECK(said(300, 30, [](double length) { return 0.5 - 0.0001 * length; }).empty());
  CHECK(said(300, 0.5, [](double length) { return -0.05 * length; }).empty());
}

}  // namespace
}  // namespace mw::detect
