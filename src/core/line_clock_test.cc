#include "core/line_clock.h"

#include <doctest/doctest.h>

namespace mw {
namespace {

Time at(double seconds) { return Time() + Duration::seconds(seconds); }

TEST_CASE("a line without a clock lies between those before and behind it that have one") {
  LineClock clock;
  CHECK_FALSE(clock.before(5).known());
  CHECK_FALSE(clock.after(5).known());
  clock.note(10, at(100));
  clock.note(20, at(200));
  clock.note(15, at(900));  // not in order
  clock.note(30, Time());
  CHECK_FALSE(clock.before(9).known());
  CHECK(clock.before(10) == at(100));
  CHECK(clock.before(19) == at(100));
  CHECK(clock.before(40) == at(200));
  CHECK(clock.after(5) == at(100));
  CHECK(clock.after(11) == at(200));
  CHECK(clock.after(20) == at(200));
  CHECK_FALSE(clock.after(21).known());
}

TEST_CASE("a million lines cost bounded memory, and the times stay near") {
  LineClock clock;
  for (uint64_t line = 1; line <= 1'000'000; ++line) clock.note(line, at(static_cast<double>(line)));
  for (uint64_t line = 1000; line < 1'000'000; line += 997) {
    const double before = (at(static_cast<double>(line)) - clock.before(line)).seconds();
    const double after = (clock.after(line) - at(static_cast<double>(line))).seconds();
    CHECK(before >= 0);
    CHECK(before < 4000);
    CHECK(after >= 0);
    CHECK(after < 4000);
  }
}

}  // namespace
}  // namespace mw
