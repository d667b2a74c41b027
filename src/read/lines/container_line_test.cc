#include "read/lines/container_line.h"

#include <doctest/doctest.h>

namespace mw {
namespace {

TEST_CASE("a line of Docker's json-file driver is its text behind its time; any other line is left alone") {
  std::string out;
  CHECK(unwrap_container_line(R"({"log":"step 1: \"loss\" 0.5\n","stream":"stdout","time":"2026-01-02T10:20:30.5Z"})",
                              out));
  CHECK(out == "2026-01-02T10:20:30.5Z step 1: \"loss\" 0.5\n");
  out.clear();
  CHECK(unwrap_container_line(R"({"time":"2026-01-02T10:20:30Z","stream":"stderr","log":"a\nb"})", out));
  CHECK(out == "2026-01-02T10:20:30Z a b\n");
  out.clear();
  for (const char* other :
       {"", "{", R"({"log":"x"})", R"({"log":7,"stream":"stdout","time":"t"})", R"({"loss":0.5})",
        R"({"log":"x","stream":"other","time":"t"})", R"({"log":"x","stream":"stdout","time":"t")"}) {
    CAPTURE(std::string(other));
    CHECK_FALSE(unwrap_container_line(other, out));
    CHECK(out.empty());
  }
}

}  // namespace
}  // namespace mw
