#include "sense/processes/server_wait.h"

#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <thread>

#include "base/text.h"
#include "platform/fake/borrowed.h"

namespace mw {
namespace {

/// Servers by address; those that are not there refuse. Asked from other threads, set while none asks.
struct Servers final : Http {
  std::map<std::string, int> status;  ///< of /health
  Result<HttpAnswer> send(const HttpRequest& request) override {
    for (const auto& [address, code] : status) {
      if (request.url.rfind(address, 0) == 0) return HttpAnswer{code, "", -1};
    }
    return Error{Error::Code::kNotFound, "refused", ""};
  }
  Result<void> mail(const MailRequest&) override { return {}; }
};

struct Notes final : EventWriter {
  std::vector<std::string> notes;
  Result<uint32_t> intend(event::Intended) override { return 1U; }
  void acted(event::Acted) override {}
  Result<void> record(SupervisionEvent, Time) override { return {}; }
  Result<void> note(event::Note words, Time) override {
    notes.push_back(words.text);
    return {};
  }
};

struct World {
  World() {
    Signature refused;
    refused.id = "connection-refused";
    refused.kind = "network";
    knowledge.signatures.push_back(refused);
    knowledge.by_id["connection-refused"] = 0;
    state.attempts.emplace_back();
  }
  void declare(const std::string& address, event::ComponentSaw::Health last) {
    components::Target target;
    target.name = "judge";
    target.kind = "rewards";
    target.address = address;
    target.declared = true;
    target.ready_within = Duration::seconds(60);
    declared.push_back(target);
    ComponentState part;
    part.last.component = "judge";
    part.last.health = last;
    state.components.push_back(part);
  }
  void complain(const std::string& line, uint16_t attempt = 0, bool sample = false) {
    SignatureState seen;
    seen.id = "connection-refused";
    seen.sample = sample;
    seen.matches.push_back({Moment{3, {}, {}, attempt, false}, line, 1});
    state.signatures.push_back(seen);
  }
  /// As it stands; no question is out then.
  bool may_begin() {
    if (wait == nullptr) {
      wait = std::make_unique<ServerWait>(clock,
                                          ServerWait::Scope{borrowed(servers), knowledge, declared,
                                                            [this](int64_t port) { return known && port != 9000; },
                                                            [this](const std::string& text) { said.push_back(text); }});
    }
    bool may = false;
    for (int turn = 0; turn < 3; ++turn) {  // a question goes out, comes back, and the next one, too
      may = wait->may_begin(state, notes);
      while (wait->asking()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      clock.pass(ServerWait::kAgain);
    }
    return may;
  }

  FakeClock clock;
  Servers servers;
  Knowledge knowledge;
  State state;
  Notes notes;
  std::vector<components::Target> declared;
  std::vector<std::string> said;
  bool known = true;
  std::unique_ptr<ServerWait> wait;
};

using Health = event::ComponentSaw::Health;

TEST_CASE("an attempt begins at once where nothing is awaited") {
  World world;
  CHECK(world.may_begin());
  CHECK(world.said.empty());
}

TEST_CASE("a declared server that worked is waited for") {
  World world;
  world.declare("http://127.0.0.1:8000", Health::kWell);
  REQUIRE(!world.may_begin());
  REQUIRE(!world.may_begin());
  CHECK(world.said.size() == 1);  // reported once
  SUBCASE("until it is well") {
    world.servers.status["http://127.0.0.1:8000"] = 503;
    CHECK(!world.may_begin());
    world.servers.status["http://127.0.0.1:8000"] = 200;
    CHECK(world.may_begin());
    CHECK(contains(world.said.back(), "answers again"));
  }
  SUBCASE("for as long as its settings say") {
    world.clock.pass(Duration::seconds(61));
    CHECK(world.may_begin());
    CHECK(contains(world.said.back(), "has not answered"));
  }
  CHECK(world.notes.notes == world.said);
}

TEST_CASE("what the command itself starts, or never worked, is not waited for") {
  World world;
  SUBCASE("it listened there") { world.declare("http://127.0.0.1:9000", Health::kWell); }
  SUBCASE("it never answered") { world.declare("http://127.0.0.1:8000", Health::kStarting); }
  SUBCASE("nobody knows whose it was") {
    world.known = false;
    world.declare("http://127.0.0.1:8000", Health::kWell);
  }
  CHECK(world.may_begin());
}

TEST_CASE("a server beside the run of which the last attempt complained is waited for, whatever it answers") {
  for (const char* address : {"127.0.0.1:8000", "10.0.0.9:8000"}) {  // the machine's own, by whichever name
    World there, late;
    for (World* world : {&there, &late}) {
      world->complain(cat("Cannot connect to host ", address));
      CHECK(!world->may_begin());
    }
    there.servers.status[cat("http://", address)] = 404;
    CHECK(there.may_begin());
    late.clock.pass(ServerWait::kHeard);
    CHECK(late.may_begin());
  }
}

TEST_CASE("what was said in samples, in another attempt or of the run's own servers holds nothing up") {
  World world;
  SUBCASE("sample") { world.complain("Cannot connect to host 127.0.0.1:8000", 0, true); }
  SUBCASE("attempt") {
    world.state.attempts.emplace_back();
    world.complain("Cannot connect to host 127.0.0.1:8000", 0);
  }
  SUBCASE("own") { world.complain("Cannot connect to host 127.0.0.1:9000"); }
  SUBCASE("unknown") {
    world.known = false;
    world.complain("Cannot connect to host 10.0.0.9:8000");
  }
  SUBCASE("the world") { world.complain("Cannot connect to host 93.184.216.34:80"); }
  CHECK(world.may_begin());
}

}  // namespace
}  // namespace mw
