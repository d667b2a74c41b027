// The journal of a run: segments of one checksummed line per record. It stores lines and knows no event.
// Format: docs/formats/journal.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "platform/disk.h"

namespace mw {

class Journal {
 public:
  static constexpr uint64_t kSegmentBytes = 64ULL << 20;  ///< a segment is sealed beyond this size
  static constexpr size_t kRecordLimit = 1U << 20;        ///< bytes of one record
  static constexpr size_t kBufferLimit = 64U << 20;       ///< bytes waiting while the disk refuses them

  /// Called for every whole record, in order; `number` counts from 1 over all segments.
  class Reader {
   public:
    virtual ~Reader() = default;
    virtual void record(uint64_t number, std::string_view json) = 0;  ///< `json` lives until it returns
    /// A damaged stretch inside (not the torn tail, which is silently cut): what was skipped.
    virtual void damage(const std::string& what) = 0;
  };

  struct Options {
    uint64_t segment_bytes = kSegmentBytes;
  };

  /// Opens or creates the journal in `folder`, replays what is there to `reader` (may be nullptr) and cuts a torn tail.
  /// One process at a time may have a journal open for writing; that is the caller's business.
  static Result<std::unique_ptr<Journal>> open(Disk& disk, std::string folder, Reader* reader);
  static Result<std::unique_ptr<Journal>> open(Disk& disk, std::string folder, Reader* reader, const Options& options);
  /// Only reads; changes nothing on disk.
  static Result<void> read(Disk& disk, const std::string& folder, Reader& reader);

  virtual ~Journal() = default;
  /// Buffers one record (one JSON value without line ends); returns its number. 0 when it was refused: longer than
  /// kRecordLimit, or kBufferLimit is reached because the disk has not taken anything for long.
  virtual uint64_t append(std::string_view json) = 0;
  /// Hands the buffer to the system. Cheap; call once a turn. After an error nothing is lost: the next call tries
  /// again. In quiet turns it also compresses a little of a finished segment.
  virtual Result<void> flush() = 0;
  /// Returns when everything appended so far is durable. Called before every action.
  virtual Result<void> sync() = 0;
  virtual uint64_t last_number() const = 0;
  /// Bytes that were appended and that the system has not taken yet.
  virtual size_t waiting() const = 0;
};

}  // namespace mw
