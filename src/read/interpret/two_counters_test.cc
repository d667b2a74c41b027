#include "read/interpret/two_counters.h"

#include <doctest/doctest.h>

#include <initializer_list>
#include <utility>
#include <vector>

namespace mw {
namespace {

struct Source {
  KnownNames names;
  TwoCounters counters;

  int64_t step(std::initializer_list<std::pair<const char*, double>> record, int64_t by_name) {
    std::vector<RowNumber> numbers;
    for (const auto& [name, value] : record) numbers.push_back({name, value});
    return counters.step_of(names.of_record(numbers), numbers, by_name);
  }
};

}  // namespace

TEST_CASE("a rollout's record has the step of the update that it is for, where others count updates") {
  Source source;
  CHECK(source.step({{"grpo_step", 0}, {"optimizer_step", 0}, {"reward", 0.1}}, 0) == 0);
  CHECK(source.step({{"grpo_step", 1}, {"reward", 0.1}}, 1) == 1);
  for (int update = 1; update <= 8; ++update) {
    CHECK(source.step({{"grpo_step", 1}, {"optimizer_step", update}, {"loss", 0.1}}, update) == update);
  }
  CHECK(source.step({{"grpo_step", 2}, {"reward", 0.1}}, 2) == 9);
  for (int update = 9; update <= 16; ++update) {
    CHECK(source.step({{"grpo_step", 2}, {"optimizer_step", update}, {"loss", 0.1}}, update) == update);
  }
  CHECK(source.step({{"grpo_step", 2}, {"seconds", 3.5}}, 2) == 16);
}

TEST_CASE("two counters that keep their distance, or are always the same") {
  Source apart;
  CHECK(apart.step({{"step", 4}, {"global_step", 5}}, 4) == 4);
  CHECK(apart.step({{"step", 5}, {"global_step", 6}}, 5) == 5);
  CHECK(apart.step({{"global_step", 7}, {"reward", 1}}, 7) == 6);
  Source same;
  for (int step = 1; step < 5; ++step) CHECK(same.step({{"step", step}, {"iteration", step}}, step) == step);
  CHECK(same.step({{"iteration", 9}}, 9) == 9);
}

TEST_CASE("records with one counter have it") {
  Source source;
  CHECK(source.step({{"step", 4}, {"reward", 5}}, 4) == 4);
  CHECK(source.step({{"iteration", 1}, {"reward", 5}}, 1) == 1);
}

}  // namespace mw
