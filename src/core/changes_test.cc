#include "core/changes.h"

#include <doctest/doctest.h>

namespace mw {
namespace {

TEST_CASE("a change between attempts, in words") {
  CHECK(change_text({2, "package", "vllm", "0.8.5", "0.9.0"}) == "package vllm: 0.8.5 → 0.9.0");
  CHECK(change_text({2, "environment", "LR", "", "2e-6"}) == "environment LR: not set → 2e-6");
  CHECK(change_text({2, "file", "a.sh", "lr 1\nx\ny", ""}) == "file a.sh: lr 1 (and 2 more lines) → not there");
  CHECK(change_text({2, "more", "", "", "7 further differences"}) == "7 further differences");
}

TEST_CASE("the changes of the last attempt that was compared") {
  State state;
  CHECK(last_changes(state).empty());
  state.changes = {{2, "package", "vllm", "1", "2"}, {3, "environment", "LR", "1", "2"}, {3, "limit", "x", "1", "2"}};
  CHECK(last_changes(state).size() == 2);
  state.changes.push_back({4, "nothing", "", "", ""});
  CHECK(last_changes(state).empty());
}

}  // namespace
}  // namespace mw
