#include "read/interpret/resume_line.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "base/text.h"
#include "read/interpret/save_line.h"
#include "read/interpret/step_place.h"

namespace mw {
namespace {

constexpr size_t kLineLimit = 240;  // bytes
constexpr size_t kNearBegin = 64;  // where the word stands: behind a clock, a rank or a logger's name; npos is above it
constexpr size_t kBetweenWords = 32;  // "resuming training of the policy from"

template <size_t N>
bool has_any(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(), [text](std::string_view word) { return contains(text, word); });
}

/// "resumed from", "resuming training at".
bool says_resumed(std::string_view words) {
  constexpr std::array<std::string_view, 2> kResumed = {"resumed ", "resuming "};
  constexpr std::array<std::string_view, 2> kFrom = {"from ", "at "};
  return std::any_of(kResumed.begin(), kResumed.end(), [&](std::string_view word) {
    const size_t at = words.find(word);
    if (at > kNearBegin || (at > 0 && std::isalpha(static_cast<unsigned char>(words[at - 1])) != 0)) return false;
    const std::string_view after = words.substr(at + word.size() - 1);
    return std::any_of(kFrom.begin(), kFrom.end(), [after](std::string_view from) {
      const size_t found = after.find(cat(" ", from));
      return found <= kBetweenWords;
    });
  });
}

/// "loaded checkpoint … (global step 40)".
bool says_loaded(std::string_view words) {
  constexpr std::array<std::string_view, 2> kLoaded = {"loaded ", "restored "};
  constexpr std::array<std::string_view, 3> kThings = {"checkpoint", "ckpt", "training state"};
  return has_any(words, kThings) && std::any_of(kLoaded.begin(), kLoaded.end(),
                                                [&](std::string_view word) { return words.find(word) <= kNearBegin; });
}

}  // namespace

std::optional<ResumeLine> read_resume(std::string_view text) {
  static constexpr std::array<std::string_view, 22> kOthers = {
      "fail",  "error",      "cannot", "can't", "could not", "not ",   "none",    "will ", "wandb", "mlflow", "dataset",
      "batch", "dataloader", "eval",   "best",  "reference", "reward", "scratch", "ref ",  "judge", "paused", "if "};
  text = trim(text);
  // "loaded " and "restored " end alike: most lines are refuted by that end.
  const auto loads = [text] {
    return contains_folded(text, "ed ") && (contains_folded(text, "loaded ") || contains_folded(text, "restored "));
  };
  if (text.size() > kLineLimit || (!contains_folded(text, "resum") && !loads())) return std::nullopt;
  ResumeLine found;
  found.path = path_in(text);
  const size_t at = found.path.empty() ? text.size() : static_cast<size_t>(found.path.data() - text.data());
  const std::string words =
      to_lower(cat(text.substr(0, at), " ", found.path.empty() ? "" : text.substr(at + found.path.size()), " "));
  const bool resumed = says_resumed(words);
  if ((!resumed && !says_loaded(words)) || has_any(words, kOthers)) return std::nullopt;
  const StepPlace place = find_place(words);
  const bool counted = place.step != kNoStep && place.word != "it";
  found.step = counted ? place.step : resumed ? step_of_path(found.path) : kNoStep;
  found.only_loaded = !resumed;
  if (found.step == 0 || (found.step == kNoStep && (found.only_loaded || found.path.empty()))) return std::nullopt;
  return found;
}

}  // namespace mw
