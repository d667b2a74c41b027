// When a machine's next heartbeat is due.
#pragma once

#include <algorithm>
#include <optional>

#include "base/time.h"
#include "core/fleet/heartbeat.h"

namespace mw::fleet {

/// One each `every`, and one at once where the phase is another than the last one said: whoever looks is not to see
/// "starting" of a run that trains. Of those that come early there is one each `every` at the most, so that a phase
/// that goes to and fro at most doubles the requests. Times are of the clock that only goes forward.
class BeatTimes {
 public:
  explicit BeatTimes(Duration every) : every_(every) {}

  /// Until the next one is due; nothing or less: now.
  Duration wait(Duration now, Heartbeat::Phase phase) const {
    if (!last_) return {};
    const Duration regular{last_->ns + every_.ns - now.ns};
    if (phase == said_) return regular;
    const Duration early{early_ ? early_->ns + every_.ns - now.ns : 0};
    return std::min(regular, early);
  }

  /// One was sent.
  void sent(Duration now, Heartbeat::Phase phase) {
    if (last_ && now < Duration{last_->ns + every_.ns}) early_ = now;
    last_ = now;
    said_ = phase;
  }

 private:
  Duration every_;
  std::optional<Duration> last_, early_;
  Heartbeat::Phase said_ = Heartbeat::Phase::kStarting;
};

}  // namespace mw::fleet
