// Streaming decompression of gzip and zstd files: compressed pieces in, plain pieces out.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "read/files/plain_stream.h"

namespace mw {

/// Bytes that one compressed file may grow to; what would come after is not read (a decompression bomb, or a file that
/// nobody wants to wait for).
constexpr uint64_t kInflateLimit = uint64_t{64} << 30;

/// Bytes of memory for zstd's window: its --long=27, which plain decoders accept by default.
constexpr uint64_t kZstdWindowLog = 27;

class Inflater final : public PlainStream {
 public:
  enum class Format { kGzip, kZstd };

  explicit Inflater(Format format, uint64_t limit = kInflateLimit);
  ~Inflater() override;
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// The next compressed bytes, in pieces of any size; calls `sink` with plain pieces of at most 64 KiB, before it
  /// returns. Members (frames) that follow each other are one stream; zero bytes after the last are padding.
  /// Errors, after which nothing more is read: kInvalid (garbled), kLimit (over the limit).
  Result<void> feed(std::string_view compressed, const Sink& sink) override;
  /// No more will come: kTruncated when the last member has not ended.
  Result<void> finish();
  Result<void> finish(const Sink&) override { return finish(); }
  /// Plain bytes handed over so far.
  uint64_t produced() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mw
