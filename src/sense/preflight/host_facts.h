// The machine as preflight sees it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/preflight/facts.h"
#include "platform/gpus.h"
#include "platform/system.h"

namespace mw::preflight {

/// Limits, packages, driver, environment (without secrets), logins, ports, memory. Small files; nothing is started.
Host look_at_host(System& system, const std::vector<std::string>& command, const std::string& folder);

/// GPUs that the driver reported.
void add_gpus(const GpuSnapshot& snapshot, Host& host);

/// "2xH100", "8x80GB": GPUs of a machine that is elsewhere. An error names the GPUs that are known.
Result<std::vector<Gpu>> parse_gpus(std::string_view text);

/// Space of the file system that would hold `folder`, which need not be there yet; "" of the path: not known.
void add_disk(System& system, const std::string& folder, const std::string& what, Host& host);

}  // namespace mw::preflight
