#include "act/supervise/grip.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>

#include "platform/fake/fake_process.h"

namespace mw {
namespace {

struct Held {
  FakeProcesses processes;
  FakeClock clock;
  Grip grip{processes, clock, [](const std::string&) {}};
  ProcessId keeper = processes.add(10, 1, 10), child = processes.add(11, 10, 11);

  Held() {
    grip.take(1, "mark-1");
    grip.of(keeper, child);
  }
  bool kills(int64_t pid) {
    processes.sent.clear();
    grip.kill();
    return std::count(processes.sent.begin(), processes.sent.end(), std::make_pair(pid, SIGKILL)) == 1;
  }
  /// The keeper was killed and the command is gone: of what it started nobody is the parent.
  void orphan() {
    processes.alive.erase(10);
    processes.alive.erase(11);
    grip.of({}, child);
    for (auto& [pid, one] : processes.alive) one.parent = 1;
  }
};

TEST_CASE("what carries the attempt's mark came from it, in whatever session") {
  Held held;
  held.processes.add(20, 11, 20);
  held.processes.marks[20] = "mark-1";
  held.processes.add(21, 1, 21);
  held.processes.marks[21] = "mark-2";
  held.orphan();
  CHECK(held.kills(20));
  CHECK_FALSE(held.kills(21));
  CHECK(held.grip.leftovers());
  held.processes.alive.erase(20);
  CHECK_FALSE(held.grip.leftovers());
}

TEST_CASE("while it is becoming another program it may be the attempt's, and is waited for") {
  Held held;
  held.processes.add(20, 11, 20);
  held.orphan();
  CHECK_FALSE(held.grip.leftovers());
  held.processes.in_exec.insert(20);
  CHECK(held.grip.leftovers());
  CHECK_FALSE(held.kills(20));  // it may be somebody else's as well
  held.processes.in_exec.clear();
  held.processes.marks[20] = "mark-1";
  CHECK(held.grip.leftovers());
  CHECK(held.kills(20));
}

TEST_CASE("who carries the mark and is older than the command does not come from it") {
  Held held;
  held.processes.add(20, 1, 20);
  held.processes.alive[20].id.start = 5;
  held.processes.marks[20] = "mark-1";
  CHECK_FALSE(held.kills(20));
}

TEST_CASE("what was seen below the command is known when its parents are gone, also to the next midwatch") {
  Held held;
  held.processes.add(20, 11, 20);  // no mark
  CHECK_FALSE(held.grip.look_around());
  CHECK(held.grip.look_around());  // it has lived for two looks
  REQUIRE(held.grip.unmarked().size() == 2);
  const auto members = held.grip.unmarked();
  held.orphan();
  CHECK(held.kills(20));
  held.grip.take(1, "mark-1");
  held.grip.of({}, held.child);
  CHECK_FALSE(held.kills(20));
  held.grip.remember(members);
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
  held.grip.ask_to_end(Duration::seconds(1), false);
  held.clock.pass(Duration::seconds(2));
  held.grip.ask_to_end(Duration::seconds(1), false);
  CHECK(held.processes.sent.empty());
}

}  // namespace
}  // namespace mw
