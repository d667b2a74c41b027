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
