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

/// Receives each line that at least one pattern matches, in file order.
class HitListener {
 public:
  virtual ~HitListener() = default;
  /// `line` without its line end; `offset` of its first byte in the block; `line_index` = number of line ends in the
  /// block before it; `ids` ascending, without repeats.
  /// Returns how many of the following lines it wants to be given whatever they hold (0: only those that match).
  virtual size_t hit(std::string_view line, size_t offset, size_t line_index, std::span<const uint32_t> ids) = 0;
};

/// Matching is by literal prefilter over the whole block; regular expressions run only on lines whose required
/// literals were seen, and are compiled when that first happens. Bytes are bytes (Latin-1 to RE2), case counts.
///
/// A line matches when one of its segments does: '\r' inside a line ends a segment (progress bars), not a line, and
/// each segment is a text of its own to '^' and '$'; an empty one matches nothing. Of a segment longer than
/// kSegmentLimit only its first and last kWindow bytes are looked at, each as a text of its own.
///
/// Immutable after compile(); scan() and match_line() own scratch space and are not thread-safe.
class PatternSet {
 public:
  static constexpr size_t kSegmentLimit = 64 << 10;  ///< bytes
  static constexpr size_t kWindow = 32 << 10;        ///< bytes
  static constexpr size_t kPatternsLimit = 20000;    ///< patterns in one set
  static constexpr int64_t kRegexMemory = 1 << 20;   ///< bytes for one expression's program and automaton

  /// `proven`: all expressions were compiled before, by whoever read them or by the tests, and none of them need be
  /// compiled to find its mistakes.
  static Result<PatternSet> compile(const std::vector<Pattern>& patterns, bool proven = false);
  /// What compile() does for proven patterns, in two halves: write() may be done by the build. What it returns must be
  /// kept as long as the set that read() makes of it, at an address that is a multiple of kFlatAlign (flat.h).
  static Result<std::string> write(const std::vector<Pattern>& proven);
  static Result<PatternSet> read(std::string_view flat);
  PatternSet(PatternSet&&) noexcept;
  PatternSet& operator=(PatternSet&&) noexcept;
  ~PatternSet();

  /// `block` must hold whole lines (the last may lack its line end). `wanted`: so many lines at its start are given to
  /// the listener whatever they hold. Returns how many lines behind the block are still wanted: pass it on with the
  /// next block.
  size_t scan(std::string_view block, HitListener& listener, size_t wanted = 0) const;

  /// As scan(), but a pattern that `found` says was found is not tried again, and its id is given no more. `found` is
  /// the caller's to keep between blocks, empty at first.
  void scan_for_new(std::string_view block, HitListener& listener, std::vector<bool>& found) const;

  /// The ids that match one line, ascending, without repeats.
  void match_line(std::string_view line, std::vector<uint32_t>& ids) const;

  /// The expressions from which no literal could be had: they run on every line and cost accordingly.
  std::vector<std::string> slow_patterns() const;

  struct Size {
    size_t literals = 0;         ///< in the prefilter
    size_t prefilter_bytes = 0;  ///< of its automaton
    size_t regexes = 0;          ///< distinct expressions
    size_t compiled = 0;         ///< of them, compiled so far
  };
  Size size() const;

 private:
  struct Inner;
  class Scan;
  explicit PatternSet(std::unique_ptr<Inner> inner);
  std::unique_ptr<Inner> inner_;
};

}  // namespace mw
