#include "read/lines/date_order.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "base/time.h"
#include "read/lines/log_line.h"

namespace mw {
namespace {

std::string read(DateOrder& order, std::string_view text, bool conventional = false) {
  const auto stamp = read_stamp(text);
  REQUIRE(stamp);
  return format_utc(order.moment(*stamp, conventional));
}

}  // namespace

TEST_CASE("stamps whose day comes first, and clocks with half a day") {
  const auto at = [](std::string_view text) {
    CAPTURE(text);
    const auto stamp = read_stamp(text);
    REQUIRE(stamp);
    CHECK(stamp->used == text.find('|'));
    return format_utc(stamp->at);
  };
  CHECK(at("20.11.2026 08:00:30|") == "2026-11-20T08:00:30Z");
  CHECK(at("20/11/2026 08:00:30.5|") == "2026-11-20T08:00:30.500Z");
  CHECK(at("2026-11-20, 08:00:30|") == "2026-11-20T08:00:30Z");
  CHECK(at("11/20/2026 08:00:30 PM|") == "2026-11-20T20:00:30Z");
}

TEST_CASE("a number above 12 shows the order of a log's dates") {
  DateOrder day, month;
  CHECK(read(day, "04/03/2026 22:00:00").empty());
  CHECK(day.open());
  CHECK(read(day, "13/03/2026 22:00:00") == "2026-03-13T22:00:00Z");
  CHECK(read(day, "04/03/2026 22:00:00") == "2026-03-04T22:00:00Z");
  CHECK(read(month, "03/13/2026 22:00:00") == "2026-03-13T22:00:00Z");
  CHECK(read(month, "03/04/2026 22:00:00") == "2026-03-04T22:00:00Z");
  CHECK_FALSE(month.open());
}

TEST_CASE("so does a midnight, behind which the next line comes minutes or a month later") {
  DateOrder day, month;
  CHECK(read(day, "04/03/2026 23:59:30").empty());
  CHECK(read(day, "05/03/2026 00:00:30") == "2026-03-05T00:00:30Z");
  CHECK(read(month, "03-04-2026 23:59:30").empty());
  CHECK(read(month, "03-05-2026 00:00:30") == "2026-03-05T00:00:30Z");
}

TEST_CASE("where a log does not show it, custom or the file's last change does, or there is no clock") {
  DateOrder none, changed, future;
  CHECK(read(none, "04/03/2026 08:00:00").empty());
  CHECK(read(none, "04/03/2026 08:00:00", true) == "2026-04-03T08:00:00Z");
  CHECK(read(none, "04/03/26 08:00:00") == "2026-04-03T08:00:00Z");
  CHECK(read(none, "03/03/2026 08:00:00") == "2026-03-03T08:00:00Z");
  changed.set_changed(*parse_time("2026-03-04T09:00:00Z"));
  CHECK(read(changed, "04/03/2026 08:00:00") == "2026-03-04T08:00:00Z");
  future.set_changed(*parse_time("2026-09-20T09:00:00Z"));
  CHECK(read(future, "04/12/2026 08:00:00") == "2026-04-12T08:00:00Z");
}

TEST_CASE("of a file that is read once the order is known from its first line on") {
  LineReader reader;
  const std::string head =
      "[04/03/2026 23:59:10] INFO step 1\n[04/03/2026 23:59:50] INFO step 2\n"
      "[05/03/2026 00:00:30] INFO step 3\n";
  reader.expect_dates(head);
  CHECK(format_utc(reader.read("[04/03/2026 23:59:10] INFO step 1", 1).at) == "2026-03-04T23:59:10Z");
}

}  // namespace mw
