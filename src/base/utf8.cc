#include "base/utf8.h"

namespace mw {

void append_utf8(std::string& out, uint32_t code) {
  const auto tail = [&](uint32_t shift) { out.push_back(static_cast<char>(0x80U | (code >> shift & 0x3fU))); };
  if (code < 0x80) {
    out.push_back(static_cast<char>(code));
    return;
  }
  if (code < 0x800) {
    out.push_back(static_cast<char>(0xc0U | code >> 6));
  } else if (code < 0x10000) {
    out.push_back(static_cast<char>(0xe0U | code >> 12));
    tail(6);
  } else {
    out.push_back(static_cast<char>(0xf0U | code >> 18));
    tail(12);
    tail(6);
  }
  tail(0);
}

}  // namespace mw
