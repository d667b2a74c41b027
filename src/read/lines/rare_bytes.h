// Which rare bytes a line holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mw {

/// Found in one pass over a line. Much is sought in each line that few lines have, and most of it has one of these
/// bytes: without that byte nobody need go through the line for it.
class RareBytes {
 public:
  /// Of a line of which nothing is known: it may hold all of them.
  RareBytes() = default;
  explicit RareBytes(std::string_view line);

  static constexpr std::string_view kBytes = "\x1b\r<`['\"%*W(@";
  /// Whether `byte` may stand in the line, or in any part of it. Of a byte that is none of kBytes that is not known.
  constexpr bool may_hold(char byte) const {
    const size_t place = kBytes.find(byte);
    return place >= kBytes.size() || (bits_ >> place & 1) != 0;
  }
  /// Whether a byte beyond ASCII may.
  constexpr bool may_be_wide() const { return (bits_ & kWide) != 0; }

 private:
  static constexpr uint32_t kWide = uint32_t{1} << 31;
  uint32_t bits_ = UINT32_MAX;
};

}  // namespace mw
