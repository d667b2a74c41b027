// What a run costs, where somebody said what its machines cost.
#pragma once

#include <string>
#include <string_view>

#include "core/state.h"

namespace mw {

/// What the run's machines cost an hour, in the currency of whoever said it: a figure of the machine (State::host)
/// under this raw name.
inline constexpr std::string_view kCostPerHour = "cost_per_hour";

/// As it was said last; 0: not known.
double cost_per_hour(const State& state);

/// From here on the state shows this one, whatever its journal has.
void set_cost_per_hour(State& state, double cost);

/// When an attempt began; where the line that began it has no clock, the time of its first record.
Time began_by_clock(const State& state, const AttemptState& attempt);

/// For how long an attempt lasted: from its first to its last sign of life, by its own clock or by the lines around
/// these that have one, or as the bar over its steps shows, whichever is more. In seconds; 0: nothing shows it.
double attempt_seconds(const State& state, const AttemptState& attempt);

/// When an attempt that midwatch started ended, or was last seen; of one that goes on the time of the last event.
Time supervised_end(const State& state, const SupervisedAttempt& attempt);

/// For how long its attempts lasted: those that midwatch started from their start to their end, others each from its
/// first to its last sign of life, by the clock of its lines or the bar over its steps. The time between them is not
/// counted. In seconds.
double run_seconds(const State& state);

/// "21.01", two decimals, or none from 10,000 up.
std::string money_text(double money);
/// "21.01 at 5.73 an hour" for so many seconds; "" where the rate is not known.
std::string cost_text(double seconds, double cost_per_hour);

}  // namespace mw
