#include "ui/cli/build_info.h"

#include <doctest/doctest.h>

#include "base/json.h"

namespace mw {

TEST_CASE("the version says what was built, and says so where the commit is not known") {
  const BuildInfo whole = {"0.1.0", "1a2b3c4d5e6f with changes", "2026-11-23", "GNU 12.2.0", "Release"};
  CHECK(version_line(whole) == "midwatch 0.1.0 (commit 1a2b3c4d5e6f with changes of 2026-11-23, Release, GNU 12.2.0)");
  CHECK(version_line({"0.1.0", "", "", "", ""}) == "midwatch 0.1.0 (commit not known)");
  const auto json = Json::parse(version_json(whole));
  REQUIRE(json.ok());
  CHECK(json->string_or("schema", "") == "midwatch.version/1");
  CHECK(json->string_or("commit", "") == "1a2b3c4d5e6f with changes");
}

}  // namespace mw
