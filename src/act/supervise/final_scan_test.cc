#include "act/supervise/final_scan.h"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "base/text.h"
#include "platform/fake/fake_disk.h"

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
  FakeClock clock;
  State state;
  Folds writer{state};
  RunSpec spec;
  std::unique_ptr<FinalScan> scan;

  Ended() {
    fold(state, {{}, {0, 1}, event::AttemptBegan{"banner"}});
    spec.folder = "/work";
    FinalScanScope scope;
    scope.disk = disk;
    scope.due = [this](const State& now) {
      CheckpointLayout layout;
      layout.folder = "checkpoint-{step}";
      return due_scans(*disk, "/runs/r", spec, now, layout);
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
  /// Turns until it may end; after how many seconds.
  int ends() {
    int seconds = 0;
    for (; seconds < 100 && !scan->may_end(state, 0); ++seconds) {
      for (int i = 0; i < 20; ++i) {
        (void)scan->turn(state, true, writer);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
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
  CHECK(run.ends() < 6);
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
  CHECK(run.ends() < 6);
  REQUIRE(run.writer.seen_.size() == 2);
  CHECK(run.writer.seen_[1].path == "/work/out/checkpoint-3");
  CHECK(run.writer.seen_[1].how == How::kWhole);
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
