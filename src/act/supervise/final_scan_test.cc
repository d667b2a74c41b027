#include "act/supervise/final_scan.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "platform/real/posix_disk.h"
#include "platform/remove_tree.h"

namespace mw {
namespace {

using How = event::CheckpointSeen::How;

/// A whole file of weights, of one number.
std::string weights() {
  const std::string header = R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  std::string out(8, '\0');
  out[0] = static_cast<char>(header.size());
  return out + header + std::string("\1\2\3\4");
}

/// What is observed becomes part of the state, as in a journal.
class Folds final : public EventWriter {
 public:
  explicit Folds(State& state) : state_(state) {}
  Result<uint32_t> intend(event::Intended) override { return 1U; }
  void acted(event::Acted) override {}
  Result<void> record(SupervisionEvent, Time) override { return {}; }
  Result<void> note(event::Note, Time) override { return {}; }
  using EventWriter::observed;
  void observed(const std::string&, event::CheckpointSeen&& seen) override {
    seen_.push_back(seen);
    fold(state_, {{}, {1, ++line_}, std::move(seen)});
  }
  std::vector<event::CheckpointSeen> seen_;

 private:
  State& state_;
  uint64_t line_ = 0;
};

/// A trainer as transformers' without a progress bar: it says that saves begin, and no step of its own.
struct Ended {
  std::shared_ptr<FakeDisk> disk = std::make_shared<FakeDisk>();
  std::shared_ptr<Disk> real;  // where it is there, it is what is scanned
  FakeClock clock;
  State state;
  Folds writer{state};
  RunSpec spec;
  std::unique_ptr<FinalScan> scan;

  Ended() {
    fold(state, {{}, {0, 1}, event::AttemptBegan{"banner"}});
    spec.folder = "/work";
    open(disk);
  }
  explicit Ended(const std::string& folder) : Ended() {
    spec.folder = folder;
    real = make_posix_disk();
    open(real);
  }
  void open(const std::shared_ptr<Disk>& on) {
    FinalScanScope scope;
    scope.disk = on;
    scope.due = [this, on](const State& now) {
      CheckpointLayout layout;
      layout.folder = "checkpoint-{step}";
      return due_scans(*on, "/runs/r", spec, now, layout);
    };
    scope.wait = FinalScan::kAlone;
    scan = std::make_unique<FinalScan>(clock, std::move(scope));
  }
  void begin(int64_t step) {
    fold(state, {{}, {0, 2}, event::CheckpointSaved{step, cat("out/checkpoint-", step), false}});
  }
  void save(int64_t step) {
    begin(step);
    disk->put(cat("/work/out/checkpoint-", step, "/model.safetensors"), weights());
  }
  static constexpr int kSoon = 14;  // s: before it stops waiting (FinalScan::kAlone); about 4 where nothing else runs
  /// Turns until it may end; after how many seconds.
  int ends() {
    int seconds = 0;
    for (; seconds < 100 && !scan->may_end(state, 0); ++seconds) {
      for (int i = 0; i < 60; ++i) {  // a busy machine does not run the scan's thread at once
        (void)scan->turn(state, true, writer);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
      clock.pass(Duration::seconds(1));
    }
    return seconds;
  }
};

TEST_CASE("what was saved shortly before the end is found whole, though the log says only that its saves began") {
  Ended run;
  run.save(3);
  run.writer.observed("", event::CheckpointSeen{3, "/work/out/checkpoint-3", How::kWhole, "", "", 1, 1, ""});
  run.save(6);
  run.save(9);
  run.begin(12);  // on another machine, or never written
  CHECK(run.ends() < Ended::kSoon);
  REQUIRE(run.writer.seen_.size() == 3);
  CHECK(run.writer.seen_[1].path == "/work/out/checkpoint-6");
  CHECK(run.writer.seen_[2].path == "/work/out/checkpoint-9");
  CHECK(run.writer.seen_[2].how == How::kWhole);
}

TEST_CASE("one that was broken and was saved anew is whole at the end, and one that is cut is not reported") {
  Ended run;
  run.save(3);
  run.writer.observed("", event::CheckpointSeen{3, "/work/out/checkpoint-3", How::kBroken, "it is cut", "", 1, 1, ""});
  run.save(6);
  run.disk->put("/work/out/checkpoint-6/model.safetensors", weights().substr(0, 20));
  CHECK(run.ends() < Ended::kSoon);
  REQUIRE(run.writer.seen_.size() == 2);
  CHECK(run.writer.seen_[1].path == "/work/out/checkpoint-3");
  CHECK(run.writer.seen_[1].how == How::kWhole);
}

/// A folder on this machine's disk, in which a run saved step after step.
struct Saved {
  std::string folder = [] {
    char name[] = "/tmp/midwatch-final-scan-XXXXXX";
    REQUIRE(mkdtemp(name) != nullptr);
    return std::string(name);
  }();
  int seconds = 1'700'000'000;

