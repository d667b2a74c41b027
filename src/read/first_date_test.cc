#include "read/first_date.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "read/run_reader.h"
#include "read/testing/whole_log.h"

namespace mw {
namespace {

/// A log of `lines` lines from `start` (hours of the day) on, `apart_s` seconds apart, each with a clock alone.
std::string log_of(double start, int lines, double apart_s) {
  std::string log;
  for (int i = 0; i < lines; ++i) {
    const auto at = static_cast<int64_t>(start * 3600 + i * apart_s);
    const std::string clock = format_utc(Time{(86400 + at % 86400) * 1'000'000'000}).substr(11, 8);
    log += cat(clock, " SUCCESS Step ", i + 1, " |   59.0s | Loss 0.0010 | Entropy 0.4500 | Grad. Norm 0.1500\n");
  }
  return log;
}

std::string first_day(const std::string& log, const char* changed) {
  FakeDisk disk;
  disk.put("/train.log", log);
  return format_utc(first_date(disk, "/train.log", *parse_time(changed))).substr(0, 10);
}

}  // namespace

TEST_CASE("the day of a file's last change is that of its last clock, and midnights lie before it") {
  CHECK(first_day(log_of(10, 80, 60), "2026-11-20T11:20:00Z") == "2026-11-20");
  CHECK(first_day(log_of(23.5, 80, 60), "2026-11-21T00:50:00Z") == "2026-11-20");
  CHECK(first_day(log_of(23.5, 80, 3000), "2026-11-23T18:10:00Z") == "2026-11-20");
  CHECK(first_day(log_of(23.5, 20000, 30), "2026-11-27T22:10:00Z") == "2026-11-20");  // a file of many pieces
  CHECK(first_day(log_of(23.5, 29, 60), "2026-11-21T00:00:02Z") == "2026-11-20");     // written out behind midnight
}

TEST_CASE("a log whose clocks have a date, or that has none, begins when its dates say") {
  CHECK(first_day("2026-11-18 10:00:00 step 1\n", "2026-11-21T00:50:00Z") == "2026-11-21");
  CHECK(first_day("11-18 10:00:00 step 1\n", "2026-11-21T00:50:00Z") == "2026-11-21");
  CHECK(first_day("step 1\nstep 2\n", "2026-11-21T00:50:00Z") == "2026-11-21");
  CHECK(first_day("", "2026-11-21T00:50:00Z") == "2026-11-21");
}

TEST_CASE("a run that goes past midnight is not dated later than its file") {
  FakeDisk disk;
  disk.set_time(*parse_time("2026-11-21T00:50:00Z"));
  disk.put("/run/train.log", log_of(23.5, 80, 60));
  RunReader reader(disk, built_in_knowledge(), Judge::kAtClose, nullptr, {});
  REQUIRE(reader.open({"/run"}, "").ok());
  reader.read_all({});
  reader.close();
  REQUIRE_FALSE(reader.state().sources.empty());
  CHECK(format_utc(reader.state().sources[0].first_at).starts_with("2026-11-20T23:30:00"));
  CHECK(format_utc(reader.state().sources[0].last_at).starts_with("2026-11-21T00:49:00"));
}

}  // namespace mw
