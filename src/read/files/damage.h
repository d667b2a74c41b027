// What of a file could not be read: where, and how much.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/text.h"
#include "read/files/decoder.h"

namespace mw {

/// The places of a file that a decoder left out, for one word on all of them in the end.
class Damage {
 public:
  /// Bytes from `at` on were left out; `bytes` may reach beyond the end of the file.
  void add(uint64_t at, uint64_t bytes) {
    if (places_ == 0) first_ = at;
    if (places_ == 0 || at != end_) ++places_;  // else it goes on
    bytes_ += bytes;
    end_ = at + bytes;
  }
  bool any() const { return places_ > 0; }
  /// Reports how much was left out, if anything. `size`: bytes of the whole file.
  void report(RecordSink& sink, uint64_t size) {
    if (places_ == 0) return;
    const uint64_t lost = end_ > size ? bytes_ - std::min(bytes_, end_ - size) : bytes_;
    sink.problem("damaged",
                 cat(lost, " of ", size, " bytes could not be read, in ", places_, places_ == 1 ? " place" : " places",
                     ", the first at byte ", first_),
                 0);
  }

 private:
  uint64_t first_ = 0, end_ = 0, bytes_ = 0, places_ = 0;
};

/// Nothing but zeros: what a file system leaves of what was never written.
inline bool is_zeros(std::string_view bytes) { return bytes.find_first_not_of('\0') == std::string_view::npos; }

}  // namespace mw
