// A run whose events are said one after the other, a second apart, and judged at each. For tests.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/advance.h"
#include "core/attempts.h"

namespace mw {

struct SaidRun {
  Knowledge knowledge;
  State state;
  uint64_t line = 0;

  template <typename Body>
  void say(Body body, uint32_t source = 0) {
    Event event{Time::from_seconds(1'700'000'000.0 + static_cast<double>(++line)), {source, line}, std::move(body)};
    event.received = event.at;
    std::vector<Event> decided;
    advance(state, event, knowledge, Judge::kAlways, decided);
  }
  /// Its command failed, and midwatch started it again.
  void begins_again() {
    ActionState restart;
    restart.attempt = static_cast<uint16_t>(state.attempts.size() - 1);
    restart.intent.action = "restart";
    state.actions.push_back(restart);
    say(event::Ended{event::Ended::How::kExit, 3, "exit status 3"});
    say(event::AttemptBegan{std::string(kKeeperBegan)});
  }
};

}  // namespace mw
