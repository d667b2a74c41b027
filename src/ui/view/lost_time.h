// What of a run's time came to nothing, by its record, in seconds, GPU-hours and money.
#pragma once

#include <string>

#include "api/registry.h"
#include "core/state.h"

namespace mw {

/// Parts of the time of its attempts; no second counts twice. Times between attempts are apart.
struct LostTime {
  double failed_s = 0;    ///< attempts that ended without a step that is kept
  double poisoned_s = 0;  ///< since the onset of what poisons the data, up to the attempt's end
  double stalled_s = 0;   ///< since a stall, a collective that did not end, or the death of an engine or a worker
  double redone_s = 0;    ///< steps that the next attempt did not resume from
  double between_s = 0;   ///< from an attempt's last sign of life to the next one's first
  double of_s = 0;        ///< that the attempts lasted
  int64_t gpus = 0;       ///< 0: not known

  double seconds() const { return failed_s + poisoned_s + stalled_s + redone_s; }
};

LostTime lost_time(const RunRecord& record);

/// "2h 10m of 9h 30m (23 %): steps done again 1h 10m, stuck 1h 00m; 17.3 GPU-hours; 12.40 at 5.73 an hour; besides
/// 12m between attempts"; "" where nothing is known to be lost.
std::string lost_time_text(const RunRecord& record);

}  // namespace mw
