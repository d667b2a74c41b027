#include "read/event_door.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>

namespace mw {

TEST_CASE("a shared name that holds a secret is cleaned in every record, and a harmless one stays the same") {
  const std::string secret = "ghp_x9Kq2LmZ7vB4nR8tY1wE5uI3oP6aS0dF4gHj";
  const auto leaky = std::make_shared<const FigureName>("", "requests/" + secret);
  const auto harmless = std::make_shared<const FigureName>("reward.mean", "critic/score/mean");
  EventDoor door(nullptr);
  for (int step = 1; step <= 3; ++step) {
    Event event;
    event.body = event::Measured{step, false, {{harmless, 0.5}, {leaky, 1}, {"", "own/" + secret, 2}}};
    door.pass(event);
    const auto& readings = std::get<event::Measured>(event.body).readings;
    CHECK(readings[0].name() == harmless);
    CHECK(readings[1].raw().find(secret) == std::string::npos);
    CHECK(readings[1].value == 1);
    CHECK(readings[2].raw().find(secret) == std::string::npos);
  }
}

}  // namespace mw
