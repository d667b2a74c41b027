#include <array>

#include "base/text.h"
#include "read/lines/log_header.h"

namespace mw {

namespace {

// "Error" in other languages, as people's own scripts write it before what went wrong.
constexpr std::array<std::string_view, 11> kForeign = {"错误",   "錯誤",   "エラー", "오류",   "Ошибка", "ОШИБКА",
                                                       "FEHLER", "Fehler", "ERREUR", "Erreur", "Errore"};

/// A colon follows, of any width, or " :".
bool ends_as_label(std::string_view rest) {
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  return rest.starts_with(':') || rest.starts_with("：");
}

}  // namespace

Level level_in_words(std::string_view text, RareBytes rare) {
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
  constexpr size_t kSpeaker = 32;  // bytes of the name of who speaks
  const size_t colon = find_part(head.substr(0, kSpeaker + 1), ": ");
  const auto says = [](std::string_view text, std::string_view word) {
    return !text.empty() && (text[0] | 0x20) == word[0] && contains_folded(text.substr(0, word.size()), word);
  };
  for (const Row& row : kWords) {
    if (says(head, row.word)) return row.level;
    if (colon < kSpeaker && says(head.substr(colon + 2), row.word)) return row.level;  // "slurmstepd: error: ..."
  }
  if (!head.empty() && (rare.may_be_wide() || head[0] == 'F' || head[0] == 'E')) {
    for (const std::string_view word : kForeign) {
      if (word[0] == head[0] && head.starts_with(word) && ends_as_label(head.substr(word.size()))) return Level::kError;
    }
  }
  if (head.starts_with("wandb: ")) {
    if (head.substr(7).starts_with("WARNING ")) return Level::kWarning;
    if (head.substr(7).starts_with("ERROR ")) return Level::kError;
  }
  if (!rare.may_hold('W')) return Level::kNone;
  const size_t warning = find_part(head, "Warning: ");  // Python's warnings: "/path/file.py:12: FutureWarning: text"
  if (warning != std::string_view::npos) {
    const size_t file = find_part(head, ".py:");
    if (file != std::string_view::npos && file < warning) return Level::kWarning;
  }
  return Level::kNone;
}

}  // namespace mw
