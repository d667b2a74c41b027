#include "read/lines/date_order.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "base/text.h"
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

TEST_CASE("a zone in letters, half a day behind a date, and dates with a month's name") {
  const auto at = [](std::string_view text) {
    CAPTURE(text);
    const auto stamp = read_stamp(text);
    REQUIRE(stamp);
    CHECK(stamp->used == text.find('|'));
    return cat(format_utc(stamp->at), stamp->zoned ? "" : " as UTC");
  };
  CHECK(at("2026-11-20 22:03:00 JST|") == "2026-11-20T13:03:00Z");
  CHECK(at("2026-11-20 22:03:00 PST|") == "2026-11-21T06:03:00Z");
  CHECK(at("2026-11-20 22:03:00 CEST|") == "2026-11-20T20:03:00Z");
  CHECK(at("2026-11-20 22:03:00 UTC|") == "2026-11-20T22:03:00Z");
  CHECK(at("2026-11-20 22:03:00 -0530|") == "2026-11-21T03:33:00Z");
  CHECK(at("2026-11-20 22:03:00 CST|") == "2026-11-20T22:03:00Z as UTC");  // Chicago's or Shanghai's
  CHECK(at("2026-11-20 10:03:00 PM|") == "2026-11-20T22:03:00Z as UTC");
  CHECK(at("2026-11-20 10:03:00 PM KST|") == "2026-11-20T13:03:00Z");
  CHECK(at("2026-11-20 12:03:00 AM|") == "2026-11-20T00:03:00Z as UTC");
  CHECK(at("Fri Nov 20 22:03:00 CET 2026|") == "2026-11-20T21:03:00Z");
  CHECK(at("Fri Nov 20 22:03:00 UTC 2026|") == "2026-11-20T22:03:00Z");
  CHECK(at("Fri Nov 20 22:03:00 2026|") == "2026-11-20T22:03:00Z as UTC");
  CHECK(at("Fri Nov 20 22:03:00 CST 2026|") == "2026-11-20T22:03:00Z as UTC");
  CHECK(at("Fri Nov 20 10:03:00 PM JST 2026|") == "2026-11-20T13:03:00Z");
  CHECK(at("Fri, 20 Nov 2026 22:03:00 +0100|") == "2026-11-20T21:03:00Z");
  CHECK(at("Fri 20 Nov 2026 10:03:00 PM JST|") == "2026-11-20T13:03:00Z");
  CHECK(at("20-Nov-2026 22:03:00|") == "2026-11-20T22:03:00Z as UTC");
  CHECK(at("20/Nov/2026:22:03:00 +0000|") == "2026-11-20T22:03:00Z");
  CHECK(at("2026年11月20日 22:03:00|") == "2026-11-20T22:03:00Z as UTC");
  CHECK(at("20261120_220300|") == "2026-11-20T22:03:00Z as UTC");
}

TEST_CASE("a zone as an offset from UTC in any of its forms, and as a place") {
  const auto at = [](std::string_view zone) {
    const std::string text = cat("2026-11-20 22:03:00", zone);
    CAPTURE(text);
    const auto stamp = read_stamp(text);
    REQUIRE(stamp);
    CHECK(stamp->used == text.size());
    CHECK(stamp->zoned);
    return format_utc(stamp->at).substr(11, 5);
  };
  for (const std::string_view zone :
       {" UTC+8", " GMT+8", " UTC+08", " UTC+08:00", " GMT+0800", " (UTC+8)", " (UTC+08:00)", " +08", "+08", " +08:00",
        " +0800", " Asia/Shanghai", " (Asia/Taipei)"})
    CHECK(at(zone) == "14:03");
  CHECK(at(" UTC-5") == "03:03");
  CHECK(at(" -05") == "03:03");
  CHECK(at(" UTC+5:30") == "16:33");
  CHECK(at(" Asia/Kolkata") == "16:33");
  CHECK(at(" (CET)") == "21:03");
  CHECK(format_utc(read_stamp("Fri Nov 20 22:03:00 +08 2026")->at) == "2026-11-20T14:03:00Z");
}

TEST_CASE("words behind a clock that are no zone, and numbers that are no date") {
  CHECK(read_stamp("2026-11-20 22:03:00 ESTIMATE 3")->used == 19);
  CHECK(read_stamp("2026-11-20 22:03:00 Amber")->used == 19);
  for (const std::string_view text :
       {" +8 rows", " -12.5", " +99", " UTC+99", " UTC+x", " (2 of 3)", " (UTC+8", " - 5", " Europe/Berlin", " +12345"})
    CHECK_FALSE(read_stamp(cat("2026-11-20 22:03:00", text))->zoned);
  CHECK_FALSE(read_stamp("20261120_2203001 rows"));
  CHECK_FALSE(read_stamp("20 Nov 2026 was a Friday"));
  CHECK_FALSE(read_stamp("Fri, 20 Nov"));
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
