#include "read/lines/column_table.h"

#include <doctest/doctest.h>

#include <cmath>

namespace mw {
namespace {

bool known(std::string_view name) { return name == "loss" || name == "reward" || name == "kl" || name == "eval_loss"; }

struct Reader {
  ColumnTable table;
  MetricLine line;
  int64_t step = -1;
  ColumnTable::Took take(std::string_view text) { return table.take(text, known, line, &step); }
};

TEST_CASE("a table between bars, with a rule under its head and a cell without a number") {
  Reader reader;
  CHECK(reader.take("Step | Training Loss | reward | kl | completions / mean_length") == ColumnTable::Took::kHead);
  CHECK(reader.take("-- | -- | -- | -- | --") == ColumnTable::Took::kHead);
  REQUIRE(reader.take("10 | -0.25 | 1.5 | nan | 200") == ColumnTable::Took::kRow);
  CHECK(reader.step == 10);
  REQUIRE(reader.line.numbers().size() == 4);
  CHECK(reader.line.numbers()[0].key == "loss");
  CHECK(reader.line.numbers()[0].value == doctest::Approx(-0.25));
  CHECK(std::isnan(reader.line.numbers()[2].value));
  CHECK(reader.line.numbers()[3].key == "completions/mean_length");
  REQUIRE(reader.take("| 20 | 0.5 | 1.75 | No Log | 210 |") == ColumnTable::Took::kRow);
  CHECK(reader.line.numbers().size() == 3);
  CHECK(reader.take("saved model to out/step_20") == ColumnTable::Took::kNo);
  CHECK(reader.take("30 | 0.5 | 1.75 | 0.1 | 210") == ColumnTable::Took::kRow);  // it goes on behind that
  for (int i = 0; i <= ColumnTable::kBetweenLimit; ++i) CHECK(reader.take("that was all") == ColumnTable::Took::kNo);
  CHECK(reader.take("5 | 0.5 | 1.75 | 0.1 | 210") == ColumnTable::Took::kNo);
  CHECK(reader.take("40 | 0.5 | 1.75 | 0.1 | 210") == ColumnTable::Took::kRow);  // it had rows, and counts on
}

TEST_CASE("a table goes on behind an answer, whatever that holds") {
  Reader reader;
  CHECK(reader.take("Step  loss  reward  kl") == ColumnTable::Took::kHead);
  for (const char* text : {"1   0.5  0.25  0.1", "2   0.5  0.25  0.1", "3   0.5  0.25  0.1"}) {
    CHECK(reader.take(text) == ColumnTable::Took::kRow);
  }
  for (const char* text : {"", "So:", "", "| Step | loss | reward |", "|---|---|---|", "| 1 | 0.5 | 1 |", "", "x"}) {
    (void)reader.take(text);
  }
  REQUIRE(reader.take("4   0.5  0.25  0.1") == ColumnTable::Took::kRow);
  CHECK(reader.step == 4);
  Reader few;  // nothing shows that this is the training's
  CHECK(few.take("Step  loss  reward  kl") == ColumnTable::Took::kHead);
  CHECK(few.take("1   0.5  0.25  0.1") == ColumnTable::Took::kRow);
  CHECK(few.take("") == ColumnTable::Took::kNo);
  CHECK(few.take("2   0.5  0.25  0.1") == ColumnTable::Took::kNo);
}

TEST_CASE("a table between tabs or blanks") {
  Reader tabs;
  CHECK(tabs.take("Step\tTraining Loss\tValidation Loss") == ColumnTable::Took::kHead);
  REQUIRE(tabs.take("500\t0.5\t0.25") == ColumnTable::Took::kRow);
  CHECK(tabs.line.numbers()[1].key == "eval_loss");
  Reader two;
  CHECK(two.take("Step\tTraining Loss") == ColumnTable::Took::kHead);
  REQUIRE(two.take("10\t0.014800") == ColumnTable::Took::kRow);
  CHECK(two.step == 10);
  CHECK(Reader().take("Step | reward") == ColumnTable::Took::kNo);
  Reader blanks;
  CHECK(blanks.take("  step   reward      loss") == ColumnTable::Took::kHead);
  REQUIRE(blanks.take("    1   0.1250   0.5000") == ColumnTable::Took::kRow);
  CHECK(blanks.step == 1);
  CHECK(blanks.take("    2     12.5%   0.5000") == ColumnTable::Took::kRow);
  REQUIRE(blanks.line.numbers().size() == 2);
  CHECK(blanks.line.numbers()[0].value == 12.5);
  CHECK(blanks.line.numbers()[0].whole == 100);
}

TEST_CASE("what is no head of a metric table") {
  Reader reader;
  for (const char* text : {"Step | action | result", "step 3 | loss: 0.5 | reward: 0.25", "Steps to reproduce",
                           "Time | loss | reward", "| name | score | rank |", "   step   reward    loss  \\"}) {
    CHECK(reader.take(text) == ColumnTable::Took::kNo);
  }
}

TEST_CASE("a head between commas, with the steps in another column than the first") {
  Reader reader;
  CHECK(reader.take("time, step, reward, loss") == ColumnTable::Took::kHead);
  REQUIRE(reader.take("10:00:31, 3, 0.5, 0.25") == ColumnTable::Took::kRow);
  CHECK(reader.step == 3);
  REQUIRE(reader.line.numbers().size() == 2);
  CHECK(reader.line.numbers()[1].key == "loss");
  Reader words;
  CHECK(words.take("the reward at each step, the loss, and kl") == ColumnTable::Took::kNo);
}

}  // namespace
}  // namespace mw
