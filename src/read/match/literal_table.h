// Finds thousands of literals by a table of four bytes of each: made at once, where Vectorscan compiles for tens of
// milliseconds, and some times slower by the byte. For what is read once and is not long.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "read/match/flat.h"
#include "read/match/literal_scanner.h"

namespace mw {

/// Immutable.
class LiteralTable {
 public:
  /// None of the literals may be empty.
  static void write(std::span<const std::string> literals, FlatWriter& out);
  /// What `in` reads must live as long as the table.
  explicit LiteralTable(FlatReader& in);

  /// All occurrences, overlapping ones too, in no order, behind what `hits` holds.
  void scan(std::string_view block, std::vector<LiteralScanner::Hit>& hits) const;
  const FlatTexts& literals() const { return literals_; }
  size_t bytes() const;

 private:
  static constexpr unsigned kFilterBits = 18;  // 32 KiB: stays in the fastest cache
  static constexpr unsigned kSlotBits = 13;
  static constexpr unsigned kThreeBits = 8;
  static constexpr size_t kKey = 4;    // bytes
  static constexpr size_t kShort = 3;  // bytes of a literal whose key is all of it; behind them any byte may stand
  static constexpr uint32_t kShortKey = 0xffffff;

  struct Entry {
    uint32_t literal = 0;
    uint32_t key = 0;
    uint32_t at = 0;  // of the key in the literal
    uint32_t size = 0;
    uint32_t other = 0, other_at = 0;  // the three bytes at that end of it that is farther from the key
  };
  static uint32_t hash(uint32_t key) { return key * 0x9E3779B1U; }
  void try_key(std::string_view block, size_t at, uint32_t key, std::vector<LiteralScanner::Hit>& hits) const;
  void try_slot(std::string_view block, size_t at, uint32_t key, std::vector<LiteralScanner::Hit>& hits) const;
  void scan_short(std::string_view block, std::vector<LiteralScanner::Hit>& hits) const;

  FlatTexts literals_;
  std::span<const uint64_t> filter_;
  std::span<const uint32_t> slots_;  // where the entries of each slot begin, and where the last ends
  std::span<const Entry> entries_;   // by slot
  std::span<const uint8_t> three_;   // whether a literal of kShort bytes may have a key of that hash
  std::span<const uint32_t> short_;  // literals of fewer
};

}  // namespace mw
