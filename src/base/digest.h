// Digests: what object stores ask for (MD5, SHA-256, HMAC), and what manifests record (XXH3).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace mw {

/// 32 bytes (FIPS 180-4).
std::string sha256(std::string_view bytes);
/// 32 bytes (RFC 2104, over SHA-256).
std::string hmac_sha256(std::string_view key, std::string_view bytes);
/// 16 bytes (RFC 1321). Only against accidents: what stores call Content-MD5 and, mostly, ETag.
std::string md5(std::string_view bytes);

/// Lower-case hexadecimal digits, two a byte.
std::string to_hex(std::string_view bytes);
/// RFC 4648, section 4, with padding.
std::string to_base64(std::string_view bytes);

/// XXH3-128 of a stream of bytes. Against accidents only, at the speed of memory.
class ContentHash {
 public:
  ContentHash();
  ~ContentHash();
  ContentHash(ContentHash&&) noexcept;
  ContentHash& operator=(ContentHash&&) noexcept;
  void add(std::string_view bytes);
  /// 32 lower-case hexadecimal digits, the canonical (big-endian) form, of all that was added so far.
  std::string hex() const;
  /// XXH3-64 of the same, from the same pass.
  uint64_t short_digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The same of all bytes at once.
std::string content_hash(std::string_view bytes);

}  // namespace mw
