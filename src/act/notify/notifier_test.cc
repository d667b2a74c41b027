#include "act/notify/notifier.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "base/text.h"
#include "platform/fake/fake_disk.h"

namespace mw {
namespace {

class FakeHttp final : public Http {
 public:
  Result<HttpAnswer> send(const HttpRequest& request) override {
    const std::lock_guard<std::mutex> guard(mutex_);
    bodies_.push_back(request.body);
    return HttpAnswer{status, "", -1};
  }
  Result<void> mail(const MailRequest&) override { return {}; }
  std::vector<std::string> keys() {
    const std::lock_guard<std::mutex> guard(mutex_);
    std::vector<std::string> out;
    for (const std::string& body : bodies_) out.push_back(Json::parse(body)->string_or("key", ""));
    return out;
  }
  std::atomic<int> status{200};

 private:
  std::mutex mutex_;
  std::vector<std::string> bodies_;
};

/// A watch without files: the state, and a journal that folds what is recorded.
struct World final : EventWriter {
  State state;
  FakeClock clock;
  FakeDisk disk;
  FakeHttp http;
  std::vector<std::string> said;
  std::unique_ptr<Notifier> notifier;
  NotifySettings settings;
  bool full = false, quiet = true;

  explicit World(Severity least = Severity::kWarning) {
    ChannelRule rule;
    rule.channel.name = "hook";
    rule.channel.kind = "webhook";
    rule.channel.url = "https://hook.example/x";
    rule.events = {"opened", "closed", "restarted", "stopped", "finished", "escalation"};
    rule.least = least;
    settings.channels.push_back(rule);
    start();
  }
  void start() {
    const auto say = [this](const std::string& sentence) { said.push_back(sentence); };
    notifier = std::make_unique<Notifier>(NotifierDoors{disk, clock, http, say}, settings);
    notifier->watch({"r", "/home", false, false}, "/home/runs/r");
  }
  Result<uint32_t> intend(event::Intended intent) override {
    if (full) return Error{Error::Code::kFull, "no space left", ""};
    intent.id = state.last_action + 1;
    const uint32_t id = intent.id;
    fold(state, {clock.now(), {}, std::move(intent)});
    return id;
  }
  bool held_up() const override { return full; }
  void acted(event::Acted outcome) override { fold(state, {clock.now(), {}, std::move(outcome)}); }
  Result<void> record(SupervisionEvent, Time) override { return {}; }
  Result<void> note(event::Note words, Time at) override {
    fold(state, {at, {}, std::move(words)});
    return {};
  }

