#include "core/notes.h"

#include <doctest/doctest.h>

#include "core/cost.h"

namespace mw {
namespace {

Time at(int64_t second) { return {second * 1'000'000'000}; }

void say(State& state, Time when, const char* kind, const char* text) {
  if (*kind != '\0') fold(state, {when, {}, event::Requested{kind, "mira@node7"}});
  fold(state, {when, {}, event::Note{"mira@node7", text}});
}

TEST_CASE("a note is a lesson or a tag by the request of the same person at the same moment") {
  State state;
  say(state, at(1), "", "node 3 was swapped");
  say(state, at(2), "lesson", "profile before tuning");
  say(state, at(3), "tag", "ablation");
  fold(state, {at(4), {}, event::Requested{"pause", "mira@node7"}});
  fold(state, {at(4), {}, event::Note{"mira@node7", "paused it"}});
  fold(state, {at(5), {}, event::Requested{"lesson", "somebody else"}});
  fold(state, {at(5), {}, event::Note{"mira@node7", "no lesson of theirs"}});
  const auto notes = notes_of(state);
  REQUIRE(notes.size() == 5);
  CHECK(notes[0].kind.empty());
  CHECK(notes[1].kind == kLesson);
  CHECK(notes[1].text == "profile before tuning");
  CHECK(notes[2].kind == kTag);
  CHECK(notes[3].kind.empty());
  CHECK(notes[4].kind.empty());
  CHECK_FALSE(state.supervision.stop);
  CHECK_FALSE(state.last_at.known());  // the run's time is not that of what people say of it
}

TEST_CASE("a tag stands until it is taken away, and once") {
  State state;
  say(state, at(1), "tag", "ablation");
  say(state, at(2), "tag", "h100");
  say(state, at(3), "tag", "ablation");
  CHECK(tags_of(state) == std::vector<std::string>{"h100", "ablation"});
  say(state, at(4), "untag", "h100");
  CHECK(tags_of(state) == std::vector<std::string>{"ablation"});
  say(state, at(5), "", "h100");  // a note that says the same is no tag
  CHECK(tags_of(state) == std::vector<std::string>{"ablation"});
}

TEST_CASE("a tag is one plain word") {
  CHECK(is_tag("lr-sweep/2e-6"));
  CHECK(is_tag("früh"));
  for (const char* text : {"", "two words", "a,b", "x\x1b[31m", "=1", "<b>"}) CHECK_FALSE(is_tag(text));
  CHECK_FALSE(is_tag(std::string(kTagBytes + 1, 'a')));
}

TEST_CASE("a run costs what its attempts lasted, at the price that was said last") {
  State state;
  fold(state, {at(100), {0, 0}, event::SourceOpened{0, "train.log", "text", 10}});
  fold(state, {at(100), {0, 1}, event::StepBegan{1}});
  fold(state, {at(3700), {0, 2}, event::StepBegan{2}});
  CHECK(cost_per_hour(state) == 0);
  CHECK(cost_text(run_seconds(state), cost_per_hour(state)).empty());
  fold(state, {at(100), {1, 0}, event::SourceOpened{1, "host:price", std::string(kHostKind), 0}});
  const auto price = [&](int64_t second, double value) {
    fold(state, {at(second), {1, 1}, event::Measured{kNoStep, false, {{"", std::string(kCostPerHour), value}}}});
  };
  price(110, 5.73);
  CHECK(run_seconds(state) == doctest::Approx(3600));
  CHECK(cost_text(run_seconds(state), cost_per_hour(state)) == "5.73 at 5.73 an hour");
  price(200, 2);
  CHECK(cost_text(1800, cost_per_hour(state)) == "1.00 at 2.00 an hour");
  set_cost_per_hour(state, 8);
  CHECK(cost_per_hour(state) == 8);
  CHECK(money_text(12345.6) == "12346");
}

}  // namespace
}  // namespace mw
