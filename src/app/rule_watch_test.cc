#include "app/rule_watch.h"

#include <doctest/doctest.h>

#include "base/text.h"

namespace mw {
namespace {

class Notes final : public EventWriter {
 public:
  explicit Notes(State& state) : state_(state) {}
  Result<uint32_t> intend(event::Intended) override { return 1U; }
  void acted(event::Acted) override {}
  Result<void> record(SupervisionEvent, Time) override { return {}; }
  Result<void> note(event::Note words, Time at) override {
    if (full) return Error{Error::Code::kFull, "no space", ""};
    fold(state_, {at, {}, std::move(words)});
    return {};
  }
  bool full = false;

 private:
  State& state_;
};

TEST_CASE("a rule whose figure never comes is reported once, with the names that are close") {
  Knowledge known;
  for (const char* signal : {"reward.maen", "entropy", "qqq"}) {
    UserRule rule;
    rule.name = cat("of-", signal);
    rule.signal = signal;
    rule.below = 0;
    known.add(rule);
  }
  State state;
  Notes notes(state);
  FakeClock clock;
  std::vector<std::string> said;
  const auto say = [&said](const std::string& text) { said.push_back(text); };
  RuleWatch watch(clock, known, say);
  const auto go_on = [&](int64_t steps, RuleWatch& one) {
    for (int64_t step = 1; step <= steps; ++step) {
      fold(state, {{}, {0, 0}, event::Measured{step, false, {{"reward.mean", "score", 1}, {"entropy", "ent", 1}}}});
    }
    clock.pass(RuleWatch::kPeriod);
    CHECK(one.turn(state, true, notes).has_value());
  };
  go_on(RuleWatch::kSteps - 1, watch);
  CHECK(said.empty());
  notes.full = true;
  go_on(RuleWatch::kSteps, watch);
  notes.full = false;
  CHECK(state.notes.empty());
  said.clear();
  go_on(RuleWatch::kSteps, watch);
  REQUIRE(said.size() == 2);
  CHECK(said[0] == "rule of-qqq does nothing so far: nothing called qqq was seen");
  CHECK(
      said[1].starts_with("rule of-reward.maen does nothing so far: nothing called reward.maen was seen; the closest "
                          "are reward.mean"));
  CHECK(state.notes.size() == 2);
  go_on(RuleWatch::kSteps + 20, watch);
  RuleWatch next(clock, known, say);  // another midwatch
  go_on(RuleWatch::kSteps + 20, next);
  CHECK(said.size() == 2);
}

TEST_CASE("so is one of a run that is over before the next turn") {
  Knowledge known;
  UserRule rule;
  rule.name = "len";
  rule.signal = "response/meen";
  rule.above = 1;
  known.add(rule);
  State state;
  Notes notes(state);
  FakeClock clock;
  std::vector<std::string> said;
  RuleWatch watch(clock, known, [&said](const std::string& text) { said.push_back(text); });
  clock.pass(RuleWatch::kPeriod);
  CHECK(watch.turn(state, true, notes).has_value());
  for (int64_t step = 1; step <= RuleWatch::kSteps; ++step) {
    fold(state, {{}, {0, 0}, event::Measured{step, false, {{"response.length", "response/mean", 1}}}});
    if (step + 1 == RuleWatch::kSteps) watch.over(state, notes);
    if (step + 1 == RuleWatch::kSteps) CHECK(said.empty());
  }
  CHECK(watch.turn(state, true, notes).has_value());
  CHECK(said.empty());
  watch.over(state, notes);
  watch.over(state, notes);
  CHECK(said.size() == 1);
}

}  // namespace
}  // namespace mw
