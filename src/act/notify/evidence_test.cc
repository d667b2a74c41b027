#include "sense/processes/evidence.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "act/notify/notices.h"
#include "base/text.h"
#include "core/collected.h"
#include "platform/fake/fake_disk.h"
#include "platform/fake/fake_process.h"

namespace mw {
namespace {

constexpr const char* kStacksText = "Thread 102 (idle): \"MainThread\"\n    recv (train.py:12)\n";

/// A supervised run whose trainer is process 102, below the keeper 100.
struct World final : EventWriter {
  explicit World(bool stacks = true, const std::string& output = kStacksText, bool late = false) {
    clock.pass(Duration::seconds(1000));
    state.attempts.emplace_back();
    processes.add(102, 100, 100);
    auto machine = std::make_unique<FakeSystem>();
    for (const int pid : {100, 102}) {
      machine->files[cat("/proc/", pid, "/stat")] =
          cat(pid, " (python3) S ", pid == 100 ? 1 : 100, " 100 100 0 -1 0 0 0 0 0 5 0 0 0 20 0 1 0 ", 1000 + pid,
              " 1 1\n");
      machine->files[cat("/proc/", pid, "/task/", pid, "/stat")] = machine->files[cat("/proc/", pid, "/stat")];
      machine->files[cat("/proc/", pid, "/wchan")] = "futex_wait_queue";
      machine->files[cat("/proc/", pid, "/task/", pid, "/wchan")] = "futex_wait_queue";
    }
    EvidenceScope scope;
    scope.system = std::move(machine);
    scope.processes = [this] { return EvidenceScope::RunProcesses{root, 0, false}; };
    scope.folder = "run";
    scope.stacks = stacks;
    scope.between = Duration::millis(1);
    scope.run_program = [this, output, late](const ProgramRequest& request) -> Result<ProgramEnd> {
      if (request.command.front() != "py-spy") return Error{Error::Code::kNotFound, "", ""};
      ++asked;
      ProgramEnd end;
      end.code = late ? -1 : 0;
      end.late = late;
      end.output = output;
      return end;
    };
    taker = std::make_unique<EvidenceTaker>(disk, clock, processes, std::move(scope));
  }

