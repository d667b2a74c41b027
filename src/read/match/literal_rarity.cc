#include "read/match/literal_rarity.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace mw {

double rarity(const std::string& literal) {
  constexpr std::string_view kCommon[] = {"reward", "loss", "step",  "train", "grad",
                                          "rank",   "mean", "actor", "model", "token"};
  constexpr std::string_view kCommonBegins = "rlstgmat";
  constexpr double kCommonBits = 3;
  constexpr std::string_view kFrequent = "etaornis-:/=,", kSigns = "_.0'\"()";
  double sum = 0;
  for (size_t i = 0; i < literal.size(); ++i) {
    const std::string_view rest = std::string_view(literal).substr(i);
    const auto* word = kCommonBegins.find(rest[0]) == std::string_view::npos
                           ? std::end(kCommon)
                           : std::find_if(std::begin(kCommon), std::end(kCommon),
                                          [&](std::string_view w) { return rest.starts_with(w); });
    if (word != std::end(kCommon)) {
      sum += kCommonBits;
      i += word->size() - 1;
      continue;
    }
    const char c = literal[i];
    if (c == ' ') {
      sum += 1;
    } else if (kFrequent.find(c) != std::string_view::npos) {
      sum += 2.5;
    } else {
      const bool small = (c >= 'a' && c <= 'z') || kSigns.find(c) != std::string_view::npos;
      sum += small ? 4 : 5.5;
    }
  }
  return sum;
}

double rarity(const std::vector<std::string>& clause) {
  constexpr double kShortBits = 9;  // "^C" will do when there is nothing better, "ab" will not
  double least = 1e9;
  bool short_one = false;
  for (const std::string& s : clause) {
    const double bits = rarity(s);
    if (s.size() < kLiteralLeast && bits < kShortBits) return 0;
    short_one = short_one || s.size() < kLiteralLeast;
    least = std::min(least, bits);
  }
  return short_one ? 0.5 : least - static_cast<double>(clause.size()) / 4;
}

}  // namespace mw
