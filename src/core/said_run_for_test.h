// A run whose events are said one after the other, a second apart, and judged at each. For tests.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/advance.h"

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
};

}  // namespace mw
