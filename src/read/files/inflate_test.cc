#include "read/files/inflate.h"

#include <doctest/doctest.h>
#include <zlib.h>
#include <zstd.h>

#include <string>

#include "base/prng.h"

using namespace mw;
using Format = Inflater::Format;

namespace {

std::string gzip(std::string_view plain) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, plain.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd(std::string_view plain) {
  std::string out(ZSTD_compressBound(plain.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), plain.data(), plain.size(), 3));
  return out;
}

struct Outcome {
  std::string plain;
  Result<void> fed;
  Result<void> finished;
};

Outcome inflate_all(Format format, std::string_view bytes, size_t most, uint64_t limit = kInflateLimit) {
  Inflater inflater(format, limit);
  Outcome outcome;
  Prng prng(most);
  while (!bytes.empty() && outcome.fed.ok()) {
    size_t take = most == 0 ? bytes.size() : 1 + static_cast<size_t>(prng.below(most));
    if (take > bytes.size()) take = bytes.size();
    outcome.fed = inflater.feed(bytes.substr(0, take), [&](std::string_view plain) { outcome.plain.append(plain); });
    bytes.remove_prefix(take);
  }
  outcome.finished = inflater.finish();
  CHECK(inflater.produced() == outcome.plain.size());
  return outcome;
}

std::string sample() {
  std::string text;
  Prng prng(1);
  for (int i = 0; i < 20'000; ++i) text += "step " + std::to_string(i) + " loss " + std::to_string(prng.unit()) + "\n";
  return text;
}

}  // namespace

TEST_CASE("inflate: several members, padding, pieces of any size") {
  const std::string plain = sample();
  for (const auto& [format, one, two] : {std::tuple{Format::kGzip, gzip(plain), gzip("tail\n")},
                                         std::tuple{Format::kZstd, zstd(plain), zstd("tail\n")}}) {
    for (const size_t most : {0, 1, 7, 5000}) {
      const Outcome outcome = inflate_all(format, one + two + std::string(5, '\0'), most);
      CHECK(outcome.fed.ok());
      CHECK(outcome.finished.ok());
      CHECK(outcome.plain == plain + "tail\n");
    }
    CHECK(inflate_all(format, "", 0).finished.ok());
  }
}

TEST_CASE("inflate: cut anywhere, what came before is kept and the end is said to be missing") {
  const std::string plain = sample();
  for (const auto& [format, bytes] : {std::pair{Format::kGzip, gzip(plain)}, std::pair{Format::kZstd, zstd(plain)}}) {
    Prng prng(2);
    for (int round = 0; round < 100; ++round) {
      const size_t cut = 1 + static_cast<size_t>(prng.below(bytes.size() - 1));
      const Outcome outcome = inflate_all(format, bytes.substr(0, cut), 0);
      REQUIRE(outcome.fed.ok());
      REQUIRE_FALSE(outcome.finished.ok());
      CHECK(outcome.finished.error().code == Error::Code::kTruncated);
      REQUIRE(plain.substr(0, outcome.plain.size()) == outcome.plain);
    }
  }
}

TEST_CASE("inflate: garbled data is an error that stays; the limit holds") {
  std::string bytes = gzip(sample());
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x55);
  const Outcome outcome = inflate_all(Format::kGzip, bytes, 0);
  CHECK_FALSE(outcome.finished.ok());
  CHECK(outcome.finished.error().code == Error::Code::kInvalid);
  CHECK_FALSE(inflate_all(Format::kZstd, "not zstd at all", 0).fed.ok());
  const std::string bomb(50'000'000, 'a');
  for (const auto& [format, packed] : {std::pair{Format::kGzip, gzip(bomb)}, std::pair{Format::kZstd, zstd(bomb)}}) {
    const Outcome limited = inflate_all(format, packed, 0, 1'000'000);
    REQUIRE_FALSE(limited.fed.ok());
    CHECK(limited.fed.error().code == Error::Code::kLimit);
    CHECK(limited.plain.size() == 1'000'000);
  }
}
