// The only includer of OpenSSL's digests.
#include "base/digest.h"

#include <openssl/evp.h>

#include <array>

#include "base/check.h"

namespace mw {
namespace {

std::string digest(const EVP_MD* kind, std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned int size = 0;
  MW_CHECK(EVP_Digest(bytes.data(), bytes.size(), out.data(), &size, kind, nullptr) == 1);
  return {reinterpret_cast<const char*>(out.data()), size};
}

}  // namespace

std::string sha256(std::string_view bytes) { return digest(EVP_sha256(), bytes); }
std::string md5(std::string_view bytes) { return digest(EVP_md5(), bytes); }

std::string hmac_sha256(std::string_view key, std::string_view bytes) {
  constexpr size_t kBlock = 64;
  std::string block(key.size() > kBlock ? sha256(key) : std::string(key));
  block.resize(kBlock, '\0');
  std::string inner = block, outer = block;
  for (char& c : inner) c = static_cast<char>(c ^ 0x36);
  for (char& c : outer) c = static_cast<char>(c ^ 0x5c);
  return sha256(outer + sha256(inner.append(bytes)));
}

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

std::string to_base64(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');  // EVP_EncodeBlock() ends it with a zero
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  out.resize(static_cast<size_t>(size));
  return out;
}

}  // namespace mw
