// Which checkpoints were saved after the data was poisoned.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "act/supervise/judgement.h"
#include "act/supervise/run_files.h"
#include "base/result.h"
#include "base/time.h"
#include "core/checkpoint_layout.h"
#include "core/state.h"
#include "platform/disk.h"

namespace mw {

/// What the circuit breaker writes down of the incident it trips on.
Trip trip_on(const Incident& incident);

/// The first checkpoint of the last attempt that the run's files report as saved since the trip's onset;
/// kNoStep when there is none.
int64_t first_reported_tainted(const State& state, const Trip& trip);

/// Likewise of those that are on the disk, in `roots`, and that nothing reported: a trainer is killed between its save
/// and the line that reports it, or with that line still in a buffer. `began`: when the attempt did, by the clock of
/// the machine; what is older was there before. `skip`: folders of somebody else's. kIo when the disk does not answer.
Result<int64_t> first_unreported_tainted(Disk& disk, const std::vector<std::string>& roots,
                                         const CheckpointLayout& layout, const State& state, const Trip& trip,
                                         Time began, const std::set<std::string>& skip = {});

}  // namespace mw
