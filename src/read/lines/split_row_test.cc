#include "read/lines/split_row.h"

#include <doctest/doctest.h>

#include <cmath>

namespace mw {

TEST_CASE("a row of a step, a part of the data and a loss") {
  const auto train = read_split_row("250 train 4.812046"), val = read_split_row("0 val 10.9544");
  REQUIRE(train);
  CHECK(train->step == 250);
  CHECK(!train->held_out);
  CHECK(train->loss == 4.812046);
  REQUIRE(val);
  CHECK(val->step == 0);
  CHECK(val->held_out);
  const auto broken = read_split_row("7 train nan");
  REQUIRE(broken);
  CHECK(std::isnan(broken->loss));
}

TEST_CASE("sentences, counts and rows of other words are none") {
  for (const char* text : {"250 train", "250 train 4", "250 train 4.8", "250 hella 0.2533", "3 test cases 0.1234",
                           "a train 0.1234", "-1 train 0.1234", "250 train 4.812046 0.1", ""}) {
    CAPTURE(text);
    CHECK(!read_split_row(text));
  }
}

}  // namespace mw
