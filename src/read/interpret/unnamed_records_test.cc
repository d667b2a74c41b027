#include "read/interpret/unnamed_records.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace mw {
namespace {

constexpr uint64_t kLoss = 1, kOther = 2;

struct Log {
  UnnamedRecords records;
  std::vector<Event> out;

  bool take(uint64_t kind, double value = 0.5) {
    Event event{{}, {}, event::Measured{kNoStep, false, {{"loss.total", "loss", value}}}};
    return records.take(event, kind, out);
  }
  std::vector<int64_t> steps() const {
    std::vector<int64_t> all;
    for (const Event& event : out) all.push_back(std::get<event::Measured>(event.body).step);
    return all;
  }
};

}  // namespace

TEST_CASE("records of a log that names no step are counted at its end, those of another kind stand where they are") {
  Log log;
  for (int i = 0; i < 6; ++i) {
    CHECK(log.take(kLoss));
    if (i == 3) CHECK(log.take(kOther));
  }
  CHECK(log.out.empty());
  log.records.finish(log.out);
  CHECK(log.steps() == std::vector<int64_t>{1, 2, 3, 4, 4, 5, 6});
  for (const Event& event : log.out) CHECK(std::get<event::Measured>(event.body).counted);
}

TEST_CASE("a step that is named later shows that they are not to be counted, and so does a handful") {
  Log named, few;
  for (int i = 0; i < 50; ++i) CHECK(named.take(kLoss));
  named.records.step_named(named.out);
  CHECK(named.steps() == std::vector<int64_t>(50, kNoStep));
  CHECK(!named.take(kLoss));
  for (size_t i = 1; i < UnnamedRecords::kLeast; ++i) CHECK(few.take(kLoss));
  few.records.finish(few.out);
  CHECK(few.steps() == std::vector<int64_t>(UnnamedRecords::kLeast - 1, kNoStep));
}

TEST_CASE("no step is waited for without end") {
  Log log;
  for (size_t i = 0; i < UnnamedRecords::kHeld; ++i) CHECK(log.take(kLoss));
  CHECK(log.out.size() == UnnamedRecords::kHeld);
  CHECK(log.take(kLoss));
  CHECK(!log.take(kOther));
  CHECK(log.take(kLoss, std::numeric_limits<double>::quiet_NaN()));
  CHECK(log.steps().back() == static_cast<int64_t>(UnnamedRecords::kHeld) + 2);
}

TEST_CASE("behind a figure that is no number nothing waits, once its kind is a series") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Log late, early;
  for (int i = 0; i < 6; ++i) CHECK(late.take(kLoss));
  CHECK(late.out.empty());
  CHECK(late.take(kLoss, nan));
  CHECK(late.take(kLoss, nan));
  CHECK(late.steps() == std::vector<int64_t>{1, 2, 3, 4, 5, 6, 7, 8});
  for (size_t i = 1; i < UnnamedRecords::kLeast; ++i) CHECK(early.take(kLoss, nan));
  CHECK(early.out.empty());
  CHECK(early.take(kLoss, nan));
  CHECK(early.steps() == std::vector<int64_t>{1, 2, 3, 4, 5});
}

}  // namespace mw
