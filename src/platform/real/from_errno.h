// What the kernel refused, as an Error.
#pragma once

#include <string_view>

#include "base/result.h"

namespace mw {

/// Of `errno` as it is now: kNotFound, kDenied or kIo, as "WHAT: reason".
Error from_errno(std::string_view what);

}  // namespace mw
