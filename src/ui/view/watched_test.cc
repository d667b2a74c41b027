#include "ui/view/watched.h"

#include <doctest/doctest.h>

namespace mw {
namespace {

TEST_CASE("a run that attach read and that had come to no end is left when its watch is gone") {
  State state;
  RunStatus status;
  state.verdict = "running";
  CHECK(was_left(state, status));
  CHECK_FALSE(should_be_watched(status));
  state.verdict = "finished";
  CHECK_FALSE(was_left(state, status));
  state.verdict = "stalled";
  CHECK(was_left(state, status));
  status.watcher = 4711;
  CHECK_FALSE(was_left(state, status));
  status.watcher_stopped = true;
  CHECK(was_left(state, status));
  status.watcher = 0;
  status.elsewhere = true;  // whether it lives cannot be seen here
  CHECK_FALSE(was_left(state, status));
}

TEST_CASE("a process that attach found is left while it lives") {
  State state;
  RunStatus status;
  state.verdict = "running";
  status.adopted = true;
  status.phase = RunStatus::Phase::kRunning;
  status.pid = 17;
  CHECK(was_left(state, status));
  status.pid = 0;
  CHECK_FALSE(was_left(state, status));
  status.supervised = true;
  status.adopted = false;
  CHECK_FALSE(was_left(state, status));
  CHECK(should_be_watched(status));
}

}  // namespace
}  // namespace mw
