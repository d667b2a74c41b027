#include "act/supervise/process_tree.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>

#include "platform/fake/fake_process.h"

namespace mw {
namespace {

struct Fixture {
  FakeProcesses processes;
  FakeClock clock;
  ProcessTree tree{processes, clock, [](const std::string&) {}};
  ProcessId keeper = processes.add(10, 1, 10), child = processes.add(11, 10, 11);

  Fixture() {
    tree.take(1, "mark-1");
    tree.of(keeper, child);
  }
  bool kills(int64_t pid) {
    processes.sent.clear();
    tree.kill();
    return std::count(processes.sent.begin(), processes.sent.end(), std::make_pair(pid, SIGKILL)) == 1;
  }
  /// The keeper was killed and the command is gone: of what it started nobody is the parent.
  void orphan() {
    processes.alive.erase(10);
    processes.alive.erase(11);
    tree.of({}, child);
    for (auto& [pid, one] : processes.alive) one.parent = 1;
  }
};

TEST_CASE("what carries the attempt's marker came from it, in whatever session") {
  Fixture fixture;
  fixture.processes.add(20, 11, 20);
  fixture.processes.markers[20] = "mark-1";
  fixture.processes.add(21, 1, 21);
  fixture.processes.markers[21] = "mark-2";
  fixture.orphan();
  CHECK(fixture.kills(20));
  CHECK_FALSE(fixture.kills(21));
  CHECK(fixture.tree.any_alive());
  fixture.processes.alive.erase(20);
  CHECK_FALSE(fixture.tree.any_alive());
}

TEST_CASE("a process that is executing another program may be the attempt's, and is waited for") {
  Fixture fixture;
  fixture.processes.add(20, 11, 20);
  fixture.orphan();
  CHECK_FALSE(fixture.tree.any_alive());
  fixture.processes.in_exec.insert(20);
  CHECK(fixture.tree.any_alive());
  CHECK_FALSE(fixture.kills(20));  // it may be somebody else's as well
  fixture.processes.in_exec.clear();
  fixture.processes.markers[20] = "mark-1";
  CHECK(fixture.tree.any_alive());
  CHECK(fixture.kills(20));
}

TEST_CASE("the environment of a process is read while it is young, when it is another program, and now and then") {
  Fixture fixture;
  fixture.processes.add(20, 1, 20);  // somebody else's
  const auto asked = [&fixture](double seconds) {
    fixture.clock.pass(Duration::seconds(seconds));
    fixture.processes.asked_carries.clear();
    (void)fixture.tree.take_snapshot();
    return fixture.processes.asked_carries[20];
  };
  CHECK(asked(0) == 1);
  CHECK(asked(2) == 1);
  CHECK(asked(4) == 1);
  CHECK(asked(2) == 0);
  CHECK(asked(20) == 0);
  fixture.processes.alive[20].name = "another";
  fixture.processes.markers[20] = "mark-1";
  CHECK(asked(2) == 1);
  CHECK(fixture.tree.snapshot().size() == 2);
  fixture.processes.markers.erase(20);  // it wrote over it: what it was started with holds
  CHECK(fixture.tree.family().size() == 2);
  CHECK(asked(40) >= 1);
  SUBCASE("a signal is sent by what is so now") {
    fixture.processes.add(30, 1, 30);
    CHECK_FALSE(fixture.kills(30));
    fixture.clock.pass(Duration::seconds(6));
    (void)fixture.tree.take_snapshot();
    fixture.processes.markers[30] = "mark-1";
    CHECK(fixture.kills(30));
  }
}

TEST_CASE("a process that carries the marker and is older than the command does not come from it") {
  Fixture fixture;
  fixture.processes.add(20, 1, 20);
  fixture.processes.alive[20].id.start = 5;
  fixture.processes.markers[20] = "mark-1";
  CHECK_FALSE(fixture.kills(20));
}

TEST_CASE("what was seen below the command is known when its parents are gone, also to the next midwatch") {
  Fixture fixture;
  fixture.processes.add(20, 11, 20);  // no marker
  CHECK_FALSE(fixture.tree.take_snapshot());
  CHECK(fixture.tree.take_snapshot());  // it was in two snapshots
  REQUIRE(fixture.tree.unmarked().size() == 2);
  const auto members = fixture.tree.unmarked();
  fixture.orphan();
  CHECK(fixture.kills(20));
  fixture.tree.take(1, "mark-1");
  fixture.tree.of({}, fixture.child);
  CHECK_FALSE(fixture.kills(20));
  fixture.tree.remember(members);
  CHECK(fixture.kills(20));
  fixture.processes.alive[20].id.start += 1;  // another has its number
  CHECK_FALSE(fixture.kills(20));
}

TEST_CASE("a session's number alone is no proof once its first process is gone") {
  Fixture fixture;
  fixture.processes.add(20, 11, 11);
  CHECK(fixture.kills(20));
  fixture.orphan();
  CHECK_FALSE(fixture.kills(20));
  fixture.tree.ask_to_end(Duration::seconds(1), false);
  fixture.clock.pass(Duration::seconds(2));
  fixture.tree.ask_to_end(Duration::seconds(1), false);
  CHECK(fixture.processes.sent.empty());
}

}  // namespace
}  // namespace mw
