// Is a message the refusal of a setting? Programs phrase it alike, and name what a person sets.
#pragma once

#include <string_view>

namespace mw::detect {

/// `folded` is `message`, or its first sentences, in lower case.
bool refuses(std::string_view message, std::string_view folded);

}  // namespace mw::detect
