#include "sense/processes/same_answer.h"

#include <doctest/doctest.h>

using namespace mw::components;

namespace {

Answer said(double score, const char* token = "2") {
  Answer answer;
  answer.token = token;
  answer.score = score;
  return answer;
}

}  // namespace

TEST_CASE("steps are counted from the first of the same answers") {
  SameAnswer same;
  CHECK(same.take(said(-0.5), 1, 3)->same == 0);
  CHECK(!same.take(said(-0.5), 1, 3));  // nothing is new
  CHECK(same.take(said(-0.5), 1, 5)->same == 2);
  SUBCASE("another score is another answer") { CHECK(same.take(said(-0.5000001), 1, 6)->same == 0); }
  SUBCASE("another token, too") { CHECK(same.take(said(-0.5, "3"), 1, 6)->same == 0); }
  SUBCASE("another attempt begins anew") {
    const auto figures = same.take(said(-0.5), 2, 4);
    REQUIRE(figures);
    CHECK(figures->same == 0);
    CHECK(figures->changes == 0);
  }
}

TEST_CASE("only what changed with a step counts as a change, and no more than three are counted") {
  SameAnswer same;
  CHECK(same.take(said(-0.5), 1, 3)->changes == 0);
  CHECK(!same.take(said(-0.6), 1, 3));
  for (int step = 4; step < 10; ++step) (void)same.take(said(-0.1 * step), 1, step);
  CHECK(same.take(said(-0.9), 1, 11)->changes == SameAnswer::kChanges);
}

TEST_CASE("what says nothing of the weights is left out") {
  SameAnswer same;
  CHECK(!same.take(said(-0.5), 0, 3));
  CHECK(!same.take(said(-0.5), 1, mw::kNoStep));
  CHECK(!same.take(Answer{}, 1, 3));
  Answer busy = said(-0.5);
  busy.figures.running = 4;
  CHECK(!same.take(busy, 1, 3));
  CHECK(same.take(said(-0.5), 1, 3));
}
