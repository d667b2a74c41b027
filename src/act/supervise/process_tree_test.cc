#include "act/supervise/process_tree.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>

#include "platform/fake/fake_process.h"

namespace mw {
namespace {

struct Held {
  FakeProcesses processes;
  FakeClock clock;
  ProcessTree tree{processes, clock, [](const std::string&) {}};
  ProcessId keeper = processes.add(10, 1, 10), child = processes.add(11, 10, 11);

  Held() {
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

TEST_CASE("what carries the attempt's mark came from it, in whatever session") {
  Held held;
  held.processes.add(20, 11, 20);
  held.processes.markers[20] = "mark-1";
  held.processes.add(21, 1, 21);
  held.processes.markers[21] = "mark-2";
  held.orphan();
  CHECK(held.kills(20));
  CHECK_FALSE(held.kills(21));
  CHECK(held.tree.leftovers());
  held.processes.alive.erase(20);
  CHECK_FALSE(held.tree.leftovers());
}

TEST_CASE("while it is becoming another program it may be the attempt's, and is waited for") {
  Held held;
  held.processes.add(20, 11, 20);
  held.orphan();
  CHECK_FALSE(held.tree.leftovers());
  held.processes.in_exec.insert(20);
  CHECK(held.tree.leftovers());
  CHECK_FALSE(held.kills(20));  // it may be somebody else's as well
  held.processes.in_exec.clear();
  held.processes.markers[20] = "mark-1";
  CHECK(held.tree.leftovers());
  CHECK(held.kills(20));
}

TEST_CASE("who carries the mark and is older than the command does not come from it") {
  Held held;
  held.processes.add(20, 1, 20);
  held.processes.alive[20].id.start = 5;
  held.processes.markers[20] = "mark-1";
  CHECK_FALSE(held.kills(20));
}

TEST_CASE("what was seen below the command is known when its parents are gone, also to the next midwatch") {
  Held held;
  held.processes.add(20, 11, 20);  // no mark
  CHECK_FALSE(held.tree.look_around());
  CHECK(held.tree.look_around());  // it has lived for two looks
  REQUIRE(held.tree.unmarked().size() == 2);
  const auto members = held.tree.unmarked();
  held.orphan();
  CHECK(held.kills(20));
  held.tree.take(1, "mark-1");
  held.tree.of({}, held.child);
  CHECK_FALSE(held.kills(20));
  held.tree.remember(members);
  CHECK(held.kills(20));
  held.processes.alive[20].id.start += 1;  // another has its number
  CHECK_FALSE(held.kills(20));
}

TEST_CASE("a session's number alone is no proof once its first process is gone") {
  Held held;
  held.processes.add(20, 11, 11);
  CHECK(held.kills(20));
  held.orphan();
  CHECK_FALSE(held.kills(20));
  held.tree.ask_to_end(Duration::seconds(1), false);
  held.clock.pass(Duration::seconds(2));
  held.tree.ask_to_end(Duration::seconds(1), false);
  CHECK(held.processes.sent.empty());
}

}  // namespace
}  // namespace mw
