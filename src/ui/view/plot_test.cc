#include "ui/view/plot.h"

#include <doctest/doctest.h>

#include <limits>

#include "ui/view/layout.h"

namespace mw {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<Point> points(const std::vector<double>& values) {
  std::vector<Point> out;
  for (size_t i = 0; i < values.size(); ++i) out.push_back({static_cast<int64_t>(i + 1), values[i], {}, {}, 0});
  return out;
}

TEST_CASE("a sparkline shows the least at the bottom and the most at the top") {
  CHECK(sparkline(points({0, 1}), 8) == "▁█");
  CHECK(sparkline(points({3, 3, 3}), 8) == "▅▅▅");
  CHECK(sparkline(points({0, 7}), 8, false) == "_#");
}

TEST_CASE("what is not finite is marked, not drawn") {
  CHECK(sparkline(points({0, kNaN, 1}), 8) == "▁×█");
  CHECK(sparkline(points({0, kInf, 1}), 8) == "▁×█");
  CHECK(sparkline(points({kNaN, kNaN}), 8) == "××");
  CHECK(braille_plot(points({kNaN, kInf, -kInf}), 10, 3).empty());
  CHECK(braille_plot(points({1, kNaN, 2}), 10, 3).size() == 3);
}

TEST_CASE("nothing to draw gives nothing") {
  CHECK(sparkline({}, 8).empty());
  CHECK(sparkline(points({1, 2}), 0).empty());
  CHECK(braille_plot({}, 10, 3).empty());
  CHECK(braille_plot(points({1, 2}), 0, 3).empty());
}

TEST_CASE("points lie where their steps are") {
  std::vector<Point> uneven = points({0, 0, 1});
  uneven[0].step = 0;
  uneven[1].step = 90;
  uneven[2].step = 100;
  CHECK(sparkline(uneven, 3) == "▁▁█");
  uneven[1].step = 10;  // nothing between 10 and 100: the value before goes on
  CHECK(sparkline(uneven, 3) == "▁▁█");
  uneven[0].step = uneven[1].step = uneven[2].step = kNoStep;
  CHECK(sparkline(uneven, 3) == "▁▁█");
  uneven[0].step = INT64_MAX;  // hostile steps, out of order
  uneven[2].step = INT64_MIN + 1;
  CHECK(cells_of(sparkline(uneven, 3)) == 3);
  uneven[0].step = INT64_MIN + 1;
  uneven[2].step = INT64_MAX;
  CHECK(cells_of(sparkline(uneven, 3)) == 3);
}

TEST_CASE("a plot has its size and its range") {
  const auto lines = braille_plot(points({0, 1, 2, 3, 4, 5}), 12, 4);
  REQUIRE(lines.size() == 4);
  for (const std::string& line : lines) CHECK(cells_of(line) == 11 + 12);
  CHECK(lines.front().find("5 ┤") != std::string::npos);
  CHECK(lines.back().find("0 ┤") != std::string::npos);
}

TEST_CASE("a plot of many points shows the one that stands out, and no noise") {
  std::vector<double> values(4000, 0.5);
  for (size_t i = 0; i < values.size(); ++i) values[i] += 0.1 * static_cast<double>(i) / 4000;
  values[2000] = 12;
  const auto spike = braille_plot(points(values), 20, 4);
  CHECK(spike.front().find("12 ┤") != std::string::npos);
  CHECK(spike.back().find("0.501 ┤") != std::string::npos);
  for (size_t i = 0; i < values.size(); ++i) values[i] = i % 2 == 0 ? 0 : 12;
  const auto noise = braille_plot(points(values), 20, 4);
  CHECK(noise.front().find("12 ┤") == std::string::npos);
  CHECK(noise.front().find("6 ┤") != std::string::npos);
  CHECK(braille_plot(points({-1e308, 1e308, 0}), 10, 3).size() == 3);
}

}  // namespace
}  // namespace mw
