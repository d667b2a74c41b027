#include "sense/processes/component_watch.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "platform/fake/borrowed.h"

namespace mw {
namespace {

using Health = event::ComponentSaw::Health;

/// A server that answers, or refuses. Asked from another thread.
struct Server final : Http {
  std::atomic<bool> there = true;
  std::atomic<int> answered = 0;
  Result<HttpAnswer> send(const HttpRequest&) override {
    const bool ok = there;
    ++answered;
    if (ok) return HttpAnswer{200, "", -1};
    return Error{Error::Code::kNotFound, "refused", ""};
  }
  Result<void> mail(const MailRequest&) override { return {}; }
};

struct Seen final : EventWriter {
  std::vector<event::ComponentSaw> all;
  Result<uint32_t> intend(event::Intended) override { return 1U; }
  void acted(event::Acted) override {}
  Result<void> record(SupervisionEvent, Time) override { return {}; }
  Result<void> note(event::Note, Time) override { return {}; }
  using EventWriter::observed;
  void observed(const std::string&, event::ComponentSaw&& saw) override { all.push_back(std::move(saw)); }
};

/// A judge that midwatch runs itself, as process `life`.
struct World {
  FakeClock clock;
  Server server;
  Knowledge knowledge;
  State state;
  Seen seen;
  int64_t life = 100;
  std::unique_ptr<ComponentWatch> watch;

  World() {
    components::Target judge;
    judge.name = "judge";
    judge.kind = "rewards";
    judge.address = "http://127.0.0.1:8000";
    judge.declared = true;
    ComponentWatch::Scope scope;
    scope.system = std::make_unique<FakeSystem>();
    scope.http = borrowed(server);
    scope.declared = {judge};
    scope.processes = [] { return ComponentWatch::RunProcesses(); };
    scope.process_of = [this](const std::string&) { return life; };
    watch = std::make_unique<ComponentWatch>(clock, knowledge, std::move(scope));
    turn();
  }
  void turn() {
    clock.pass(components::TreeWatch::kQuick);
    (void)watch->turn(state, true, seen);
  }
  /// Until the next answer is back, whether it was taken or not; a moment later its thread is done, too.
  void answer() {
    for (const int before = server.answered; server.answered == before; turn())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
};

}  // namespace

TEST_CASE("what the process before answered says nothing of the one that was started anew") {
  World world;
  while (world.server.answered == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the answer lies there, and nobody took it
  world.server.there = false;
  SUBCASE("its end was seen") {
    world.life = 0;
    SUBCASE("and the answer taken meanwhile") { world.turn(); }
    SUBCASE("just before") {}
  }
  SUBCASE("both at once") {}
  world.life = 101;
  for (int i = 0; i < 3; ++i) world.answer();
  REQUIRE_FALSE(world.seen.all.empty());
  for (const event::ComponentSaw& saw : world.seen.all) CHECK(saw.health == Health::kStarting);
  world.server.there = true;
  for (int i = 0; i < 2; ++i) world.answer();
  world.turn();
  CHECK(world.seen.all.back().health == Health::kWell);
  CHECK(world.seen.all.back().pid == 101);
}

}  // namespace mw
