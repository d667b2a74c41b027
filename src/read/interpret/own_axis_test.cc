#include "read/interpret/own_axis.h"

#include <doctest/doctest.h>

#include <initializer_list>
#include <utility>
#include <vector>

namespace mw {
namespace {

struct Source {
  KnownNames names;
  OwnAxis axis;

  int64_t step(std::initializer_list<std::pair<const char*, double>> record) {
    std::vector<RowNumber> numbers;
    for (const auto& [name, value] : record) numbers.push_back({name, value});
    return axis.step_of(names.of_record(numbers), numbers);
  }
};

}  // namespace

TEST_CASE("a column that counts from its beginning is the axis, and begins again with another start") {
  Source source;
  for (int start = 0; start < 3; ++start) {
    for (int batch = 1; batch <= 12; ++batch) {
      CHECK(source.step({{"reward_mean", 0.1}, {"batch_index", batch}, {"batch_size", 4}}) == batch);
      CHECK(source.step({{"reward_mean", 0.1}, {"batch_index", batch}, {"batch_size", 4}}) == batch);
    }
  }
}

TEST_CASE("what is counted anew in each stage goes on, until the stages begin again, too") {
  Source source;
  int64_t expected = 0;
  for (int stage = 1; stage <= 3; ++stage) {
    for (int episode = 1; episode <= 10; ++episode) {
      CHECK(source.step({{"episode", episode}, {"stage", stage}, {"score", 0.5}}) == ++expected);
    }
  }
  CHECK(source.step({{"episode", 1}, {"stage", 1}, {"score", 0.5}}) == 1);
}

TEST_CASE("a column that does not begin, or does not rise, is no axis") {
  Source middle, chance;
  CHECK(middle.step({{"episode", 40}, {"score", 0.5}}) == kNoStep);
  CHECK(middle.step({{"episode", 1}, {"score", 0.5}}) == kNoStep);
  int64_t last = 0;
  CHECK(chance.step({{"batch_idx", 0}, {"loss", 0.5}}) == 0);
  for (const int batch : {7, 3, 9, 4, 12, 5, 8}) last = chance.step({{"batch_idx", batch}, {"loss", 0.5}});
  CHECK(last == kNoStep);
}

TEST_CASE("what an environment did may begin at a batch, and what is nearest to an update leads") {
  Source steps, both;
  CHECK(steps.step({{"timesteps", 2048}, {"episode", 1}, {"mean_reward", 3}}) == 2048);
  CHECK(steps.step({{"timesteps", 4096}, {"episode", 9}, {"mean_reward", 3}}) == 4096);
  CHECK(both.step({{"episode", 1}, {"batch_index", 0}, {"mean_reward", 3}}) == 0);
  CHECK(both.step({{"mean_reward", 3}}) == kNoStep);
}

TEST_CASE("rows of a history that say only how far the epoch is are counted") {
  Source source;
  CHECK(source.step({{"loss", 4.4}, {"learning_rate", 5e-6}, {"epoch", 0}}) == kNoStep);
  for (int row = 1; row <= 9; ++row) {
    const double epoch = 0.01 * ((row + 1) / 2);
    CHECK(source.step({{"loss", 4.4 - 0.1 * row}, {"learning_rate", 5e-6}, {"epoch", epoch}}) == row);
    CHECK(source.step({{"loss", 4.4 - 0.1 * row}, {"learning_rate", 5e-6}, {"epoch", epoch}}) == row);
  }
  CHECK(source.step({{"train_runtime", 60}, {"epoch", 0.06}}) == kNoStep);
  CHECK(source.step({{"loss", 4.1}, {"learning_rate", 5e-6}, {"epoch", 0.01}}) == 1);
  Source whole, other;
  CHECK(whole.step({{"loss", 4.4}, {"learning_rate", 5e-6}, {"epoch", 0}}) == kNoStep);
  CHECK(whole.step({{"loss", 4.1}, {"learning_rate", 5e-6}, {"epoch", 1}}) == kNoStep);
  CHECK(whole.step({{"loss", 4.0}, {"learning_rate", 5e-6}, {"epoch", 1.5}}) == kNoStep);
  CHECK(other.step({{"score", 4.4}, {"epoch", 0.5}}) == kNoStep);
}

}  // namespace mw
