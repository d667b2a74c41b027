// Of which attempts the fingerprints are taken.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "act/supervise/supervisor.h"
#include "platform/disk.h"
#include "sense/fingerprint/fingerprinting.h"

namespace mw {

/// Of the attempts of a supervised run. An attempt that was running already was begun by another midwatch, with another
/// environment: that of its process is read.
FingerprintScope fingerprints_of(Disk& disk, const Supervisor& supervisor,
                                 std::function<Result<void>(const std::string&, std::string_view)> write_file,
                                 std::function<void(const std::string&)> say);

}  // namespace mw
