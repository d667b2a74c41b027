// Stopping, and coming to an end, with a run's folder that can be neither read nor written.
#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>

#include "act/keeper/launch.h"
#include "act/supervise/supervisor.h"
#include "base/text.h"
#include "journal/journal.h"
#include "platform/fake/fake_disk.h"
#include "platform/fake/fake_process.h"

namespace mw {
namespace {

/// A run whose command lives, in a folder that turns bad when the test says so.
struct World {
  struct Notes final : EventWriter {
    explicit Notes(World& of) : world(of) {}
    Result<uint32_t> intend(event::Intended intent) override {
      if (!world.writable) return Error{Error::Code::kFull, "no space", ""};
      intent.id = world.state.last_action + 1;
      const uint32_t id = intent.id;
      fold(world.state, {{}, {}, std::move(intent)});
      return id;
    }
    void acted(event::Acted outcome) override { fold(world.state, {{}, {}, std::move(outcome)}); }
    using EventWriter::record;
    Result<void> record(SupervisionEvent event, Time) override {
      std::visit([this](auto& body) { fold(world.state, {{}, {}, std::move(body)}); }, event);
      return sync();
    }
    Result<void> sync() override {
      return world.writable ? Result<void>() : Result<void>(Error{Error::Code::kFull, "no space", ""});
    }
    Result<void> note(event::Note, Time) override { return {}; }
    World& world;
  };

  FakeDisk disk;
  FakeClock clock;
  FakeProcesses processes;
  Knowledge knowledge;
  State state;
  Notes writer{*this};
  bool writable = true;
  std::vector<std::string> said;
  std::unique_ptr<Supervisor> one;

