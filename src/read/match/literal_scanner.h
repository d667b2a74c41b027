// Finds thousands of literals in one pass over a block. The only door to Vectorscan.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mw {

class FlatReader;
class FlatWriter;

/// Immutable after compile(); scan() owns scratch space and is not thread-safe. Without literals it finds nothing.
class LiteralScanner {
 public:
  struct Hit {
    uint32_t end = 0;      ///< offset in the block, just behind the literal
    uint32_t literal = 0;  ///< its index
  };
  static Result<LiteralScanner> compile(std::span<const std::string> literals);
  /// What read() makes a scanner of; `in` must live as long as the scanner.
  static void write(std::span<const std::string> literals, FlatWriter& out);
  static Result<LiteralScanner> read(FlatReader& in);
  LiteralScanner(LiteralScanner&&) noexcept;
  LiteralScanner& operator=(LiteralScanner&&) noexcept;
  ~LiteralScanner();

  /// All occurrences, overlapping ones too, by ascending end, into `hits` (emptied first). `block` is shorter than 4
  /// GiB.
  void scan(std::string_view block, std::vector<Hit>& hits) const;
  /// Bytes of one literal.
  size_t length(uint32_t literal) const;
  /// Bytes of the automaton.
  size_t bytes() const;

 private:
  struct Inner;
  explicit LiteralScanner(std::unique_ptr<Inner> inner);
  std::unique_ptr<Inner> inner_;
};

}  // namespace mw
