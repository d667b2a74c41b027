#include "core/series.h"

#include <doctest/doctest.h>

namespace mw {
namespace {

TEST_CASE("a value that another of its step replaced counts in no extreme and no mean") {
  Series series;
  for (const double value : {100.0, 1.0}) series.add({1, value, {}, {}, 0});
  for (const double value : {-50.0, 3.0}) series.add({2, value, {}, {}, 0});
  CHECK(series.points().size() == 2);
  CHECK(series.first() == 1);
  CHECK(series.last() == 3);
  CHECK(series.min() == 1);
  CHECK(series.max() == 3);
  CHECK(series.mean() == doctest::Approx(2));
  CHECK(series.count() == 4);
}

}  // namespace
}  // namespace mw
