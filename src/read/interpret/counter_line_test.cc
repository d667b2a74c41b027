#include "read/interpret/counter_line.h"

#include <doctest/doctest.h>

#include "base/text.h"

namespace mw {
namespace {

std::string seen(std::string_view text) {
  const auto counted = counted_in(text);
  return counted ? cat(counted->what, ": ", counted->done, " of ", counted->total) : std::string("-");
}

TEST_CASE("a line counts by figures that stand by themselves") {
  CHECK(seen("Rollouts: 37/128") == "Rollouts: 37 of 128");
  CHECK(seen("finished 37/128 trajectories") == "finished: 37 of 128");
  CHECK(seen("37/128 trajectories are done") == "trajectories are done: 37 of 128");
  CHECK(seen("waiting for rollouts (37/128 complete, 91 pending)") == "waiting for rollouts: 37 of 128");
  CHECK(seen("rollout progress: 37 of 128 done") == "rollout progress: 37 of 128");
  CHECK(seen("collected 5 out of 64.") == "collected: 5 of 64");
  CHECK(seen("step 31: rollouts 37/128") == "step #: rollouts: 37 of 128");
  CHECK(seen("rollouts=37/128") == "rollouts: 37 of 128");
}

TEST_CASE("a date, a path, a rate, a ratio and the tries of a request count nothing") {
  for (const char* text :
       {"on 12/31/2026 it ended", "see /data/1/2/x.bin", "took 12/s", "1.5/3.0 GiB", "GPU memory 37/24",
        "retrying request 3/10", "attempt 3 of 10 failed", "v1/2b", "3/4-bit", "none of these"}) {
    CAPTURE(text);
    CHECK(seen(text) == "-");
  }
}

TEST_CASE("a counter is one once it has moved under the same words and total") {
  CounterLines lines;
  CHECK(!lines.moves("Rollouts", 3, 128));
  CHECK(!lines.moves("Rollouts", 3, 128));
  CHECK(lines.moves("Rollouts", 4, 128));
  CHECK(!lines.moves("Rollouts", 4, 128));
  CHECK(lines.moves("Rollouts", 0, 128));  // of the next step
  CHECK(!lines.moves("Rollouts", 1, 64));  // another thing that is counted by the same words
  CHECK(!lines.moves("tokens", 0, 20000));
  CHECK(!lines.moves("tokens", 99, 20000));
  CHECK(lines.moves("tokens", 100, 20000));
  CHECK(lines.moves("tokens", 20000, 20000));
}

}  // namespace
}  // namespace mw
