// What is known of the checkpoints of a run: what its log says, what was found on the disk, what a crash would cost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/state.h"
#include "ui/view/overview.h"

namespace mw {

struct CheckpointRow {
  int64_t step = kNoStep;
  Time at;     ///< when the log says so
  Time about;  ///< where that line has no clock: by those around it; unknown where they have none either
  uint16_t attempt = 0;
  double seconds = 0;    ///< that the save took; 0 when not known
  int64_t bytes = 0;     ///< on the disk; 0 when it was not looked at
  bool saved = false;    ///< the log or the disk shows that it is there, and nothing that it is broken
  bool removed = false;  ///< by midwatch itself
  std::string verified;  ///< "whole on disk", "BROKEN: …", "saved, by the log", "its save began"
  std::string path;
};
/// In the order of the log; what was only found on the disk last.
std::vector<CheckpointRow> checkpoint_rows(const State& state, const Cycle& cycle);

/// What would be lost if the run ended now.
struct CrashCost {
  int64_t from = kNoStep;  ///< step of the newest checkpoint of the last attempt's weights; kNoStep: there is none, or
  std::string path = {};   ///< the newest is this one, whose step is not known; nor is `steps` then
  int64_t steps = 0;       ///< done since
  double seconds = 0;      ///< worked since, by the run's clock; 0 when not known
  bool known = false;      ///< false: no step was done, or the run is over
};
CrashCost crash_cost(const State& state);

/// "1 step and 1h 44m of work (9.93 at 5.73 an hour) since the checkpoint of step 4; step 4 was found whole 1h 43m
/// before"; "" when not known.
std::string crash_cost_text(const State& state);

/// To save more often, where a failure or a day of running shows that it is worth it; "" else.
std::string saving_advice(const State& state);

}  // namespace mw
