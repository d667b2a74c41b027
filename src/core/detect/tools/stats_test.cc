#include "core/detect/tools/stats.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/prng.h"

using namespace mw::detect;

TEST_CASE("medians and quantiles") {
  CHECK(std::isnan(median({})));
  CHECK(median({3}) == 3);
  CHECK(median({4, 1, 3, 2}) == 2.5);
  CHECK(median({9, 1, 5}) == 5);
  CHECK(quantile({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0.9) == 9);
  CHECK(quantile({1, 2, 3}, 0) == 1);
  CHECK(quantile({1, 2, 3}, 1) == 3);
}

TEST_CASE("noise is the deviation around a moving level") {
  mw::Prng prng(11);
  std::vector<double> values;
  for (int i = 0; i < 2000; ++i) {
    double sum = 0;  // twelve uniforms: nearly normal, deviation 1
    for (int k = 0; k < 12; ++k) sum += prng.unit();
    values.push_back(sum - 6 + 0.05 * i);
  }
  CHECK(noise(values) == doctest::Approx(1).epsilon(0.06));
  CHECK(noise(std::vector<double>{5}) == 0);
  CHECK(noise(std::vector<double>{5, 5, 5}) == 0);
  CHECK(noise(std::vector<double>{0, 0, 0, 1, 1, 1, 0, 0}) > 0);
}

TEST_CASE("a trend is distinguished from none") {
  std::vector<double> rising, flat;
  mw::Prng prng(3);
  for (int i = 0; i < 100; ++i) {
    rising.push_back(0.01 * i + 0.2 * prng.unit());
    flat.push_back(prng.unit());
  }
  CHECK(trend_score(rising) > 5);
  CHECK(std::abs(trend_score(flat)) < 3);
  for (double& value : rising) value = -value;
  CHECK(trend_score(rising) < -5);
  CHECK(trend_score(std::vector<double>{1, 2, 3}) == 0);
  CHECK(trend_score(std::vector<double>(1000, 2.0)) == 0);
}

TEST_CASE("the change point splits two levels") {
  CHECK(change_point(std::vector<double>{1, 1, 1, 1, 0, 0, 0}) == 4);
  CHECK(change_point(std::vector<double>{1}) == 0);
}

TEST_CASE("a rolling median uses what there is") {
  const std::vector<double> out = rolling_median(std::vector<double>{5, 1, 3, 100, 2}, 3);
  CHECK(out == std::vector<double>{5, 3, 3, 3, 3});
}
