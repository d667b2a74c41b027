// Text in UTF-8 from the numbers of its characters.
#pragma once

#include <cstdint>
#include <string>

namespace mw {

/// The character of that number, at most 0x10FFFF; of a lone surrogate, which is none, the three bytes that would be.
void append_utf8(std::string& out, uint32_t code);

}  // namespace mw
