// Numbers as they lie in the bytes of files.
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace mw {

static_assert(std::endian::native == std::endian::little, "the formats that are read so are little-endian");

/// The little-endian number at `at`, aligned or not; all of it lies within `bytes`.
template <typename Number>
Number number_at(std::string_view bytes, size_t at) {
  Number number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

}  // namespace mw
