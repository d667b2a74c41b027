// The keeper says that an attempt ended; what the files end with that the attempt wrote itself.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/text.h"
#include "platform/fake/fake_locks.h"
#include "read/recorder.h"
#include "read/testing/whole_log.h"

namespace mw {
namespace {

constexpr std::string_view kKeeper = "/run/output/train.log", kTools = "/run/output/tools.log",
                           kLog = "/work/train.log";

std::string began(int attempt) {
  return cat("=== midwatch: attempt ", attempt, " began 2026-01-02T10:20:30Z (0123abcd), process 4711 ===\n");
}
std::string ended(std::string_view how, int attempt = 1) {
  return cat("=== midwatch: attempt ", attempt, " ended 2026-01-02T10:20:40Z (0123abcd), ", how, " ===\n");
}
std::string steps(int first, int last) {
  std::string log = "from trl import GRPOTrainer\n";
  for (int step = first; step <= last; ++step)
    log += cat("{'loss': 0.5, 'reward': 0.2", step, ", 'step': ", step, "}\n");
  return log;
}
std::string traceback(std::string_view program, std::string_view error) {
  return cat("Traceback (most recent call last):\n  File \"", program,
             "\", line 88, in <module>\n    main()\n  File \"", program, "\", line 61, in main\n    fit(cfg)\n", error,
             "\n");
}

/// A watch of the keeper's file and one that the command writes itself.
struct Watch {
  FakeDisk disk;
  FakeLocks locks;
  FakeClock clock;
  std::unique_ptr<Recorder> recorder;
  std::unique_ptr<RunReader> reader;

