#include "read/interpret/loop_again.h"

#include <doctest/doctest.h>

namespace mw {
namespace {

/// A bar that showed 27 steps in as many minutes.
LoopAgain shown() {
  LoopAgain loop;
  CHECK_FALSE(loop.bar(0, 0));
  for (int i = 1; i <= 27; ++i) CHECK_FALSE(loop.bar(i, 60.0 * i));
  return loop;
}

TEST_CASE("behind a failure a bar without time passed is another start's, wherever that goes on") {
  LoopAgain loop = shown();
  loop.failed();
  CHECK_FALSE(loop.bar(27, 1630));  // the process closes its bar
  CHECK(loop.bar(0, 0));
  CHECK_FALSE(loop.bar(0, 0));  // drawn twice
  CHECK_FALSE(loop.bar(28, 61));
  loop.failed();
  CHECK(loop.bar(28, 0));  // a bar that is drawn where it goes on
}

TEST_CASE("each start that fails before a step shows by the model that it loads") {
  LoopAgain loop = shown();
  for (int start = 0; start < 3; ++start) {
    loop.failed();
    if (start > 0) CHECK_FALSE(loop.bar(0, 0));  // the process closes its bar at once
    loop.loads();
    CHECK(loop.bar(0, 0));
    CHECK_FALSE(loop.bar(0, 0));
  }
  CHECK_FALSE(loop.bar(1, 60));
}

TEST_CASE("without one, or where steps were done since, it is an evaluation's of as many batches") {
  LoopAgain loop = shown();
  CHECK_FALSE(loop.bar(0, 0));
  LoopAgain went_on = shown();
  went_on.failed();
  CHECK_FALSE(went_on.bar(28, 1680));
  CHECK_FALSE(went_on.bar(0, 0));
  LoopAgain first;
  first.loads();  // its model is loaded
  CHECK_FALSE(first.bar(0, 0));
}

}  // namespace
}  // namespace mw
