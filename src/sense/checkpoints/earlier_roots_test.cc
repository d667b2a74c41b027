#include "sense/checkpoints/earlier_roots.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "core/attempts.h"
#include "platform/fake/fake_disk.h"

namespace mw {
namespace {

using Roots = std::vector<std::string>;

/// A command that trains to step 60 and then from step 1 on; its log names no folder, and nothing was looked at.
struct Trained {
  FakeDisk disk{1};
  State state;
  CheckpointLayout layout{"step_{step}", "", ""};

  Trained() {
    state.attempts.resize(2);
    state.attempts[0].why = kKeeperBegan;
    state.attempts[0].first_step = state.attempts[1].first_step = 1;
    state.attempts[0].last_step = 60;
    state.attempts[1].last_step = 33;
    SupervisedAttempt own;
    own.number = 1;
    own.started = true;
    own.started_at = Time::from_seconds(900);
    state.supervision.attempts.push_back(own);
    for (const auto& [at, step] : {std::pair(1000, 30), std::pair(1010, 58), std::pair(1020, 3), std::pair(1030, 25)})
      state.ticks.push_back({0, Time::from_seconds(at), step, true});
  }
  void saves(const std::string& root, int step, int at) {
    disk.set_time(Time::from_seconds(at));
    (void)disk.make_folders(cat(root, "/step_", step)).ok();
    disk.put(cat(root, "/step_", step, "/model"), "x");
  }
  Roots left_of(Roots roots) {
    REQUIRE(drop_earlier_roots(disk, state, layout, roots).ok());
    return roots;
  }
};

TEST_CASE("a folder into which nothing was written since the command went on to another training is not that one's") {
  Trained run;
  run.saves("/ck/A", 50, 1006);
  run.saves("/ck/A", 60, 1014);                                       // after the last look at the first training
  CHECK(run.left_of({"/ck/A", "/ck/B"}) == Roots{"/ck/A", "/ck/B"});  // nothing shows yet where the second one saves
  run.saves("/ck/B", 10, 1025);
  CHECK(run.left_of({"/ck/A", "/ck/B"}) == Roots{"/ck/B"});
  run.saves("/ck/A", 10, 1026);
  CHECK(run.left_of({"/ck/A", "/ck/B"}) == Roots{"/ck/A", "/ck/B"});
}

TEST_CASE("the folders of a run that trains one model all stay, whenever they were written to") {
  Trained run;
  run.saves("/ck/A", 60, 1014);
  run.saves("/ck/B", 10, 1025);
  run.state.attempts[1].why = kKeeperBegan;
  CHECK(run.left_of({"/ck/A", "/ck/B"}) == Roots{"/ck/A", "/ck/B"});
}

}  // namespace
}  // namespace mw
