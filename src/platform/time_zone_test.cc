#include "platform/time_zone.h"

#include <doctest/doctest.h>

#include <cstdlib>

namespace mw {
namespace {

constexpr int64_t kSecond = 1'000'000'000, kHour = 3600 * kSecond;

Time at(const char* text) { return *parse_time(text); }

/// The machine's zone while the test lasts.
struct Zone {
  explicit Zone(const char* name) {
    setenv("TZ", name, 1);
    local = TimeZone::local();
  }
  ~Zone() {
    unsetenv("TZ");
    (void)TimeZone::local();
  }
  TimeZone local;
};

}  // namespace

TEST_CASE("zones as people write them") {
  const Time noon = at("2026-03-01 12:00:00");
  CHECK(TimeZone::parse("UTC")->to_utc(noon) == noon);
  CHECK(TimeZone::parse("+08:00")->to_utc(noon) == at("2026-03-01 04:00:00"));
  CHECK(TimeZone::parse("+8")->to_utc(noon) == at("2026-03-01 04:00:00"));
  CHECK(TimeZone::parse("-0530")->to_utc(noon) == at("2026-03-01 17:30:00"));
  CHECK(TimeZone::parse("-0530")->to_wall(at("2026-03-01 17:30:00")) == noon);
  for (const char* bad : {"", "8", "+", "CET", "+25", "+08:60", "+08:000", "+0x", "--8"}) {
    CAPTURE(bad);
    CHECK_FALSE(TimeZone::parse(bad).has_value());
  }
}

TEST_CASE("the machine's zone has its summer time") {
  const Zone zone("CET-1CEST,M3.5.0,M10.5.0/3");
  CHECK(zone.local.to_utc(at("2026-01-15 12:00:00")) == at("2026-01-15 11:00:00"));
  CHECK(zone.local.to_utc(at("2026-07-15 12:00:00")) == at("2026-07-15 10:00:00"));
  CHECK(zone.local.to_wall(at("2026-07-15 10:00:00")) == at("2026-07-15 12:00:00"));
  CHECK(zone.local.to_wall(at("2026-01-15 11:00:00")) == at("2026-01-15 12:00:00"));
}

TEST_CASE("the clock of a log that is being written shows its zone") {
  const Time now = at("2026-03-01 12:00:00");
  for (const char* name : {"EST5", "XST-8", "IST-5:30", "UTC0"}) {
    CAPTURE(name);
    const Zone zone(name);
    for (const int64_t stale : {int64_t{0}, 5 * kSecond, int64_t{3000} * kSecond}) {
      const Time utc{now.ns - stale};
      CHECK(zone_of_clock(utc, now, zone.local)->to_utc(utc) == utc);
      const Time wall = zone.local.to_wall(utc);
      CHECK(zone_of_clock(wall, now, zone.local)->to_utc(wall) == utc);
    }
  }
  const Zone zone("UTC0");
  // A container in UTC, and a log from UTC+8 on a shared disk.
  CHECK(zone_of_clock({now.ns + 8 * kHour - 3 * kSecond}, now, zone.local)->to_utc({now.ns + 8 * kHour}) == now);
  CHECK(zone_of_clock({now.ns + 8 * kHour + 3 * kSecond}, now, zone.local)->to_utc({now.ns + 8 * kHour}) == now);
  CHECK_FALSE(zone_of_clock({now.ns + 8 * kHour - 700 * kSecond}, now, zone.local).has_value());
  CHECK_FALSE(zone_of_clock({now.ns + kHour / 2}, now, zone.local).has_value());  // a clock was set
  CHECK_FALSE(zone_of_clock({now.ns + 40 * kHour}, now, zone.local).has_value());
  CHECK_FALSE(zone_of_clock({now.ns - 40 * kHour}, now, zone.local).has_value());  // an old file, written once more
  CHECK_FALSE(zone_of_clock({}, now, zone.local).has_value());
}

TEST_CASE(
    "a clock in the file's last line that is whole hours behind is west of UTC, one that is not is of an idle log") {
  const Time now = at("2026-03-01 12:00:00");
  const Zone zone("UTC0");
  const auto east = [&](int64_t behind, bool last_line) {
    const Time wall{now.ns - behind};
    return (zone_of_clock(wall, now, zone.local, last_line)->to_utc(wall).ns - wall.ns) / kSecond;
  };
  CHECK(east(7 * kHour, true) == 7 * 3600);
  CHECK(east(7 * kHour + 2 * kSecond, true) == 7 * 3600);
  CHECK(east(3 * kHour + kHour / 2, true) == 3 * 3600 + 1800);
  CHECK(east(7 * kHour, false) == 0);                // lines without a clock came since
  CHECK(east(7 * kHour + 60 * kSecond, true) == 0);  // idle for seven hours
  CHECK(east(20 * kSecond, true) == 0);
  const Zone here("PST8");
  const Time wall{now.ns - 8 * kHour};
  CHECK(zone_of_clock(wall, now, here.local, true)->to_utc(wall) == now);
}

}  // namespace mw
