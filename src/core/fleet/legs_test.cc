#include "core/fleet/legs.h"

#include <doctest/doctest.h>

#include "core/fleet/fleet_spec.h"
#include "core/fleet/verdict.h"

namespace mw::fleet {
namespace {

const Time kNow = Time::from_seconds(1'700'000'000);
Time ago(double minutes) { return kNow + Duration::seconds(-60 * minutes); }

Rental rental(int64_t epoch, std::string nonce, double asked, double gone) {
  Rental out;
  out.epoch = epoch;
  out.nonce = std::move(nonce);
  out.provider = "local";
  out.price = 6;
  out.asked = ago(asked);
  if (gone >= 0) out.gone = ago(gone);
  return out;
}

LastBeat last(int64_t attempts, int64_t from, int64_t step) {
  LastBeat out;
  out.beat.attempt = attempts;
  out.beat.from = from;
  out.beat.step = step;
  return out;
}

TEST_CASE("the machines of a run are one history: attempts numbered through, steps done again, cost of each") {
  Control control;
  control.phase = Control::Phase::kRented;
  control.rentals = {rental(1, "a", 130, 120), rental(3, "b", 120, 110), rental(5, "c", 110, 60),
                     rental(7, "d", 30, -1)};
  // The second one never said a word: it takes no number, and what the first one lost is known by the third.
  const auto legs = legs_of(control, {{"a", last(2, 0, 47)}, {"c", last(1, 45, 60)}, {"d", last(1, 60, 71)}}, kNow);
  REQUIRE(legs.size() == 4);
  CHECK(legs[0].first_attempt == 1);
  CHECK(legs[0].attempts == 2);
  CHECK(legs[0].redone == 2);
  CHECK(legs[0].cost == doctest::Approx(1.0));
  CHECK_FALSE(legs[1].last.has_value());
  CHECK(legs[1].attempts == 0);
  CHECK(legs[1].redone == -1);
  CHECK(legs[2].first_attempt == 3);
  CHECK(legs[2].redone == 0);
  CHECK(legs[3].first_attempt == 4);
  CHECK(legs[3].redone == -1);  // it goes on
  CHECK(legs[3].cost == doctest::Approx(3.0));
}

TEST_CASE("what a machine does not say of its beginning makes no steps lost") {
  Control control;
  control.phase = Control::Phase::kRented;
  control.rentals = {rental(1, "a", 30, 20), rental(3, "b", 20, -1)};
  CHECK(legs_of(control, {{"a", last(1, 0, 47)}, {"b", last(1, kNoStep, 50)}}, kNow)[0].redone == -1);
  // One that began from scratch does all of them again.
  CHECK(legs_of(control, {{"a", last(1, 0, 47)}, {"b", last(1, 0, 3)}}, kNow)[0].redone == 47);
}

TEST_CASE("a checkpoint that is being received is neither silence nor a failed start, and one that hangs is") {
  const Patience patience;
  Control control;
  control.epoch = 3;
  control.phase = Control::Phase::kRented;
  control.rentals = {rental(3, "0123456789abcdef", 90, -1)};
  Witnesses seen;
  seen.now = kNow;
  seen.beat.emplace();
  seen.beat->epoch = 3;
  seen.beat->machine = "0123456789abcdef";
  seen.beat->phase = Heartbeat::Phase::kReceiving;
  seen.beat->received = 60'000'000'000;
  seen.beat->total = 100'000'000'000;
  seen.beat_changed = ago(1);
  seen.provider = InstanceState::kRunning;
  const auto after = [&](double minutes, Heartbeat::Phase phase) {
    seen.beat->receiving = Duration::seconds(60 * minutes);
    seen.beat->phase = phase;
    return judge(patience, control, seen);
  };
  const Verdict well = after(85, Heartbeat::Phase::kReceiving);
  CHECK(well.kind == Verdict::Kind::kStarting);
  CHECK_FALSE(well.replace);
  CHECK(well.reasons.back().find("60.0 GB of 100 GB") != std::string::npos);
  CHECK(after(40, Heartbeat::Phase::kReceiving).kind == Verdict::Kind::kUnfit);  // no byte for 50 minutes
  CHECK_FALSE(after(85, Heartbeat::Phase::kStarting).replace);  // it came, and the model is being loaded
  CHECK(after(0, Heartbeat::Phase::kStarting).replace);
}

TEST_CASE("what a heartbeat says of a transfer and of the run's record survives, within limits") {
  Heartbeat beat;
  beat.epoch = 3;
  beat.machine = "0123456789abcdef";
  beat.phase = Heartbeat::Phase::kReceiving;
  beat.run = "20260219-090811-train";
  beat.from = 40;
  beat.received = 5;
  beat.total = 10;
  beat.receiving = Duration::seconds(7);
  const auto read = parse_heartbeat(heartbeat_json(beat));
  REQUIRE(read.ok());
  CHECK(heartbeat_json(*read) == heartbeat_json(beat));
  CHECK(read->phase == Heartbeat::Phase::kReceiving);
  CHECK(read->run == beat.run);
  CHECK(read->from == 40);
  // Nobody is waited for longer than a month on its own word.
  beat.receiving = Duration::seconds(1e8);
  CHECK(parse_heartbeat(heartbeat_json(beat))->receiving < Duration::seconds(1e7));
}

TEST_CASE("a run is known by what lies in its store: its limits and its patience") {
  FleetSpec spec;
  spec.name = "gsm8k-8b";
  spec.limits.price_per_hour = 6;
  spec.limits.spend = 200;
  spec.limits.rents = 7;
  spec.patience.silence = Duration::seconds(120);
  const auto read = parse_fleet_spec_json(fleet_spec_json(spec, "1a2b3c4d", "digest"));
  REQUIRE(read.ok());
  CHECK(read->name == spec.name);
  CHECK(read->limits.spend == 200);
  CHECK(read->limits.rents == 7);
  CHECK(read->patience.silence == Duration::seconds(120));
  CHECK(read->patience.start == spec.patience.start);
  CHECK_FALSE(parse_fleet_spec_json("{}").ok());
  CHECK_FALSE(parse_fleet_spec_json("[").ok());
}

}  // namespace
}  // namespace mw::fleet
