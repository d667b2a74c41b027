// What must be in a line before a regular expression can match it: the pattern set's prefilter.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "read/match/literal_rarity.h"

namespace mw {

struct RequiredLiterals {
  /// False when the expression uses syntax that this reader does not know (flags other than
  /// a leading "(?i)", Unicode classes, \x, \Q) or that is
  /// wrong, or a leading "(?i)" gives too many spellings; RE2 decides then, and `any` is empty.
  bool understood = false;
  /// Every match holds at least one of these; the set that is likely to be the rarest in logs. Empty: none was found.
  /// After a leading "(?i)" these are all spellings of a few bytes.
  std::vector<std::string> any;
  /// Of each of these lists, too, every match holds at least one; in any case of its letters where `any_case` says so
  /// (they are in small letters then).
  std::vector<std::vector<std::string>> also;
  bool any_case = false;
  /// After a leading "(?i)", in small letters: every match holds one of these, in any case of its letters, and one of
  /// `any` is how that begins. Empty: not known.
  std::vector<std::string> whole;
  /// Bytes of the longest match there can be; kNoLimit: none is known.
  size_t most = kNoLimit;
  static constexpr size_t kNoLimit = size_t{1} << 20;
};

constexpr size_t kAlternativesLimit = 24;  ///< literals in `any`
constexpr size_t kAlsoLeast = 2;           ///< bytes of a literal in `also`
constexpr size_t kAlsoLimit = 3;           ///< lists in `also`
constexpr size_t kAlsoAlternatives = 9;    ///< literals in each

/// Conservative: a literal it names is in every match (bytes, case-sensitive); it may name fewer than there are.
RequiredLiterals required_literals(std::string_view expression);

/// Whether `text` holds one of each list of `also`, and of `whole`.
bool holds_also(std::string_view text, const RequiredLiterals& required);

}  // namespace mw
