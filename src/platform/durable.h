// Small files that are there whole or not at all.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "platform/disk.h"

namespace mw {

/// The content of a small file, at most 4 MiB of it.
Result<std::string> read_small(Disk& disk, const std::string& path);

/// Writes `text` beside `path` and renames it there; durable when it returns.
Result<void> write_durably(Disk& disk, const std::string& path, std::string_view text);

/// Likewise, for nobody but this user to read: it may hold secrets.
Result<void> write_privately(Disk& disk, const std::string& path, std::string_view text);

}  // namespace mw
