// What the loop of a watch does beside reading: a task each, turn by turn.
#pragma once

#include <optional>

#include "base/time.h"
#include "core/event_writer.h"
#include "core/state.h"

namespace mw {

/// Runs beside a watch, turn by turn, on the same thread.
class Task {
 public:
  virtual ~Task() = default;
  /// Does what is due; `quiet` says that nothing in the run's files is unread. Returns how long the loop may wait at
  /// most; unset when the watch is over.
  virtual std::optional<Duration> turn(const State& state, bool quiet, EventWriter& writer) = 0;
  /// The watch is over, and nothing more will be read. Does what is still to be done, within seconds.
  virtual void over(const State&, EventWriter&) {}
  /// SIGINT or SIGTERM came. True: the task itself ends the watch.
  virtual bool stop_requested() { return false; }
};

}  // namespace mw
