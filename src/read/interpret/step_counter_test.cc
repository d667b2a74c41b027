#include "read/interpret/step_counter.h"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

namespace mw {
namespace {

constexpr double kNoEpoch = std::numeric_limits<double>::quiet_NaN();

/// Bars and records as a log has them: a number shows the bar, kRecord is a record.
constexpr int64_t kRecord = -1;

/// The steps of the records, each asked for at the end.
std::vector<int64_t> steps_of(const std::vector<int64_t>& log) {
  StepCounter counter;
  std::vector<int64_t> steps;
  int64_t first = 1;
  int64_t last = 0;
  const auto release = [&] {
    for (; first <= last; ++first) {
      const auto step = counter.step_of(first);
      if (!step) return;
      steps.push_back(*step);
    }
  };
  int64_t shown = -1;
  for (const int64_t item : log) {
    if (item == kRecord) {
      last = counter.record(kNoEpoch);
    } else {
      if (item < shown) counter.settle();
      if (item < shown) release();
      counter.bar(item);
      shown = item;
    }
    release();
  }
  counter.settle();
  release();
  return steps;
}

}  // namespace

TEST_CASE("a bar that is drawn again behind each record shows the record's step") {
  // tqdm.write(): 2 came before the bar was drawn for it, and so did 5.
  const std::vector<int64_t> log = {0, 1, kRecord, 1, kRecord, 2, 3, kRecord, 3, 4, kRecord, 4, kRecord, 5};
  CHECK(steps_of(log) == std::vector<int64_t>{1, 2, 3, 4, 5});
}

TEST_CASE("a record whose epoch goes back is of the step that had that epoch, where no bar shows one") {
  StepCounter counter;
  counter.set_stride(5);
  int64_t last = 0;
  for (int step = 5; step <= 45; step += 5) last = counter.record(step / 70.0);
  CHECK(counter.step_of(last) == 45);
  REQUIRE(counter.goes_back(35 / 70.0));
  last = counter.record(35 / 70.0);  // it crashed and went on from step 30
  CHECK(counter.step_of(last) == 35);
  last = counter.record(40 / 70.0);
  CHECK_FALSE(counter.goes_back(45 / 70.0));
  CHECK(counter.step_of(last) == 40);
  counter.resumed(20);  // and said where
  CHECK(counter.step_of(counter.record(25 / 70.0)) == 25);
}

TEST_CASE(
    "where the bar was seen only as it began, the steps that the run says it made show how far records lie apart") {
  StepCounter counter;
  counter.bar(0, 974);
  int64_t last = 0;
  for (int i = 0; i < 97; ++i) last = counter.record(kNoEpoch);
  counter.total(974);
  CHECK(counter.step_of(1) == 10);
  CHECK(counter.step_of(last) == 970);
}

TEST_CASE("where no bar is drawn the saves say of which steps the records are") {
  StepCounter counter;
  int64_t last = 0;
  const auto records = [&](int count) {
    for (int i = 0; i < count; ++i) last = counter.record(kNoEpoch);
  };
  records(2);
  CHECK_FALSE(counter.step_of(1).has_value());
  counter.saved(6);
  CHECK(counter.step_of(1) == 3);
  CHECK(counter.step_of(2) == 6);
  records(1);
  CHECK(counter.step_of(last) == 9);
  records(1);
  counter.saved(12);
  CHECK(counter.step_of(last) == 12);
  records(1);  // of step 15; then it dies and goes on from step 12
  records(2);
  counter.saved(18);
  CHECK(counter.step_of(last) == 18);
  records(2);
  counter.saved(24);
  CHECK(counter.step_of(last) == 24);
  records(1);
  CHECK(counter.step_of(last) == 27);
}

TEST_CASE("a save between two records, and one where a bar is drawn") {
  StepCounter counter;
  int64_t last = 0;
  for (int i = 0; i < 2; ++i) last = counter.record(kNoEpoch);
  counter.saved(25);
  CHECK(counter.step_of(last) == 20);
  StepCounter drawn;
  drawn.bar(0, 100);
  last = drawn.record(kNoEpoch);
  drawn.saved(25);
  CHECK_FALSE(drawn.step_of(last).has_value());
}

TEST_CASE("a bar over rounds, of which each has many records, says nothing of their steps") {
  StepCounter counter;
  counter.bar(0, 4);
  int64_t last = 0;
  for (int i = 0; i < 50; ++i) last = counter.record(kNoEpoch);
  CHECK(counter.is_outer(4));
  counter.bar(1, 4);
  for (int i = 0; i < 50; ++i) last = counter.record(kNoEpoch);
  counter.settle();
  CHECK(counter.step_of(last) == 100);
  StepCounter steps;  // one that is drawn late is no such bar
  steps.bar(0, 30);
  for (int i = 0; i < 30; ++i) last = steps.record(kNoEpoch);
  CHECK_FALSE(steps.is_outer(30));
  steps.bar(30, 30);
  steps.settle();
  CHECK(steps.step_of(last) == 30);
}

TEST_CASE("a second training in one log is counted from its own beginning, whatever its bar stands at when shown") {
  StepCounter counter;
  counter.bar(0, 2);
  counter.record(kNoEpoch);
  counter.bar(2, 2);
  counter.resumed(0);
  counter.bar(30, 30);  // a sink keeps only a bar's last showing, where it was first drawn
  int64_t last = 0;
  for (int i = 0; i < 3; ++i) last = counter.record(kNoEpoch);
  counter.settle();
  for (int64_t i = 0; i < 3; ++i) CHECK(counter.step_of(last - 2 + i) == 10 * (i + 1));
}

TEST_CASE("a trainer that resumed jumps to its step: its records are counted from there") {
  const std::vector<int64_t> prompt = {0, 25, kRecord, 25, 0, 21, kRecord, 21, kRecord, 22, 23, kRecord, 23};
  CHECK(steps_of(prompt) == std::vector<int64_t>{25, 21, 22, 23});
  // Held back by a buffer, and logged every second step.
  std::vector<int64_t> held = {0, 21};
  for (int64_t step = 22; step <= 31; ++step) held.push_back(step);
  held.insert(held.end(), {kRecord, kRecord, kRecord, kRecord, kRecord, 32, 33, 34, kRecord});
  CHECK(steps_of(held) == std::vector<int64_t>{22, 24, 26, 28, 30, 32});
}

TEST_CASE("fast steps from the beginning are no jump") {
  std::vector<int64_t> log = {0, 6, 13, 19, 26};
  for (int i = 0; i < 26; ++i) log.push_back(kRecord);
  log.push_back(32);
  const std::vector<int64_t> steps = steps_of(log);
  CHECK(steps.front() == 1);
  CHECK(steps.back() == 26);
}

TEST_CASE("a record that the bar is not drawn for is of the step before it") {
  CHECK(steps_of({0, 1, kRecord, 2, kRecord, 3, kRecord, 4}) == std::vector<int64_t>{1, 2, 3});
  CHECK(steps_of({0, 10, kRecord, 20, kRecord}) == std::vector<int64_t>{10, 20});
}

TEST_CASE("without a bar a record's step is known at once, once it was decided that they are counted") {
  StepCounter counter;
  CHECK_FALSE(counter.step_of(counter.record(kNoEpoch)));
  counter.settle();
  CHECK(counter.step_of(1) == 1);
  CHECK(counter.step_of(counter.record(kNoEpoch)) == 2);
  CHECK(counter.step_of(counter.record(kNoEpoch)) == 3);
}

TEST_CASE("a last record out of turn changes no other's step and lies at the end") {
  std::vector<int64_t> log;
  for (int64_t step = 0; step <= 95; ++step) {
    log.push_back(step);
    if (step == 45 || step == 65 || step == 85) {
      for (int i = 0; i < (step == 45 ? 4 : 2); ++i) log.push_back(kRecord);
    }
  }
  log.insert(log.end(), {kRecord, kRecord, 95});
  CHECK(steps_of(log) == std::vector<int64_t>{10, 20, 30, 40, 50, 60, 70, 80, 90, 95});
}

}  // namespace mw
