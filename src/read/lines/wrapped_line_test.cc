#include "read/lines/wrapped_line.h"

#include <doctest/doctest.h>

namespace mw {
namespace {

std::string unwrapped(std::string_view line) {
  std::string out;
  CHECK(unwrap_line(line, out) == !out.empty());
  return out;
}

}  // namespace

TEST_CASE("a line that a collector keeps as JSON is its text behind its time") {
  CHECK(unwrapped(R"({"timestamp": 1795168020000, "message": "  raise X", "ingestionTime": 1795168020900})") ==
        "2026-11-20T09:47:00Z   raise X\n");
  CHECK(unwrapped(R"({"timestamp": "2026-11-20T09:47:00Z", "level": "INFO", "message": "step 3: \"a\""})") ==
        "2026-11-20T09:47:00Z step 3: \"a\"\n");
  CHECK(unwrapped(R"({"date": 1795168020.5, "log": "a\n", "kubernetes": {"pod_name": "rl-0", "labels": {"n": 4}}})") ==
        "2026-11-20T09:47:00.500Z a\n");
  CHECK(unwrapped(R"({"asctime": "2026-11-20 09:47:00,123", "levelname": "INFO", "lineno": 12, "message": "a"})") ==
        "2026-11-20 09:47:00,123 a\n");
  CHECK(unwrapped(R"({"insertId": "x", "textPayload": "a", "resource": {"type": "k8s", "labels": {"zone": "b"}},
"timestamp": "2026-11-20T09:47:00.5Z", "severity": "ERROR"})") == "2026-11-20T09:47:00.5Z a\n");
  CHECK(unwrapped(R"({"labels": {"job": "rl"}, "line": "a", "timestamp": "2026-11-20T09:47:00Z"})") ==
        "2026-11-20T09:47:00Z a\n");
  CHECK(unwrapped(R"({"__REALTIME_TIMESTAMP": "1795168020000000", "MESSAGE": "a", "PRIORITY": "6"})") ==
        "2026-11-20T09:47:00Z a\n");
  CHECK(unwrapped(R"({"__REALTIME_TIMESTAMP": "1795168020000000", "MESSAGE": [97, 13, 226, 150, 136, 10]})") ==
        "2026-11-20T09:47:00Z a\r\xe2\x96\x88\n");
  CHECK(unwrapped(R"({"log":"a\nb\n","stream":"stdout","time":"2026-01-02T10:20:30.5Z"})") ==
        "2026-01-02T10:20:30.5Z a b\n");
}

TEST_CASE("a record with figures, a sample, a text over several lines, or no time is left as it is") {
  for (const std::string_view line :
       {"", "{", "{}", R"({"message": "a"})", R"({"timestamp": "2026-11-20T09:47:00Z", "message": 7})",
        R"({"timestamp": "2026-11-20T09:47:00Z", "message": "done", "loss": 0.5})",
        R"({"timestamp": "2026-11-20T09:47:00Z", "message": "done", "data": {"loss": 0.5}})",
        R"({"timestamp": "2026-11-20T09:47:00Z", "message": "done", "prompt": "what?"})",
        R"({"timestamp": "2026-11-20T09:47:00Z", "message": "done", "values": [1, 2]})",
        R"({"timestamp": "2026-11-20T09:47:00Z", "message": "Traceback:\n  File"})",
        R"({"timestamp": "2026-11-20T09:47:00Z", "message": "failed", "exc_info": "Traceback:\n  File"})",
        R"({"timestamp": "2026-11-20T09:47:00Z", "message": "a", "log": "b"})",
        R"({"timestamp": "some time", "message": "a"})", R"({"timestamp": "2026-11-20T09:47:00Z", "message": "a")"}) {
    CAPTURE(line);
    CHECK(unwrapped(line).empty());
  }
}

}  // namespace mw
