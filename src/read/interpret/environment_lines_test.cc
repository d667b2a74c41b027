#include "read/interpret/environment_lines.h"

#include <doctest/doctest.h>

namespace mw {
namespace {

bool named(std::string_view text) { return EnvironmentLines::is_named(text, find_place(text)); }

TEST_CASE("lines that say which environment, turn or task they are of") {
  for (const char* line :
       {"[env 3] step 15/50 reward 0.0", "agent step 23 reward=0.0 done=False", "turn 1: reward 0.0 tool=search",
        "[task 12] Step 1/30 - reward: 0.00", "env_7 step 3 reward=1.0", "step 4 action=2 reward=0.5"}) {
    CAPTURE(line);
    CHECK(named(line));
  }
  for (const char* line : {"step 15/50 reward 0.5", "[rank 3] step 15 reward=0.5", "trainer step 4 reward=0.5",
                           "[run-7] step 5 reward 0.5", "task gsm8k step 5 reward 0.5", "step 5 truncated=0.1"}) {
    CAPTURE(line);
    CHECK_FALSE(named(line));
  }
}

TEST_CASE("once the trainer's own records are known, rewards that are counted otherwise are somebody else's") {
  EnvironmentLines lines;
  const auto others = [&lines](std::string_view text) { return lines.is_others(text, find_place(text)); };
  const auto trained = [&lines](std::string_view text) { lines.trained(text, find_place(text)); };
  CHECK_FALSE(others("walker step 3 reward 0.0"));  // nothing is known yet
  trained("step 10/200 reward=0.5 loss=0.1");
  trained("step 11/200 reward=0.5 loss=0.1");
  CHECK(others("walker step 3 reward 0.0"));
  CHECK_FALSE(others("walker step 11 reward 0.0"));  // it may be of the trainer's step
  CHECK(others("walker step 40 reward 0.0"));
  CHECK(others("walker step 11 reward 0.0"));  // known by now
  CHECK_FALSE(others("step 11/200 reward 0.5"));
  CHECK(others("step 3/50 reward 0.5"));
  CHECK_FALSE(others("[stats] step 12 reward 0.5"));  // the one that comes
}

}  // namespace
}  // namespace mw
