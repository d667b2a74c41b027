#include "core/detect/tools/true_measure.h"

#include <doctest/doctest.h>

namespace mw::detect {
namespace {

TEST_CASE("what is named for being right is a measure of it, and no count, form or punishment") {
  for (const std::string_view name :
       {"accuracy_reward", "rewards/correctness", "solve_rate", "success", "exact_match", "equation_reward",
        "answer_score", "gold_reward", "pass@1", "unit_tests/unit_test"}) {
    CHECK_MESSAGE(names_success(name), name);
  }
  for (const std::string_view name :
       {"accuracy_std", "correct/max", "incorrect_penalty", "answer_length", "format_answer", "success_count",
        "proxy_minus_gold", "brevity", "kl_penalty", "answer_overlong", "correct_repetition"}) {
    CHECK_MESSAGE(!names_success(name), name);
  }
}

TEST_CASE("only a part of the reward, or the share solved, is a true measure") {
  const auto is = [](std::string_view signal, std::string_view raw) {
    Series series;
    series.signal = signal;
    series.raw = raw;
    return is_true_measure(series);
  };
  CHECK(is("reward.pass_rate", "pass_rate"));
  CHECK(is("reward.component.accuracy", "rewards/accuracy"));
  CHECK_FALSE(is("", "accuracy"));
  CHECK_FALSE(is("reward.component.length", "rewards/length"));
}

}  // namespace
}  // namespace mw::detect
