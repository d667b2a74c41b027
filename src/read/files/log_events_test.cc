#include "read/files/log_events.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "read/testing/whole_log.h"

namespace mw {
namespace {

/// In pieces of three bytes.
std::string lines_of(const std::string& document, bool whole = true) {
  if (!are_log_events(document)) return "none";
  std::string out;
  const auto sink = [&out](std::string_view plain) { out.append(plain); };
  LogEvents events(document);
  for (size_t at = 0; at < document.size(); at += 3) REQUIRE(events.feed(document.substr(at, 3), sink).ok());
  CHECK(events.finish(sink).ok() == whole);
  return out;
}

TEST_CASE("the lines of a log that a viewer exports as a list are read in their order") {
  const std::string lines = "2026-11-20T09:47:00Z step 1\n2026-11-20T09:47:01Z a ] \" }\n";
  CHECK(lines_of(R"({"events": [{"timestamp": 1795168020000, "message": "step 1", "ingestionTime": 1795168020900},
                     {"timestamp": 1795168021000, "message": "a ] \" }"}], "nextForwardToken": "f/[1"})") == lines);
  CHECK(lines_of(R"([
  {
    "insertId": "x", "resource": {"type": "k8s", "labels": {"zone": "b"}},
    "textPayload": "a ] \" }", "timestamp": "2026-11-20T09:47:01Z"
  },
  {"textPayload": "step 1", "timestamp": "2026-11-20T09:47:00Z"}
])") == lines);  // the newest first
  CHECK(lines_of("{\n\t\"MESSAGE\" : \"step 1\",\n\t\"__REALTIME_TIMESTAMP\" : \"1795168020000000\"\n}\n"
                 "{\n\t\"MESSAGE\" : \"a ] \\\" }\",\n\t\"__REALTIME_TIMESTAMP\" : \"1795168021000000\"\n}\n") ==
        lines);
  CHECK(lines_of(R"([{"timestamp": 1795168020000, "message": "Traceback:\n  File \"a\"\n"}, {"timestamp": 17)",
                 false) == "2026-11-20T09:47:00Z Traceback:\n2026-11-20T09:47:00Z   File \"a\"\n");
}

TEST_CASE("a document of records or samples, and lines of JSON, are none") {
  for (const std::string_view document :
       {"", "[", "[]", "{}", R"([{"step": 1, "loss": 0.5, "timestamp": 1795168020}])",
        R"({"history": [{"step": 1, "message": "a", "timestamp": 1795168020000}]})",
        R"([{"message": "a", "prompt": "b", "timestamp": 1795168020000}])", R"([{"message": "a"}])",
        R"({"timestamp": 1795168020000, "message": "step 1"})", R"({"events": []})"}) {
    CAPTURE(document);
    CHECK_FALSE(are_log_events(document));
  }
}

TEST_CASE("the log of an exported list says what it says as text") {
  std::string list = "{\n  \"events\": [";
  for (int step = 1; step <= 40; ++step) {
    list += cat(step > 1 ? "," : "", "\n    {\n      \"timestamp\": ", 1795168020000 + step * 30000,
                ",\n      \"message\": \"step: ", step, " reward: 0.", 100 + step, " grad_norm: 0.3\"\n    }");
  }
  const State state = state_of(cat(list, "\n  ]\n}\n"), "export.json");
  CHECK(state.steps().last == 40);
  CHECK(state.sources.front().first_at.known());
}

}  // namespace
}  // namespace mw
