// The records of runs: made from their journals and fingerprints, kept beside them once a run is over.
#pragma once

#include <string>
#include <vector>

#include "api/requests.h"
#include "base/result.h"
#include "platform/disk.h"

namespace mw {

/// In a run's folder: its record as of a journal that has not changed since. Nothing but `midwatch runs` reads it, and
/// it may be deleted at any time.
inline constexpr std::string_view kRecordFile = "record.json";

/// The record of the run in `status.folder`. It is read from kRecordFile where that was made by this very program from
/// the journal and the fingerprints as they are now; else it is made, and kept unless the run is `live`.
Result<RunRecord> run_record(Disk& disk, const RunStatus& status, bool live);

/// What a run has other than another one: settings, then what the fingerprints of their first attempts show.
std::vector<RunRecord::Change> differences_of(Disk& disk, const RunRecord& before, const RunRecord& after);

}  // namespace mw
