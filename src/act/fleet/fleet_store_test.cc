#include <doctest/doctest.h>

#include "act/fleet/controller.h"
#include "act/fleet/rented_for_test.h"
#include "base/text.h"
#include "platform/fake/fake_store.h"

namespace mw::fleet {
namespace {

const Time kNow = Time::from_seconds(1'700'000'000);
const std::string kNonce = "0123456789abcdef";

FleetSpec named(const std::string& name) {
  FleetSpec spec;
  spec.name = name;
  spec.limits.price_per_hour = 6;
  spec.limits.spend = 100;
  return spec;
}

/// It lists the machine of `kNonce` as running, and takes it back.
class OneMachine final : public Provider {
 public:
  const std::string& name() const override { return name_; }
  Result<std::vector<Offer>> search(const MachineWants&) override { return std::vector<Offer>(); }
  Result<Instance> create(const Offer&, const Order&) override { return Error{Error::Code::kFull, "no room", ""}; }
  Result<Listing> list() override {
    Listing out;
    if (in_part) out.notes = {"region b did not answer"};
    out.whole = !in_part;
    if (there && !in_part)
      out.push_back({"i-1", label_text({"run", "0badcafe", 1, kNonce}), "", InstanceState::kRunning, 1, ""});
    return out;
  }
  Result<void> destroy(const Instance&) override {
    there = false;
    return {};
  }
  bool there = true, in_part = false;

 private:
  const std::string name_ = "local";
};

/// A run whose machine trains, and whose heartbeats have the times that `skew` makes of them.
struct Skewed {
  Skewed() {
    store.set_time(kNow);
    Control control = rented_control(kNonce, kNow + Duration::seconds(-7200));
    control.rentals[0].provider = "local";
    control.rentals[0].instance = "i-1";
    control.rentals[0].began = kNow + Duration::seconds(-7000);
    FleetStore::Held none;
    REQUIRE(*books.swap(none, control, "me") == FleetStore::Swap::kWon);
    auto one = std::make_unique<OneMachine>();
    machine = one.get();
    providers.push_back(std::move(one));
    beat(kNow);
  }
  void beat(Time at) {
    Heartbeat one;
    one.epoch = 1;
    one.machine = kNonce;
    one.phase = Heartbeat::Phase::kTraining;
    one.step = 12;
    one.at = at;
    store.set_time(at + skew);
    REQUIRE(put_heartbeat(store, "run", one).ok());
    store.set_time(now);
  }
  CheckResult check(std::function<void(Duration)> pause, bool one_clock = false) {
    const ControllerDoors doors{books, providers, [] { return kNonce; }, nullptr, std::move(pause), one_clock};
    const FleetSpec spec = named("run");
    auto result = check_run(doors, {spec, "0badcafe", {}, "me"});
    REQUIRE(result.ok());
    return *result;
  }
  FakeStore store;
  FleetStore books{store, "run"};
  std::vector<std::unique_ptr<Provider>> providers;
  OneMachine* machine = nullptr;
  Time now = kNow;
  Duration skew = Duration::seconds(-1800);
};

}  // namespace

TEST_CASE("of two that begin a run at one moment one wins, and the other writes nothing over") {
  FakeStore store;
  FleetStore mine(store, "run"), theirs(store, "run");
  REQUIRE_FALSE(mine.spec().ok());
  REQUIRE_FALSE(theirs.spec().ok());  // both have seen that nothing is there
  REQUIRE(mine.put_spec(named("first"), "00000001", "a", "").ok());
  const auto lost = theirs.put_spec(named("second"), "00000002", "b", "");
  REQUIRE_FALSE(lost.ok());
  CHECK(lost.error().code == Error::Code::kDenied);
  const auto there = mine.spec();
  REQUIRE(there.ok());
  CHECK(there->id == "00000001");
  // The same of two changes.
  REQUIRE(mine.put_spec(named("first"), "00000001", "c", there->etag).ok());
  CHECK_FALSE(theirs.put_spec(named("first"), "00000001", "d", there->etag).ok());
  CHECK(mine.spec()->digest == "c");
}

TEST_CASE("a specification whose answer was lost on the way is there all the same") {
  FakeStore store;
  FleetStore books(store, "run");
  store.fail_at(0, FakeStore::Fault::kAfter, false);
  CHECK(books.put_spec(named("run"), "00000001", "a", "").ok());
  CHECK(books.spec()->digest == "a");
}

TEST_CASE("where a store has no clock of its own a machine is not given up while its heartbeat changes") {
  Skewed world;
  const CheckResult lives = world.check([&](Duration time) {
    world.now = world.now + time;
    world.beat(world.now);
  });
  CHECK(lives.verdict.kind == Verdict::Kind::kHealthy);
  CHECK(world.machine->there);
  REQUIRE_FALSE(lives.notes.empty());
  CHECK(contains(lives.notes.front(), "clocks"));
  // Of one that says nothing more it is certain after two intervals.
  Duration waited;
  const CheckResult lost = world.check([&](Duration time) {
    waited.ns += time.ns;
    world.now = world.now + time;
    world.store.set_time(world.now);
  });
  CHECK(waited == Duration::seconds(120));
  CHECK_FALSE(world.machine->there);
  CHECK(contains(lost.done.front(), "fenced off"));
}

TEST_CASE("a store that was away for longer than the silence that counts ends no machine when it is back") {
  Skewed world;
  const CheckResult lives = world.check(
      [&](Duration time) {
        world.now = world.now + time;
        world.skew = {};
        world.beat(world.now);
      },
      true);
  CHECK(lives.verdict.kind == Verdict::Kind::kHealthy);
  CHECK(lives.notes.empty());
  CHECK(world.machine->there);
}

TEST_CASE("where a store has one clock and the provider says that the machine is gone, nobody waits for a heartbeat") {
  Skewed world;
  world.machine->there = false;
  bool waited = false;
  CHECK(contains(world.check([&](Duration) { waited = true; }, true).done.front(), "fenced off"));
  CHECK_FALSE(waited);
}

TEST_CASE("what a list leaves out that says so itself is not gone: nothing is rented in its place, and it is said") {
  Skewed world;
  world.machine->in_part = true;
  const CheckResult waits = world.check(nullptr, true);
  CHECK_FALSE(waits.all_seen);
  CHECK(waits.control.phase == Control::Phase::kEnding);  // it is silent for too long, and its epoch is over
  CHECK(contains(waits.waits, "the provider must say that the machine is gone: its list is not complete"));
  CHECK(contains(waits.notes.front(), "local: region b did not answer"));
  world.machine->in_part = false;
  const CheckResult goes_on = world.check(nullptr, true);
  CHECK(goes_on.all_seen);
  CHECK_FALSE(world.machine->there);
  CHECK(goes_on.control.phase != Control::Phase::kEnding);
}

TEST_CASE("a heartbeat from the future is said to be one, and its machine lives") {
  Skewed world;
  world.store.set_time(kNow + Duration::seconds(-4000));
  const CheckResult result = world.check(nullptr);
  CHECK(result.verdict.kind == Verdict::Kind::kHealthy);
  CHECK(contains(result.verdict.reasons.front(), "ahead of this store's clock"));
}

/// Somebody may read there, and not write.
class ReadOnly final : public FakeStore {
 public:
  Result<PutOutcome> put(const std::string& key, const Content& content, const PutCondition& condition) override {
    if (denied) return Error{Error::Code::kDenied, "AccessDenied", ""};
    return FakeStore::put(key, content, condition);
  }
  bool denied = false;
};

TEST_CASE("whoever may only read sees how a run stands, by a clock that is named, and can do nothing") {
  ReadOnly store;
  store.set_time(kNow);
  FleetStore books(store, "run");
  Control control = rented_control(kNonce, kNow + Duration::seconds(-7200));
  control.rentals[0].began = kNow + Duration::seconds(-7000);
  FleetStore::Held none;
  REQUIRE(*books.swap(none, control, "me") == FleetStore::Swap::kWon);
  Heartbeat one;
  one.epoch = 1;
  one.machine = kNonce;
  one.phase = Heartbeat::Phase::kTraining;
  REQUIRE(put_heartbeat(store, "run", one).ok());
  store.denied = true;
  const std::vector<std::unique_ptr<Provider>> providers;
  ControllerDoors doors{books, providers, [] { return kNonce; }};
  const FleetSpec spec = named("run");
  CHECK(see_run(doors, {spec, "0badcafe", {}, "me"}).error().code == Error::Code::kDenied);  // no clock at all
  doors.own_clock = [] { return kNow + Duration::seconds(20); };
  const auto seen = see_run(doors, {spec, "0badcafe", {}, "me"});
  REQUIRE(seen.ok());
  CHECK(seen->verdict.kind == Verdict::Kind::kHealthy);
  CHECK(seen->seen.now == kNow + Duration::seconds(20));
  REQUIRE(seen->notes.size() == 1);
  CHECK(contains(seen->notes[0], "by the clock of this machine"));
  CHECK(check_run(doors, {spec, "0badcafe", {}, "me"}).error().code == Error::Code::kDenied);
  store.denied = false;
  CHECK(see_run(doors, {spec, "0badcafe", {}, "me"})->notes.empty());
}

}  // namespace mw::fleet
