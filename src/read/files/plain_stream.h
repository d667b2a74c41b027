// What stands between the bytes of a file and its lines or records: compression, a wide encoding, or a
// viewer's list.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"

namespace mw {

class PlainStream {
 public:
  using Sink = std::function<void(std::string_view plain)>;
  virtual ~PlainStream() = default;
  /// The next bytes of the file, in pieces of any size; calls `sink` with plain pieces before it returns. After an
  /// error nothing more is read.
  virtual Result<void> feed(std::string_view bytes, const Sink& sink) = 0;
  /// No more will come. kTruncated when the end is torn.
  virtual Result<void> finish(const Sink& sink) = 0;
};

/// For content that begins like a compressed file, a text in UTF-16 or a list of log lines; nullptr for any other.
/// `limit`: plain bytes of a compressed one.
std::unique_ptr<PlainStream> make_plain_stream(std::string_view head, uint64_t limit);
std::unique_ptr<PlainStream> make_plain_stream(std::string_view head);

}  // namespace mw
