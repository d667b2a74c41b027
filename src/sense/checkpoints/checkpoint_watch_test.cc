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

}  // namespace
}  // namespace mw
