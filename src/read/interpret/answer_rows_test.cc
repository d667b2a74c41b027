#include "read/interpret/answer_rows.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

namespace mw {
namespace {

Row row_of(const std::vector<RowNumber>& numbers, const std::vector<RowText>& texts, int64_t step = kNoStep) {
  return Row{1, step, {}, numbers, texts, false};
}

}  // namespace

TEST_CASE("a row of one answer names its task and its length, and no step") {
  const std::vector<RowText> task{{"task_id", "math_7"}}, none;
  const std::vector<RowNumber> answer{{"reward/total", 0.5}, {"completion_len", 812}};
  CHECK(AnswerRows::is_answer(row_of(answer, task)));
  CHECK_FALSE(AnswerRows::is_answer(row_of(answer, none)));
  CHECK_FALSE(AnswerRows::is_answer(row_of(answer, task, 12)));
  CHECK_FALSE(AnswerRows::is_answer(row_of({{"reward/total", 0.5}}, task)));
  CHECK_FALSE(AnswerRows::is_answer(row_of({{"reward", 0.5}, {"completion_len", 812}, {"episode", 3}}, task)));
  CHECK_FALSE(AnswerRows::is_answer(row_of({{"reward", 0.5}, {"completion_len", 812}, {"epoch", 0.3}}, task)));
  CHECK_FALSE(AnswerRows::is_answer(row_of({{"reward", NAN}, {"completion_len", 812}}, task)));
}

TEST_CASE("so many answers make a record of their means") {
  AnswerRows rows;
  const std::vector<RowText> task{{"task_id", "math_7"}};
  for (size_t i = 0; i < AnswerRows::kBlock; ++i) {
    const std::vector<RowNumber> answer{{"reward/total", i % 2 == 0 ? 1.0 : 0.0}, {"completion_len", 100}};
    CHECK(rows.enough_to_end() == (i >= AnswerRows::kBlock / 2));
    CHECK(rows.add(row_of(answer, task)) == (i + 1 == AnswerRows::kBlock));
  }
  const std::vector<RowNumber> means = rows.take();
  REQUIRE(means.size() == 2);
  CHECK(means[0].key == "reward/total");
  CHECK(means[0].value == 0.5);
  CHECK(means[1].value == 100);
  CHECK_FALSE(rows.enough_to_end());
  CHECK(rows.take().empty());
}

}  // namespace mw
