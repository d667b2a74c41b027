// All patterns of all dialects and signatures in one automaton: a block of log text is scanned once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mw {

struct Pattern {
  std::string expression;  ///< a literal, or an RE2 regular expression without look-around and back-references
  bool regex = false;
  uint32_t id = 0;  ///< the caller's number; several patterns may share one
};

/// Told of each line that at least one pattern matches, in file order.
class HitListener {
 public:
  virtual ~HitListener() = default;
  /// `line` without its line end; `offset` of its first byte in the block; `line_index` = number of line ends in the
  /// block before it; `ids` ascending, without repeats.
  /// Returns how many of the following lines it wants to be given whatever they hold (0: only those that match).
  virtual size_t hit(std::string_view line, size_t offset, size_t line_index, std::span<const uint32_t> ids) = 0;
};

/// Matching is by literal prefilter over the whole block; regular expressions run only on lines whose required
/// literals were seen. Immutable after compile(); one per process; scan() is not thread-safe (it owns scratch space).
class PatternSet {
 public:
  static Result<PatternSet> compile(std::vector<Pattern> patterns);
  PatternSet(PatternSet&&) noexcept;
  PatternSet& operator=(PatternSet&&) noexcept;
  ~PatternSet();

  /// `block` must hold whole lines (the last may lack its line end). '\r' inside a line ends a line, too, for matching
  /// (progress bars), but not for counting.
  void scan(std::string_view block, HitListener& listener) const;

  /// The ids that match one line.
  void match_line(std::string_view line, std::vector<uint32_t>& ids) const;

 private:
  struct Inner;
  explicit PatternSet(std::unique_ptr<Inner> inner);
  std::unique_ptr<Inner> inner_;
};

}  // namespace mw
