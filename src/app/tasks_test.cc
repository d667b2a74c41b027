#include "app/tasks.h"

#include <doctest/doctest.h>

#include <set>
#include <string_view>

namespace mw {
namespace {

TEST_CASE("the table of tasks stands in the order of its phases, with one row for each") {
  std::set<std::string_view> names;
  TaskPhase before = TaskPhase::kRequests;
  for (const TaskRow& row : task_table()) {
    CHECK(names.insert(row.name).second);
    CHECK(row.phase >= before);
    before = row.phase;
    CHECK_FALSE(row.does.empty());
  }
  CHECK(names.count("inbox") + names.count("supervisor") + names.count("notifier") == 3);
}

}  // namespace
}  // namespace mw
