// Zstandard (RFC 8878), as streams, behind plain types; the only place of this room that sees libzstd.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mw {

/// Compresses into one frame with a content checksum.
class ZstdWriter {
 public:
  ZstdWriter();
  ~ZstdWriter();
  /// Appends what is ready to `out`.
  Result<void> feed(std::string_view bytes, std::string& out);
  Result<void> finish(std::string& out);

 private:
  struct Inner;
  std::unique_ptr<Inner> inner_;
};

/// Decompresses frame after frame; a bomb is harmless, as each call hands over at most kPieceBytes.
class ZstdReader {
 public:
  static constexpr size_t kPieceBytes = 1U << 18;
  ZstdReader();
  ~ZstdReader();
  /// Takes bytes from the front of `bytes` and replaces `out` with what they give. Call until `bytes` is empty and
  /// `out` comes back empty.
  Result<void> next(std::string_view& bytes, std::string& out);
  /// True between frames: an end here is a proper end.
  bool at_end() const;

 private:
  struct Inner;
  std::unique_ptr<Inner> inner_;
};

}  // namespace mw
