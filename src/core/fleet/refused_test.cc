#include <doctest/doctest.h>

#include "base/text.h"
#include "core/fleet/control.h"
#include "core/fleet/decide.h"
#include "core/fleet/legs.h"

namespace mw::fleet {
namespace {

using Phase = Control::Phase;
using What = Move::What;

const Time kNow = Time::from_seconds(1'700'000'000);

std::string nonce_of(int64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(16 - digits.size(), '0') + digits;
}

FleetSpec allowing(int64_t rents, int64_t an_hour) {
  FleetSpec spec;
  spec.limits.price_per_hour = 6;
  spec.limits.spend = 100;
  spec.limits.rents = rents;
  spec.limits.rents_per_hour = an_hour;
  return spec;
}

void ask(Control& control, int64_t number) {
  Rental rental;
  rental.nonce = nonce_of(number);
  rental.provider = "slurm";
  rental.host = "h";
  rental.price = 2;
  rental.asked = kNow;
  add_intent(control, rental);
}

Move next(const FleetSpec& spec, const Control& control, double minutes) {
  Witnesses seen;
  seen.now = kNow + Duration::seconds(60 * minutes);
  return decide(spec, control, judge(spec.patience, control, seen), seen, {}, 0);
}

}  // namespace

TEST_CASE("what a provider refused was no machine: no limit counts it, and it is no part of the history") {
  const FleetSpec spec = allowing(2, 1);
  Control control = *launched({});
  for (int64_t i = 0; i < 3; ++i) {
    ask(control, i);
    forget_refused(control, kNow, "somebody else took it", false);
  }
  CHECK(rents_of(control) == 0);
  CHECK(next(spec, control, 3).what == What::kRent);
  CHECK(legs_of(control, {}, kNow).empty());
  CHECK_FALSE(control.rentals.back().failed);
  const auto read = parse_control(control_json(control));
  REQUIRE(read.ok());
  CHECK(read->rentals.front().refused);
  // One of which nobody knows whether it was there counts as ever.
  ask(control, 4);
  forget_current(control, kNow, "the provider never had it", true);
  CHECK(rents_of(control) == 1);
  CHECK(contains(next(spec, control, 50).why, "within an hour, which is the limit; the next one may be in 10m"));
}

TEST_CASE("a request that is wrong needs a person at once, and is tried again ever more rarely") {
  const FleetSpec spec = allowing(20, 3);
  Control control = *launched({});
  for (int64_t i = 0; i < 2; ++i) {
    ask(control, i);
    forget_refused(control, kNow, "it was refused: Invalid partition name specified", true);
  }
  CHECK(was_refused(control));
  const Move soon = next(spec, control, 0);
  CHECK(soon.what == What::kWait);
  CHECK(soon.person);
  CHECK(next(spec, control, 2).what == What::kRent);
  // Whoever has mended it need not wait for that.
  const auto again = launched(control);
  REQUIRE(again);
  CHECK(next(spec, *again, 0).what == What::kRent);
  CHECK_FALSE(launched(*again));
}

TEST_CASE("refused for weeks the record stays small, and the epochs go on") {
  Control control = *launched({});
  ask(control, 0);
  forget_current(control, kNow, "its machine is gone", false);
  for (int64_t i = 1; i <= 500; ++i) {
    ask(control, i);
    forget_refused(control, kNow, "there is no room", false);
  }
  CHECK(control.rentals.size() < 25);
  CHECK(control.rentals.front().nonce == nonce_of(0));  // what was a machine stays
  CHECK(control.rentals.back().nonce == nonce_of(500));
  CHECK(control.rentals.back().epoch >= 500);
  CHECK(parse_control(control_json(control)).ok());
  CHECK(is_over(control, control.rentals.back().epoch - 300, nonce_of(200)));
}

TEST_CASE("where there is no offer that is said, and not that none of them does") {
  std::vector<std::string> notes;
  CHECK(ranked(allowing(20, 3), Control(), kNow, {}, notes).empty());
  REQUIRE(notes.size() == 1);
  CHECK(contains(notes.front(), "taken"));
}

TEST_CASE("a successor that was refused is none: another offer is tried") {
  FleetSpec spec = allowing(20, 3);
  spec.limits.ahead = Duration::seconds(600);
  Control control = *launched({});
  ask(control, 1);
  control.phase = Phase::kRented;
  control.rentals.back().began = kNow;
  Witnesses seen;
  seen.now = kNow + Duration::seconds(600);
  seen.beat.emplace();
  seen.beat->phase = Heartbeat::Phase::kTraining;
  seen.beat->step = 4;
  seen.beat_changed = seen.now;
  seen.provider = InstanceState::kStopped;
  ask(control, 2);
  forget_refused(control, kNow, "somebody else took it", false);
  CHECK(control.current()->nonce == nonce_of(1));
  CHECK(control.phase == Phase::kRented);
  CHECK(decide_ahead(spec, control, judge(spec.patience, control, seen), seen, {}, 0).what == What::kRent);
}

TEST_CASE("a provider that lists a machine as ended is believed at once; one that lists none may be late") {
  const FleetSpec spec = allowing(20, 3);
  Control control = *launched({});
  ask(control, 1);
  control.phase = Phase::kRented;
  control.rentals.back().instance = "7";
  Witnesses seen;
  seen.now = kNow + Duration::seconds(20);
  seen.provider = InstanceState::kGone;
  CHECK_FALSE(judge(spec.patience, control, seen).replace);
  seen.ended = true;
  seen.provider_says = "FAILED, NonZeroExitCode";
  const Verdict verdict = judge(spec.patience, control, seen);
  CHECK(verdict.kind == Verdict::Kind::kLost);
  CHECK(contains(verdict.reasons.back(), "FAILED, NonZeroExitCode"));
  end_epoch(control, "again");
  Holding holding;
  holding.heard = true;
  CHECK(decide(spec, control, verdict, seen, holding, 0).what == What::kWait);
  holding.ended = true;
  CHECK(decide(spec, control, verdict, seen, holding, 0).what == What::kForget);
}

}  // namespace mw::fleet
