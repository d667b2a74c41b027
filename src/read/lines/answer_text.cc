#include "read/lines/answer_text.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace mw {

bool is_markdown_step(std::string_view text) {
  const size_t bold = find_part(text, "**");
  const bool first = bold != std::string_view::npos &&
                     text.substr(0, bold).find_first_not_of(" *-#>.0123456789") == std::string_view::npos;
  return first && bold + 2 < text.size() && std::isalpha(static_cast<unsigned char>(text[bold + 2])) != 0 &&
         text.find("**", bold + 2) != std::string_view::npos;
}

bool is_one_answer(std::string_view text, const MetricLine& out) {
  const auto judged = [](const RowNumber& one) {
    return (one.value == 0 || one.value == 1) && contains_folded(one.key, "reward") &&
           !contains_folded(one.key, "mean");
  };
  return text.ends_with('}') && out.numbers().size() >= 2 && out.texts().empty() &&
         std::all_of(out.numbers().begin(), out.numbers().end(), judged);
}

}  // namespace mw
