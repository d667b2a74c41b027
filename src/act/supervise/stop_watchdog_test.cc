#include "act/supervise/stop_watchdog.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>

#include "platform/fake/fake_process.h"

namespace mw {
namespace {

struct NoWatch final : Watch {
  void add(const std::string&) override {}
  Woke wait(Duration) override { return Woke::kTimeout; }
  void listen(SignalListener* who) override { listener = who; }
  SignalListener* listener = nullptr;
};

/// A keeper (100), its command (101) and a worker in a session of its own (102).
struct World {
  FakeClock clock;
  FakeProcesses processes;
  NoWatch watch;
  std::vector<int> left;
  std::vector<int> heard;
  StopWatchdog dog{watch,
                   processes,
                   clock,
                   125,
                   [this](int signal) { heard.push_back(signal); },
                   [this](int status) { left.push_back(status); }};

  World() {
    const ProcessId keeper = processes.add(100, 1, 100), command = processes.add(101, 100, 101);
    processes.add(102, 101, 102);
    dog.guard({{keeper, command}}, Duration::seconds(10));
  }
  /// So many seconds of polls, in which the loop is silent or not.
  void pass(double seconds, int stops, bool silent, bool ending = false) {
    for (double t = 0; t < seconds; t += 0.1) {
      clock.pass(Duration::millis(100));
      silence_.ns = silent ? silence_.ns + Duration::millis(100).ns : 0;
      (void)dog.poll({0, stops, silence_, ending});
    }
  }
  bool was_sent(int64_t pid, int signal) const {
    return std::find(processes.sent.begin(), processes.sent.end(), std::pair(pid, signal)) != processes.sent.end();
  }

 private:
  Duration silence_;
};

TEST_CASE("a loop that turns is left to itself") {
  World world;
  CHECK(world.watch.listener == &world.dog);
  world.pass(60, 0, true);
  world.pass(60, 1, false);
  CHECK(world.processes.sent.empty());
  CHECK(world.left.empty());
}

TEST_CASE("who listens hears of the first signal at once and once, whether the loop hangs or not") {
  World world;
  CHECK(world.heard.empty());
  (void)world.dog.poll({SIGTERM, 1, {}, false});
  CHECK(world.heard == std::vector<int>{SIGTERM});
  world.pass(5, 1, true);
  (void)world.dog.poll({SIGINT, 2, {}, false});
  CHECK(world.heard == std::vector<int>{SIGTERM});
}

TEST_CASE("a loop that hangs when the first signal comes: the command is asked, later killed, then the process ends") {
  World world;
  world.pass(1.5, 1, true);
  CHECK(world.processes.sent.empty());
  world.pass(1, 1, true);
  CHECK(world.was_sent(101, SIGINT));
  CHECK_FALSE(world.was_sent(101, SIGTERM));
  world.pass(6, 1, true);
  CHECK(world.was_sent(101, SIGTERM));
  CHECK_FALSE(world.was_sent(101, SIGKILL));
  world.pass(6, 1, true);
  CHECK(world.was_sent(101, SIGKILL));
  CHECK(world.was_sent(102, SIGKILL));
  CHECK(world.left.empty());  // something lives
  world.processes.alive.clear();
  world.pass(0.3, 1, true);
  REQUIRE_FALSE(world.left.empty());
  CHECK(world.left.front() == 125);
}

TEST_CASE("the second signal kills within a second, and ends the process where the loop hangs") {
  for (const bool hangs : {false, true}) {
    World world;
    world.pass(0.2, 2, hangs);
    CHECK(world.processes.sent.empty());  // the loop has a moment to do it, and to write it down
    world.pass(0.3, 2, hangs);
    CHECK(world.was_sent(101, SIGKILL));
    CHECK(world.was_sent(102, SIGKILL));
    world.pass(0.5, 2, hangs);
    CHECK(world.left.empty() != hangs);
    if (hangs) CHECK(world.left.front() == 137);
  }
}

TEST_CASE("what is done after the loop has its time, which a third signal cuts short") {
  World world;
  world.processes.alive.clear();
  world.pass(50, 1, true, true);
  CHECK(world.left.empty());
  World second;
  second.processes.alive.clear();
  second.pass(9, 2, true, true);
  CHECK(second.left.empty());
  second.pass(0.1, 3, true, true);
  CHECK(second.left.front() == 125);
}

TEST_CASE("nobody is asked twice by the same signal, whoever asks") {
  FakeProcesses processes;
  InterruptOnce once(processes);
  const ProcessId a = processes.add(7, 1, 7), b = processes.add(8, 1, 8);
  for (int i = 0; i < 3; ++i) {
    CHECK(once.signal(a, SIGINT).ok());
    CHECK(once.signal(b, SIGTERM).ok());
  }
  processes.alive[7].id.start = 5'000;  // a later process of that number
  CHECK(once.signal({7, 5'000}, SIGINT).ok());
  CHECK(std::count(processes.sent.begin(), processes.sent.end(), std::pair<int64_t, int>(7, SIGINT)) == 2);
  CHECK(std::count(processes.sent.begin(), processes.sent.end(), std::pair<int64_t, int>(8, SIGTERM)) == 1);
}

TEST_CASE("InterruptOnce passes on what it is asked of markers and of programs that are being executed") {
  FakeProcesses processes;
  InterruptOnce once(processes);
  processes.add(7, 1, 7);
  const auto one = once.info(7);
  REQUIRE(one.ok());
  CHECK_FALSE(once.carries(*one, "mark-1"));
  CHECK_FALSE(once.between_programs(*one));
  processes.markers[7] = "mark-1";
  processes.in_exec.insert(7);
  CHECK(once.carries(*one, "mark-1"));
  CHECK(once.between_programs(*one));
}

}  // namespace
}  // namespace mw
