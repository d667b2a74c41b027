#include "base/digest.h"

#include <doctest/doctest.h>

namespace mw {
namespace {

TEST_CASE("digests give the values of their standards") {
  CHECK(to_hex(sha256("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(to_hex(sha256("")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(to_hex(md5("message digest")) == "f96b697d7cb7938d525a2f31aaf161d0");  // RFC 1321, A.5
  CHECK(to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")) ==         // RFC 4231, 4.3
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  CHECK(to_hex(hmac_sha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")) ==
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  CHECK(to_base64("fo") == "Zm8=");
  CHECK(to_base64("foobar") == "Zm9vYmFy");
  CHECK(to_base64("").empty());
}

TEST_CASE("a content hash is the same whatever the pieces") {
  CHECK(content_hash("") == "99aa06d3014798d86001c324468d497f");  // XXH3-128 of nothing, seed 0
  std::string bytes;
  for (int i = 0; i < 5000; ++i) bytes += static_cast<char>(i * 31);
  for (const size_t piece : {size_t{1}, size_t{7}, size_t{256}, size_t{4999}}) {
    ContentHash hash;
    for (size_t at = 0; at < bytes.size(); at += piece) hash.add(std::string_view(bytes).substr(at, piece));
    CHECK(hash.hex() == content_hash(bytes));
  }
  bytes[4321] ^= 1;
  CHECK(content_hash(bytes) != content_hash(bytes.substr(0, 4999)));
}

}  // namespace
}  // namespace mw
