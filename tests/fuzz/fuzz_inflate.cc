// links: read
#include <zlib.h>
#include <zstd.h>

#include "fuzz.h"
#include "read/files/inflate.h"

namespace {

struct Outcome {
  std::string plain;
  bool ok = true;
};

Outcome inflate_all(mw::Inflater::Format format, std::string_view bytes, size_t most) {
  constexpr uint64_t kLimit = 1 << 20;
  mw::Inflater inflater(format, kLimit);
  Outcome outcome;
  while (!bytes.empty() && outcome.ok) {
    const std::string_view piece = bytes.substr(0, most);
    outcome.ok = inflater.feed(piece, [&](std::string_view plain) { outcome.plain.append(plain); }).ok();
    bytes.remove_prefix(piece.size());
  }
  if (outcome.ok) outcome.ok = inflater.finish().ok();
  MW_CHECK(outcome.plain.size() <= kLimit);
  return outcome;
}

}  // namespace

std::vector<std::string> mw::fuzz_seeds() {
  const std::string plain = "step 1 loss 0.5\nstep 2 loss 0.25\nstep 3 loss 0.125\n";
  std::string zstd(ZSTD_compressBound(plain.size()), '\0');
  zstd.resize(ZSTD_compress(zstd.data(), zstd.size(), plain.data(), plain.size(), 3));
  z_stream stream{};
  MW_CHECK(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string gzip(200, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(gzip.data());
  stream.avail_out = static_cast<uInt>(gzip.size());
  MW_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  gzip.resize(gzip.size() - stream.avail_out);
  deflateEnd(&stream);
  return {gzip, zstd, gzip + gzip, zstd + zstd};
}

void mw::fuzz_one(std::string_view input) {
  for (const auto format : {Inflater::Format::kGzip, Inflater::Format::kZstd}) {
    const Outcome whole = inflate_all(format, input, input.size() + 1);
    const Outcome pieces = inflate_all(format, input, 1 + input.size() % 7);
    // libzstd judges garbled frames more strictly when it has them whole, so only the good outcomes must agree.
    if (whole.ok && pieces.ok) MW_CHECK(whole.plain == pieces.plain);
  }
}
