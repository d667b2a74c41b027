#include "act/supervise/rollback_plan.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "sense/checkpoints/quarantine_for_test.h"

namespace mw {
namespace {

Rollback to_40(QuarantineFolder& f, const std::vector<int64_t>& steps) {
  Rollback back;
  back.from = 41;
  back.plans = {plan_of(f, steps, 40)};
  return back;
}

TEST_CASE("a rollback that only sets the pointer says so") {
  QuarantineFolder f;
  f.checkpoint("global_step_40");
  f.put("latest_checkpointed_iteration.txt", "50\n");
  const auto done = roll_back(*f.disk, kVerl, to_40(f, {}), of_run("/home/runs/a"), nullptr);
  REQUIRE(done.ok());
  CHECK_MESSAGE(
      done->find(cat(f.root, "/latest_checkpointed_iteration.txt said 50 and says 40 now")) != std::string::npos,
      *done);
  CHECK_MESSAGE(done->find("no checkpoint is moved") != std::string::npos, *done);
  CHECK(f.content("latest_checkpointed_iteration.txt") == "40");
}

TEST_CASE("a rollback that moves checkpoints says what becomes of the pointer, too") {
  QuarantineFolder f;
  f.checkpoint("global_step_40");
  f.checkpoint("global_step_50");
  f.put("latest_checkpointed_iteration.txt", "50");
  const auto done = roll_back(*f.disk, kVerl, to_40(f, {50}), of_run("/home/runs/a"), nullptr);
  REQUIRE(done.ok());
  CHECK_MESSAGE(done->starts_with("moved the checkpoints of step 50 to "), *done);
  CHECK_MESSAGE(done->find("said 50 and says 40 now; step 40 is the newest now") != std::string::npos, *done);
  QuarantineFolder other;  // a pointer that names what stays is left alone, and nothing is said of it
  other.checkpoint("global_step_40");
  other.checkpoint("global_step_50");
  other.put("latest_checkpointed_iteration.txt", "40");
  const auto left = roll_back(*other.disk, kVerl, to_40(other, {50}), of_run("/home/runs/a"), nullptr);
  REQUIRE(left.ok());
  CHECK_MESSAGE(left->find("latest_checkpointed") == std::string::npos, *left);
}

}  // namespace
}  // namespace mw
