// Makes lines of the pieces of console output that a run file carries.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "read/files/row_builder.h"

namespace mw {

/// Bytes of one console line; what is longer is cut and said.
constexpr size_t kConsoleLineLimit = size_t{1} << 20;

/// Pieces arrive cut anywhere, of two streams. A line ends at LF, or at CR (a progress bar that is drawn again); empty
/// ones are left out.
class ConsoleLines {
 public:
  /// `stream`: 0 standard error, 1 standard output.
  void feed(std::string_view piece, size_t stream, Time at, RecordSink& sink);
  /// Hands over what has no line end yet.
  void finish(RecordSink& sink);
  uint64_t count() const { return count_; }

 private:
  struct Stream {
    std::string pending;
    Time at;  // of its first piece
    bool overlong = false;
  };
  void hold(Stream& stream, std::string_view piece, Time at, RecordSink& sink);
  void hand_over(std::string_view line, Time at, RecordSink& sink);

  std::array<Stream, 2> streams_;
  uint64_t count_ = 0;
  ProblemCounter too_long_{"line-too-long"};
};

}  // namespace mw