  explicit Watch(const std::string& log = steps(1, 7)) {
    REQUIRE(disk.make_folders("/home").ok());
    disk.put(std::string(kKeeper), began(1));
    disk.put(std::string(kLog), log);
    disk.put(std::string(kTools), "serving\n");
    open();
  }
  void open() {
    reader.reset();
    recorder.reset();
    auto made = Recorder::open(disk, locks, "/home", "one", {std::string(kKeeper)});
    REQUIRE(made.ok());
    recorder = std::move(*made);
    reader = std::make_unique<RunReader>(disk, built_in_knowledge(), Judge::kAlways, recorder.get(),
                                         std::function<void(const State&, const Event&)>(), &clock);
    REQUIRE(recorder->replay_into(reader->state()).ok());
    reader->trust_keeper("0123abcd");
    REQUIRE(reader->open({std::string(kKeeper), std::string(kLog), std::string(kTools)}, "").ok());
    read();
  }
  void read() {
    while (reader->turn() > 0) {
    }
    REQUIRE(recorder->flush().ok());
  }
  void write(std::string_view path, std::string_view text) {
    disk.write(std::string(path), std::string(text));
    read();
  }
  /// Tracebacks that are the run's own.
  int64_t believed() const {
    const auto& all = reader->state().traces;
    return std::count_if(all.begin(), all.end(), [](const TraceState& seen) { return !seen.trace.sample; });
  }
  /// The kind of the worst incident; "": there is none.
  std::string kind() const {
    const auto& all = reader->state().incidents;
    const auto worst = std::max_element(all.begin(), all.end(), [](const Incident& a, const Incident& b) {
      return std::pair(a.severity, b.id) < std::pair(b.severity, a.id);
    });
    return worst == all.end() ? "" : worst->kind;
  }
};

const std::vector<std::pair<std::string, std::string>> kErrors = {
    {"ConnectionRefusedError: [Errno 111] Connection refused", "network"},
    {"RuntimeError: CUDA error: an illegal memory access was encountered", "gpu-fault"},
    {"ModuleNotFoundError: No module named 'flash_attn'", "dependency-broken"}};
const std::string kRefused = "ConnectionRefusedError: [Errno 111] Connection refused";

}  // namespace

TEST_CASE("the last traceback of a file ended the attempt, wherever its program lies") {
  for (const std::string_view program : {"/tmp/grpo/train.py", "/tmp/job.481516/train.py", "/var/tmp/x/train.py",
                                         "<stdin>", "<string>", "/workspace/train.py"}) {
    for (const auto& one : kErrors) {
      CAPTURE(program);
      CAPTURE(one.first);
      Watch watch;
      watch.write(kLog, traceback(program, one.first));
      watch.write(kKeeper, ended("exit status 1"));
      CHECK(watch.kind() == one.second);
    }
  }
}

TEST_CASE("a tool's last traceback ended no attempt that was killed, was done or trained on") {
  for (const std::string_view end : {"exit status 137", "exit status -9, ended by signal 9", "how is not known"}) {
    CAPTURE(end);
    Watch watch;
    watch.write(kLog, traceback("<string>", kRefused));
    watch.write(kKeeper, ended(end));
    CHECK(watch.kind() != "network");
  }
  Watch done;
  done.write(kLog, traceback("<string>", kRefused));
  done.write(kKeeper, ended("exit status 0"));
  CHECK(done.kind().empty());
  Watch trained_on;  // of which the steps stand in the other file
  trained_on.write(kLog, traceback("<string>", kRefused));
  trained_on.write(kKeeper, cat(steps(8, 30), ended("exit status 1")));
  CHECK(trained_on.kind() == "crash");
  Watch more;
  more.write(kLog, cat(traceback("<string>", kRefused), "a\nb\nc\nd\ne\n"));
  more.write(kKeeper, ended("exit status 1"));
  CHECK(more.kind() == "crash");
}

TEST_CASE("what the command itself printed says more than a tool's traceback in a file") {
  Watch watch;
  watch.write(kLog, traceback("<string>", kRefused));
  watch.write(kKeeper, cat(traceback("/workspace/train.py", "KeyError: 'reward_model'"), ended("exit status 1")));
  CHECK(watch.kind() == "data-error");
  CHECK(watch.believed() == 1);
}

TEST_CASE("a file in which tools' programs failed before is a sandbox's") {
  Watch watch;
  for (int call = 0; call < 4; ++call)
    watch.write(kLog, cat(traceback("/tmp/t/a.py", "NameError: x"), "a\nb\nc\nd\ne\n"));
  watch.write(kLog, traceback("/tmp/t/a.py", kRefused));
  watch.write(kKeeper, ended("exit status 1"));
  CHECK(watch.kind() == "crash");
}

TEST_CASE("what a component's log ends with ended no attempt") {
  Watch watch;
  watch.write(kTools, traceback("<string>", kRefused));
  watch.write(kKeeper, ended("exit status 1"));
  CHECK(watch.kind() == "crash");
}

TEST_CASE("a watch that goes on after it misses nothing of what is written then") {
  Watch watch;
  watch.write(kLog, traceback("/tmp/grpo/train.py", kRefused));
  watch.write(kKeeper, ended("exit status 1"));
  CHECK(watch.kind() == "network");
  watch.open();
  CHECK(watch.kind() == "network");
  watch.write(kKeeper, began(2));
  watch.write(kLog, steps(8, 20));
  watch.open();
  const State& state = watch.reader->state();
  REQUIRE(state.attempts.size() == 2);
  CHECK(state.attempts[1].first_step == 8);
  CHECK(state.attempts[1].last_step == 20);
  CHECK(state.steps().count == 20);
  CHECK(watch.believed() == 1);
}

TEST_CASE("the command's end is that of the last attempt, where its script began several and a file shows them") {
  const auto verl = [](int first, int last) {
    std::string log = first > 1 ? "Load from checkpoint folder: /ck/global_step_7\nSetting global step to 7\n" : "";
    log += "Total training steps: 20\n";
    for (int step = first; step <= last; ++step)
      log += cat("(TaskRunner pid=812) step:", step, " - actor/entropy:0.4 - actor/grad_norm:0.3", step,
                 " - critic/rewards/mean:0.2", step, " - timing_s/step:1.5 - training/global_step:", step, "\n");
    return log;
  };
  const std::string failed =
      traceback("/workspace/train.py", "RuntimeError: shape mismatch: value tensor of shape [4]");
  Watch watch("");
  watch.write(kLog, verl(1, 7));
  watch.write(kLog, cat(failed, "retrying\n", verl(8, 20)));
  const State& state = watch.reader->state();
  REQUIRE(state.attempts.size() == 2);
  SUBCASE("it did all that was planned") {
    watch.write(kKeeper, ended("exit status 0"));
    CHECK(state.verdict == "finished");
    for (const Incident& incident : state.incidents) {
      CAPTURE(incident.summary);
      CHECK(incident.kind != "died-silently");
    }
  }
  SUBCASE("it failed again, and the next command is another attempt") {
    watch.write(kLog, failed);
    watch.write(kKeeper, ended("exit status 1"));
    CHECK(state.verdict == "crashed");
    watch.write(kKeeper, began(2));
    watch.write(kLog, verl(8, 12));
    CHECK(state.attempts.size() == 3);
    CHECK(state.attempts.back().last_step == 12);
  }
  CHECK(state.attempts.front().last_step == 7);
}

}  // namespace mw
