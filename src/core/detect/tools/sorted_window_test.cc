#include "core/detect/tools/sorted_window.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "base/prng.h"
#include "core/detect/tools/stats.h"

using namespace mw::detect;

TEST_CASE("a sorted window says at every point what the values themselves say") {
  mw::Prng prng(5);
  for (const size_t width : {1, 2, 3, 10, 50, 64, 101}) {
    SortedWindow window(width);
    CHECK(std::isnan(window.median()));
    CHECK(std::isnan(window.largest()));
    std::vector<double> values;
    for (size_t i = 0; i < 4 * width + 20; ++i) {
      // Some values come again, so that equal ones leave and arrive.
      values.push_back(i % 3 == 0 ? std::floor(prng.unit() * 4) : prng.unit() * 10 - 5);
      window.push(values.back());
      const size_t from = values.size() > width ? values.size() - width : 0;
      const std::vector<double> newest(values.begin() + static_cast<std::ptrdiff_t>(from), values.end());
      REQUIRE(window.size() == newest.size());
      REQUIRE(window.median() == median(newest));
      REQUIRE(window.quantile(0.9) == quantile(newest, 0.9));
      REQUIRE(window.quantile(0.5) == quantile(newest, 0.5));
      REQUIRE(window.largest() == quantile(newest, 1));
    }
  }
}
