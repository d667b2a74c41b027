#include "sense/processes/file_writers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "platform/fake/fake_process.h"

namespace mw {
namespace {

class Ends final : public EventWriter {
 public:
  Result<uint32_t> intend(event::Intended) override { return 1U; }
  void acted(event::Acted) override {}
  Result<void> record(SupervisionEvent, Time) override { return {}; }
  Result<void> note(event::Note, Time) override { return {}; }
  void ended(const std::string&, event::Ended&& end) override { ends.push_back(std::move(end)); }
  Duration silence() const override { return silent; }
  std::vector<event::Ended> ends;
  Duration silent;
};

struct Fixture {
  FakeClock clock;
  Knowledge knowledge;
  Ends writer;
  State state;
  std::vector<ProcessInfo> processes;
  std::map<int64_t, std::vector<OpenFile>> open;
  FileWriters watch{clock,
                    {knowledge, [this] { return processes; },
                     [this](int64_t pid) -> Result<ProcessInfo> {
                       for (const ProcessInfo& one : processes) {
                         if (one.id.pid == pid) return one;
                       }
                       return Error{Error::Code::kNotFound, "gone", ""};
                     },
                     [this](int64_t pid) -> Result<std::vector<OpenFile>> { return open[pid]; },
                     [](const std::string& path) { return "/work/" + path; }, [](const std::string&) {}, 99}};

  Fixture() {
    state.sources.emplace_back().path = "train.log";
    state.attempts.emplace_back().last_step = 50;
    clock.pass(Duration::seconds(1000));
  }
  void add(int64_t pid, int64_t parent, const std::string& name, const std::string& path = "/work/train.log") {
    ProcessInfo one;
    one.id = {pid, 7};
    one.parent = parent;
    one.name = name;
    one.state = 'S';
    processes.push_back(one);
    OpenFile file;
    file.number = 1;
    file.target = path;
    file.regular = file.writes = true;
    open[pid].push_back(file);
  }
  void pipe(int64_t from, int64_t to) {
    OpenFile end;
    end.target = cat("pipe:[", from, "]");
    end.number = 0;
    open[to].push_back(end);
    end.number = 1;
    end.writes = true;
    open[from].push_back(end);
  }
  void end(int64_t pid) {
    std::erase_if(processes, [pid](const ProcessInfo& one) { return one.id.pid == pid; });
  }
  size_t turns(double seconds) {
    for (double done = 0; done <= seconds; done += 1) {
      (void)watch.turn(state, true, writer);
      clock.pass(Duration::seconds(1));
    }
    return writer.ends.size();
  }
};

TEST_CASE("a log whose writer is gone has ended, unless somebody else goes on with it or the log says so") {
  Fixture run;
  run.add(10, 1, "python3");
  SUBCASE("it only copied, for a few seconds") {
    CHECK(run.turns(2) == 0);
    run.end(10);
    CHECK(run.turns(100) == 0);
    return;
  }
  CHECK(run.turns(6) == 0);
  run.end(10);
  SUBCASE("it is gone") {
    REQUIRE(run.turns(5) == 1);
    CHECK(contains(run.writer.ends[0].text, "process 10 (python3), which wrote train.log, has ended"));
    run.writer.silent = FileWriters::kSearch;
    CHECK(run.turns(200) == 1);
    run.writer.silent = {};
    run.add(11, 1, "python3");  // and the next one
    run.state.attempts.emplace_back();
    CHECK(run.turns(100) == 1);
    run.end(11);
    CHECK(run.turns(5) == 2);
  }
  SUBCASE("the next one of a loop has it") {
    run.add(11, 1, "python3");
    CHECK(run.turns(100) == 0);
  }
  SUBCASE("the log says how it ended") {
    run.state.attempts.back().ended.emplace();
    CHECK(run.turns(100) == 0);
  }
}

TEST_CASE("the end of what only fetches a log, or reads it, says nothing") {
  Fixture run;
  run.add(10, 1, "kubectl");
  run.add(11, 1, "ssh", "/dev/null");
  run.add(12, 1, "tee");
  run.pipe(11, 12);
  run.add(99, 1, "midwatch");
  run.turns(5);
  run.processes.clear();
  CHECK(run.turns(100) == 0);
}

TEST_CASE("children that outlive the trainer keep its log open, and count until they are silent") {
  Fixture run;
  run.add(10, 1, "python3");
  run.add(11, 10, "VLLM::EngineCore");
  run.turns(6);
  run.end(10);
  run.processes.front().parent = 1;
  CHECK(run.turns(30) == 0);
  run.writer.silent = FileWriters::kOrphans;
  CHECK(run.turns(3) == 1);
  CHECK(run.turns(100) == 1);
}

}  // namespace
}  // namespace mw
