#include "core/still_written.h"

#include <doctest/doctest.h>

namespace mw {
namespace {

constexpr Time kNow{1'800'000'000'000'000'000};

/// Read to its end, `seconds` after its last line.
State state_of(double seconds) {
  State state;
  state.attempts.resize(1);
  state.closed = true;
  state.verdict = "unknown";
  state.last_at = kNow + Duration::seconds(-seconds);
  Incident slow;
  slow.id = 1;
  slow.kind = "throughput-drop";
  slow.followed_by = {2};
  Incident silent;
  silent.id = 2;
  silent.kind = "died-silently";
  state.incidents = {slow, silent};
  return state;
}

}  // namespace

TEST_CASE("a log whose last line is minutes old goes on") {
  State state = state_of(120);
  CHECK(take_as_running(state, kNow));
  CHECK(state.verdict == "running");
  REQUIRE(state.incidents.size() == 1);
  CHECK(state.incidents[0].kind == "throughput-drop");
  CHECK(state.incidents[0].followed_by.empty());
}

TEST_CASE("an old log, a clock from elsewhere and an end that is known stay as they are") {
  State old = state_of(3600);
  CHECK_FALSE(take_as_running(old, kNow));
  CHECK(old.incidents.size() == 2);
  State ahead = state_of(-7200);
  CHECK_FALSE(take_as_running(ahead, kNow));
  State crashed = state_of(120);
  crashed.verdict = "crashed";
  CHECK_FALSE(take_as_running(crashed, kNow));
  CHECK(crashed.verdict == "crashed");
}

}  // namespace mw
