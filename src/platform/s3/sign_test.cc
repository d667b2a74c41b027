// The examples of "Signature Calculations for the Authorization Header" in the Amazon S3 API Reference.
#include "platform/s3/sign.h"

#include <doctest/doctest.h>

#include "base/digest.h"
#include "base/text.h"

namespace mw::s3 {
namespace {

const Credentials kExample{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""};

std::string signature(ToSign request) {
  request.headers.emplace_back("host", "examplebucket.s3.amazonaws.com");
  sign(request, kExample, "us-east-1", *parse_time("2013-05-24T00:00:00Z"));
  const std::string& last = request.headers.back().second;
  return last.substr(last.rfind('=') + 1);
}

TEST_CASE("signatures are those of the documented examples") {
  const std::string empty = to_hex(sha256(""));
  CHECK(signature({"GET", "/test.txt", {}, {{"range", "bytes=0-9"}}, empty}) ==
        "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  CHECK(signature({"PUT",
                   encode_path("/test$file.text"),
                   {},
                   {{"date", "Fri, 24 May 2013 00:00:00 GMT"}, {"x-amz-storage-class", "REDUCED_REDUNDANCY"}},
                   to_hex(sha256("Welcome to Amazon S3."))}) ==
        "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
  CHECK(signature({"GET", "/", {{"lifecycle", ""}}, {}, empty}) ==
        "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
  CHECK(signature({"GET", "/", {{"prefix", "J"}, {"max-keys", "2"}}, {}, empty}) ==
        "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST_CASE("paths and queries are encoded as they are sent") {
  CHECK(encode_path("/a b/c+d/é~") == "/a%20b/c%2Bd/%C3%A9~");
  CHECK(encode_path("a/b") == "a/b");
  CHECK(encode_path("/") == "/");
  CHECK(canonical_query({{"b", "x/y"}, {"a", ""}}) == "a=&b=x%2Fy");
}

}  // namespace
}  // namespace mw::s3
