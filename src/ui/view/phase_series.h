// Times that only the log gives, beside those of the metrics, so that every table has the same.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/state.h"

namespace mw {

/// By name, the signals time.* of which the log's timing of a phase ("Finished: 'generate', time cost: …") shows more
/// than State::find(): the steps behind the last one that an attempt's metrics have, or all where they have none. Of a
/// step several ends are added up. Of very many ends the first are no longer known.
std::map<std::string, Series, std::less<>> phase_series(const State& state);

/// False of a signal of `phase_series` that only the log shows and whose first ends are no longer known: its first and
/// its least value are not the run's.
bool known_from_its_first(const State& state, std::string_view name);

/// The signal as every table shows it: of `phases`, else State::find(); nullptr when the run does not show it.
const Series* shown_signal(const State& state, const std::map<std::string, Series, std::less<>>& phases,
                           std::string_view name);

}  // namespace mw