  explicit World(int restarts = 2) {
    RunSpec spec;
    spec.command = {"python", "train.py"};
    spec.folder = "/w";
    spec.limits.restarts = restarts;
    spec.grace = Duration::seconds(10);
    disk.put("run/run.json", run_spec_text(spec));
    auto opened =
        Supervisor::open({disk, clock, processes, [this](const std::string& folder) { return start(folder); },
                          [this](const std::string& path, std::string_view text) { return write(path, text); },
                          [](const std::string&) { return CheckpointLayout(); },
                          [this](const std::string& sentence) { said.push_back(sentence); }},
                         knowledge, "run");
    REQUIRE(opened.ok());
    one = std::move(*opened);
    turn();
    turn();
    REQUIRE(one->command_pid() == 101);
  }
  Result<void> write(const std::string& path, std::string_view text) {
    if (!writable) return Error{Error::Code::kFull, "no space", ""};
    disk.put(path, std::string(text));
    return {};
  }
  Result<void> start(const std::string& folder) {
    record(folder, record_keeping(processes.add(100, 1, 100), "boot", clock.now()));
    if (!read_kept(disk, folder)->child.known()) {  // else it takes over from one that was killed
      record(folder, record_started(processes.add(101, 100, 101), clock.now()));
    }
    return {};
  }
  void record(const std::string& folder, const std::string& line) {
    auto journal = Journal::open(disk, cat(folder, "/", kRecordFolder), nullptr);
    REQUIRE(journal.ok());
    (*journal)->append(line);
    REQUIRE((*journal)->sync().ok());
  }
  void lose_record() { disk.put(cat(one->attempt_folder(), "/", kRecordFolder, "/00000001.journal"), ""); }
  bool turn() {
    const auto on = one->turn(state, true, writer);
    return !on.ok() || *on;
  }
  /// Whether it is over within so many seconds.
  bool over_in(double seconds) {
    for (double t = 0; t < seconds; t += 0.1) {
      clock.pass(Duration::seconds(0.1));
      if (!turn()) return true;
    }
    return false;
  }
  bool was_sent(int signal) const {
    for (const auto& [pid, number] : processes.sent) {
      if (pid == 101 && number == signal) return true;
    }
    return false;
  }
};

TEST_CASE("asked to stop, it asks and kills the command though not a byte can be written or read") {
  for (const bool lost : {false, true}) {
    World world;
    world.writable = false;
    if (lost) world.lose_record();
    world.one->stop(false);
    CHECK_FALSE(world.over_in(0.5));
    CHECK_FALSE(world.was_sent(SIGINT));  // first it tries to write it down
    CHECK_FALSE(world.over_in(1));
    CHECK(world.was_sent(SIGINT));
    CHECK_FALSE(world.was_sent(SIGKILL));
    CHECK_FALSE(world.over_in(11));
    CHECK(world.was_sent(SIGTERM));
    CHECK(world.was_sent(SIGKILL));
    world.processes.alive.clear();
    CHECK(world.over_in(4));
    CHECK(world.one->why_over() == "A stop was requested.");
    REQUIRE(world.one->ending());
    CHECK_FALSE(world.one->ending()->known);
  }
}

TEST_CASE("asked to stop now, it kills at once, and is over in a second") {
  World world;
  world.writable = false;
  world.lose_record();
  world.one->stop(false);
  CHECK_FALSE(world.over_in(2));
  world.one->stop(true);
  CHECK_FALSE(world.over_in(0.3));
  CHECK(world.was_sent(SIGKILL));
  world.processes.alive.clear();
  CHECK(world.over_in(0.6));
}

TEST_CASE("a record that is lost while the command runs harms nothing; when it has ended, the run is over") {
  World world;
  world.lose_record();
  CHECK_FALSE(world.over_in(60));
  CHECK(world.processes.sent.empty());
  world.processes.alive.clear();
  CHECK_FALSE(world.over_in(10));
  CHECK(world.over_in(15));
  CHECK(world.one->attempt() == 1);  // another one could not be written down
}

TEST_CASE("a disk that is full at the end: an end is an end, and a restart waits for space") {
  const auto end = [](World& world, int code) {
    Ending ending;
    ending.at = world.clock.now();
    ending.code = code;
    world.processes.alive.clear();
    world.record(world.one->attempt_folder(), record_ended(ending));
    world.record(world.one->attempt_folder(), record_done(world.clock.now()));
    world.writable = false;
  };
  World finished;
  end(finished, 0);
  CHECK_FALSE(finished.over_in(1));
  CHECK(finished.over_in(3));
  CHECK(finished.one->ending()->code == 0);

  World last(0);
  end(last, 3);
  CHECK_FALSE(last.over_in(15));
  CHECK(last.over_in(10));

  World failed;
  end(failed, 3);
  CHECK_FALSE(failed.over_in(2));
  CHECK(failed.one->patience() < Duration::seconds(1));
  CHECK_FALSE(failed.over_in(498));
  CHECK(failed.one->patience() == Duration::seconds(1));  // each turn reads all processes of the machine
  CHECK(failed.over_in(200));
  CHECK(failed.one->ending()->code == 3);
  CHECK(failed.one->why_over().find("no space") != std::string::npos);

  World helped;
  end(helped, 3);
  CHECK_FALSE(helped.over_in(300));
  helped.writable = true;
  CHECK_FALSE(helped.over_in(60));
  CHECK(helped.one->attempt() == 2);
}

TEST_CASE("the end of a command that its keeper could write only where it had kept room is known") {
  const auto end = [](World& world, int code) {
    Ending ending;
    ending.at = world.clock.now();
    ending.code = code;
    world.processes.alive.erase(101);
    const std::string lines = cat(record_ended(ending), "\n");
    world.disk.put(cat(world.one->attempt_folder(), "/", kSpareFile), lines + std::string(4096 - lines.size(), '\0'));
    world.writable = false;  // its keeper lives, and output waits in it
  };
  World finished;
  end(finished, 0);
  CHECK_FALSE(finished.over_in(2));
  CHECK(finished.over_in(4));
  REQUIRE(finished.one->ending());
  CHECK(finished.one->ending()->known);
  CHECK(finished.one->ending()->code == 0);

  World failed;  // another attempt is due, and needs room
  end(failed, 3);
  CHECK_FALSE(failed.over_in(500));
  CHECK(failed.over_in(200));
  CHECK(failed.one->ending()->code == 3);
}

TEST_CASE("a moment's room on a full disk is no end of the wait for it, which is said once") {
  World world;
  world.processes.alive.erase(101);  // its keeper lives, and what waits in it is more than there is room for
  world.writable = false;
  Ending ending;
  ending.at = world.clock.now();
  ending.code = 3;
  const std::string lines = cat(record_ended(ending), "\n");
  world.disk.put(cat(world.one->attempt_folder(), "/", kSpareFile), lines + std::string(4096 - lines.size(), '\0'));
  for (int i = 0; i < 55; ++i) {
    CHECK_FALSE(world.over_in(10));
    world.writable = true;  // what was written in part is given back
    CHECK(world.turn());
    world.writable = false;
  }
  const auto waits = [&world] {
    return std::count_if(world.said.begin(), world.said.end(),
                         [](const std::string& one) { return contains(one, "at most for room"); });
  };
  CHECK(waits() == 1);
  CHECK(world.over_in(60));  // ten minutes in all, as it said
}

TEST_CASE("a keeper that cannot write down the end of its command does not hold the run up") {
  World world;
  world.processes.alive.erase(101);
  world.writable = false;  // its keeper lives, and tries again and again
  CHECK_FALSE(world.over_in(20));
  CHECK(world.over_in(10));
  World slow;
  slow.processes.alive.erase(101);
  CHECK_FALSE(slow.over_in(60));  // its disk takes what it is given: it only needs time
}

}  // namespace
}  // namespace mw
