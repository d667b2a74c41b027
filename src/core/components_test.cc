#include "core/components.h"

#include <doctest/doctest.h>

namespace mw {
namespace {

using Health = event::ComponentSaw::Health;

void see(State& state, Health health, int64_t pid) {
  event::ComponentSaw saw;
  saw.component = "judge";
  saw.kind = "rewards";
  saw.health = health;
  saw.certain = in_trouble(health);
  saw.pid = pid;
  Moment moment;
  moment.attempt = 0;
  add_component(state, saw, moment);
}

}  // namespace

TEST_CASE("a component that was started anew is in trouble until it works") {
  State state;
  state.attempts.emplace_back();
  see(state, Health::kWell, 100);
  see(state, Health::kDead, 100);
  const ComponentState& judge = state.components.front();
  REQUIRE(judge.troubles.size() == 1);
  see(state, Health::kStarting, 101);
  CHECK(judge.last.health == Health::kStarting);
  CHECK_FALSE(judge.troubles.back().ended.has_value());
  SUBCASE("it works") {
    see(state, Health::kWell, 101);
    CHECK(judge.troubles.back().ended.has_value());
    see(state, Health::kStarting, 102);
    CHECK(judge.troubles.size() == 1);
  }
  SUBCASE("it fails before it ever did: that is the same trouble") {
    see(state, Health::kSilent, 101);
    CHECK(judge.troubles.size() == 1);
    CHECK(judge.troubles.back().saw.health == Health::kDead);
  }
}

}  // namespace mw
