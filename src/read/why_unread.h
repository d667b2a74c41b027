// Why a file that was named is not read.
#pragma once

#include <string>

#include "platform/disk.h"

namespace mw {

/// "it is empty", "it is packed with xz: unpack it first"; "" where its first bytes say nothing.
std::string why_unread(Disk& disk, const std::string& path);

/// Why nothing says what the figures of a file named as a table are; "" where that is not so.
std::string why_unnamed(Disk& disk, const std::string& path);

}  // namespace mw