  ~Saved() { (void)remove_tree("/tmp", std::string(basename(folder))).ok(); }
  std::string path(int64_t step) const { return cat(folder, "/out/checkpoint-", step); }
  /// With all that lies in it dated so, one second after what was dated before.
  void date(const std::string& one) {
    const timespec then[2] = {{++seconds, 0}, {seconds, 0}};
    for (const char* const name : {"/config.json", "/model.safetensors", ""}) {
      (void)!utimensat(AT_FDCWD, cat(one, name).c_str(), then, 0);
    }
  }
  void save(Ended& run, int64_t step, bool whole) {
    run.begin(step);
    REQUIRE(run.real->make_folders(path(step)).ok());
    REQUIRE((*run.real->open_append(path(step) + "/config.json"))->append("{}").ok());
    if (whole) REQUIRE((*run.real->open_append(path(step) + "/model.safetensors"))->append(weights()).ok());
    date(path(step));
  }
};

std::vector<int64_t> broken_of(const Ended& run) {
  std::vector<int64_t> steps;
  for (const event::CheckpointSeen& seen : run.writer.seen_) {
    if (seen.how == How::kBroken) steps.push_back(seen.step);
  }
  return steps;
}

TEST_CASE("a save of nothing but metadata between whole ones is reported at the end, also where it was the first") {
  for (const int64_t bad : {3, 6, 9}) {
    Saved saved;
    Ended run(saved.folder);
    for (const int64_t step : {3, 6, 9}) saved.save(run, step, step != bad);
    CHECK(run.ends() < Ended::kSoon);
    if (bad == 9) {
      CHECK(broken_of(run).empty());  // somebody may have stopped it in the middle of that save
    } else {
      CHECK(broken_of(run) == std::vector<int64_t>{bad});
      CHECK(contains(run.writer.seen_[bad == 3 ? 0 : 1].what, "with weights"));
    }
  }
}

TEST_CASE("what a framework cleared away later, and light saves between whole ones, are not reported") {
  Saved saved;
  Ended run(saved.folder);
  for (const int64_t step : {3, 6, 9}) saved.save(run, step, true);
  REQUIRE(run.real->remove(saved.path(6) + "/model.safetensors").ok());
  saved.date(saved.path(6));
  CHECK(run.ends() < Ended::kSoon);
  CHECK(broken_of(run).empty());

  Saved other;
  Ended light(other.folder);
  for (const int64_t step : {2, 3, 4, 5, 6}) other.save(light, step, step % 3 == 0);
  CHECK(light.ends() < Ended::kSoon);
  CHECK(broken_of(light).empty());
}

TEST_CASE("what is still written to is waited for, for a while; where all was looked at nothing is") {
  Ended run;
  CHECK(run.ends() == 0);
  Ended other;
  other.save(3);
  CHECK_FALSE(other.scan->may_end(other.state, 0));
  for (int i = 0; i < 12; ++i) {
    other.disk->put(cat("/work/out/checkpoint-3/shard-", i), "x");
    for (int turn = 0; turn < 20; ++turn) {
      (void)other.scan->turn(other.state, true, other.writer);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    other.clock.pass(Duration::seconds(2));
  }
  CHECK(other.writer.seen_.empty());
  CHECK(other.scan->may_end(other.state, 0));
  CHECK(other.scan->may_end(other.state, 1));
}

}  // namespace
}  // namespace mw
