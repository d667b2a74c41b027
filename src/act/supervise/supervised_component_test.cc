#include "act/supervise/supervised_component.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <map>

#include "act/keeper/launch.h"
#include "base/text.h"
#include "core/components.h"
#include "core/supervise/policy.h"
#include "journal/journal.h"
#include "platform/fake/fake_disk.h"
#include "platform/fake/fake_process.h"

namespace mw {
namespace {

using Health = event::ComponentSaw::Health;

/// A world in which keepers start their commands, and components end when the test says so.
struct World final : EventWriter {
  explicit World(const std::string& address = "http://127.0.0.1:8000") {
    spec.name = spec.kind = "engine";
    spec.command = {"serve"};
    spec.folder = "/w";
    spec.address = address;
    spec.output = "engine.log";
    spec.limits.restarts = 2;
    open();
  }
  void open() {
    ComponentDoors doors{disk,
                         clock,
                         processes,
                         [this](const std::string& folder) { return start(folder); },
                         [this](const std::string& path, std::string_view text) {
                           disk.put(path, std::string(text));
                           return Result<void>();
                         },
                         [this](const std::string& sentence) { said.push_back(sentence); },
                         [this](const std::string& address) {
                           return address == "http://127.0.0.1:8000" ? listening : std::set<uint64_t>();
                         },
                         [this](uint64_t socket) { return holders[socket]; }};
    auto opened = SupervisedComponent::open(doors, spec, "run/components/engine");
    REQUIRE(opened.ok());
    one = std::move(*opened);
  }
  Result<void> start(const std::string& folder) {
    ++lives;
    place = folder;
    keeper = add(1);
    child = add(keeper.pid);
    write(record_keeping(keeper, "boot", clock.now()));
    write(record_started(child, clock.now()));
    return {};
  }
  ProcessId add(int64_t parent) {
    const int64_t pid = next++;
    return processes.add(pid, parent, pid);
  }
  void write(const std::string& line) {
    auto journal = Journal::open(disk, cat(place, "/", kRecordFolder), nullptr);
    REQUIRE(journal.ok());
    (*journal)->append(line);
    REQUIRE((*journal)->sync().ok());
  }
  void die(int signal = SIGKILL) {
    processes.alive.erase(child.pid);
    processes.alive.erase(keeper.pid);
    Ending ending;
    ending.signal = signal;
    write(record_ended(ending));
    write(record_done(clock.now()));
  }
  void turn(double seconds = 0, bool wanted = true) {
    clock.pass(Duration::seconds(seconds));
    REQUIRE(one->turn(state, wanted, *this).ok());
  }
  void answers(Health health) {
    observed("host:components",
             event::ComponentSaw{"engine", "engine", health, in_trouble(health), "", "127.0.0.1:8000", child.pid, 0});
  }

  Result<uint32_t> intend(event::Intended intent) override {
    intent.id = state.last_action + 1;
    const uint32_t id = intent.id;
    fold(state, {{}, {}, std::move(intent)});
    return id;
  }
  void acted(event::Acted outcome) override { fold(state, {{}, {}, std::move(outcome)}); }
  Result<void> record(SupervisionEvent, Time) override { return {}; }
  Result<void> note(event::Note, Time) override { return {}; }
  using EventWriter::observed;
  void observed(const std::string&, event::ComponentSaw&& saw) override {
    fold(state, {clock.now(), {}, std::move(saw)});
  }

