// On which day a log begins whose clocks name no date.
#pragma once

#include <string>

#include "base/time.h"
#include "platform/disk.h"

namespace mw {

/// A moment of the day on which the first line of the file was written, for LineReader::set_date_hint(): its last clock
/// is not later than `changed`, when the file was last written, and before it lie as many midnights as its clocks went
/// past. Looks at some pieces of the file. `changed` where its first clocks have a date, or it has none.
Time first_date(Disk& disk, const std::string& path, Time changed);

}  // namespace mw
