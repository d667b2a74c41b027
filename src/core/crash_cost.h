// What a crash costs: the work since the checkpoint that the run goes back to, in time and money, and how well that
// checkpoint is known. Whoever speaks of a crash says it by these.
#pragma once

#include <cstdint>
#include <string>

#include "core/state.h"

namespace mw {

/// The run's last sign of life by its own clock; of one that goes on, now. Where its log has quite another clock than
/// the midwatch that watches it, what passed since the log last spoke is added to the log's.
Time last_sign_of_life(const State& state);

/// For how long the last attempt had worked since the checkpoint of `step`, by the run's clock, or where its lines have
/// none by that of the midwatch that started it: since that was saved, where the attempt saved it itself, else since
/// the attempt began, which went on from it. In seconds; 0 where that is not known.
double work_since(const State& state, int64_t step);

/// Likewise since that time.
double work_since(const State& state, Time since);

/// "1h 44m of work (9.93 at 5.73 an hour)"; "" where no time is known, and of less than a minute.
std::string work_text(double seconds, double cost_per_hour);

/// "step 40 was found whole 12m before", "all bytes of step 40 were read and found sane 12m before": of the newest
/// checkpoint that is verified, until the run's last sign of life. "" where nobody looked.
std::string verified_text(const State& state);

}  // namespace mw