  FakeDisk disk;
  FakeClock clock;
  FakeProcesses processes;
  State state;
  ComponentSpec spec;
  std::vector<std::string> said;
  std::set<uint64_t> listening;  // sockets at its port
  std::map<uint64_t, std::set<int64_t>> holders;
  std::string place;
  int lives = 0;
  int64_t next = 100;
  ProcessId keeper, child;
  std::unique_ptr<SupervisedComponent> one;
};

}  // namespace

TEST_CASE("what answers at a component's address and did so before it began is another program") {
  World world;
  world.listening = {4711};
  world.turn();
  world.turn(5);
  world.answers(Health::kWell);
  world.turn();
  CHECK(world.one->is_another_there());
  CHECK_FALSE(world.one->ready());
  CHECK(world.said.front() ==
        "component engine: another program, which is not the component's, listens at http://127.0.0.1:8000");
  SUBCASE("for the next midwatch, too") {
    world.open();
    world.turn();
    CHECK(world.one->is_another_there());
    CHECK_FALSE(world.one->ready());
  }
  SUBCASE("and the reason is kept where it ends of that") {
    world.die(0);
    world.turn();
    CHECK(contains(world.state.actions.back().intent.why, "listens at http://127.0.0.1:8000"));
  }
  SUBCASE("until it listens there itself") {
    world.listening = {4712};
    world.turn();
    CHECK_FALSE(world.one->is_another_there());
    CHECK_FALSE(world.one->ready());  // that answer was the other's
    world.answers(Health::kWell);
    world.turn();
    CHECK(world.one->ready());
  }
}

TEST_CASE("a program that was there before the component and takes its address while it loads is another one") {
  World world;
  const ProcessId older = world.processes.add(50, 1, 50);
  world.turn();
  world.turn(1);
  REQUIRE(older.start < world.child.start);
  world.listening = {4711};
  world.answers(Health::kWell);
  SUBCASE("who holds the socket is older") {
    world.holders[4711] = {older.pid};
    world.turn();
    CHECK_FALSE(world.one->ready());
    CHECK(world.one->is_another_there());
    CHECK(world.state.components[0].last.health == Health::kStarting);
    CHECK(contains(world.said.back(), "another program, which is not the component's, listens at"));
    // It goes: what it answered is no answer of the component, which still loads.
    world.listening.clear();
    world.turn(1);
    CHECK_FALSE(world.one->ready());
    world.listening = {4712};
    world.holders[4712] = {world.child.pid};
    world.answers(Health::kWell);
    world.turn(1);
    CHECK(world.one->ready());
  }
  SUBCASE("it is held by the component, or nobody can see by whom, or by what came later") {
    const ProcessId later = world.add(1);
    SUBCASE("") { world.holders[4711] = {world.child.pid}; }
    SUBCASE("") { world.holders[4711] = {older.pid, world.child.pid}; }
    SUBCASE("") { world.holders[4711] = {}; }
    SUBCASE("") { world.holders[4711] = {later.pid}; }
    SUBCASE("") {
      world.holders[4711] = {older.pid};
      world.processes.alive[older.pid].name = "ray::ServeProxy";
    }
    world.turn();
    CHECK(world.one->ready());
  }
}

TEST_CASE("an address of another machine says nothing of who listens on this one") {
  World world("http://10.0.0.7:8000");
  world.listening = {4711};
  world.turn();
  world.answers(Health::kWell);
  world.turn();
  CHECK(world.one->ready());
}

TEST_CASE("a component is ready when it answers, not when it lives") {
  World world;
  world.turn();
  world.turn(5);
  CHECK(world.lives == 1);
  CHECK(!world.one->ready());
  world.answers(Health::kWell);
  world.turn();
  CHECK(world.one->ready());
  CHECK(world.state.actions.empty());
}

TEST_CASE("one that is asked nothing is ready when it has lived for a moment") {
  World world("");
  world.turn();
  world.turn();
  CHECK(!world.one->ready());
  world.turn(2);
  CHECK(world.one->ready());
}

TEST_CASE("in a dry run it is only said that it would be started anew") {
  World world;
  world.spec.dry = world.spec.pause = true;
  world.open();
  world.turn();
  world.turn();
  world.answers(Health::kWell);
  world.turn();
  SUBCASE("when it dies") { world.die(); }
  SUBCASE("when it fails") { world.answers(Health::kHalfDead); }
  world.said.clear();
  for (int i = 0; i < 5; ++i) world.turn(30);
  CHECK(world.state.components[0].last.health != Health::kWell);  // and so its incident opens
  CHECK_FALSE(world.one->pauses_trainer());                       // nobody would resume it
  CHECK(world.one->is_left_down());
  CHECK(world.lives == 1);
  CHECK(world.state.actions.empty());
  CHECK(std::count_if(world.said.begin(), world.said.end(),
                      [](const std::string& text) { return contains(text, "would be started anew"); }) == 1);
}

TEST_CASE(
    "one that dies is started anew, with the action in the journal first, and its restart has an outcome when it "
    "answers") {
  World world;
  world.turn();
  world.turn();
  world.answers(Health::kWell);
  world.turn();
  world.die();
  world.turn();
  REQUIRE(world.state.actions.size() == 1);
  CHECK(world.state.actions[0].intent.action == kRestartComponent);
  CHECK(world.state.actions[0].intent.target == "engine");
  CHECK(world.state.components[0].last.health == Health::kDead);
  CHECK(world.state.components[0].last.certain);
  CHECK(world.lives == 1);
  world.turn();
  CHECK(world.lives == 2);
  CHECK(!world.one->ready());
  CHECK(!world.state.actions[0].done);
  world.turn();
  world.answers(Health::kWell);
  world.turn();
  CHECK(world.one->ready());
  CHECK(world.state.actions[0].done);
  CHECK(world.state.actions[0].ok);
}

TEST_CASE("one that fails to do its work is killed and started anew") {
  World world;
  world.turn();
  world.turn();
  world.answers(Health::kWell);
  world.turn();
  world.answers(Health::kHalfDead);
  world.turn();
  CHECK(std::find(world.processes.sent.begin(), world.processes.sent.end(), std::pair(world.child.pid, SIGKILL)) !=
        world.processes.sent.end());
  world.die();
  world.turn();
  world.turn();
  CHECK(world.lives == 2);
  CHECK(world.state.actions.size() == 1);
}

TEST_CASE("one whose stacks are being read is killed when they are there") {
  World world;
  world.turn();
  world.turn();
  world.answers(Health::kWell);
  world.turn();
  bool reads = true;
  world.one->spare_while([&](int64_t pid) { return reads && pid == world.child.pid; });
  world.answers(Health::kHalfDead);
  world.turn();
  CHECK(world.state.actions.size() == 1);  // what is to be done is in the journal
  CHECK(world.processes.sent.empty());
  reads = false;
  world.turn();
  CHECK(std::find(world.processes.sent.begin(), world.processes.sent.end(), std::pair(world.child.pid, SIGKILL)) !=
        world.processes.sent.end());
}

TEST_CASE("the trouble of the life before is not the new one's") {
  World world;
  world.turn();
  world.turn();
  world.answers(Health::kWell);
  world.turn();
  world.answers(Health::kSilent);
  world.turn();
  world.die();
  world.turn();
  world.turn();
  world.turn(1);
  world.turn(1);
  CHECK(world.lives == 2);
  CHECK(world.state.actions.size() == 1);
}

TEST_CASE("one that dies again and again is given up, and one that worked for long between is not") {
  for (const double works : {1.0, 3600.0}) {
    World world;
    for (int i = 0; i < 10 && !world.one->gave_up(); ++i) {
      world.turn(100);
      world.turn(100);
      world.answers(Health::kWell);
      world.turn();
      world.turn(works);
      world.die();
      world.turn();
    }
    CHECK(world.one->gave_up() == (works < 10));
    if (works < 10)
      CHECK(contains(world.one->why_gone(), "without component engine: 2 restarts in a row did not help. It ended"));
    CHECK(world.lives >= 3);
  }
}

TEST_CASE("restarts count in the life of midwatch after the one that did them") {
  World world;
  for (int i = 0; i < 10 && !world.one->gave_up(); ++i) {
    world.turn(100);
    world.turn(100);
    world.answers(Health::kWell);
    world.turn();
    world.open();
    world.turn();
    world.die();
    world.turn();
  }
  CHECK(world.one->gave_up());
  CHECK(world.lives == 3);  // the first, and two restarts
}

TEST_CASE("the next midwatch finds it as it is") {
  World world;
  world.turn();
  world.turn();
  world.answers(Health::kWell);
  world.turn();
  SUBCASE("it lives") {
    world.open();
    world.turn();
    CHECK(world.lives == 1);
    CHECK(world.one->ready());
  }
  SUBCASE("it died meanwhile") {
    world.die();
    world.open();
    world.turn();
    world.turn(60);  // nobody knows whether it was ready: a wait as before any restart
    CHECK(world.lives == 2);
    CHECK(world.state.actions.size() == 1);
  }
  SUBCASE("a restart was meant and not done") {
    world.die();
    world.turn();
    world.open();
    world.turn();
    world.turn(60);  // nobody knows whether it was ready: a wait as before any restart
    CHECK(world.lives == 2);
    world.turn();
    world.answers(Health::kWell);
    world.turn();
    for (const ActionState& action : world.state.actions) CHECK(action.done);
  }
}

TEST_CASE("it is ended with the run") {
  World world;
  world.turn();
  world.turn();
  world.turn(0, false);
  CHECK(std::find(world.processes.sent.begin(), world.processes.sent.end(), std::pair(world.child.pid, SIGINT)) !=
        world.processes.sent.end());
  CHECK(!world.one->over());
  world.die(SIGINT);
  world.turn(0, false);
  CHECK(world.one->over());
  CHECK(world.lives == 1);
}

}  // namespace mw
