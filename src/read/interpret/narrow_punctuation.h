#pragma once

#include <string>
#include <string_view>

namespace mw {

/// Full-width punctuation as people type it between Chinese words, written as ASCII. False: there is none, and
/// `out` is as it was.
bool narrow_punctuation(std::string_view text, std::string& out);

}  // namespace mw
