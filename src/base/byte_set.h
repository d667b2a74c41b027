// Bytes that something is looked up by.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace mw {

/// A set of bytes. One lookup says whether it holds a byte, where std::string_view's find_first_of() and find() call
/// memchr for each.
class ByteSet {
 public:
  constexpr explicit ByteSet(std::string_view bytes) {
    for (const char c : bytes) held_[static_cast<unsigned char>(c)] = true;
  }
  constexpr bool holds(char c) const { return held_[static_cast<unsigned char>(c)]; }
  /// Does `text` hold one of them?
  constexpr bool any_in(std::string_view text) const {
    for (const char c : text) {
      if (holds(c)) return true;
    }
    return false;
  }

 private:
  std::array<bool, 256> held_{};
};

}  // namespace mw
