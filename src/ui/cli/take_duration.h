// Durations on the command line.
#pragma once

#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "ui/cli/verb.h"

namespace mw {

/// What option `name` says: "10" (seconds), "10s", "1h 30m". At most a day, and at least `least`; else kInvalid.
Result<Duration> take_duration(const Args& args, std::string_view name, Duration least = {});

}  // namespace mw
