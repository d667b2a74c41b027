#include "core/shipments.h"

#include <doctest/doctest.h>

#include "core/attempts.h"
#include "core/overwrites.h"

namespace mw {
namespace {

using How = Shipment::How;

/// A run whose folds are those of its events.
struct Run {
  State state;
  uint64_t line = 0;
  uint32_t action = 0;

  Run() {
    say(event::SourceOpened{0, "train.log", "text", 1000});
    say(event::AttemptBegan{"banner"});
  }
  void say(decltype(Event::body) body) {
    fold(state, {Time{int64_t(++line) * 1'000'000'000}, {0, line}, std::move(body)});
  }
  static std::string folder(int64_t step) { return "/ck/step_" + std::to_string(step); }
  void save(int64_t step, event::CheckpointSeen::How how = event::CheckpointSeen::How::kWhole) {
    say(event::StepBegan{step});
    say(event::CheckpointSaved{step, folder(step), true});
    event::CheckpointSeen seen;
    seen.step = step;
    seen.path = folder(step);
    seen.how = how;
    say(std::move(seen));
  }
  void ship(int64_t step, bool ok = true, std::string_view word = kShip) {
    say(event::Intended{++action, std::string(word), folder(step), 0, ""});
    say(event::Acted{action, ok, ok ? "there" : "no connection", 1});
  }
  void resume(int64_t step) {
    say(event::AttemptBegan{"banner"});
    say(event::Resumed{step, folder(step)});
  }
  void went_bad(int64_t step) {
    Incident incident;
    incident.kind = "zero-reward";
    incident.severity = Severity::kCritical;
    incident.open = true;
    incident.onset.step = step;
    incident.latest.attempt = static_cast<uint16_t>(state.attempts.size() - 1);
    state.incidents.push_back(incident);
  }
  How how(int64_t step) const {
    for (const Shipment& one : shipments(state)) {
      if (one.step == step) return one.how;
    }
    FAIL("no such checkpoint");
    return How::kWaiting;
  }
  std::string next() const {
    const auto one = next_shipment(state, [](const std::string&) { return false; });
    return !one ? "none" : std::to_string(one->step) + (one->back ? " back" : "");
  }
};

TEST_CASE("the newest whole checkpoint is shipped first, then the older ones") {
  Run run;
  CHECK(run.next() == "none");
  CHECK_FALSE(last_shipped(run.state).has_value());
  run.save(10);
  run.save(20);
  run.save(30, event::CheckpointSeen::How::kBroken);
  CHECK(run.next() == "20");
  run.say(event::Intended{++run.action, std::string(kShip), Run::folder(20), 0, ""});
  CHECK(run.how(20) == How::kSending);
  CHECK(run.next() == "10");
  run.say(event::Acted{run.action, true, "there", 1});
  CHECK(run.how(20) == How::kShipped);
  CHECK(last_shipped(run.state)->step == 20);
  CHECK(run.next() == "10");  // `latest` stays at 20: a later step is not given up for it
  run.ship(10, false);
  CHECK(run.how(10) == How::kFailed);
  CHECK(shipments(run.state).front().text == "no connection");
  CHECK(run.next() == "10");
  CHECK_FALSE(next_shipment(run.state, [](const std::string& path) { return path == Run::folder(10); }).has_value());
  run.ship(10);
  CHECK(run.next() == "none");
  CHECK(last_shipped(run.state)->step == 20);  // it is what a machine would begin from
}

TEST_CASE("what was saved since an onset is held back, and latest goes back to what was before it") {
  Run run;
  run.save(10);
  run.save(20);
  run.ship(20);
  run.save(30);
  run.went_bad(25);
  CHECK(run.how(30) == How::kHeld);
  CHECK(run.next() == "10");  // which does not move latest: that names a good one
  run.ship(10);
  CHECK(run.next() == "none");
  run.state.incidents.back().onset.step = 15;
  CHECK(run.next() == "10 back");
  run.ship(10, true, kShipBack);
  CHECK(run.next() == "none");
}

TEST_CASE("after a rollback the run's new checkpoints move latest, and what it left behind is not shipped") {
  Run run;
  run.save(10);
  run.ship(10);
  run.save(20);
  run.ship(20);
  run.save(30);
  run.resume(10);
  CHECK(run.how(30) == How::kHeld);
  CHECK(run.next() == "10 back");
  run.ship(10, true, kShipBack);
  CHECK(run.next() == "none");
  run.save(15);
  CHECK(run.next() == "15");
  run.ship(15);
  run.save(20);  // anew, by this attempt: the files of the same name are others
  CHECK(run.how(20) == How::kWaiting);
  CHECK(run.next() == "20");
}

TEST_CASE("what the first attempt was to go on from and is in the store is shipped once it was saved anew only") {
  Run run;
  event::CheckpointSeen there;
  there.step = 60;
  there.path = Run::folder(60);
  there.how = event::CheckpointSeen::How::kWhole;
  there.what = kToGoOnFrom;
  run.say(there);
  run.ship(60);  // it came from there
  run.resume(60);
  there.what = "";
  run.say(there);  // the first scan of its files comes late
  CHECK(run.how(60) == How::kShipped);
  CHECK(run.next() == "none");
  run.save(70);
  CHECK(run.next() == "70");
  run.ship(70);
  run.resume(60);
  run.save(60);
  CHECK(run.how(60) == How::kWaiting);
}

/// A command that trains in /ck/A and then, from its first step on, in /ck/B.
struct TwoTrainings : Run {
  TwoTrainings() { state.attempts.back().why = kKeeperBegan; }
  void save_in(const std::string& folder, int64_t step) {
    say(event::Measured{step, false, {{"reward.mean", "r", 0.5}}});
    const std::string path = "/ck/" + folder + "/step_" + std::to_string(step);
    say(event::CheckpointSaved{step, path, true});
    event::CheckpointSeen seen;
    seen.step = step;
    seen.path = path;
    seen.how = event::CheckpointSeen::How::kWhole;
    say(std::move(seen));
  }
  std::string ship_next() {
    const auto one = next_shipment(state, [](const std::string&) { return false; });
    if (!one) return "none";
    say(event::Intended{++action, std::string(one->back ? kShipBack : kShip), one->path, 0, ""});
    say(event::Acted{action, true, "there", 1});
    return one->path + (one->back ? " back" : "") + (one->aside ? " aside" : "");
  }
};

TEST_CASE("latest follows the training that goes on, and what the one before it saved is shipped behind it") {
  TwoTrainings run;
  run.say(event::Measured{1, false, {{"reward.mean", "r", 0.5}}});
  for (const int64_t step : {40, 50, 60}) run.save_in("A", step);
  CHECK(run.ship_next() == "/ck/A/step_60");
  CHECK(run.ship_next() == "/ck/A/step_50");
  run.say(event::Measured{1, false, {{"reward.mean", "r", 0.5}}});
  REQUIRE(run.state.attempts.size() == 2);
  CHECK(run.ship_next() == "/ck/A/step_40");
  CHECK(last_shipped(run.state)->path == "/ck/A/step_60");
  run.save_in("B", 10);
  CHECK(run.ship_next() == "/ck/B/step_10 back");
  CHECK(last_shipped(run.state)->path == "/ck/B/step_10");
  run.save_in("B", 40);
  CHECK(run.ship_next() == "/ck/B/step_40");
  CHECK(last_shipped(run.state)->path == "/ck/B/step_40");  // and not the first one's of that step
  CHECK(run.ship_next() == "none");                         // none is sent twice
  run.resume(10);                                           // which is behind nothing that the first one saved
  CHECK(run.ship_next() == "/ck/B/step_10 back");
  CHECK(run.ship_next() == "none");
}

TEST_CASE("what an earlier training saved and is not in the store yet comes last, and moves latest nowhere") {
  TwoTrainings run;
  run.say(event::Measured{1, false, {{"reward.mean", "r", 0.5}}});
  for (const int64_t step : {50, 60}) run.save_in("A", step);
  run.say(event::Measured{1, false, {{"reward.mean", "r", 0.5}}});
  run.save_in("B", 10);
  CHECK(run.ship_next() == "/ck/B/step_10");
  CHECK(run.ship_next() == "/ck/A/step_60 aside");
  CHECK(last_shipped(run.state)->path == "/ck/B/step_10");
  CHECK(run.ship_next() == "/ck/A/step_50 aside");
  CHECK(run.ship_next() == "none");
}

TEST_CASE("of a place that every save is written to each step is shipped once") {
  Run run;
  const auto save = [&run](int64_t step) {
    run.say(event::StepBegan{step});
    event::CheckpointSeen seen;
    seen.step = step;
    seen.path = "/ck/trial/default/recover_checkpoint";
    seen.how = event::CheckpointSeen::How::kWhole;
    run.say(std::move(seen));
  };
  const auto ship = [&run](bool ok) {
    run.say(event::Intended{++run.action, std::string(kShip), "/ck/trial/default/recover_checkpoint", 0, ""});
    run.say(event::Acted{run.action, ok, "", 1});
  };
  save(9);
  CHECK(run.next() != "none");
  ship(true);
  CHECK(run.next() == "none");
  save(9);  // looked at again
  CHECK(run.next() == "none");
  save(19);
  CHECK(run.how(19) == How::kWaiting);
  CHECK(run.next() != "none");
  ship(false);
  CHECK(run.how(19) == How::kFailed);
  ship(true);
  CHECK(run.next() == "none");
}

TEST_CASE("an attempt that goes on from the newest leaves nothing behind") {
  Run run;
  run.save(10);
  run.save(20);
  run.ship(20);
  run.resume(20);
  CHECK(run.how(20) == How::kShipped);
  CHECK(run.next() == "10");
}

}  // namespace
}  // namespace mw
