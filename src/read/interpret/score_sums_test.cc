#include "read/interpret/score_sums.h"

#include <doctest/doctest.h>

#include <cmath>

namespace mw {

TEST_CASE("scores of answers become means by name") {
  ScoreSums sums;
  CHECK(sums.empty());
  sums.add("format", "[0.0, 1.0, 1.0, 1.0]");
  sums.add("format", "0");
  sums.add("accuracy", "[]");
  sums.add("length", "[None, -0.5]");
  const auto means = sums.means();
  REQUIRE(means.size() == 2);
  CHECK(means[0].key == "format");
  CHECK(means[0].value == doctest::Approx(0.6));
  CHECK(means[1].key == "length");
  CHECK(means[1].value == doctest::Approx(-0.5));
  sums.clear();
  CHECK(sums.empty());
}

TEST_CASE("a score that is not a number makes the mean none") {
  ScoreSums sums;
  sums.add("x", "nan");
  sums.add("x", "1.0");
  REQUIRE(sums.means().size() == 1);
  CHECK(std::isnan(sums.means()[0].value));
}

TEST_CASE("names are bounded") {
  ScoreSums sums;
  for (int i = 0; i < 1000; ++i) sums.add("name" + std::to_string(i), "1");
  CHECK(sums.means().size() == ScoreSums::kNameLimit);
}

}  // namespace mw