  void open(uint32_t id, const std::string& kind) {
    Incident incident;
    incident.id = id;
    incident.kind = kind;
    state.incidents.push_back(incident);
  }
  /// Turn by turn, until everything that was started is recorded.
  void turns() {
    for (int i = 0; i < 2000; ++i) {
      const auto patience = taker->turn(state, true, *this);
      REQUIRE(patience);
      if (*patience > Duration::seconds(10)) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    FAIL("it is never done");
  }
  std::vector<std::string> lines(uint32_t incident) const {
    std::vector<std::string> all;
    for (const ActionState* snapshot : collected(state, incident)) all.push_back(collected_line(*snapshot));
    return all;
  }
  std::string file() const {
    std::string text;
    for (const std::string& path : disk.paths()) {
      if (path.rfind("run/evidence/", 0) == 0) text += disk.content(path);
    }
    return text;
  }

  Result<uint32_t> intend(event::Intended intent) override {
    if (full) return Error{Error::Code::kFull, "the disk is full", ""};
    intent.id = state.last_action + 1;
    fold(state, {clock.now(), {}, intent});
    return intent.id;
  }
  void acted(event::Acted outcome) override { fold(state, {clock.now(), {}, outcome}); }
  Result<void> note(event::Note, Time) override { return {}; }
  Result<void> record(SupervisionEvent, Time) override { return {}; }

  FakeDisk disk;
  FakeClock clock;
  FakeProcesses processes;
  State state;
  int64_t root = 100;
  bool full = false;
  std::atomic<int> asked{0};
  std::unique_ptr<EvidenceTaker> taker;
};

}  // namespace

TEST_CASE("what a stalled run's process does is reported with the incident, once, and all of it is in a file") {
  World world;
  world.turns();
  CHECK(world.state.actions.empty());
  world.open(3, "stall");
  world.turns();
  CHECK(world.lines(3) ==
        std::vector<std::string>{
            "python3 (pid 102): 1 thread, the main thread waits in futex_wait_queue; uses no processor "
            "time; py-spy: train.py:12 in recv; evidence/000001-incident-3-pid-102.txt"});
  CHECK(contains(world.file(), "Stacks, by py-spy:\nThread 102"));
  CHECK(contains(world.file(), "102 (of 100) S python3, futex_wait_queue"));
  world.clock.pass(Duration::seconds(4000));
  world.turns();
  CHECK(world.state.actions.size() == 1);
  CHECK(world.asked == 1);
}

TEST_CASE("the first snapshot is in the journal at the end of the turn in which the incident was seen") {
  World world;
  world.open(1, "engine-dead");
  (void)world.taker->turn(world.state, true, world);
  REQUIRE(world.state.actions.size() == 1);
  CHECK_FALSE(world.file().empty());
  CHECK(world.taker->reads(102));  // a restart waits a moment
  CHECK(world.taker->reads());
  CHECK_FALSE(world.taker->reads(100));
  world.clock.pass(Duration::seconds(5));
  CHECK_FALSE(world.taker->reads(102));
  world.taker->over(world.state, world);
  CHECK(world.state.actions.front().done);
}

TEST_CASE("stacks are requested every five minutes at most, and one failure chain gets one snapshot") {
  World world;
  world.open(1, "stall");
  world.turns();
  world.open(2, "engine-dead");
  world.turns();
  CHECK(world.lines(2).empty());
  world.clock.pass(Duration::seconds(100));
  world.open(3, "stall");
  world.turns();
  CHECK(world.lines(3).size() == 1);
  CHECK(world.asked == 1);
  world.clock.pass(Duration::seconds(201));
  world.open(4, "stall");
  world.turns();
  CHECK(world.asked == 2);
}

TEST_CASE("a later midwatch does nothing twice, and records what the earlier one did not") {
  World world;
  event::Intended intent;
  intent.action = kCollectEvidence;
  intent.incident = 1;
  (void)world.intend(intent);
  world.open(1, "stall");
  world.turns();
  REQUIRE(world.state.actions.size() == 1);
  CHECK(world.state.actions.front().done);
  CHECK_FALSE(world.state.actions.front().ok);
  world.clock.pass(Duration::seconds(60));
  world.open(2, "stall");
  world.turns();
  CHECK(world.lines(2).size() == 1);
  CHECK(world.asked == 0);
}

TEST_CASE("no snapshot is taken between attempts, while the run is paused, or for what shows in no process") {
  World world;
  world.open(1, "reward-collapse");
  world.open(2, "logging-gap");  // a fact of the files, not of the machine
  world.turns();
  CHECK(world.state.actions.empty());
  world.root = 0;
  world.open(3, "stall");
  world.turns();
  CHECK(world.state.actions.empty());
  world.root = 100;
  event::Intended pause;
  pause.action = "pause";
  (void)world.intend(pause);
  world.turns();
  CHECK(world.state.actions.size() == 1);
  event::Intended resume;
  resume.action = "resume";
  (void)world.intend(resume);
  world.turns();
  CHECK(world.lines(3).size() == 1);
}

TEST_CASE("with stacks switched off, no program is run") {
  World world(false);
  world.open(1, "stall");
  world.turns();
  CHECK(world.lines(1).size() == 1);
  CHECK(world.asked == 0);
}

TEST_CASE("a journal whose disk is full blocks nothing") {
  World world;
  world.full = true;
  world.open(1, "stall");
  world.turns();
  CHECK(world.state.actions.empty());
  CHECK(world.asked == 0);
}

TEST_CASE("a process that a debugger left stopped is resumed") {
  World world(true, "", true);
  world.processes.alive[102].state = 'T';
  world.open(1, "stall");
  world.turns();
  CHECK(world.processes.sent == std::vector<std::pair<int64_t, int>>{{102, SIGCONT}});
  REQUIRE(world.lines(1).size() == 1);
  CHECK(contains(world.lines(1).front(), "midwatch resumed it"));
  CHECK(contains(world.file(), "No stacks: py-spy was not done within"));
}

TEST_CASE("a message that is sent later says what the processes did, and does not name the snapshot as a decision") {
  World world;
  world.open(1, "stall");
  world.turns();
  Notice notice;
  notice.incident = 1;
  NoticeContext context;
  context.supervises = true;
  fill_in(notice, world.state, context);
  CHECK(contains(notice.what, "python3 (pid 102): 1 thread, the main thread waits in futex_wait_queue"));
  CHECK_FALSE(contains(notice.did, std::string(kCollectEvidence)));
}

TEST_CASE("a process's name is escaped for the reader's terminal") {
  World world(true, cat(kStacksText, "    \033[31mred (\xff.py:1)\n    password=hunter22222\n"));
  world.open(1, "stall");
  world.turns();
  CHECK(contains(world.file(), "\\x1b[31mred"));
  CHECK_FALSE(contains(world.file(), "\033"));
  CHECK_FALSE(contains(world.file(), "hunter2"));
}

}  // namespace mw
