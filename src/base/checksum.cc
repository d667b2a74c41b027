#include "base/checksum.h"

#include <libdeflate.h>

#include <array>
#include <cstring>

#include "base/check.h"
#include "base/xxh3.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace mw {
namespace {

using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables t{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78U : 0);
    t[0][i] = crc;
  }
  for (uint32_t i = 0; i < 256; ++i) {
    for (size_t k = 1; k < 8; ++k) t[k][i] = (t[k - 1][i] >> 8) ^ t[0][t[k - 1][i] & 0xff];
  }
  return t;
}
constexpr Tables kTables = make_tables();

uint32_t crc32c_software(const uint8_t* at, size_t size, uint32_t crc) {
  for (; size >= 8; at += 8, size -= 8) {
    uint64_t word = 0;
    std::memcpy(&word, at, 8);
    word ^= crc;
    crc = 0;
    for (size_t k = 0; k < 8; ++k) crc ^= kTables[7 - k][(word >> (8 * k)) & 0xff];
  }
  for (; size > 0; ++at, --size) crc = (crc >> 8) ^ kTables[0][(crc ^ *at) & 0xff];
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t crc32c_hardware(const uint8_t* at, size_t size, uint32_t crc) {
  uint64_t wide = crc;
  for (; size >= 8; at += 8, size -= 8) {
    uint64_t word = 0;
    std::memcpy(&word, at, 8);
    wide = _mm_crc32_u64(wide, word);
  }
  uint32_t narrow = static_cast<uint32_t>(wide);
  for (; size > 0; ++at, --size) narrow = _mm_crc32_u8(narrow, *at);
  return narrow;
}
#endif

}  // namespace

uint32_t crc32c(std::string_view bytes, uint32_t seed) {
  const auto* at = reinterpret_cast<const uint8_t*>(bytes.data());
#if defined(__x86_64__)
  static const bool hardware = __builtin_cpu_supports("sse4.2");
  if (hardware) return ~crc32c_hardware(at, bytes.size(), ~seed);
#endif
  return ~crc32c_software(at, bytes.size(), ~seed);
}

uint32_t crc32_ieee(std::string_view bytes, uint32_t seed) {
  return libdeflate_crc32(seed, bytes.data(), bytes.size());
}

Xxh3::Xxh3() : state_(xxh3::create()) { MW_CHECK(state_ != nullptr); }
Xxh3::~Xxh3() { xxh3::destroy(state_); }
void Xxh3::update(std::string_view bytes) {
#if defined(__x86_64__)
  static const bool wide = xxh3::kWide && __builtin_cpu_supports("avx2");
  if (wide) return xxh3::update_wide(state_, bytes.data(), bytes.size());
#endif
  xxh3::update(state_, bytes.data(), bytes.size());
}
uint64_t Xxh3::digest() const { return xxh3::digest(state_); }

}  // namespace mw
