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

/// The command opened a tmux server, which the keeper got, with a session of its own and, later, a person's.
struct TerminalServer : Fixture {
  void start(int64_t pid, int64_t parent, const char* name, uint64_t at) {
    processes.add(pid, parent, pid);
    processes.alive[pid].name = name;
    processes.alive[pid].id.start = at;
    processes.markers[pid] = "mark-1";
  }
  TerminalServer() {
    start(20, 10, "tmux: server", 2000);
    start(21, 20, "tensorboard", 2005);
  }
};

TEST_CASE("a terminal server that the command opened, and what it opened with it, end with the attempt") {
  TerminalServer fixture;
  (void)fixture.tree.take_snapshot();
  CHECK(fixture.kills(20));
  CHECK(fixture.kills(21));
}

TEST_CASE("what somebody opened later in such a server is left alone, and the server with it") {
  TerminalServer fixture;
  fixture.start(30, 20, "bash", 2400);
  fixture.start(31, 30, "python", 2500);
  fixture.start(32, 31, "python", 2600);
  (void)fixture.tree.take_snapshot();
  for (const int64_t pid : {20, 30, 31, 32}) CHECK_FALSE(fixture.kills(pid));
  CHECK(fixture.kills(21));
  CHECK(fixture.kills(11));
  SUBCASE("also once the window is shut and it goes on as an orphan") {
    fixture.processes.alive.erase(30);
    fixture.processes.alive[31].parent = 10;
    CHECK_FALSE(fixture.kills(31));
    CHECK(fixture.kills(20));  // nobody is left in it
  }
  SUBCASE("and the attempt is over without it") {
    fixture.processes.alive.erase(11);
    fixture.processes.alive.erase(21);
    CHECK_FALSE(fixture.tree.any_alive());
  }
}

TEST_CASE("another run in such a server is left alone with its keeper, which the attempt's own keeper got") {
  TerminalServer fixture;
  fixture.start(30, 20, "bash", 2400);
  fixture.start(31, 30, "midwatch", 2500);
  fixture.start(40, 10, "midwatch", 2510);
  fixture.start(41, 40, "python", 2520);
  fixture.processes.of_inner_run = {41};
  fixture.start(42, 41, "python", 2600);
  (void)fixture.tree.take_snapshot();
  for (const int64_t pid : {20, 30, 31, 40, 41, 42}) CHECK_FALSE(fixture.kills(pid));
}

TEST_CASE("a run that the command itself supervises ends with it") {
  Fixture fixture;
  const auto start = [&fixture](int64_t pid, int64_t parent, const char* name) {
    fixture.processes.add(pid, parent, pid);
    fixture.processes.alive[pid].name = name;
    fixture.processes.markers[pid] = "mark-1";
  };
  start(31, 11, "midwatch");
  start(40, 10, "midwatch");
  start(41, 40, "python");
  fixture.processes.of_inner_run = {41};
  fixture.processes.alive[31].session = 11;
  (void)fixture.tree.take_snapshot();
  for (const int64_t pid : {31, 40, 41}) CHECK(fixture.kills(pid));
  fixture.processes.alive.erase(31);  // its midwatch was killed first
  for (const int64_t pid : {40, 41}) CHECK(fixture.kills(pid));
}

TEST_CASE("a run that somebody put into a server of jobs that the command left in the background is left alone") {
  Fixture fixture;
  const auto start = [&fixture](int64_t pid, int64_t parent, const char* name) {
    fixture.processes.add(pid, parent, pid);
    fixture.processes.alive[pid].name = name;
    fixture.processes.markers[pid] = "mark-1";
  };
  start(20, 11, "python");  // the server, with a session of its own
  start(30, 20, "bash");
  start(31, 30, "midwatch");
  for (const int64_t pid : {30, 31}) fixture.processes.alive[pid].session = 20;
  start(40, 10, "midwatch");
  start(41, 40, "python");
  fixture.processes.of_inner_run = {41};
  (void)fixture.tree.take_snapshot();
  for (const int64_t pid : {31, 40, 41}) CHECK_FALSE(fixture.kills(pid));
  CHECK(fixture.kills(20));
  CHECK(fixture.kills(11));
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
