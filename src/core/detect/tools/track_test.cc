#include "core/detect/tools/track.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace mw;
using namespace mw::detect;

namespace {

Series series_of(const std::vector<std::pair<int64_t, double>>& points) {
  Series series;
  series.signal = "entropy";
  for (const auto& [step, value] : points) {
    Point point;
    point.step = step;
    point.value = value;
    series.add(point);
  }
  return series;
}

Track track_of(const std::vector<double>& values) {
  Track track;
  static const Series kSeries = series_of({});
  track.series = &kSeries;
  for (size_t i = 0; i < values.size(); ++i) {
    Point point;
    point.step = static_cast<int64_t>(i + 1);
    point.value = values[i];
    track.points.push_back(point);
    track.values.push_back(values[i]);
  }
  return track;
}

}  // namespace

TEST_CASE("a series is cut where the step counter starts over, and not where a resume goes back a little") {
  const Series again = series_of({{1, 1}, {2, 1}, {3, 1}, {1, 2}, {2, 2}});
  const auto two = tracks_of(&again);
  REQUIRE(two.size() == 2);
  CHECK(two[0].size() == 3);
  CHECK(two[1].values == std::vector<double>{2, 2});
  const Series resumed = series_of({{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {4, 9}, {5, 9}, {6, 9}});
  const auto one = tracks_of(&resumed);
  REQUIRE(one.size() == 1);
  CHECK(one[0].values == std::vector<double>{1, 1, 1, 9, 9, 9});
  CHECK(tracks_of(nullptr).empty());
}

TEST_CASE("values that are not finite and steps that are garbage are left out, records without steps are counted") {
  const Series series = series_of({{1, 1}, {2, std::nan("")}, {INT64_MAX, 4}, {-5, 4}, {3, 2}});
  const auto tracks = tracks_of(&series);
  REQUIRE(tracks.size() == 1);
  CHECK(tracks[0].values == std::vector<double>{1, 2});
  const Series unnumbered = series_of({{kNoStep, 7}, {kNoStep, 8}});
  const auto counted = tracks_of(&unnumbered);
  REQUIRE(counted.size() == 1);
  CHECK(counted[0].points[1].step == 2);
}

TEST_CASE("a rise must last, and have an onset") {
  const RiseRule rule{4, 4, 2, 0.1, 3};
  const auto found = rises(track_of({1, 1, 1, 1, 1, 1.4, 5, 6, 7, 8}), rule);
  REQUIRE(found.size() == 1);
  CHECK(found[0].onset == 5);
  CHECK(found[0].first == 6);
  CHECK(found[0].detected == 8);
  CHECK(found[0].base == 1);
  CHECK_FALSE(found[0].ended);
  CHECK(rises(track_of({1, 1, 1, 1, 1, 5, 5, 1, 1, 1}), rule).empty());
  const auto over = rises(track_of({1, 1, 1, 1, 5, 5, 5, 1, 1, 1}), rule);
  REQUIRE(over.size() == 1);
  CHECK(over[0].ended == 9);
}

TEST_CASE("a swing that was shown before is no rise") {
  const RiseRule rule{4, 4, 2, 0.1, 3};
  CHECK(rises(track_of({1, 9, 1, 1, 1, 9, 1, 1, 1, 1, 8, 8, 8, 1}), rule).empty());
}

TEST_CASE("a fall is a rise upside down") {
  const auto found = falls(track_of({300, 300, 300, 300, 300, 60, 50, 40}), {4, 4, 3, 20, 3});
  REQUIRE(found.size() == 1);
  CHECK(found[0].first == 5);
  CHECK(found[0].base == doctest::Approx(300));
  CHECK(found[0].peak == doctest::Approx(50));
}

TEST_CASE("a reward's floor is 0, or the lowest value that comes again") {
  FloorStreak floor;
  for (const double value : {0.2, 0.0, 0.0, 0.3, 0.0}) floor.see(value);
  CHECK(floor.steps() == 1);
  CHECK(floor.longest_before() == 2);
  CHECK(floor.left());
  floor.see(-0.5);
  CHECK(floor.steps() == 1);
  floor.see(-0.6);
  CHECK(floor.steps() == 1);
  floor.see(-0.6);
  CHECK(floor.steps() == 2);
  CHECK_FALSE(floor.at_zero());
  FloorStreak cold;
  for (int i = 0; i < 5; ++i) cold.see(-1);
  CHECK(cold.steps() == 5);
  CHECK_FALSE(cold.left());
}
