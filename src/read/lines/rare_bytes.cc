#include "read/lines/rare_bytes.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <array>
#include <cstring>

namespace mw {
namespace {

constexpr size_t kCount = RareBytes::kBytes.size();

}  // namespace

RareBytes::RareBytes(std::string_view line) : bits_(0) {
  size_t at = 0;
#if defined(__SSE2__)
  constexpr size_t kVector = 16;
  if (line.size() >= kVector) {
    std::array<__m128i, kCount> found{};
    __m128i high = _mm_setzero_si128();
    while (at < line.size()) {
      if (at + kVector > line.size()) at = line.size() - kVector;  // some are looked at twice, which changes nothing
      __m128i bytes;
      std::memcpy(&bytes, line.data() + at, sizeof bytes);
      high = _mm_or_si128(high, bytes);
#pragma GCC unroll 16
      for (size_t i = 0; i < kCount; ++i) {
        found[i] = _mm_or_si128(found[i], _mm_cmpeq_epi8(bytes, _mm_set1_epi8(kBytes[i])));
      }
      at += kVector;
    }
    for (size_t i = 0; i < kCount; ++i) bits_ |= _mm_movemask_epi8(found[i]) != 0 ? uint32_t{1} << i : 0;
    if (_mm_movemask_epi8(high) != 0) bits_ |= kWide;
  }
#endif
  for (; at < line.size(); ++at) {
    if (static_cast<unsigned char>(line[at]) >= 0x80) bits_ |= kWide;
    const size_t place = kBytes.find(line[at]);
    if (place != std::string_view::npos) bits_ |= uint32_t{1} << place;
  }
}

}  // namespace mw
