// '^' and '$' of a signature's expression mean the ends of what a program printed, not of what stands in the file.
#pragma once

#include <string>
#include <string_view>

namespace mw {

/// `expression` with a leading '^' that skips what wrappers put before a line (colours, "(pid=7)", "[rank0]:", "0:", a
/// date and time, spaces) and a closing '$' that skips spaces and colours. Alternatives at the top level are left
/// alone.
std::string anchored(std::string_view expression);

}  // namespace mw
