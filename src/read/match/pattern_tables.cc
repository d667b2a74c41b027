#include "read/match/pattern_tables.h"

#include <algorithm>

#include "base/text.h"

namespace mw {

/// As holds_also() of required_literals.h.
bool PatternTables::holds_also(size_t test, std::string_view text) const {
  const bool any_case = (kinds[test] & kAnyCase) != 0;
  return std::all_of(also[test].begin(), also[test].end(), [&](uint32_t list) {
    return std::any_of(also_lists[list].begin(), also_lists[list].end(), [&](uint32_t literal) {
      return any_case ? contains_folded(text, also_texts[literal]) : contains(text, also_texts[literal]);
    });
  });
}

/// Whether `text` begins as a match of the test does, from its literal on.
bool PatternTables::begins_whole(size_t test, std::string_view text) const {
  const std::span<const uint32_t> all = wholes[test];
  return all.empty() || std::any_of(all.begin(), all.end(), [&](uint32_t number) {
           const std::string_view whole = also_texts[number];
           if (text.size() < whole.size()) return false;
           for (size_t i = 0; i < whole.size(); ++i) {
             const char c = text[i];
             if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c) != whole[i]) return false;
           }
           return true;
         });
}

}  // namespace mw
