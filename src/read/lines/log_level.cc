#include <array>

#include "base/text.h"
#include "read/lines/log_header.h"

namespace mw {

Level level_in_words(std::string_view text) {
  constexpr size_t kHead = 400;  // a path and a warning's class fit
  const std::string_view head = trim(text.substr(0, kHead));
  struct Row {
    std::string_view word;
    Level level;
  };
  constexpr std::array<Row, 4> kWords = {{{"warning:", Level::kWarning},
                                          {"error:", Level::kError},
                                          {"fatal:", Level::kCritical},
                                          {"fatal python error:", Level::kCritical}}};
  const size_t colon = find_part(head, ": ");
  for (const Row& row : kWords) {
    if (contains_folded(head.substr(0, row.word.size()), row.word)) return row.level;
    // "slurmstepd: error: ..."
    if (colon < 32 && contains_folded(head.substr(colon + 2, row.word.size()), row.word)) return row.level;
  }
  if (head.starts_with("wandb: ")) {
    if (head.substr(7).starts_with("WARNING ")) return Level::kWarning;
    if (head.substr(7).starts_with("ERROR ")) return Level::kError;
  }
  const size_t warning = find_part(head, "Warning: ");  // Python's warnings: "/path/file.py:12: FutureWarning: text"
  if (warning != std::string_view::npos) {
    const size_t file = find_part(head, ".py:");
    if (file != std::string_view::npos && file < warning) return Level::kWarning;
  }
  return Level::kNone;
}

}  // namespace mw
