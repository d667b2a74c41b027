#include "sense/processes/written_logs.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "platform/fake/fake_process.h"

namespace mw {
namespace {

class Reads final : public EventWriter {
 public:
  Result<uint32_t> intend(event::Intended) override { return 1U; }
  void acted(event::Acted) override {}
  Result<void> record(SupervisionEvent, Time) override { return {}; }
  Result<void> note(event::Note, Time) override { return {}; }
  void read_also(const std::vector<std::string>& more) override { paths.insert(paths.end(), more.begin(), more.end()); }
  Duration silence() const override { return silent; }
  std::vector<std::string> paths;
  Duration silent;
};

/// A keeper (10), its command (11), a worker (12).
struct Fixture {
  FakeDisk disk;
  FakeProcesses processes;
  FakeClock clock;
  NewContent content{disk};
  Reads reads;
  State state;
  std::map<int64_t, std::vector<OpenFile>> open;
  std::vector<std::string> said;
  WrittenLogs logs{clock,
                   content,
                   {[] { return 1; }, [] { return Time::from_seconds(1000); }, [this] { return processes.all(); },
                    [this](int64_t pid) -> Result<std::vector<OpenFile>> { return open[pid]; }, [] {},
                    [this](const std::string& sentence) { said.push_back(sentence); }, "/home/runs/a"}};

  Fixture() {
    for (const int64_t pid : {10, 11, 12}) processes.add(pid, pid - 1, 10);
    state.attempts.emplace_back();
  }
  static OpenFile file(int number, const std::string& path, bool appends = true) {
    OpenFile one;
    one.number = number;
    one.target = path;
    one.regular = one.writes = true;
    one.appends = appends;
    one.born = Time::from_seconds(1001);
    return one;
  }
  void turns(double seconds) {
    for (double done = 0; done <= seconds; done += 1) {
      (void)logs.turn(state, true, reads);
      clock.pass(Duration::seconds(1));
    }
  }
};

TEST_CASE("a log that is a process's standard output is read, once it was seen twice") {
  Fixture fixture;
  fixture.open[11] = {Fixture::file(1, "/work/train.log"), Fixture::file(2, "/home/runs/a/output/train.log")};
  fixture.open[12] = {Fixture::file(1, "/tmp/tmpk3x9log"), Fixture::file(1, "/dev/null"),
                      Fixture::file(5, "/work/b.log")};
  (void)fixture.logs.turn(fixture.state, true, fixture.reads);
  CHECK(fixture.reads.paths.empty());
  fixture.turns(20);
  CHECK(fixture.reads.paths == std::vector<std::string>{"/work/train.log"});
  REQUIRE(fixture.said.size() == 1);
  CHECK(contains(fixture.said[0], "/work/train.log, too, which process 11 (python) writes"));
}

TEST_CASE("what lies in a container's own file system is no file of the kernel") {
  CHECK_FALSE(is_no_run_file("/proc/4711/root/work/train.log"));
  for (const char* path : {"/proc/4711/root/proc/5/fd/1", "/proc/4711/root/dev/shm/a.log", "/proc/4711/fd/root/a.log",
                           "/proc/kmsg", "/proc/root/a.log"}) {
    CAPTURE(path);
    CHECK(is_no_run_file(path));
  }
}

TEST_CASE("where no step is seen, what is called like metrics is read as well") {
  Fixture fixture;
  fixture.open[12] = {Fixture::file(5, "/work/wandb/run-1.wandb"), Fixture::file(6, "/work/answers.jsonl"),
                      Fixture::file(7, "/work/wandb/logs/debug.log"), Fixture::file(8, "/work/metrics.jsonl")};
  SUBCASE("none was seen, though the output says something") {
    fixture.turns(25);
    CHECK(fixture.reads.paths.empty());
    fixture.turns(15);
    CHECK(fixture.reads.paths == std::vector<std::string>{"/work/wandb/run-1.wandb", "/work/metrics.jsonl"});
  }
  SUBCASE("the output says nothing") {
    fixture.reads.silent = Duration::seconds(100);
    fixture.turns(5);
    CHECK(fixture.reads.paths == std::vector<std::string>{"/work/wandb/run-1.wandb", "/work/metrics.jsonl"});
  }
  SUBCASE("the output tells of steps") {
    fixture.state.attempts.back().last_step = 3;
    fixture.turns(40);
    CHECK(fixture.reads.paths.empty());
  }
  SUBCASE("by tee it is the output") {
    fixture.processes.alive[12].name = "tee";
    fixture.turns(40);
    CHECK(fixture.reads.paths.empty());
  }
}

TEST_CASE("of a log that is older than the run and is appended to, what it held is left out") {
  Fixture fixture;
  fixture.disk.put("/work/train.log", "of an earlier run\n");
  OpenFile older = Fixture::file(1, "/work/train.log");
  older.size = 18;
  older.born = Time::from_seconds(900);
  SUBCASE("appended to") {
    fixture.open[11] = {older};
    fixture.turns(3);
    CHECK(fixture.content.leaves_out("/work/train.log"));
  }
  SUBCASE("begun anew") {
    older.appends = false;
    fixture.open[11] = {older};
    fixture.turns(3);
    CHECK_FALSE(fixture.content.leaves_out("/work/train.log"));
  }
  SUBCASE("read by the midwatch before") {
    fixture.open[11] = {older};
    fixture.state.sources.emplace_back().path = "/work/train.log";
    fixture.turns(3);
    CHECK_FALSE(fixture.content.leaves_out("/work/train.log"));
    CHECK(fixture.said.empty());
  }
  CHECK(fixture.reads.paths.size() == 1);
}

TEST_CASE("of a run that writes nothing anywhere a person is asked where it does, once") {
  Fixture fixture;
  fixture.reads.silent = Duration::seconds(200);
  fixture.turns(400);
  REQUIRE(fixture.said.size() == 1);
  CHECK(contains(fixture.said[0], "--watch"));
}

}  // namespace
}  // namespace mw
