#include "sense/checkpoints/checkpoint_watch.h"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "platform/fake/fake_disk.h"

namespace mw {
namespace {

class Ignores final : public EventWriter {
 public:
  Result<uint32_t> intend(event::Intended) override { return 1U; }
  void acted(event::Acted) override {}
  Result<void> record(SupervisionEvent, Time) override { return {}; }
  Result<void> note(event::Note, Time) override { return {}; }
};

TEST_CASE("a turn asks once how the framework lays out its checkpoints, whatever there is to do in it") {
  const auto disk = std::make_shared<FakeDisk>();
  FakeClock clock;
  int asked = 0;
  CheckpointScope scope;
  scope.disk = disk;
  scope.roots = {"/ck"};
  scope.layout = [&asked](const std::string&) {
    ++asked;
    CheckpointLayout layout;
    layout.folder = "global_step_{step}";
    return layout;
  };
  CheckpointWatch watch(clock, std::move(scope));
  State state;
  state.framework = "verl";
  state.attempts.emplace_back();
  Ignores seen;
  disk->put("/ck/global_step_5/config.json", "{}");
  for (int turn = 1; turn <= 60; ++turn) {
    if (turn == 5) disk->put("/ck/global_step_10/model.pt", std::string(1000, '\0'));
    (void)watch.turn(state, true, seen);
    CHECK(asked == turn);
    clock.pass(Duration::seconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // for the call on its thread
  }
}

/// What the watch observes becomes part of the state, as in a journal.
class Folds final : public EventWriter {
 public:
  Folds(State& state, FakeClock& clock) : state_(state), clock_(clock) {}
  Result<uint32_t> intend(event::Intended) override { return 1U; }
  void acted(event::Acted) override {}
  Result<void> record(SupervisionEvent, Time) override { return {}; }
  Result<void> note(event::Note, Time) override { return {}; }
  using EventWriter::observed;
  void observed(const std::string&, event::CheckpointSeen&& seen) override { fold_in(std::move(seen)); }
  void observed(const std::string&, event::PointerSeen&& seen) override { fold_in(std::move(seen)); }

 private:
  template <typename Body>
  void fold_in(Body body) {
    fold(state_, {clock_.now(), {1, ++line_}, std::move(body)});
  }
  State& state_;
  FakeClock& clock_;
  uint64_t line_ = 0;
};

/// A whole file of weights, of one number.
std::string weights() {
  const std::string header = R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  std::string out(8, '\0');
  out[0] = static_cast<char>(header.size());
  return out + header + std::string("\1\2\3\4");
}

TEST_CASE(
    "a pointer that stays at a checkpoint that was removed is reported beside the newest whole one, and when it is "
    "mended") {
  const auto disk = std::make_shared<FakeDisk>();
  FakeClock clock;
  CheckpointScope scope;
  scope.disk = disk;
  scope.roots = {"/ck"};
  scope.layout = [](const std::string&) {
    CheckpointLayout layout;
    layout.folder = "global_step_{step}";
    layout.pointer = "latest.txt";
    layout.pointer_text = "{step}";
    return layout;
  };
  CheckpointWatch watch(clock, std::move(scope));
  State state;
  state.framework = "verl";
  state.verdict = "running";
  state.attempts.emplace_back();
  state.attempts.back().last_step = 0;
  Folds writer(state, clock);
  const auto pass = [&](int minutes) {
    for (int i = 0; i < minutes * 6; ++i) {
      (void)watch.turn(state, true, writer);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      clock.pass(Duration::seconds(10));
      disk->set_time(clock.now());
      if (i % 6 == 0) ++state.attempts.back().last_step;
    }
  };
  disk->put("/ck/latest.txt", "5");
  disk->put("/ck/global_step_5/model.safetensors", weights());
  pass(3);
  disk->put("/ck/global_step_10/model.safetensors", weights());
  disk->put("/ck/latest.txt", "10");
  pass(5);
  disk->unlink("/ck/global_step_10/model.safetensors");
  REQUIRE(disk->rename("/ck/global_step_10", "/gone").ok());
  disk->put("/ck/global_step_20/model.safetensors", weights());
  CHECK(state.pointers.empty());
  pass(8);
  for (int i = 0; i < 60 && state.pointers.empty(); ++i) pass(1);  // a thread scans, which may have to wait
  REQUIRE(state.pointers.size() == 1);
  const event::PointerSeen& seen = state.pointers[0].second;
  CHECK_FALSE(seen.right);
  CHECK(seen.what == "it names step 10, which is not there");
  CHECK(seen.whole == 20);
  CHECK(seen.whole_path == "/ck/global_step_20");
  disk->put("/ck/latest.txt", "20");
  for (int i = 0; i < 60 && state.pointers.size() < 2; ++i) pass(1);
  REQUIRE(state.pointers.size() == 2);
  CHECK(state.pointers[1].second.right);
}

}  // namespace
}  // namespace mw
