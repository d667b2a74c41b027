#include "core/rate_plan.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <numbers>

namespace mw {
namespace {

/// The rates of steps `from` to `to` of a run of 1000 steps with a warm-up of 50, each `every`th.
std::vector<Point> rates(int64_t from, int64_t to, int64_t every, const std::function<double(double)>& of_share) {
  std::vector<Point> out;
  for (int64_t step = from; step <= to; step += every) {
    Point point;
    point.step = step;
    const auto at = static_cast<double>(step);
    point.value = 1e-6 * (step < 50 ? at / 50 : of_share((at - 50) / 950));
    out.push_back(point);
  }
  return out;
}

double line(double share) { return 1 - share; }
double cosine(double share) { return (1 + std::cos(std::numbers::pi * share)) / 2; }

TEST_CASE("a line and half a cosine say how many steps were planned") {
  for (const int64_t to : {200, 400, 700}) {
    CAPTURE(to);
    CHECK(planned_by_rate(rates(1, to, 1, line), 0) == 1000);
    CHECK(planned_by_rate(rates(10, to, 10, line), 0) == 1000);
    const auto found = planned_by_rate(rates(1, to, 2, cosine), 0);
    REQUIRE(found.has_value());
    CHECK(std::abs(*found - 1000) < 60);
  }
  CHECK(planned_by_rate(rates(1, 1000, 10, line), 0) == 1000);
}

TEST_CASE("other schedules, too little of one, and another attempt's say nothing") {
  CHECK_FALSE(planned_by_rate(rates(1, 700, 1, [](double) { return 1.0; }), 0));
  CHECK_FALSE(planned_by_rate(rates(1, 55, 1, line), 0));
  CHECK_FALSE(planned_by_rate(rates(1, 600, 10, [](double share) { return 1 / std::sqrt(1 + 20 * share); }), 0));
  CHECK_FALSE(planned_by_rate(rates(1, 600, 10, [](double share) { return std::exp(-3 * share); }), 0));
  CHECK_FALSE(planned_by_rate(rates(1, 600, 10, [](double share) { return share < .3 ? 1.0 : .1; }), 0));
  CHECK_FALSE(planned_by_rate(rates(1, 700, 1, line), 1));
  CHECK_FALSE(planned_by_rate({}, 0));
}

TEST_CASE("a schedule that ended at a floor above zero is not far from its plan") {
  const auto floor = [](double share) { return .1 + .9 * cosine(share); };
  const auto planned = planned_by_rate(rates(1, 1000, 10, floor), 0);
  CHECK((!planned || *planned < 1200));
}

}  // namespace
}  // namespace mw