  Incident& incident(Severity severity) {
    Incident one;
    one.id = ++state.last_incident;
    one.kind = "stall";
    one.severity = severity;
    one.summary = "It stalls";
    one.onset.at = clock.now();
    state.incidents.push_back(one);
    return state.incidents.back();
  }
  /// Turns for so long, a quarter of a second each; waits for what is on its way.
  void pass(double seconds) {
    for (double at = 0; at < seconds; at += 0.25) {
      clock.pass(Duration::millis(250));
      while (notifier->turn(state, quiet, *this)->ns == Duration::millis(50).ns) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
  }
  using Keys = std::vector<std::string>;
};

TEST_CASE("an incident is notified once, after a moment, and so is its end") {
  World world;
  world.pass(1);
  world.incident(Severity::kWarning);
  world.notifier->turn(world.state, true, world);
  CHECK(world.http.keys().empty());
  world.pass(2);
  CHECK(world.http.keys() == World::Keys{"r/opened:1:warning"});
  REQUIRE(world.state.actions.size() == 1);
  CHECK((world.state.actions[0].done && world.state.actions[0].ok));
  CHECK(world.state.actions[0].intent.target == "hook opened:1:warning");
  world.pass(60);
  CHECK(world.http.keys().size() == 1);
  world.state.incidents[0].severity = Severity::kCritical;
  world.pass(2);
  CHECK(world.http.keys().back() == "r/opened:1:critical");
  world.state.incidents[0].open = false;
  world.pass(2);
  CHECK(world.http.keys().back() == "r/closed:1");
  world.pass(60);
  CHECK(world.http.keys().size() == 3);
}

TEST_CASE("the last message goes out though something was left to read in the turn before the end") {
  World world;
  world.pass(1);
  world.quiet = false;
  world.pass(0.25);
  world.incident(Severity::kCritical);
  world.notifier->over(world.state, world);
  CHECK(world.http.keys() == World::Keys{"r/opened:1:critical"});
}

TEST_CASE("while the last messages are sent, and once they are, what hooks leave for the run is taken") {
  World world;
  world.pass(1);
  world.incident(Severity::kCritical);
  size_t sent = 0;
  world.notifier->meanwhile([&](const State&, EventWriter&) { sent = world.http.keys().size(); });
  world.notifier->over(world.state, world);
  CHECK(sent == 1);
}

TEST_CASE("an incident below a channel's severity is not notified, nor is its end") {
  World world(Severity::kCritical);
  world.incident(Severity::kWarning);
  world.pass(3);
  world.state.incidents[0].open = false;
  world.pass(3);
  CHECK(world.http.keys().empty());
}

TEST_CASE("an incident that opened and closed between two turns is one message") {
  World world;
  world.pass(1);
  world.incident(Severity::kCritical).open = false;
  world.pass(3);
  CHECK(world.http.keys() == World::Keys{"r/closed:1"});
}

TEST_CASE("what was over long before the watch began is not notified, what is open is") {
  World world;
  world.incident(Severity::kCritical).open = false;
  world.state.incidents[0].onset.at = world.clock.now() + Duration::seconds(-7200);
  world.incident(Severity::kCritical).onset.at = world.clock.now() + Duration::seconds(-7200);
  world.pass(3);
  CHECK(world.http.keys() == World::Keys{"r/opened:2:critical"});
}

TEST_CASE("an incident that is withdrawn is reported to those who were notified of it") {
  World world;
  world.incident(Severity::kCritical);
  world.pass(2);
  world.state.incidents.clear();
  world.pass(2);
  CHECK(world.http.keys() == World::Keys{"r/opened:1:critical", "r/closed:1"});
}

TEST_CASE("a receiver that is down is tried again, and the message keeps its key") {
  World world;
  world.http.status = 503;
  world.incident(Severity::kCritical);
  world.pass(20);
  const auto tries = world.http.keys();
  CHECK(tries.size() >= 4);
  CHECK(tries.size() <= 6);  // after 1, 2, 4 and 8 seconds
  CHECK(std::count(tries.begin(), tries.end(), tries.front()) == static_cast<ptrdiff_t>(tries.size()));
  CHECK(world.said.size() == 1);
  CHECK_FALSE(world.state.actions[0].done);
  world.http.status = 200;
  world.pass(20);
  CHECK(world.state.actions[0].ok);
  CHECK(world.said.back() == "hook can be notified again");
}

TEST_CASE("it gives up in the end, and at once when there is no hope") {
  World world;
  world.settings.give_up_after = Duration::seconds(10);
  world.start();
  world.http.status = 500;
  world.incident(Severity::kCritical);
  world.pass(40);
  REQUIRE(world.state.actions.size() == 1);
  CHECK((world.state.actions[0].done && !world.state.actions[0].ok));
  const size_t tries = world.http.keys().size();
  world.http.status = 404;
  world.incident(Severity::kCritical);
  world.pass(40);
  CHECK(world.http.keys().size() == tries + 1);
}

TEST_CASE("an intent without an outcome is sent once more by the next watch, what was sent is not") {
  World world;
  world.incident(Severity::kCritical);
  world.pass(2);
  world.http.status = 500;
  world.incident(Severity::kCritical);
  world.pass(2);  // recorded, tried, not delivered: here the watch is killed
  REQUIRE_FALSE(world.state.actions.back().done);
  const size_t before = world.http.keys().size();
  world.http.status = 200;
  world.start();
  world.pass(5);
  REQUIRE(world.http.keys().size() == before + 1);
  CHECK(world.http.keys().back() == "r/opened:2:critical");
  CHECK(world.state.actions.back().ok);
  world.start();
  world.pass(5);
  CHECK(world.http.keys().size() == before + 1);
}

TEST_CASE("a critical incident that stays open is notified again, until somebody answers") {
  World world;
  world.incident(Severity::kCritical);
  world.pass(2);
  world.pass(1801);
  CHECK(world.http.keys().back() == "r/escalation:1:1");
  world.pass(1800);
  CHECK(world.http.keys().back() == "r/escalation:1:2");
  CHECK(world.note({"mira", "on it"}, world.clock.now()).ok());
  world.pass(4000);
  CHECK(world.http.keys().size() == 3);
}

TEST_CASE("an escalation goes to whom it should, and ends after so many times") {
  World world;
  world.settings.escalate_times = 2;
  ChannelRule boss = world.settings.channels[0];
  boss.channel.name = "boss";
  boss.events = {"escalation"};
  world.settings.channels.push_back(boss);
  world.settings.escalate_to = {"boss"};
  world.start();
  world.incident(Severity::kCritical);
  world.pass(3 * 1800 + 100);
  CHECK(world.http.keys() == World::Keys{"r/opened:1:critical", "r/escalation:1:1", "r/escalation:1:2"});
  CHECK(world.state.actions.back().intent.target == "boss escalation:1:2");
}

TEST_CASE("a flood is put together") {
  World world;
  for (int i = 0; i < 100; ++i) {
    world.incident(Severity::kWarning);
    world.pass(2);
  }
  CHECK(world.http.keys().size() >= 5);
  CHECK(world.http.keys().size() <= 8);  // five at once, and one each three minutes
  world.pass(600);
  size_t sent = 0;
  for (const ActionState& action : world.state.actions) sent += action.ok ? 1 : 0;
  CHECK(sent == 100);
}

TEST_CASE("nothing is sent that could not be recorded") {
  World world;
  world.full = true;
  world.incident(Severity::kCritical);
  world.pass(10);
  CHECK(world.http.keys().empty());
  world.full = false;
  world.pass(2);
  CHECK(world.http.keys().size() == 1);
}

TEST_CASE("a hook runs once for each thing; one that was running when midwatch was killed is not run again") {
  World world;
  ChannelRule hook = world.settings.channels[0];
  hook.channel.name = "hook";  // a channel may have the same name
  hook.hook = HookSetting{"hook", {"sh", "-c", "echo did it"}, "/", Duration::seconds(10)};
  hook.least = Severity::kCritical;
  world.settings.channels.push_back(hook);
  world.start();
  world.incident(Severity::kCritical);
  world.incident(Severity::kCritical);
  world.pass(5);
  size_t runs = 0;
  for (const ActionState& action : world.state.actions) runs += action.intent.action == "hook" && action.ok ? 1 : 0;
  CHECK(runs == 2);
  const auto outputs = world.disk.list("/home/runs/r/hooks");
  REQUIRE((outputs.ok() && outputs->size() == 2));
  world.state.actions.back().done = false;  // as if killed then
  world.start();
  world.pass(5);
  CHECK(world.state.actions.back().done);
  CHECK_FALSE(world.state.actions.back().ok);
  CHECK(world.state.actions.back().outcome.find("In doubt") == 0);
  CHECK(world.disk.list("/home/runs/r/hooks")->size() == 2);
}

TEST_CASE("people are notified that the journal cannot be written, and that it can be again") {
  World world;
  world.pass(1);
  world.full = true;
  world.pass(9);
  CHECK(world.http.keys().empty());
  world.pass(60);
  REQUIRE(world.http.keys().size() == 1);
  CHECK(world.http.keys()[0].find("r/blind:") == 0);
  world.full = false;
  world.pass(2);
  REQUIRE(world.http.keys().size() == 2);
  CHECK(world.http.keys()[1].find("r/sees:") == 0);
  world.full = true;  // a moment only
  world.pass(2);
  world.full = false;
  world.quiet = false;  // much is unread: no trouble
  world.pass(20);
  CHECK(world.http.keys().size() == 2);
  CHECK(world.state.actions.empty());
}

}  // namespace
}  // namespace mw
