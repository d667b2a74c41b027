// The checksums that the formats we read and write ask for.
#pragma once

#include <cstdint>
#include <string_view>

namespace mw {

/// CRC-32C (Castagnoli, reflected polynomial 0x82f63b78), as in RFC 3720; hardware where the CPU has it.
uint32_t crc32c(std::string_view bytes, uint32_t seed = 0);

/// CRC-32 (IEEE 802.3, as zlib's crc32()).
uint32_t crc32_ieee(std::string_view bytes, uint32_t seed = 0);

/// XXH3, 64 bits (xxHash 0.8): at memory speed, for large files; no protection against an adversary.
class Xxh3 {
 public:
  Xxh3();
  ~Xxh3();
  Xxh3(const Xxh3&) = delete;
  Xxh3& operator=(const Xxh3&) = delete;
  void update(std::string_view bytes);
  uint64_t digest() const;  ///< of all bytes so far

 private:
  void* state_;
};

/// TensorFlow's masked CRC-32C: ((crc >> 15) | (crc << 17)) + 0xa282ead8.
constexpr uint32_t mask_crc32c(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8U; }

/// FNV-1a, 64 bits: a hash whose value does not change between machines or runs.
constexpr uint64_t fnv1a(std::string_view bytes, uint64_t seed = 0xcbf29ce484222325ULL) {
  for (const char c : bytes) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return seed;
}

}  // namespace mw
