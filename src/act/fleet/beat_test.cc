#include "act/fleet/beat.h"

#include <doctest/doctest.h>

#include <map>

#include "act/fleet/rented_for_test.h"
#include "act/vault/latest.h"
#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "platform/fake/fake_store.h"

namespace mw::fleet {
namespace {

const std::string kNonce = "0123456789abcdef";

Result<std::optional<MachineIdentity>> identity_of(std::map<std::string, std::string> variables) {
  return machine_identity([variables = std::move(variables)](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional<std::string>(found->second);
  });
}

TEST_CASE("a machine knows itself by its environment, or nobody rented it") {
  CHECK_FALSE(identity_of({})->has_value());
  const auto own = identity_of(
      {{kStoreVariable, "/mnt/run"}, {kEpochVariable, "3"}, {kMachineVariable, kNonce}, {kEveryVariable, "30s"}});
  REQUIRE(own.ok());
  CHECK((*own)->epoch == 3);
  CHECK((*own)->every == Duration::seconds(30));
  CHECK_FALSE(identity_of({{kMachineVariable, kNonce}}).ok());
  CHECK_FALSE(identity_of({{kStoreVariable, "/x"}, {kEpochVariable, "-1"}, {kMachineVariable, kNonce}}).ok());
  CHECK_FALSE(identity_of({{kStoreVariable, "/x"}, {kEpochVariable, "1"}, {kMachineVariable, "../epoch"}}).ok());
}

/// A store in which the machine `kNonce` was rented for epoch 1.
struct Rented {
  Rented() { put(rented_control(kNonce, Time::from_seconds(1'700'000'000))); }
  void put(const Control& control) {
    auto held = books.control();
    REQUIRE(held.ok());
    const auto swapped = books.swap(*held, control, "me");
    REQUIRE(swapped.ok());
    REQUIRE(*swapped == FleetStore::Swap::kWon);
  }
  void end_epoch() {
    Control control = *books.control()->control;
    ++control.epoch;
    control.phase = Control::Phase::kEnding;
    put(control);
  }
  Result<Standing> beat_now() {
    Heartbeat one;
    one.epoch = 1;
    one.machine = kNonce;
    one.phase = Heartbeat::Phase::kTraining;
    return beat(books, store, "run", one);
  }
  FakeStore store;
  FleetStore books{store, "run"};
};

TEST_CASE("a machine that beats learns that its epoch is over, and says that it is fenced off") {
  Rented world;
  auto standing = world.beat_now();
  REQUIRE(standing.ok());
  CHECK(*standing == Standing::kMine);
  CHECK(world.books.heartbeat(kNonce)->beat->phase == Heartbeat::Phase::kTraining);
  world.end_epoch();
  standing = world.beat_now();
  REQUIRE(standing.ok());
  CHECK(*standing == Standing::kFenced);
  CHECK(world.books.heartbeat(kNonce)->beat->phase == Heartbeat::Phase::kFenced);
}

TEST_CASE("a successor hears that it is to wait, then that it may train, or that nobody needs it") {
  Rented world;
  Control control = *world.books.control()->control;
  Rental next = control.rentals.back();
  next.nonce = "fedcba9876543210";
  add_intent(control, next);
  control.next = Control::Phase::kRented;
  world.put(control);
  const auto beat_of = [&] {
    Heartbeat one;
    one.epoch = 2;
    one.machine = next.nonce;
    return *beat(world.books, world.store, "run", one);
  };
  CHECK(beat_of() == Standing::kWaits);
  CHECK(world.books.heartbeat(next.nonce)->beat->phase == Heartbeat::Phase::kWaiting);
  CHECK(*world.beat_now() == Standing::kMine);
  control = *world.books.control()->control;
  control.next = Control::Phase::kEnding;
  world.put(control);
  CHECK(beat_of() == Standing::kFenced);
  CHECK(*world.beat_now() == Standing::kMine);
  control = *world.books.control()->control;
  control.next = Control::Phase::kRented;
  end_epoch(control, "again");
  forget_current(control, next.asked, "it is gone", false);
  world.put(control);
  CHECK(beat_of() == Standing::kMine);
  CHECK(*world.beat_now() == Standing::kFenced);
}

TEST_CASE("a store that does not answer, or is damaged, fences nobody off") {
  Rented world;
  world.store.fail_at(0, FakeStore::Fault::kBefore, true);
  CHECK_FALSE(world.beat_now().ok());
  world.store.heal();
  world.store.damage("run/fleet/epoch.json", "{}");
  CHECK_FALSE(world.beat_now().ok());
  world.store.lose("run/fleet/epoch.json");
  CHECK_FALSE(world.beat_now().ok());
}

TEST_CASE("a swap whose answer is lost is known again, and one that was overtaken changes nothing") {
  Rented world;
  auto mine = *world.books.control();
  auto theirs = mine;
  Control to = *mine.control;
  to.why = "first";
  world.store.fail_at(0, FakeStore::Fault::kAfter, false);
  auto swapped = world.books.swap(mine, to, "me");
  REQUIRE(swapped.ok());
  CHECK(*swapped == FleetStore::Swap::kWon);
  CHECK(mine.control->serial == 2);
  to.why = "second";
  swapped = world.books.swap(theirs, to, "you");
  REQUIRE(swapped.ok());
  CHECK(*swapped == FleetStore::Swap::kLost);
  CHECK(world.books.control()->control->why == "first");
}

TEST_CASE("a store that keeps no conditions is found out") {
  for (const auto how :
       {FakeStore::Conditions::kKept, FakeStore::Conditions::kIgnored, FakeStore::Conditions::kRefused}) {
    FakeStore store(1, how);
    const auto keeps = FleetStore(store, "").keeps_conditions("me");
    REQUIRE(keeps.ok());
    CHECK(*keeps == (how == FakeStore::Conditions::kKept));
    CHECK(store.objects().empty());
  }
}

TEST_CASE("the machine of an older epoch cannot move latest once a later one has begun") {
  FakeStore store;
  FakeDisk disk(1);
  FakeClock clock;
  const vault::VaultDoors doors{
      disk,   store, clock, [](Duration) {}, [](const std::string&) -> Result<int64_t> { return int64_t{1} << 40; },
      nullptr};
  const vault::Keys keys{"run"};
  const auto claim = [&](int64_t epoch, vault::LatestPointer& pointer) {
    REQUIRE(pointer.probe().ok());
    const auto [floor, ceiling] = pointer_epochs(epoch);
    return pointer.claim(floor, ceiling);
  };
  vault::Pointer target;
  target.step = 50;
  target.checkpoint = vault::checkpoint_id(50, "0123456789abcdef");
  target.manifest_hash = std::string(32, 'a');
  vault::LatestPointer first(doors, keys, "a"), again(doors, keys, "b"), second(doors, keys, "c"),
      late(doors, keys, "d");
  CHECK(claim(1, first).ok());
  CHECK(claim(1, again).ok());  // one machine pushes often
  CHECK(claim(2, second).ok());
  const auto moved = again.move(target, false);
  REQUIRE(moved.ok());
  CHECK(*moved == vault::Moved::kFenced);
  const auto denied = claim(1, late);
  REQUIRE_FALSE(denied.ok());
  CHECK(denied.error().code == Error::Code::kDenied);
  CHECK(*second.move(target, false) == vault::Moved::kMoved);
}

}  // namespace
}  // namespace mw::fleet
