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

/// Immutable after compile(); scan() owns scratch space and is not thread-safe. Without literals it finds nothing.
class LiteralScanner {
 public:
  struct Hit {
    uint32_t end = 0;      ///< offset in the block, just behind the literal
    uint32_t literal = 0;  ///< its index
  };
  static Result<LiteralScanner> compile(std::span<const std::string> literals);
  LiteralScanner(LiteralScanner&&) noexcept;
  LiteralScanner& operator=(LiteralScanner&&) noexcept;
  ~LiteralScanner();

  /// All occurrences, overlapping ones too, by ascending end, into `hits` (emptied first). `block` is shorter than 4
  /// GiB.
  void scan(std::string_view block, std::vector<Hit>& hits) const;
  /// Bytes of the automaton.
  size_t bytes() const;

 private:
  struct Inner;
  explicit LiteralScanner(std::unique_ptr<Inner> inner);
  std::unique_ptr<Inner> inner_;
};

}  // namespace mw
