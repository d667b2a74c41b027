#include "read/books/anchored.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "read/match/pattern_set.h"

namespace mw {
namespace {

bool matches(const std::string& expression, std::string_view line) {
  const auto set = PatternSet::compile({{anchored(expression), true, 1}});
  REQUIRE(set.ok());
  std::vector<uint32_t> ids;
  set->match_line(line, ids);
  return !ids.empty();
}

TEST_CASE("an anchored expression finds its line behind whatever wraps it") {
  for (const char* wrapping :
       {"", "\x1b[36m", "[2026-01-15 00:01:18] ", "2026-01-15T00:01:18.123456789Z ", "2026-01-15 00:01:18,123 ",
        "0: ", "[rank0]: ", "(TaskRunner pid=7, ip=10.0.0.1) ", "\x1b[36m(pid=7)\x1b[0m "}) {
    for (const char* end : {"", " ", "\x1b[0m"}) {
      CAPTURE(wrapping);
      CHECK(matches("^Killed$", cat(wrapping, "Killed", end)));
      CHECK(matches(R"(^\S*: line [0-9]+: +[0-9]+ Killed\b)",
                    cat(wrapping, "run.sh: line 18: 14250 Killed   python3", end)));
      CHECK_FALSE(matches("^Killed$", cat(wrapping, "It was Killed", end)));
      CHECK_FALSE(matches("^Killed$", cat(wrapping, "Killed it", end)));
    }
  }
}

TEST_CASE("an expression without anchors, and one of alternatives, stay as they are") {
  CHECK(anchored("exit code 137") == "exit code 137");
  CHECK(anchored("^a|b$") == "^a|b$");
  CHECK(anchored(R"(costs 5\$)") == R"(costs 5\$)");
  CHECK(anchored("^(a|b)[|]") != "^(a|b)[|]");
}

}  // namespace
}  // namespace mw
