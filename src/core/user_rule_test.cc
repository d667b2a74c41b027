#include "core/user_rule.h"

#include <doctest/doctest.h>

#include "core/advance.h"
#include "core/supervise/breaker.h"
#include "core/supervise/policy.h"

namespace mw {
namespace {

Knowledge with(UserRule rule) {
  Knowledge known;
  known.add(std::move(rule));
  return known;
}

UserRule low_reward() {
  UserRule rule;
  rule.name = "low";
  rule.signal = "own/figure";
  rule.below = 0.1;
  rule.points = 2;
  rule.severity = Severity::kCritical;
  rule.breaker = true;
  rule.text = "Check the verifier.";
  return rule;
}

/// A run that is judged as it goes.
struct Run {
  Knowledge known;
  State state;
  uint64_t line = 0;

  template <typename Body>
  void put(Body body) {
    std::vector<Event> decided;
    advance(state, {{}, {0, ++line}, std::move(body)}, known, Judge::kAlways, decided);
  }
  void step(int64_t number, double value) {
    put(event::Measured{number, false, {{"", "own/figure", value}, {"kl.step", "actor/ppo_kl", 0.01}}});
  }
};

TEST_CASE("a rule that is broken trips the breaker, and is over when the figure is good again") {
  Run run{with(low_reward()), {}, 0};
  for (int64_t step = 1; step <= 10; ++step) run.step(step, 0.5);
  run.put(event::CheckpointSaved{10, "out/global_step_10", true});
  run.step(11, 0.05);
  CHECK(run.state.incidents.empty());
  run.step(12, 0.04);
  REQUIRE(run.state.incidents.size() == 1);
  const Incident& incident = run.state.incidents.front();
  CHECK((incident.kind == kUserRule && incident.severity == Severity::kCritical && incident.open));
  CHECK((incident.onset.step == 11 && incident.detected.step == 12));
  CHECK(incident.summary == "Rule low: own/figure is 0.05, below 0.1 from step 11 on, 2 points in a row");
  CHECK(incident.reaction == "rollback-before-onset");
  REQUIRE_FALSE(incident.causes.empty());
  CHECK(incident.causes.front().id == "rule.low");
  CHECK(incident.causes.front().fix == "Check the verifier.");
  CHECK(breaker(run.state).incident == &incident);
  run.step(13, 0.5);
  CHECK_FALSE(run.state.incidents.front().open);
  CHECK(breaker(run.state).incident == nullptr);
}

TEST_CASE("a save that only the disk shows to be whole is there to roll back to") {
  Run run{with(low_reward()), {}, 0};
  for (int64_t step = 1; step <= 10; ++step) run.step(step, 0.5);
  run.put(event::CheckpointSaved{10, "out/global_step_10", false});
  run.put(event::CheckpointSeen{10, "/out/global_step_10", event::CheckpointSeen::How::kWhole, "", "", 100, 2, ""});
  for (int64_t step = 11; step <= 12; ++step) run.step(step, 0.01);
  REQUIRE(run.state.incidents.size() == 1);
  CHECK(run.state.incidents.front().reaction == "rollback-before-onset");
}

TEST_CASE("in the attempt that went back it counts anew") {
  Run run{with(low_reward()), {}, 0};
  for (int64_t step = 1; step <= 10; ++step) run.step(step, 0.5);
  run.put(event::CheckpointSaved{10, "out/global_step_10", true});
  for (int64_t step = 11; step <= 13; ++step) run.step(step, 0.01);
  REQUIRE(breaker(run.state).incident != nullptr);
  run.put(event::AttemptBegan{"started again"});
  run.put(event::Resumed{10, "out/global_step_10"});
  run.step(11, 0.01);
  CHECK(breaker(run.state).incident == nullptr);
  run.step(12, 0.01);
  const Incident* again = breaker(run.state).incident;
  REQUIRE(again != nullptr);
  CHECK((again->latest.attempt == 1 && again->latest.step == 11));
  run.step(13, 0.5);
  CHECK(breaker(run.state).incident == nullptr);
  CHECK_FALSE(run.state.incidents.front().open);
}

TEST_CASE("without a checkpoint from before, and without the breaker, a rule asks for no going back") {
  Run run{with(low_reward()), {}, 0};
  run.step(1, 0.5);
  run.put(event::CheckpointSaved{2, "out/global_step_2", true});
  for (int64_t step = 2; step <= 3; ++step) run.step(step, 0.01);  // the checkpoint holds its onset
  REQUIRE(run.state.incidents.size() == 1);
  CHECK(run.state.incidents.front().reaction == "stop-and-notify");
  CHECK(breaker(run.state).incident != nullptr);
  UserRule rule = low_reward();
  rule.breaker = false;
  Run other{with(rule), {}, 0};
  for (int64_t step = 1; step <= 3; ++step) other.step(step, 0.01);
  REQUIRE(other.state.incidents.size() == 1);
  CHECK(other.state.incidents.front().reaction == "ignore");
  CHECK(breaker(other.state).incident == nullptr);
}

TEST_CASE("what the attempt itself resumed from is there to roll back to") {
  Run run{with(low_reward()), {}, 0};
  run.put(event::Resumed{100, "out/global_step_100"});
  for (int64_t step = 101; step <= 103; ++step) run.step(step, 0.01);
  REQUIRE(run.state.incidents.size() == 1);
  CHECK(run.state.incidents.front().reaction == "rollback-before-onset");
}

TEST_CASE("a figure is found by its signal, the trainer's name, and the machine's thing") {
  Run run;
  run.step(1, 0.5);
  run.put(event::SourceOpened{1, "host:disks", std::string(kHostKind), 0});
  std::vector<Event> decided;
  const event::Measured disks{kNoStep, false, {{"disk.free", "/", 1e9}, {"disk.free", "/data", 2e9}}};
  advance(run.state, {{}, {1, 1}, disks}, run.known, Judge::kAlways, decided);
  const auto found = [&run](std::string signal) {
    UserRule rule;
    rule.signal = std::move(signal);
    return figures_of(run.state, rule);
  };
  CHECK(found("kl.step").own != nullptr);
  CHECK(found("actor/ppo_kl").own != nullptr);
  CHECK(found("disk.free").machine.size() == 2);
  REQUIRE(found("disk.free:/data").machine.size() == 1);
  CHECK(found("disk.free:/data").machine.front()->last() == 2e9);
  for (const char* nothing : {"", ":", "disk.free:", "disk.free:/dat", "kl"}) CHECK_FALSE(found(nothing).seen());
  CHECK(figure_names(run.state) == std::vector<std::string>{"actor/ppo_kl", "disk.free", "kl.step", "own/figure"});
}

TEST_CASE("a figure of the machine that is bad from the first reading on ends nothing, one that turns bad does") {
  UserRule rule;
  rule.name = "disk";
  rule.signal = "disk.free:/";
  rule.below = 5e9;
  rule.points = 2;
  rule.severity = Severity::kCritical;
  rule.breaker = true;
  for (const bool at_first : {true, false}) {
    CAPTURE(at_first);
    Run run{with(rule), {}, 0};
    const auto at = [&run](double seconds, uint32_t source, auto body) {
      std::vector<Event> decided;
      advance(run.state, {Time::from_seconds(seconds), {source, ++run.line}, std::move(body)}, run.known,
              Judge::kAlways, decided);
    };
    const auto disk = [&at](double seconds, double free) {
      at(seconds, 1, event::Measured{kNoStep, false, {{"disk.free", "/", free}}});
    };
    run.state.supervision.attempts.emplace_back();
    run.state.supervision.attempts.back().number = 1;
    run.state.supervision.attempts.back().started_at = Time::from_seconds(1000);
    at(1001, 1, event::SourceOpened{1, "host:disks", std::string(kHostKind), 0});
    disk(1002, at_first ? 1e9 : 9e9);
    for (int64_t step = 1; step <= 10; ++step)
      at(1005 + 5 * static_cast<double>(step), 0, event::Measured{step, false, {{"", "own/figure", 0.5}}});
    if (!at_first) disk(1060, 1e9);
    at(1100, 0, event::Ticked{});
    REQUIRE(run.state.incidents.size() == 1);
    CHECK(run.state.incidents.front().kind == kUserRule);
    CHECK((breaker(run.state).incident == nullptr) == at_first);
  }
}

TEST_CASE("a rule of the same name takes the place of the one before") {
  Knowledge known = with(low_reward());
  UserRule other = low_reward();
  other.below = 0.2;
  other.text = "another";
  known.add(other);
  CHECK((known.rules.size() == 1 && known.causes.size() == 1));
  REQUIRE(known.find_rule("rule.low") != nullptr);
  CHECK(known.find_rule("rule.low")->below == 0.2);
  CHECK(known.find_cause("rule.low")->fix == "another");
  CHECK(known.find_rule("rule.lo") == nullptr);
}

}  // namespace
}  // namespace mw
