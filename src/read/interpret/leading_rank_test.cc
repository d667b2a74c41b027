#include "read/interpret/leading_rank.h"

#include <doctest/doctest.h>

#include <vector>

namespace mw {
namespace {

bool leads(LeadingRank& of, double rank, int64_t step) {
  const std::vector<RowNumber> numbers = {{"loss", 0.5}, {"rank", rank}};
  return of.leads(numbers, step);
}

TEST_CASE("the rank that writes first leads") {
  LeadingRank ranks;
  CHECK(leads(ranks, 1, 1));
  CHECK_FALSE(leads(ranks, 0, 1));
  CHECK_FALSE(leads(ranks, 0, 2));  // a step ahead
  CHECK(leads(ranks, 1, 2));
}

TEST_CASE("a rank leads until it falls behind") {
  LeadingRank ranks;
  CHECK(leads(ranks, 0, 1));
  CHECK_FALSE(leads(ranks, 3, 2));
  CHECK(leads(ranks, 3, 4));
  CHECK(leads(ranks, 3, 5));
}

TEST_CASE("a number called rank that changes with the run is no rank beside another") {  // "rank" may be a setting,
                                                                                         // such as LoRA's
  LeadingRank ranks;
  CHECK(leads(ranks, 8, 100));
  CHECK(leads(ranks, 16, 1));
}

TEST_CASE("what only another rank records is kept") {
  LeadingRank ranks;
  const std::vector<RowNumber> loss = {{"loss", 0.5}}, reward = {{"reward", 0.5}};
  CHECK(ranks.leads(0, loss, 1));
  CHECK(ranks.leads(7, reward, 1));
  CHECK_FALSE(ranks.leads(7, loss, 1));
  CHECK(ranks.leads(-1, loss, 1));
}

TEST_CASE("records that name no rank, or no step, are kept") {
  LeadingRank ranks;
  const std::vector<RowNumber> plain = {{"loss", 0.5}};
  CHECK(leads(ranks, 0, 1));
  CHECK(ranks.leads(plain, 1));
  CHECK(leads(ranks, 1, kNoStep));
}

}  // namespace
}  // namespace mw
