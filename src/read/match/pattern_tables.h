// What a pattern set was compiled to.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "read/match/flat.h"

namespace mw {

/// The distinct expressions ("tests") and the literals that wake them, as the build or a start made them.
struct PatternTables {
  static constexpr uint8_t kRegex = 1, kAnyCase = 2;
  explicit PatternTables(FlatReader& in)
      : expressions(in),
        kinds(in.array<uint8_t>()),
        reach(in.array<uint32_t>()),
        ids(in),
        also(in),
        also_lists(in),
        also_texts(in),
        wholes(in),
        woken(in),
        slow(in.array<uint32_t>()) {}
  bool regex(size_t test) const { return (kinds[test] & kRegex) != 0; }
  bool holds_also(size_t test, std::string_view text) const;
  bool begins_whole(size_t test, std::string_view text) const;

  FlatTexts expressions;           // per test
  std::span<const uint8_t> kinds;  // likewise; else a literal, which is all of the expression
  std::span<const uint32_t>
      reach;                 // likewise: a match holds one of its literals, and no byte farther from it; 0: unknown
  FlatLists<uint32_t> ids;   // likewise, ascending
  FlatLists<uint32_t> also;  // likewise: those of also_lists of which one literal must be there, too
  FlatLists<uint32_t> also_lists;  // of also_texts
  FlatTexts also_texts;
  FlatLists<uint32_t> wholes;  // per test: those of also_texts of which one begins, in any case, where its literal does
  FlatLists<uint32_t> woken;   // per literal of the scanner: the tests that it wakes
  std::span<const uint32_t> slow;  // tests without a literal
};

}  // namespace mw
