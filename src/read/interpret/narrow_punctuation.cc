#include "read/interpret/narrow_punctuation.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace mw {

bool narrow_punctuation(std::string_view text, std::string& out) {
  struct Wide {
    std::string_view wide;
    char narrow;
  };
  static constexpr std::array<Wide, 9> kWide = {{{"：", ':'},
                                                 {"，", ','},
                                                 {"；", ';'},
                                                 {"（", '('},
                                                 {"）", ')'},
                                                 {"【", '['},
                                                 {"】", ']'},
                                                 {"＝", '='},
                                                 {"。", ' '}}};
  const auto begins_wide = [](char c) { return c == '\xef' || c == '\xe3'; };  // each of them
  if ((text.find('\xef') == std::string_view::npos && text.find('\xe3') == std::string_view::npos) ||
      std::none_of(kWide.begin(), kWide.end(), [text](const Wide& one) { return contains(text, one.wide); }))
    return false;
  out.clear();
  for (size_t i = 0; i < text.size();) {
    if (!begins_wide(text[i])) {
      out.push_back(text[i++]);
      continue;
    }
    const auto wide =
        std::find_if(kWide.begin(), kWide.end(), [&](const Wide& one) { return text.substr(i).starts_with(one.wide); });
    out.push_back(wide == kWide.end() ? text[i] : wide->narrow);
    i += wide == kWide.end() ? 1 : wide->wide.size();
  }
  return true;
}

}  // namespace mw
