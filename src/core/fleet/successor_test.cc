#include <doctest/doctest.h>

#include "base/text.h"
#include "core/fleet/control.h"
#include "core/fleet/decide.h"

namespace mw::fleet {
namespace {

using Phase = Control::Phase;
using What = Move::What;

const Time kNow = Time::from_seconds(1'700'000'000);
const std::string kFirst = "0123456789abcdef", kSecond = "fedcba9876543210";
Time ago(double minutes) { return kNow + Duration::seconds(-60 * minutes); }

FleetSpec allowing(double minutes) {
  FleetSpec spec;
  spec.limits.price_per_hour = 6;
  spec.limits.spend = 100;
  spec.limits.ahead = Duration::seconds(60 * minutes);
  return spec;
}

Rental rental_of(const std::string& nonce, double minutes) {
  Rental out;
  out.nonce = nonce;
  out.provider = "local";
  out.instance = nonce.substr(0, 3);
  out.price = 2;
  out.asked = ago(minutes);
  return out;
}

/// A run whose machine was rented three hours ago and trains in epoch 1.
Control training() {
  Control control;
  add_intent(control, rental_of(kFirst, 180));
  control.phase = Phase::kRented;
  control.rentals.back().began = ago(170);
  return control;
}

/// The same with a successor that was rented two minutes ago.
Control followed() {
  Control control = training();
  add_intent(control, rental_of(kSecond, 2));
  control.next = Phase::kRented;
  return control;
}

Witnesses heard(double minutes, std::optional<InstanceState> provider) {
  Witnesses seen;
  seen.now = kNow;
  seen.beat.emplace();
  seen.beat->phase = Heartbeat::Phase::kTraining;
  seen.beat->step = 40;
  seen.beat_changed = ago(minutes);
  seen.provider = provider;
  return seen;
}

Move ahead(const FleetSpec& spec, const Control& control, const Witnesses& seen, const Successor& next = {}) {
  return decide_ahead(spec, control, judge(spec.patience, control, seen), seen, next, 0);
}

Successor there() {
  Successor out;
  out.holding = {true, "fed", "", 2, InstanceState::kRunning, false};
  return out;
}

TEST_CASE("a successor waits while its machine trains, and trains when that is gone") {
  Control control = followed();
  CHECK(control.epoch == 1);
  CHECK(control.successor()->epoch == 2);
  CHECK(may_train(control, 1, kFirst));
  CHECK_FALSE(may_train(control, 2, kSecond));
  CHECK(may_wait(control, 2, kSecond));
  CHECK_FALSE(is_over(control, 2, kSecond));
  end_epoch(control, "again");
  CHECK(control.epoch == 2);
  CHECK_FALSE(may_train(control, 1, kFirst));
  CHECK_FALSE(may_train(control, 2, kSecond));  // the first one may still train until it hears of it
  CHECK(may_wait(control, 2, kSecond));
  forget_current(control, kNow, "it is gone", false);
  CHECK(may_train(control, 2, kSecond));
  CHECK(control.phase == Phase::kRented);
  CHECK(control.current()->turn == kNow);
  CHECK(is_over(control, 1, kFirst));
}

TEST_CASE("a run that ends takes its successor with it") {
  for (const char* outcome : {"finished", "failed", "limit"}) {
    CAPTURE(outcome);
    Control control = followed();
    end_epoch(control, outcome);
    CHECK(control.next == Phase::kEnding);
    CHECK(contains(control.successor()->end, "the run is over"));
    forget_current(control, kNow, "it is gone", false);
    CHECK(control.phase == Phase::kEnding);
    CHECK(control.current()->nonce == kSecond);
    CHECK(control.epoch > control.current()->epoch);
    forget_current(control, kNow, "it is gone", false);
    CHECK(control.phase == Phase::kStopped);
    CHECK(control.outcome == outcome);
  }
  Control control = followed();
  end_epoch(control, "again");
  const auto rest = stopped(control);
  REQUIRE(rest.has_value());
  CHECK_FALSE(may_wait(*rest, 2, kSecond));
}

TEST_CASE("one that was given back is over for ever, and what is asked for next has an epoch of its own") {
  Control control = followed();
  control.next = Phase::kEnding;
  CHECK_FALSE(may_wait(control, 2, kSecond));
  forget_successor(control, kNow, "it is gone", true);
  CHECK(control.misses == 1);
  CHECK(is_over(control, 2, kSecond));
  CHECK(may_train(control, 1, kFirst));
  end_epoch(control, "again");
  CHECK(control.epoch == 3);
  forget_current(control, kNow, "it is gone", false);
  CHECK(control.phase == Phase::kIdle);
  CHECK(add_intent(control, rental_of("00000000000000aa", 0)).epoch == 4);
}

TEST_CASE("a record with a successor survives being written and read; one without reads as it always did") {
  const std::string plain = control_json(training());
  CHECK_FALSE(contains(plain, "\"next\""));
  CHECK_FALSE(contains(plain, "\"turn\""));
  CHECK(parse_control(plain)->next == Phase::kIdle);
  Control control = followed();
  const std::string text = control_json(control);
  const auto read = parse_control(text);
  REQUIRE(read.ok());
  CHECK(control_json(*read) == text);
  CHECK(read->successor()->nonce == kSecond);
  const auto changed = [&](std::string_view from, std::string_view to) {
    std::string other = text;
    other.replace(other.find(from), from.size(), to);
    return parse_control(other).ok();
  };
  CHECK_FALSE(changed("\"next\":\"rented\"", "\"next\":\"stopped\""));
  CHECK_FALSE(changed("\"next\":\"rented\",", ""));
  CHECK_FALSE(changed("{\"epoch\":1", "{\"epoch\":7"));  // its turn can never come
  add_intent(control, rental_of("00000000000000aa", 0));
  CHECK_FALSE(parse_control(control_json(control)).ok());  // three at once
}

TEST_CASE("a successor is rented on notice, or where the provider says that the machine stopped, and only if allowed") {
  const FleetSpec spec = allowing(10), never = allowing(0);
  const Control control = training();
  Witnesses noticed = heard(0.5, InstanceState::kRunning);
  CHECK(ahead(spec, control, noticed).what == What::kNothing);
  noticed.beat->leaves = Duration::seconds(3600);
  CHECK(ahead(spec, control, noticed).what == What::kNothing);
  noticed.beat->leaves = Duration::seconds(120);
  CHECK(ahead(spec, control, noticed).what == What::kRent);
  CHECK(ahead(never, control, noticed).what == What::kNothing);
  CHECK(ahead(spec, control, heard(0.5, InstanceState::kStopped)).what == What::kRent);
  CHECK(ahead(spec, control, heard(0.5, InstanceState::kGone)).what == What::kNothing);  // a list may leave it out
  CHECK(ahead(spec, control, heard(1.5, InstanceState::kGone)).what == What::kRent);
  CHECK(ahead(spec, control, heard(10, InstanceState::kRunning)).what == What::kNothing);  // silence alone is no reason
  CHECK(ahead(spec, control, heard(10, std::nullopt)).what == What::kNothing);
  Control ending = training();
  end_epoch(ending, "again");
  CHECK(ahead(spec, ending, noticed).what == What::kRent);
  end_epoch(ending, "finished");
  CHECK(ahead(spec, ending, noticed).what == What::kNothing);
  Control renting = training();
  renting.phase = Phase::kRenting;
  CHECK(ahead(spec, renting, noticed).what == What::kNothing);  // one is being rented
}

TEST_CASE("limits hold for both machines together") {
  FleetSpec spec = allowing(10);
  const Control control = training();
  const Witnesses seen = heard(0.5, InstanceState::kStopped);
  Offer offer;
  offer.id = "one";
  offer.price = 2;
  std::vector<std::string> notes;
  // Six were spent; a quarter of an hour of each machine costs a half.
  spec.limits.spend = 7;
  CHECK(ranked(spec, control, kNow, {offer}, notes).size() == 1);
  spec.limits.spend = 6.9;
  CHECK(ranked(spec, control, kNow, {offer}, notes).empty());
  spec.limits.spend = 6.4;
  CHECK(ahead(spec, control, seen).what == What::kNothing);
  spec = allowing(10);
  spec.limits.rents = 1;
  CHECK(ahead(spec, control, seen).what == What::kNothing);
  // While both are there, both are counted: the first one is given up no later for that it has a successor.
  spec = allowing(10);
  spec.limits.spend = cost_of(followed(), kNow) + 0.9;
  const Control both = followed();
  CHECK(decide(spec, both, judge(spec.patience, both, seen), seen, {}, 0).after == "limit");
}

TEST_CASE("a successor that nobody needs is given back, and is not rented again for the same machine") {
  const FleetSpec spec = allowing(10);
  Control control = followed();
  CHECK(ahead(spec, control, heard(0.5, InstanceState::kStopped), there()).what == What::kNothing);
  const Move move = ahead(spec, control, heard(0.5, InstanceState::kRunning), there());
  CHECK(move.what == What::kFence);
  CHECK(move.ahead);
  CHECK(ahead(spec, control, heard(10, InstanceState::kRunning), there()).what == What::kNothing);  // not known yet
  control.rentals.back().asked = ago(21);
  CHECK(ahead(spec, control, heard(0.5, InstanceState::kStopped), there()).what == What::kFence);
  control.next = Phase::kEnding;
  CHECK(ahead(spec, control, heard(0.5, InstanceState::kRunning), there()).what == What::kDestroy);
  Successor gone;
  gone.holding.heard = true;
  CHECK(ahead(spec, control, heard(0.5, InstanceState::kRunning), gone).what == What::kForget);
  CHECK(ahead(spec, control, heard(0.5, InstanceState::kRunning)).what == What::kWait);  // nobody was heard
  forget_successor(control, kNow, "it is gone", false);
  CHECK(ahead(spec, control, heard(0.5, InstanceState::kStopped)).what == What::kNothing);
}

TEST_CASE("a successor is kept while nobody knows whether its machine goes on") {
  const FleetSpec spec = allowing(10);
  const Control control = followed();
  // It was stopped. Now its provider does not list it, or is not heard, and the last heartbeat is young.
  CHECK(ahead(spec, control, heard(0.5, InstanceState::kGone), there()).what == What::kNothing);
  CHECK(ahead(spec, control, heard(0.5, std::nullopt), there()).what == What::kNothing);
  CHECK(ahead(spec, control, heard(0.5, InstanceState::kLost), there()).what == What::kNothing);
  CHECK(ahead(spec, control, heard(0.5, InstanceState::kProvisioning), there()).what == What::kFence);
  // One whose run is over needs none, whatever its provider says.
  Witnesses over = heard(0.5, std::nullopt);
  over.beat->phase = Heartbeat::Phase::kFailed;
  CHECK(ahead(spec, control, over, there()).what == What::kFence);
}

TEST_CASE("of two that were to begin the one that says something is taken") {
  const FleetSpec spec = allowing(10);
  Control control;
  add_intent(control, rental_of(kFirst, 14));
  control.phase = Phase::kRented;
  Witnesses silent;
  silent.now = kNow;
  silent.provider = InstanceState::kProvisioning;
  CHECK(ahead(spec, control, silent).what == What::kNothing);
  control.rentals.back().asked = ago(16);  // of the 30 minutes that it has
  CHECK(ahead(spec, control, silent).what == What::kRent);
  CHECK(ahead(allowing(0), control, silent).what == What::kNothing);
  add_intent(control, rental_of(kSecond, 5));
  control.next = Phase::kRented;
  CHECK(ahead(spec, control, silent, there()).what == What::kNothing);  // neither is there
  Successor waits = there();
  waits.beat.emplace();
  waits.beat->phase = Heartbeat::Phase::kWaiting;
  const Move move = ahead(spec, control, silent, waits);
  CHECK(move.what == What::kFence);
  CHECK_FALSE(move.ahead);
  CHECK(move.failed);
  Witnesses begins = heard(0.5, InstanceState::kRunning);
  begins.beat->phase = Heartbeat::Phase::kStarting;
  const Move drop = ahead(spec, control, begins, waits);
  CHECK(drop.what == What::kFence);
  CHECK(drop.ahead);
}

TEST_CASE("the time of a machine that was asked for late counts from when it was there") {
  const FleetSpec spec = allowing(0);
  Control control;
  add_intent(control, rental_of(kFirst, 42));
  control.phase = Phase::kRented;
  Witnesses seen = heard(0, InstanceState::kRunning);
  seen.beat->phase = Heartbeat::Phase::kStarting;
  CHECK(judge(spec.patience, control, seen).kind == Verdict::Kind::kUnfit);
  control.current()->there = ago(12);
  CHECK(judge(spec.patience, control, seen).kind == Verdict::Kind::kStarting);
  CHECK(parse_control(control_json(control))->current()->there == ago(12));
  // Nor is it lost for not being listed yet.
  control.current()->there = ago(2);
  Witnesses silent;
  silent.now = kNow;
  silent.provider = InstanceState::kGone;
  CHECK(judge(spec.patience, control, silent).kind == Verdict::Kind::kStarting);
}

TEST_CASE("a successor's time to begin counts from its turn") {
  const FleetSpec spec = allowing(30);
  Control control = followed();
  control.rentals.back().asked = ago(40);
  end_epoch(control, "again");
  forget_current(control, ago(5), "it is gone", false);
  Witnesses seen = heard(0.5, InstanceState::kRunning);
  seen.beat->phase = Heartbeat::Phase::kStarting;
  CHECK(judge(spec.patience, control, seen).kind == Verdict::Kind::kStarting);
  control.rentals.back().turn = ago(31);
  CHECK(judge(spec.patience, control, seen).kind == Verdict::Kind::kUnfit);
}

}  // namespace
}  // namespace mw::fleet
